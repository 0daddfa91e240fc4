//! `osier watch`: the stream that an app would see.

use indicatif::ProgressBar;
use serde_json::Value;

use super::Context;
use crate::{
    args::WatchArgs,
    exit::Exit,
    failure::{Failure, Outcome},
    interrupt,
    output::Output,
    progress,
    reach::Reach,
    text,
};

pub(crate) fn run(context: &Context, args: &WatchArgs) -> Outcome {
    let reach = Reach::running(&context.config)?;
    interrupt::ends_well();
    let mut screen = Screen::new(context.out);
    let mut ending = Ending::default();
    for message in reach.api.events(&args.topic, &args.from)? {
        let Ok(message) = message else { break };
        let event: Value = serde_json::from_str(&message.data)
            .map_err(|error| Failure::other("the node sent what is no event").because(error))?;
        screen.show(&event)?;
        if args.until_synced
            && let Some(end) = ending.judge(&event)
        {
            screen.clear();
            return end;
        }
    }
    screen.clear();
    let mut failure = Failure::new(Exit::NoNode, "the node has stopped");
    if let Some(at) = &screen.position {
        failure = failure.next(format!(
            "Start it with `osier run`, and go on with --from {at}"
        ));
    }
    Err(failure)
}

/// Prints events: JSON a line, or sentences with a bar while a session moves.
struct Screen {
    out: Output,
    bar: Option<ProgressBar>,
    /// Where a later watch goes on.
    position: Option<String>,
}

impl Screen {
    fn new(out: Output) -> Self {
        Self {
            out,
            bar: None,
            position: None,
        }
    }

    fn show(&mut self, event: &Value) -> Outcome {
        if let Some(at) = event["position"].as_str() {
            self.position = Some(at.to_owned());
        }
        if self.out.json {
            return self.out.value(event);
        }
        match event["type"].as_str() {
            Some("progress") if self.out.draws() => {
                self.draw(event);
                return Ok(());
            }
            Some("entry" | "progress") => {}
            _ => self.clear(),
        }
        let line = text::event(self.out, event);
        match &self.bar {
            Some(bar) => bar.suspend(|| self.out.line(&line)),
            None => self.out.line(&line),
        }
    }

