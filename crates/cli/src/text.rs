//! Entries and events as lines for people, from the JSON that the API gives.

use chrono::{DateTime, SecondsFormat};
use serde_json::Value;

use crate::output::{Output, Tone};

/// Columns of an entry's text before it is cut.
const TEXT_COLUMNS_MAX: usize = 100;

/// The first eight digits of an id.
pub(crate) fn short(id: &Value) -> String {
    id.as_str().unwrap_or("-").chars().take(8).collect()
}

/// A time in milliseconds as UTC.
pub(crate) fn time(ms: &Value) -> String {
    let ms = ms.as_u64().and_then(|ms| i64::try_from(ms).ok());
    let time = ms.and_then(DateTime::from_timestamp_millis);
    time.map_or_else(
        || "-".to_owned(),
        |it| it.to_rfc3339_opts(SecondsFormat::Millis, true),
    )
}

/// `complete`, or where the floor is.
pub(crate) fn coverage(coverage: &Value) -> String {
    let floor = &coverage["from"]["floor"];
    if floor.is_null() {
        return coverage.as_str().unwrap_or("-").to_owned();
    }
    format!("from {}", time(&floor["time"]))
}

/// An entry on one line: time, author, place in the chain, text.
pub(crate) fn entry(out: Output, entry: &Value) -> String {
    let at = time(&entry["time_ms"]);
    let who = format!("{}/{}", short(&entry["author"]), entry["seq"]);
    format!("{} {who}  {}", out.paint(Tone::Faint, &at), items(entry))
}

