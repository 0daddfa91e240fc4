//! `osier doctor`: what commonly goes wrong on a machine, with a hint for each.

mod disk;
mod network;
mod system;

use serde_json::json;

use super::Context;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    output::Tone,
    table::Table,
};

/// What came of one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What was looked at.
    pub(crate) what: &'static str,
    pub(crate) verdict: Verdict,
    /// What was seen.
    pub(crate) seen: String,
    /// What to do; empty when all is well.
    pub(crate) hint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok,
    Warn,
    Bad,
}

impl Finding {
    pub(crate) fn ok(what: &'static str, seen: impl Into<String>) -> Self {
        Self::new(what, Verdict::Ok, seen, "")
    }

    pub(crate) fn new(
        what: &'static str,
        verdict: Verdict,
        seen: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            what,
            verdict,
            seen: seen.into(),
            hint: hint.into(),
        }
    }

    fn verdict_name(&self) -> &'static str {
        match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Bad => "bad",
        }
    }
}

pub(crate) fn run(context: &Context) -> Outcome {
    let findings = look(context);
    let value = findings.iter().map(|it| {
        json!({ "what": it.what, "verdict": it.verdict_name(), "seen": it.seen, "hint": it.hint })
    });
    let value = json!({ "findings": value.collect::<Vec<_>>() });
    context.out.either(&value, &text(context, &findings))?;
    let bad = findings
        .iter()
        .filter(|it| it.verdict == Verdict::Bad)
        .count();
    if bad == 0 {
        return Ok(());
    }
    let failure = Failure::new(Exit::Failure, format!("{bad} of these must be mended"));
    Err(failure.next("The hints say how"))
}

/// Everything that is looked at, cheapest first.
fn look(context: &Context) -> Vec<Finding> {
    let config = &context.config;
    let mut findings = vec![
        system::version(),
        system::clock(),
        system::file_limit(),
        disk::directory(&config.data_dir),
        disk::space(&config.data_dir),
        disk::secrets(&config.data_dir),
    ];
    findings.extend(network::node(config));
    findings.push(network::reachability(config));
    findings
}

fn text(context: &Context, findings: &[Finding]) -> String {
    let mut table = Table::new(&["check", "verdict", "seen"]);
    for finding in findings {
        let tone = match finding.verdict {
            Verdict::Ok => Tone::Good,
            Verdict::Warn => Tone::Warn,
            Verdict::Bad => Tone::Bad,
        };
        let verdict = context.out.paint(tone, finding.verdict_name());
        table.row(vec![finding.what.to_owned(), verdict, finding.seen.clone()]);
    }
    let hints = findings.iter().filter(|it| !it.hint.is_empty());
    let hints: Vec<String> = hints
        .map(|it| format!("{}: {}", it.what, it.hint))
        .collect();
    if hints.is_empty() {
        return table.render();
    }
    format!("{}\n\n{}", table.render(), hints.join("\n"))
}
