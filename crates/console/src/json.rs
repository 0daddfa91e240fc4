//! How entries and events read as JSON: one shape for the API, `watch --json` and `log --json`.

use osier::{Event, Position, TopicId};
use serde_json::Value;

use crate::shape::Message;

/// An event of a topic: `type`, `topic`, `position` to resume from, and the event's own fields.
pub fn event(topic: TopicId, at: Position, event: &Event) -> Value {
    serde_json::to_value(Message::new(topic, at, event)).unwrap_or_default()
}
