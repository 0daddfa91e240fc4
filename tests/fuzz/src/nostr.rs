//! Readers of `osier-nostr`: what clients and other relays send.

use osier_core::Instant;
use osier_nostr::{
    ClientMessage, Filter, RelayMessage, UnverifiedEvent, limit, nip::nip77::NegSession, read_item,
};
use osier_reconcile::{Item, VectorStorage};
use serde_json::Value;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// An event (NOS-2 to NOS-6), against a second reader of JSON.
pub fn event(bytes: &[u8]) {
    let Some(text) = text(bytes) else {
        return;
    };
    let Ok(event) = UnverifiedEvent::parse(text) else {
        return;
    };
    let canonical = event.json();
    assert!(canonical.len() <= limit::EVENT_JSON_BYTES_MAX);
    let again = UnverifiedEvent::parse(canonical).expect("own text");
    assert_eq!(again.json(), canonical, "the canonical text is its own");
    let theirs: Value = serde_json::from_str(text).expect("what is accepted is JSON");
    let ours: Value = serde_json::from_str(canonical).expect("what is written is JSON");
    for key in [
        "id",
        "pubkey",
        "created_at",
        "kind",
        "tags",
        "content",
        "sig",
    ] {
        assert_eq!(ours[key], theirs[key], "both readers read the same {key}");
    }
    if let Ok(item) = read_item(bytes) {
        assert_eq!(item.json(), text, "an item is canonical");
    }
}

/// A filter (NOS-10 to NOS-17).
pub fn filter(bytes: &[u8]) {
    let Some(text) = text(bytes) else {
        return;
    };
    if let Ok(filter) = Filter::parse(text) {
        let canonical = filter.to_json();
        let again = Filter::parse(&canonical).expect("own text");
        assert_eq!(again, filter, "comes back equal");
        assert_eq!(again.to_json(), canonical, "equal filters have one text");
        serde_json::from_str::<Value>(text).expect("what is accepted is JSON");
    }
}

/// A frame of a client (NOS-40 to NOS-43): read, or refused with words.
pub fn client_message(bytes: &[u8]) {
    let Some(text) = text(bytes) else {
        return;
    };
    match ClientMessage::parse(text) {
        Ok(message) => {
            let canonical = message.to_json();
            let again = ClientMessage::parse(&canonical).expect("own text");
            assert_eq!(again.to_json(), canonical, "comes back equal");
        }
        Err(refusal) => {
            let answer = refusal.into_message().to_json();
            // It may repeat an id that is no legal one (NOS-42), so it need not be read as ours.
            serde_json::from_str::<Value>(&answer).expect("a refusal is JSON");
        }
    }
}

/// A frame of another relay, read by this node as its client.
pub fn relay_message(bytes: &[u8]) {
    let Some(text) = text(bytes) else {
        return;
    };
    if let Ok(message) = RelayMessage::parse(text) {
        let canonical = message.to_json();
        let again = RelayMessage::parse(&canonical).expect("own text");
        assert_eq!(again.to_json(), canonical, "comes back equal");
    }
}

/// A frame of a comparison at the server's end (NOS-80 to NOS-82).
pub fn negentropy(bytes: &[u8]) {
    let records: VectorStorage = (0..64_u8)
        .map(|n| Item {
            time: u64::from(n) / 3,
            id: [n; 32],
        })
        .collect();
    let now = Instant::START;
    let mut session = NegSession::open(&records, 64, now).expect("as many as may be");
    if let Ok(answer) = session.answer(&records, bytes, now) {
        assert!(answer.len() <= limit::NEG_FRAME_BYTES_MAX);
    }
    let few = NegSession::open(&records, 63, now);
    assert!(few.is_err(), "a set beyond the cap is refused, not cut");
}
