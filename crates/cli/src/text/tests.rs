//! What people read.

use serde_json::json;

use super::*;

const ID: &str = "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899";

fn lines(events: &[Value]) -> String {
    let out = Output::plain(false);
    events
        .iter()
        .map(|it| event(out, it))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn events_read_as_sentences() {
    let synced = json!({
        "type": "history_synced", "provider": ID, "session": ID, "still_pending": 0,
        "coverage": "complete", "convergence": { "kind": "converged", "with": 1 },
        "entries": 12, "state_hash": ID, "dangling": 0,
    });
    let mut floor = synced.clone();
    floor["coverage"] =
        json!({ "from": { "floor": { "time": 1_700_000_000_000u64, "hash": ID } } });
    floor["dangling"] = json!(2);
    let mut sole = synced.clone();
    sole["session"] = Value::Null;
    sole["convergence"] = json!({ "kind": "unverified" });
    let events = [
        json!({
            "type": "state", "phase": "syncing", "entries": 3, "authors": 1, "role": "peer",
            "synced": null,
        }),
        json!({
            "type": "state", "phase": "synced", "entries": 12, "authors": 1, "role": "peer",
            "synced": synced,
        }),
        json!({
            "type": "sync_started", "provider": ID, "session": ID, "mode": "resume",
            "resumed": true,
        }),
        json!({ "type": "progress", "provider": ID, "received": 4, "expected": 10 }),
        json!({ "type": "progress", "provider": ID, "received": 4, "expected": null }),
        json!({ "type": "sync_ended", "provider": ID, "session": ID, "outcome": "drained" }),
        synced,
        floor,
        sole,
        json!({
            "type": "history_sync_degraded", "provider": ID, "still_pending": 1,
            "reason": { "kind": "provider_lost", "cause": "connection closed" },
        }),
        json!({ "type": "history_sync_failed", "reasons": [] }),
        json!({ "type": "history_sync_failed", "reasons": [[ID, { "kind": "timeout" }]] }),
        json!({ "type": "behind", "cause": "link_lost", "lag_entries": 0 }),
        json!({ "type": "caught_up", "state_hash": ID }),
        json!({ "type": "lagged", "missed": 7 }),
    ];
    insta::assert_snapshot!(lines(&events));
}

#[test]
fn entries_are_one_clean_line() {
    let wild = format!("a\u{1b}[2Jb\n{}", "x".repeat(200));
    let entry = json!({
        "type": "entry", "entry": {
            "author": ID, "seq": 4, "time_ms": 1_700_000_000_123u64,
            "items": [{ "text": wild }, { "base64": "AA==" }],
        },
    });
    insta::assert_snapshot!(lines(&[entry]));
}
