//! `osier nostr`: events from and to other relays.

use std::{env, thread, time::Duration};

use osier_relay::{Counted, Filter};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Context;
use crate::{
    api::topic_path,
    args::{CountArgs, MirrorArgs, NostrCommand},
    exit::Exit,
    failure::{Failure, Outcome},
    interrupt,
    output::Output,
    progress,
    reach::{Missing, Reach},
};

/// First wait before a relay is connected to again; doubles up to [`AGAIN_AFTER_MAX`].
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Longest wait.
const AGAIN_AFTER_MAX: Duration = Duration::from_mins(1);

/// Holds the key by which this node authenticates.
const KEY: &str = "OSIER_NOSTR_KEY";

pub(crate) fn run(context: &Context, command: NostrCommand) -> Outcome {
    match command {
        NostrCommand::Pull(args) => transfer(context, &args, "pull"),
        NostrCommand::Push(args) => transfer(context, &args, "push"),
        NostrCommand::Sync(args) => transfer(context, &args, "sync"),
        NostrCommand::Mirror(args) => mirror(context, &args),
        NostrCommand::Count(args) => count(context, &args),
    }
}

fn transfer(context: &Context, args: &MirrorArgs, direction: &str) -> Outcome {
    check_filter(args.filter.as_deref())?;
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let path = path(context, &reach, args)?;
    let bar = progress::open(context.out, direction);
    let done = reach.api.post(&path, &order(args, direction, false));
    bar.finish_and_clear();
    let done = done?;
    for reason in done["reasons"].as_array().into_iter().flatten() {
        context.out.note(reason.as_str().unwrap_or_default());
    }
    context.out.either(&done, &text(&done, direction))?;
    if direction != "push" && done["complete"] == false {
        let what = format!("not everything of {} could be read", args.url);
        return Err(Failure::new(Exit::Incomplete, what)
            .because("some second holds more events than it gives in a page")
            .next("Narrow the filter by authors or kinds, or ask for a relay with NIP-77"));
    }
    Ok(())
}

/// Goes on until it is stopped.
fn mirror(context: &Context, args: &MirrorArgs) -> Outcome {
    check_filter(args.filter.as_deref())?;
    let reach = Reach::running(&context.config)?;
    let path = path(context, &reach, args)?;
    interrupt::ends_well();
    let mut wait = AGAIN_AFTER;
    loop {
        let begun = std::time::Instant::now();
        let ended = reach.api.post(&path, &order(args, "pull", true));
        if let Err(failure) = ended {
            if matches!(failure.exit, Exit::Usage | Exit::NotFound | Exit::Denied) {
                return Err(failure);
            }
            context.out.note(&failure.to_string());
        }
        // The node itself may have gone.
        Reach::running(&context.config)?;
        if begun.elapsed() > AGAIN_AFTER_MAX {
            wait = AGAIN_AFTER;
        }
        context
            .out
            .note(&format!("connecting again in {} s", wait.as_secs()));
        thread::sleep(wait);
        wait = (wait * 2).min(AGAIN_AFTER_MAX);
    }
}

fn order(args: &MirrorArgs, direction: &str, follow: bool) -> Value {
    let mut order = json!({ "url": args.url, "direction": direction, "follow": follow });
    order["patience_s"] = json!(args.patience);
    order["again"] = json!(args.again);
    if let Some(filter) = &args.filter {
        order["filter"] = json!(filter);
    }
    if let Ok(key) = env::var(KEY) {
        order["key"] = json!(key);
    }
    order
}

fn path(context: &Context, reach: &Reach, args: &MirrorArgs) -> Outcome<String> {
    let named = args.topic.as_ref().unwrap_or(&context.config.relay.topic);
    let found = reach.api.get(&topic_path(named));
    let topic = match (found, &args.topic) {
        (Ok(topic), _) => topic,
        (Err(failure), Some(_)) => return Err(failure),
        // The name is the default: a node with one topic means that one.
        (Err(failure), None) => {
            let all = reach.api.get("/v1/topics")?;
            match all["topics"].as_array().map(Vec::as_slice) {
                Some([only]) => only.clone(),
                _ => return Err(failure),
            }
        }
    };
    let id = topic["id"].as_str().unwrap_or_default();
    Ok(format!("{}/nostr/mirror", topic_path(id)))
}

fn check_filter(filter: Option<&str>) -> Outcome<Filter> {
    Filter::parse(filter.unwrap_or("{}")).map_err(|error| {
        Failure::new(Exit::Usage, "--filter is not a filter of NIP-01").because(error)
    })
}

fn text(done: &Value, direction: &str) -> String {
    let mut lines = Vec::new();
    if let Some(why) = done["paged_because"].as_str() {
        lines.push(format!("read by pages, not compared: {why}"));
    }
    if done["resumed"] == true {
        lines.push("what was read before was not asked for again (--again asks)".to_owned());
    }
    let number = |key: &str| done[key].as_u64().unwrap_or(0);
    if direction != "push" {
        lines.push(format!(
            "received {}: {} new, {} held already, {} not taken",
            number("received"),
            number("stored"),
            number("held"),
            number("refused"),
        ));
    }
    if direction != "pull" {
        lines.push(format!(
            "sent {}: {} new there, {} not taken there",
            number("sent"),
            number("taken"),
            number("rejected"),
        ));
    }
    lines.join("\n")
}

fn count(context: &Context, args: &CountArgs) -> Outcome {
    let filter = check_filter(Some(&args.filter))?;
    let runtime = Runtime::new()
        .map_err(|error| Failure::other("cannot start worker threads").because(error))?;
    let counted = runtime.block_on(osier_relay::count(&args.urls, &filter));
    show_count(context.out, &counted)?;
    if counted.total.is_none() {
        return Err(Failure::other("no relay answered").next("The reasons are above"));
    }
    Ok(())
}

fn show_count(out: Output, counted: &Counted) -> Outcome {
    let mut answers = Vec::new();
    for answer in &counted.answers {
        let url = &answer.url;
        answers.push(match &answer.outcome {
            Ok(it) => {
                let sketch = it.sketch.is_some();
                json!({
                    "url": url, "count": it.count, "approximate": it.approximate, "hll": sketch,
                })
            }
            Err(error) => {
                out.note(&error.to_string());
                json!({ "url": url, "error": error.to_string() })
            }
        });
    }
    let Some(total) = &counted.total else {
        return out.either(&json!({ "count": null, "relays": answers }), "no count");
    };
    let mut text: Vec<String> = answers
        .iter()
        .filter(|it| it["count"].is_u64())
        .map(|it| {
            format!(
                "{:>12}  {}",
                it["count"],
                it["url"].as_str().unwrap_or_default()
            )
        })
        .collect();
    let mut words = vec![format!("{:>12}  together", total.count)];
    if total.approximate {
        words.push("about: relays hold copies of each other's events".to_owned());
    }
    if total.partial {
        words.push("not all relays answered".to_owned());
    }
    text.push(words.join("; "));
    let value = json!({
        "count": total.count, "approximate": total.approximate, "partial": total.partial,
        "relays": answers,
    });
    out.either(&value, &text.join("\n"))
}