    fn draw(&mut self, event: &Value) {
        let out = self.out;
        let bar = self.bar.get_or_insert_with(|| progress::open(out, "sync"));
        if let Some(expected) = event["expected"].as_u64() {
            if bar.length().is_none() {
                bar.finish_and_clear();
                *bar = progress::count(out, "sync", expected);
            }
            bar.set_length(expected);
        }
        bar.set_position(event["received"].as_u64().unwrap_or(0));
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Decides when `--until-synced` ends, and how.
#[derive(Debug, Default)]
struct Ending {
    /// A state said how it ends: once the entries up to this place have been shown.
    settled: Option<(u64, Outcome)>,
}

impl Ending {
    fn judge(&mut self, event: &Value) -> Option<Outcome> {
        match event["type"].as_str()? {
            "state" => self.judge_state(event),
            "entry" => self.judge_place(place(event)),
            "history_synced" => {
                self.settled = None;
                let pending = event["still_pending"].as_u64().unwrap_or(0);
                let complete = event["coverage"] == "complete";
                (complete || pending == 0).then(|| end(complete))
            }
            "history_sync_failed" | "diverged" => {
                let why = text::event(Output::detect(true), event);
                Some(Err(incomplete().because(why.trim_start_matches("== "))))
            }
            "broken" => {
                let why = event["error"].as_str().unwrap_or_default().to_owned();
                Some(Err(
                    Failure::new(Exit::Store, "the stream broke off").because(why)
                ))
            }
            _ => None,
        }
    }

    fn judge_state(&mut self, state: &Value) -> Option<Outcome> {
        let outcome = match state["phase"].as_str()? {
            "synced" => end(state["synced"]["coverage"] == "complete"),
            "diverged" => Err(incomplete().because("trusted providers disagree")),
            "failed" => Err(incomplete()
                .because("no trusted provider could complete it")
                .next("`osier status` says why")),
            _ => {
                self.settled = None;
                return None;
            }
        };
        let upto = state["upto"].as_u64().unwrap_or(0);
        self.settled = Some((upto, outcome));
        self.judge_place(place(state))
    }

    fn judge_place(&self, place: u64) -> Option<Outcome> {
        let (upto, outcome) = self.settled.as_ref()?;
        (place >= *upto).then(|| outcome.clone())
    }
}

fn place(event: &Value) -> u64 {
    event["position"]
        .as_str()
        .and_then(|at| at.parse().ok())
        .unwrap_or(0)
}

fn end(complete: bool) -> Outcome {
    if complete {
        return Ok(());
    }
    let next = "Ask a node that archives the topic: `osier trust add`, or wait for it to appear";
    Err(incomplete()
        .because("it reaches back to a floor only")
        .next(next))
}

fn incomplete() -> Failure {
    Failure::new(Exit::Incomplete, "history is not complete")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exit(ending: &mut Ending, event: &Value) -> Option<Exit> {
        let outcome = ending.judge(event)?;
        Some(outcome.err().map_or(Exit::Ok, |failure| failure.exit))
    }

    #[test]
    fn ends_with_the_word_on_history() {
        let floor = json!({ "from": { "floor": { "time": 1, "hash": "aa" } } });
        let synced = |coverage: &Value, pending: u64| {
            let kind = "history_synced";
            json!({ "type": kind, "coverage": coverage, "still_pending": pending })
        };
        let complete = json!("complete");
        let new = Ending::default;
        assert_eq!(exit(&mut new(), &synced(&complete, 1)), Some(Exit::Ok));
        assert_eq!(exit(&mut new(), &synced(&floor, 1)), None);
        assert_eq!(exit(&mut new(), &synced(&floor, 0)), Some(Exit::Incomplete));
        let failed = json!({ "type": "history_sync_failed", "reasons": [] });
        assert_eq!(exit(&mut new(), &failed), Some(Exit::Incomplete));
        let diverged = json!({ "type": "diverged", "camps": [] });
        assert_eq!(exit(&mut new(), &diverged), Some(Exit::Incomplete));
        let degraded = json!({ "type": "history_sync_degraded" });
        assert_eq!(exit(&mut new(), &degraded), None);
    }

    #[test]
    fn a_state_that_is_synced_ends_once_its_entries_were_shown() {
        let mut ending = Ending::default();
        let state = json!({
            "type": "state", "phase": "synced", "upto": 2, "position": "0",
            "synced": { "coverage": "complete" },
        });
        let entry = |at: &str| json!({ "type": "entry", "position": at });
        assert_eq!(exit(&mut ending, &state), None);
        assert_eq!(exit(&mut ending, &entry("1")), None);
        assert_eq!(exit(&mut ending, &entry("2")), Some(Exit::Ok));
        let empty = json!({
            "type": "state", "phase": "synced", "upto": 0, "position": "0",
            "synced": { "coverage": "complete" },
        });
        assert_eq!(exit(&mut Ending::default(), &empty), Some(Exit::Ok));
    }

    #[test]
    fn a_state_that_is_failed_or_diverged_ends_once_its_entries_were_shown() {
        for phase in ["failed", "diverged"] {
            let mut ending = Ending::default();
            let state = json!({ "type": "state", "phase": phase, "upto": 1, "position": "0" });
            assert_eq!(exit(&mut ending, &state), None, "{phase}");
            let entry = json!({ "type": "entry", "position": "1" });
            assert_eq!(exit(&mut ending, &entry), Some(Exit::Incomplete), "{phase}");
        }
    }

    #[test]
    fn a_state_that_syncs_is_waited_for() {
        let mut ending = Ending::default();
        for phase in ["failed", "syncing", "behind"] {
            let state = json!({ "type": "state", "phase": phase, "upto": 1, "position": "0" });
            assert_eq!(exit(&mut ending, &state), None, "{phase}");
        }
        let entry = json!({ "type": "entry", "position": "1" });
        assert_eq!(exit(&mut ending, &entry), None);
    }
}
