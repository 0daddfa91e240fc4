//! What the tests share.

use osier_nostr::{Event, Filter, Settings, testing::World};
use proptest::test_runner::Config;
use serde_json::Value;

/// Ten thousand cases a property at least; `PROPTEST_CASES` asks for more.
pub(crate) fn cases() -> Config {
    let mut config = Config::default();
    config.cases = config.cases.max(10_000);
    config
}

/// A relay with default settings.
pub(crate) fn world() -> World {
    World::new(Settings::default())
}

/// A filter; `$1` to `$9` stand for the keys of test users.
pub(crate) fn filter(text: &str) -> Filter {
    Filter::parse(&named(text)).expect("a test's filter")
}

/// The text with `$1` to `$9` replaced by the keys of test users.
pub(crate) fn named(text: &str) -> String {
    (1..=9).fold(text.to_owned(), |text, n| {
        text.replace(
            &format!("${n}"),
            &osier_nostr::testing::pubkey(n).to_string(),
        )
    })
}

/// The verb of a frame, and its second element.
pub(crate) fn verb(frame: &str) -> (String, String) {
    let value: Value = serde_json::from_str(frame).expect("a frame is JSON");
    let text = |index: usize| value[index].as_str().unwrap_or_default().to_owned();
    (text(0), text(1))
}

/// The ids of the events among the frames, in order.
pub(crate) fn event_ids(frames: &[String]) -> Vec<String> {
    let events = frames
        .iter()
        .filter(|frame| frame.starts_with("[\"EVENT\""));
    let values = events.map(|frame| serde_json::from_str::<Value>(frame).expect("JSON"));
    values
        .map(|value| value[2]["id"].as_str().expect("an id").to_owned())
        .collect()
}

/// The ids of events, in order.
pub(crate) fn ids<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    events
        .into_iter()
        .map(|event| event.id().to_string())
        .collect()
}

/// How many frames begin so.
pub(crate) fn count(frames: &[String], start: &str) -> usize {
    frames
        .iter()
        .filter(|frame| frame.starts_with(start))
        .count()
}

/// Whether an `OK` among the frames says so of the event, with a reason that begins so.
pub(crate) fn is_ok(frames: &[String], event: &Event, accepted: bool, reason: &str) -> bool {
    let start = format!("[\"OK\",\"{}\",{accepted},\"{reason}", event.id());
    count(frames, "[\"OK\"") == 1 && count(frames, &start) == 1
}
