//! `osier log`: read history.

use serde_json::Value;

use super::Context;
use crate::{
    api::{Api, segment, topic_path},
    args::{LogArgs, LogOrder},
    causal::Causal,
    exit::Exit,
    failure::{Failure, Outcome},
    output::Output,
    reach::{Missing, Reach},
    text,
};

/// Entries asked for at once.
const PAGE: u64 = 500;

pub(crate) fn run(context: &Context, args: &LogArgs) -> Outcome {
    if args.follow && args.order == LogOrder::Time {
        let failure = Failure::new(Exit::Usage, "--follow shows entries as they come");
        return Err(failure.next("Leave out --order time"));
    }
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
        return follow(&reach.api, args, &mut shown);
    }
    let after = args.after.as_deref();
    match args.order {
        LogOrder::Causal => causal(&reach.api, args, &mut shown),
        LogOrder::Time => {
            let mut each = |entry: &Value| shown.entry(entry);
            pages(
                &reach.api,
                &args.topic,
                "time",
                after,
                args.limit,
                &mut each,
            )
        }
        LogOrder::Arrival => {
            let mut each = |entry: &Value| shown.entry(entry);
            pages(
                &reach.api,
                &args.topic,
                "arrival",
                after,
                args.limit,
                &mut each,
            )
        }
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
}

fn causal(api: &Api, args: &LogArgs, shown: &mut Shown) -> Outcome {
    let mut causal = Causal::default();
    let mut each = |entry: &Value| {
        let hash = entry["hash"].as_str().unwrap_or_default().to_owned();
        let ready = causal.push(hash, &links(entry), entry.clone());
        ready.iter().try_for_each(|entry| shown.entry(entry))
    };
    pages(
        api,
        &args.topic,
        "arrival",
        args.after.as_deref(),
        None,
        &mut each,
    )?;
    causal
        .finish()
        .iter()
        .try_for_each(|entry| shown.entry(entry))
}

/// Everything that an entry names.
fn links(entry: &Value) -> Vec<String> {
    let deps = entry["deps"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let all = std::iter::once(&entry["prev"]).chain(deps);
    all.filter_map(Value::as_str).map(str::to_owned).collect()
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

/// Calls `each` for every entry after a place, at most `limit`.
pub(super) fn pages(
    api: &Api,
    topic: &str,
    order: &str,
    after: Option<&str>,
    limit: Option<u64>,
    each: &mut dyn FnMut(&Value) -> Outcome,
) -> Outcome {
    let mut left = limit.unwrap_or(u64::MAX);
    let mut after = after.map(str::to_owned);
    while left > 0 {
        let from = after
            .as_deref()
            .map(|after| format!("&after={}", segment(after)));
        let (from, limit) = (from.unwrap_or_default(), left.min(PAGE));
        let entries = format!("{}/entries", topic_path(topic));
        let page = api.get(&format!("{entries}?order={order}&limit={limit}{from}"))?;
        let entries = page["entries"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        left = left.saturating_sub(entries.len() as u64);
        entries.iter().try_for_each(&mut *each)?;
        if page["done"].as_bool() != Some(false) {
            return Ok(());
        }
        after = page["next"].as_str().map(str::to_owned);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_are_prev_and_deps() {
        let entry = json!({ "prev": "a", "deps": ["b", "c"] });
        assert_eq!(links(&entry), ["a", "b", "c"]);
        assert!(links(&json!({ "prev": null, "deps": [] })).is_empty());
    }
}
