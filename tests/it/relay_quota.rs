//! How much a key and a connection may do in a minute.

use osier_nostr::testing;
use serde_json::{Value, json};

use crate::{
    relay_frame::http,
    support::{
        client::Client,
        node::{Folder, Node},
    },
};

/// NOS-35, NOS-90: what is over a bound is told so, others are not held back, and the bounds are
/// in the document.
#[test]
fn who_does_too_much_in_a_minute_is_told() {
    let settings = [
        ("OSIER_RELAY_EVENTS_PER_MINUTE_PER_KEY", "5"),
        ("OSIER_RELAY_REQUESTS_PER_MINUTE", "4"),
        ("OSIER_RELAY_CONNECTIONS_PER_IP_MAX", "77"),
    ];
    let node = Node::start_with(Folder::new(), &settings);
    let mut clients = [Client::connect(&node), Client::connect(&node)];
    let notes: Vec<_> = (0..6).map(|n| testing::note(1, n, "too many")).collect();
    for (n, note) in notes[..5].iter().enumerate() {
        clients[n % 2].publish_all([note]);
    }
    for client in &mut clients {
        let (taken, reason) = client.publish(&notes[5]);
        assert!(!taken && reason.starts_with("rate-limited: "), "{reason}");
    }
    clients[0].publish_all([&testing::note(2, 1, "another key")]);

    // A forged event costs its alleged signer nothing.
    let forged = testing::note(3, 1, "forged").json().replace("forged", "x");
    for _ in 0..9 {
        let id = serde_json::from_str::<Value>(&forged).expect("an event")["id"].clone();
        let (taken, reason) = clients[0].publish_text(id.as_str().expect("an id"), &forged);
        assert!(!taken && reason.starts_with("invalid: "), "{reason}");
    }
    clients[0].publish_all([&testing::note(3, 1, "its own")]);

    let kinds = [json!({ "kinds": [1] })];
    let [first, second] = &mut clients;
    for n in 0..2 {
        assert_eq!(first.req(&format!("s{n}"), &kinds).ids.len(), 7);
        assert_eq!(first.count(&kinds)["count"], 7);
    }
    for verb in ["REQ", "COUNT"] {
        let reason = first.refused(verb, "more", &kinds);
        assert!(reason.starts_with("rate-limited: "), "{reason}");
    }
    assert_eq!(second.req("s", &kinds).ids.len(), 7);

    let get = "GET / HTTP/1.1\r\nHost: x\r\nAccept: application/nostr+json\r\n\r\n";
    let (_, _, body) = http(&node, get);
    let document: Value = serde_json::from_str(&body).expect("a document");
    let limits = &document["limitation"];
    assert_eq!(limits["max_events_per_minute_per_key"], 5);
    assert_eq!(limits["max_events_per_minute_per_ip"], 12_000);
    assert_eq!(limits["max_requests_per_minute"], 4);
    assert_eq!(limits["max_connections_per_ip"], 77);

    // What happened is counted: seven taken, eleven refused, the rest as above.
    let metrics = node.get("/metrics");
    for line in [
        "osier_relay_events_in_total 7",
        "osier_relay_events_known_total 0",
        "osier_relay_events_out_total 21",
        "osier_relay_refused_total{what=\"event\",reason=\"rate-limited\"} 2",
        "osier_relay_refused_total{what=\"event\",reason=\"invalid\"} 9",
        "osier_relay_refused_total{what=\"request\",reason=\"rate-limited\"} 2",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
}
