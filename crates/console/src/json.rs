//! How entries and events read as JSON: one shape for the API, `watch --json` and `log --json`.

use osier::{Entry, EntryPhase, Event, Item, Position, TopicId};
use serde_json::{Value, json};

/// An entry with its items. An item that is UTF-8 has `text`; any other has `base64`; one that was
/// dropped has `dropped`, its hash.
pub fn entry(entry: &Entry) -> Value {
    let header = entry.header();
    let items: Vec<Value> = entry.items().iter().map(item).collect();
    json!({
        "hash": entry.hash(),
        "author": header.author(),
        "seq": header.seq().get(),
        "prev": header.prev(),
        "deps": header.deps(),
        "time_ms": header.time().as_millis(),
        "kind": header.kind().get(),
        "items": items,
    })
}

fn item(item: &Item) -> Value {
    let Some(bytes) = item.bytes() else {
        return json!({ "dropped": item.hash() });
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "base64": data_encoding::BASE64.encode(bytes) }),
    }
}

/// An entry at its place in the log.
pub fn placed(at: Position, seen: &Entry) -> Value {
    let mut value = entry(seen);
    value["position"] = json!(at);
    value
}

/// An event of a topic: `type`, `topic`, `position` to resume from, and the event's own fields.
pub fn event(topic: TopicId, at: Position, event: &Event) -> Value {
    let mut value = match event {
        Event::Entry { entry, phase, .. } => json!({
            "type": "entry",
            "phase": phase_name(*phase),
            "entry": self::entry(entry),
        }),
        Event::Sync(event) => {
            serde_json::to_value(event).unwrap_or_else(|error| broken(&error.to_string()))
        }
        Event::Broken(error) => broken(&error.to_string()),
    };
    value["topic"] = json!(topic);
    value["position"] = json!(at);
    value
}

fn phase_name(phase: EntryPhase) -> &'static str {
    match phase {
        EntryPhase::Backfill => "backfill",
        EntryPhase::Live => "live",
    }
}

/// The last message of a stream that cannot go on.
fn broken(error: &str) -> Value {
    json!({ "type": "broken", "error": error })
}
