//! `osier log`: read history.

use serde_json::Value;

use super::Context;
use crate::{
    api::Api,
    args::{LogArgs, LogOrder},
    causal::Causal,
    exit::Exit,
    failure::{Failure, Outcome},
    output::Output,
    page::Pages,
    reach::{Missing, Reach},
    text,
};

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
    match args.order {
        LogOrder::Causal => causal(&reach.api, args, &mut shown),
        LogOrder::Time => in_order(&reach.api, args, "time", &mut shown),
        LogOrder::Arrival => in_order(&reach.api, args, "arrival", &mut shown),
    }
}

fn in_order(api: &Api, args: &LogArgs, order: &str, shown: &mut Shown) -> Outcome {
    let mut pages = Pages::new(api, &args.topic, order, args.after.as_deref());
    while let Some(entries) = pages.next()? {
        shown.entries(&entries)?;
        if shown.left == 0 {
            break;
        }
    }
    Ok(())
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

fn causal(api: &Api, args: &LogArgs, shown: &mut Shown) -> Outcome {
    let mut causal = Causal::default();
    let mut pages = Pages::new(api, &args.topic, "arrival", args.after.as_deref());
    while let Some(entries) = pages.next()? {
        for entry in entries {
            let hash = entry["hash"].as_str().unwrap_or_default().to_owned();
            let links = links(&entry);
            shown.entries(&causal.push(hash, &links, entry))?;
        }
        if shown.left == 0 {
            return Ok(());
        }
    }
    shown.entries(&causal.finish())
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