fn items(entry: &Value) -> String {
    let items = entry["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let first = items.first().map(item).unwrap_or_default();
    match items.len() {
        0 | 1 => first,
        more => format!("{first} (and {} more items)", more - 1),
    }
}

fn item(item: &Value) -> String {
    if let Some(text) = item["text"].as_str() {
        return cut(text);
    }
    match item["base64"].as_str() {
        Some(base64) => format!("({} bytes)", base64.len() / 4 * 3),
        None => "(dropped)".to_owned(),
    }
}

/// One line of at most so many columns, without what would move a terminal's cursor.
fn cut(text: &str) -> String {
    let clean = text
        .trim_end()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = clean.clone().take(TEXT_COLUMNS_MAX).collect();
    if clean.count() > TEXT_COLUMNS_MAX {
        line.push_str("...");
    }
    line
}

/// The word for a phase, in its colour.
pub(crate) fn phase(out: Output, phase: &Value) -> String {
    let word = phase.as_str().unwrap_or("-");
    let tone = match word {
        "synced" => Tone::Good,
        "failed" | "diverged" => Tone::Bad,
        "offline" => Tone::Faint,
        _ => Tone::Warn,
    };
    out.paint(tone, word)
}

/// What became of history, in one sentence.
pub(crate) fn event(out: Output, event: &Value) -> String {
    let who = short(&event["provider"]);
    let kind = event["type"].as_str().unwrap_or("-");
    let (tone, text) = match kind {
        "state" => return state(out, event),
        "entry" => return entry(out, &event["entry"]),
        "sync_started" => (Tone::Faint, sync_started(event)),
        "progress" => (Tone::Faint, progress(event)),
        "sync_ended" => {
            let (session, outcome) = (short(&event["session"]), &event["outcome"]);
            let outcome = outcome.as_str().unwrap_or("-");
            (
                Tone::Faint,
                format!("SyncEnded: with {who}, session {session}: {outcome}"),
            )
        }
        "history_synced" => (
            synced_tone(event),
            format!("HistorySynced: {}", synced(event)),
        ),
        "history_sync_degraded" => {
            let pending = &event["still_pending"];
            let why = reason(&event["reason"]);
            (
                Tone::Warn,
                format!("HistorySyncDegraded: {who}: {why}; {pending} still pending"),
            )
        }
        "history_sync_failed" => (Tone::Bad, failed(event)),
        "history_truncated" => {
            let from = coverage(&event["coverage"]);
            let text = format!("HistoryTruncated: {who} holds history {from}; ask someone deeper");
            (Tone::Warn, text)
        }
        "behind" => {
            let cause = event["cause"].as_str().unwrap_or("-").replace('_', " ");
            let missing = missing(&event["lag_entries"]);
            (Tone::Warn, format!("Behind: {cause}; {missing}"))
        }
        "caught_up" => (
            Tone::Good,
            format!("CaughtUp: state {}", short(&event["state_hash"])),
        ),
        "withdrawn" => {
            let entries = &event["entries"];
            let text = format!("Withdrawn: a revocation took {entries} entries out of the history");
            (Tone::Warn, text)
        }
        "provider_up" => (Tone::Faint, format!("provider {who} can be reached")),
        "provider_down" => (Tone::Faint, format!("provider {who} cannot be reached")),
        "diverged" => (Tone::Bad, "Diverged: trusted providers disagree".to_owned()),
        "author_forked" => {
            let author = short(&event["author"]);
            (
                Tone::Bad,
                format!("author {author} signed two entries at one position"),
            )
        }
        "lagged" => (
            Tone::Warn,
            format!("{} events were left out here", event["missed"]),
        ),
        "broken" => (Tone::Bad, format!("broken off: {}", event["error"])),
        _ => (Tone::Faint, event.to_string()),
    };
    out.paint(tone, &format!("== {text}"))
}

fn state(out: Output, state: &Value) -> String {
    let word = phase(out, &state["phase"]);
    let (entries, authors, role) = (&state["entries"], &state["authors"], &state["role"]);
    let role = role.as_str().unwrap_or("-");
    let line = format!("== now {word}: role {role}, {entries} entries by {authors} authors");
    if state["synced"].is_object() {
        return format!("{line}; {}", synced(&state["synced"]));
    }
    line
}

/// How much is missing; 0 says that nobody knows.
fn missing(lag: &Value) -> String {
    match lag.as_u64() {
        Some(0) | None => "catching up".to_owned(),
        Some(1) => "1 entry is missing".to_owned(),
        Some(lag) => format!("{lag} entries are missing"),
    }
}

fn sync_started(event: &Value) -> String {
    let mode = event["mode"].as_str().unwrap_or("-");
    let how = match mode {
        "equal" => "both hold the same",
        "empty" => "everything is sent",
        "resume" => "goes on from the last session's token",
        "heads" => "heads are compared",
        "ranges" => "ranges are reconciled",
        other => other,
    };
    let resumed = event["resumed"].as_bool().unwrap_or(false) && mode != "resume";
    let resumed = if resumed { ", resumed" } else { "" };
    let (who, session) = (short(&event["provider"]), short(&event["session"]));
    format!("SyncStarted: with {who}, session {session}: {how}{resumed}")
}

fn progress(event: &Value) -> String {
    let who = short(&event["provider"]);
    match event["expected"].as_u64() {
        Some(expected) => format!("Progress: {} of {expected} from {who}", event["received"]),
        None => format!("Progress: {} from {who}", event["received"]),
    }
}

fn synced_tone(event: &Value) -> Tone {
    if event["coverage"] == "complete" {
        Tone::Good
    } else {
        Tone::Warn
    }
}

/// Coverage, convergence and evidence.
pub(crate) fn synced(synced: &Value) -> String {
    let convergence = match synced["convergence"]["kind"].as_str() {
        Some("converged") => format!("converged with {}", synced["convergence"]["with"]),
        Some(other) => other.to_owned(),
        None => "-".to_owned(),
    };
    let by = match synced["session"].as_str() {
        Some(_) => {
            let session = short(&synced["session"]);
            format!(
                "vouched for by {} in session {session}",
                short(&synced["provider"])
            )
        }
        None => "this node is the only archive".to_owned(),
    };
    let text = format!(
        "{}, {convergence}, {} entries, state {}, {by}, {} pending",
        coverage(&synced["coverage"]),
        synced["entries"],
        short(&synced["state_hash"]),
        synced["still_pending"],
    );
    if synced["dangling"].as_u64().unwrap_or(0) > 0 {
        return format!(
            "{text}, {} named entries that nobody holds",
            synced["dangling"]
        );
    }
    text
}

fn failed(event: &Value) -> String {
    let reasons = event["reasons"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if reasons.is_empty() {
        return "HistorySyncFailed: no trusted provider was found".to_owned();
    }
    let each = reasons
        .iter()
        .map(|pair| format!("{}: {}", short(&pair[0]), reason(&pair[1])));
    format!("HistorySyncFailed: {}", each.collect::<Vec<_>>().join("; "))
}

/// Why a provider does not count.
pub(crate) fn reason(reason: &Value) -> String {
    let kind = reason["kind"].as_str().unwrap_or("-").replace('_', " ");
    let more = ["cause", "reason", "rule"]
        .iter()
        .find_map(|key| reason[*key].as_str());
    more.map_or(kind.clone(), |more| format!("{kind}: {more}"))
}

#[cfg(test)]
mod tests;
