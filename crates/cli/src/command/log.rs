//! `osier log`: read history.

use serde_json::Value;

use super::Context;
use crate::{
    api::Api,
    args::{LogArgs, LogOrder},
    exit::Exit,
    failure::{Failure, Outcome},
    interrupt,
    output::Output,
    page::Pages,
    reach::{Missing, Reach},
    text,
};

pub(crate) fn run(context: &Context, args: &LogArgs) -> Outcome {
    let order = order(args)?;
    let reach = if args.follow {
        Reach::running(&context.config)?
    } else {
        Reach::any(&context.config, Missing::Refuse)?
    };
    let mut shown = Shown {
        out: context.out,
        left: args.limit.unwrap_or(u64::MAX),
    };
    if args.follow {
        interrupt::ends_well();
        return follow(&reach.api, args, &mut shown);
    }
    let mut pages = Pages::new(&reach.api, &args.topic, order, args.after.as_deref());
    while let Some(entries) = pages.next()? {
        shown.entries(&entries)?;
        if shown.left == 0 {
            break;
        }
    }
    Ok(())
}

/// The order by its name in the API. A position of an entry is a place in order of arrival, and
/// that is the order in which entries are told of as they come.
fn order(args: &LogArgs) -> Outcome<&'static str> {
    let by_arrival = args.follow || args.after.is_some();
    match args.order {
        Some(LogOrder::Arrival) => Ok("arrival"),
        Some(_) if by_arrival => {
            let what = "--follow and --after go by order of arrival";
            Err(Failure::new(Exit::Usage, what).next("Leave out --order"))
        }
        None if by_arrival => Ok("arrival"),
        None | Some(LogOrder::Causal) => Ok("causal"),
        Some(LogOrder::Time) => Ok("time"),
    }
}

/// Prints until enough was printed.
struct Shown {
    out: Output,
    left: u64,
}

impl Shown {
    fn entry(&mut self, entry: &Value) -> Outcome {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        if self.out.json {
            return self.out.value(entry);
        }
        self.out.line(&text::entry(self.out, entry))
    }

    fn entries(&mut self, entries: &[Value]) -> Outcome {
        entries.iter().try_for_each(|entry| self.entry(entry))
    }
}

/// Entries as the node tells of them: in the order in which they came to it.
fn follow(api: &Api, args: &LogArgs, shown: &mut Shown) -> Outcome {
    let from = args.after.as_deref().unwrap_or("start");
    for message in api.events(&args.topic, from)? {
        let Ok(message) = message else { break };
        let event: Value = serde_json::from_str(&message.data).unwrap_or_default();
        if event["type"] == "entry" {
            let mut entry = event["entry"].clone();
            entry["position"] = event["position"].clone();
            shown.entry(&entry)?;
        }
        if shown.left == 0 {
            return Ok(());
        }
    }
    Err(Failure::new(Exit::NoNode, "the node has stopped").next("Start it with `osier run`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(order: Option<LogOrder>, after: Option<&str>, follow: bool) -> LogArgs {
        LogArgs {
            topic: "lobby".to_owned(),
            order,
            after: after.map(str::to_owned),
            limit: None,
            follow,
        }
    }

    #[test]
    fn history_is_causal_unless_it_goes_by_arrival() {
        assert_eq!(order(&args(None, None, false)), Ok("causal"));
        assert_eq!(order(&args(Some(LogOrder::Time), None, false)), Ok("time"));
        assert_eq!(order(&args(None, Some("1"), false)), Ok("arrival"));
        assert_eq!(order(&args(None, None, true)), Ok("arrival"));
        for asked in [LogOrder::Time, LogOrder::Causal] {
            let refused = order(&args(Some(asked), Some("1"), false)).unwrap_err();
            assert_eq!(refused.exit, Exit::Usage);
            assert!(refused.to_string().contains("--order"), "{refused}");
        }
    }
}
