//! `osier check`: verify the whole store.

use serde_json::{Value, json};

use super::Context;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    progress,
    reach::{Missing, Reach},
};

pub(crate) fn run(context: &Context) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let bar = progress::open(context.out, "check");
    let report = reach.api.post("/v1/check", &json!({}));
    bar.finish_and_clear();
    let report = report?;
    let faults = report["faults"].as_array().cloned().unwrap_or_default();
    context.out.either(&report, &text(&report, &faults))?;
    if faults.is_empty() {
        return Ok(());
    }
    let what = format!("the store has {} faults", faults.len());
    let next = "Restore a backup, or move the data directory away, keep its key, and sync again";
    Err(Failure::new(Exit::Store, what).next(next))
}

fn text(report: &Value, faults: &[Value]) -> String {
    let (entries, topics) = (&report["entries"], &report["topics"]);
    let checked = format!("checked {entries} entries in {topics} topics");
    if faults.is_empty() {
        return format!("{checked}: every signature holds, every table agrees");
    }
    let faults = faults
        .iter()
        .map(|fault| format!("fault: {}", fault.as_str().unwrap_or("-")));
    let lines: Vec<String> = std::iter::once(checked).chain(faults).collect();
    lines.join("\n")
}
