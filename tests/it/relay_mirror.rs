//! This node as a client of other relays, honest and not.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use osier_nostr::{Event, testing};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept};

use crate::support::{
    PATIENCE,
    client::{Client, ids},
    fails, json as json_of,
    node::{Folder, Node},
    ok,
};

fn notes(author: u8, times: std::ops::Range<u64>) -> Vec<Event> {
    times
        .map(|at| testing::note(author, at, &format!("{author} at {at}")))
        .collect()
}

fn url(node: &Node) -> String {
    format!("ws://{}", node.relay())
}

fn count(client: &mut Client) -> Value {
    client.count(&[json!({ "kinds": [1] })])["count"].clone()
}

/// Events go both ways by comparison; what both have is not moved, and a second run moves nothing.
#[test]
fn two_relays_are_brought_together() {
    let (here, there) = (Node::start(), Node::start());
    let (mut at_here, mut at_there) = (Client::connect(&here), Client::connect(&there));
    let shared = notes(1, 0..120);
    at_here.publish_all(shared.iter().chain(&notes(2, 0..20)));
    at_there.publish_all(shared.iter().chain(&notes(3, 0..30)));
    let run = |args: &[&str]| json_of(&here.data(), &[&["nostr"], args].concat());

    let pulled = run(&["pull", &url(&there)]);
    assert_eq!(pulled["paged_because"], Value::Null);
    assert_eq!(
        (&pulled["received"], &pulled["stored"]),
        (&json!(30), &json!(30)),
        "{pulled}"
    );
    assert_eq!(
        (count(&mut at_here), count(&mut at_there)),
        (json!(170), json!(150))
    );
    let filter = r#"{"kinds":[1],"until":9}"#;
    let pushed = run(&["push", &url(&there), "--filter", filter]);
    assert_eq!(
        (&pushed["sent"], &pushed["taken"]),
        (&json!(10), &json!(10)),
        "{pushed}"
    );
    let synced = run(&["sync", &url(&there)]);
    assert_eq!(
        (&synced["received"], &synced["sent"]),
        (&json!(0), &json!(10)),
        "{synced}"
    );
    let again = run(&["sync", &url(&there)]);
    assert_eq!(
        (&again["received"], &again["sent"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
    assert_eq!(
        (count(&mut at_here), count(&mut at_there)),
        (json!(170), json!(170))
    );
}

/// case NG-05: what was deleted here does not come back, and is deleted there.
#[test]
fn case_ng_05_a_deleted_event_does_not_come_back() {
    let (here, there) = (Node::start(), Node::start());
    let (mut at_here, mut at_there) = (Client::connect(&here), Client::connect(&there));
    let both = notes(1, 0..5);
    at_here.publish_all(&both);
    at_there.publish_all(&both);
    let delete = testing::event(1, 50, 5, &[&["e", &both[2].id().to_string()]], "");
    at_here.publish_all([&delete]);
    let filter = r#"{"kinds":[1]}"#;
    let sync = ["nostr", "sync", &url(&there), "--filter", filter];
    json_of(&here.data(), &sync);
    assert_eq!(
        (count(&mut at_here), count(&mut at_there)),
        (json!(4), json!(4))
    );
    let again = json_of(&here.data(), &sync);
    assert_eq!(
        (&again["received"], &again["sent"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
}

/// Without negentropy there are pages, and they say why.
#[test]
fn a_relay_without_negentropy_is_read_by_pages() {
    let settings = [
        ("OSIER_RELAY_NEGENTROPY", "false"),
        ("OSIER_RELAY_PAGE_EVENTS_MAX", "20"),
    ];
    let there = Node::start_with(Folder::new(), &settings);
    let here = Node::start();
    let events: Vec<Event> = (0..333_u64)
        .map(|n| testing::note(1, n / 4, &n.to_string()))
        .collect();
    Client::connect(&there).publish_all(&events);
    let pulled = json_of(&here.data(), &["nostr", "pull", &url(&there)]);
    assert!(
        pulled["paged_because"]
            .as_str()
            .is_some_and(|why| why.contains("unsupported"))
    );
    assert_eq!(
        (&pulled["stored"], &pulled["complete"]),
        (&json!(333), &json!(true)),
        "{pulled}"
    );
    assert_eq!(count(&mut Client::connect(&here)), 333);
}

/// Live events of a relay come in while it is mirrored, and again after it was away.
#[test]
fn a_relay_is_mirrored_live() {
    let there = Node::start();
    let settings = [("OSIER_RELAY_MIRRORS", &*url(&there))];
    let here = Node::start_with(Folder::new(), &settings);
    let mut at_here = Client::connect(&here);
    at_here.req("live", &[json!({ "kinds": [1] })]);
    let late = notes(4, 1_000..1_003);
    Client::connect(&there).publish_all(&late);
    for event in &late {
        let message = at_here.expect("EVENT", "live");
        assert!(
            ids(&late).contains(&message[2]["id"].as_str().expect("an id").to_owned()),
            "{event:?}"
        );
    }
}

/// Counts of several relays are merged, never added (case CT-05).
#[test]
fn case_ct_05_counts_of_mirrors_are_not_added() {
    let (one, other) = (Node::start(), Node::start());
    let liked = "ab".repeat(32);
    let likes: Vec<Event> = (1..=40)
        .map(|n| testing::event(n, 5, 7, &[&["e", &liked]], "+"))
        .collect();
    Client::connect(&one).publish_all(&likes);
    Client::connect(&other).publish_all(&likes[..30]);
    let filter = format!("{{\"kinds\":[7],\"#e\":[\"{liked}\"]}}");
    let refuses = fake(|socket, message| {
        let closed = json!(["CLOSED", message[1], "error: no"]);
        socket
            .send(Message::text(closed.to_string()))
            .expect("it reads");
    });
    let (one, other, bad) = (url(&one), url(&other), format!("ws://{refuses}"));
    let args = ["nostr", "count", &one, &other, &bad, "--filter", &filter];
    let counted = json_of(&Folder::new().path(), &args);
    let total = counted["count"].as_u64().expect("a number");
    assert!((40..60).contains(&total), "{counted}");
    assert_eq!(
        (&counted["approximate"], &counted["partial"]),
        (&json!(true), &json!(true))
    );
    assert!(
        counted["relays"][2]["error"]
            .as_str()
            .expect("why")
            .contains("error: no")
    );
}

/// A relay of ours that answers each message as it is told.
pub(crate) fn fake(
    answer: impl Fn(&mut WebSocket<TcpStream>, &Value) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        // Ends with the test's process.
        for stream in listener.incoming().map_while(Result::ok) {
            let Ok(mut socket) = accept(stream) else {
                continue;
            };
            while let Ok(message) = socket.read() {
                if let Message::Text(text) = message {
                    let value: Value = serde_json::from_str(&text).expect("a client sends JSON");
                    answer(&mut socket, &value);
                }
            }
        }
    });
    address
}

pub(crate) fn say(socket: &mut WebSocket<TcpStream>, message: &Value) {
    socket
        .send(Message::text(message.to_string()))
        .expect("it reads");
}

/// case NG-01: a refusal of negentropy, in whatever form, leads to pages and never to "nothing is
/// missing"; a refusal of those is an error with its cause (case CT-10).
#[test]
fn case_ng_01_refusals_are_never_success() {
    let here = Node::start();
    let event = testing::note(1, 5, "x");
    let wanted = event.clone();
    for form in ["NOTICE", "CLOSED", "NEG-ERR"] {
        let served: Value = serde_json::from_str(wanted.json()).expect("an event");
        let relay = fake(move |socket, message| match message[0].as_str() {
            Some("NEG-OPEN") if form == "NOTICE" => {
                say(
                    socket,
                    &json!(["NOTICE", "error: unknown command NEG-OPEN"]),
                );
            }
            Some("NEG-OPEN") => say(socket, &json!([form, message[1], "blocked: too big"])),
            Some("REQ") if message[2]["until"].is_null() => {
                say(socket, &json!(["EVENT", message[1], served]));
                say(socket, &json!(["EOSE", message[1]]));
            }
            Some("REQ") => say(socket, &json!(["EOSE", message[1]])),
            _ => {}
        });
        let pulled = json_of(&here.data(), &["nostr", "pull", &format!("ws://{relay}")]);
        assert_eq!(pulled["received"], 1, "{form}: {pulled}");
        let why = pulled["paged_because"].as_str().expect("it says why");
        assert!(
            why.contains("too big") || why.contains("unknown command"),
            "{form}: {why}"
        );
    }

    let walled = fake(|socket, message| match message[0].as_str() {
        Some("NEG-OPEN") => say(socket, &json!(["NEG-ERR", message[1], "blocked: no"])),
        Some("REQ") => {
            say(socket, &json!(["AUTH", "prove it"]));
            say(
                socket,
                &json!(["CLOSED", message[1], "auth-required: members only"]),
            );
        }
        _ => {}
    });
    let (code, said) = fails(&here.data(), &["nostr", "pull", &format!("ws://{walled}")]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("OSIER_NOSTR_KEY"), "{said}");

    // Offered and not served.
    let liar = fake(|socket, message| match message[0].as_str() {
        Some("NEG-OPEN") => {
            // One list of one id, in the version that is spoken.
            let frame = format!("6100000201{}", "cd".repeat(32));
            say(socket, &json!(["NEG-MSG", message[1], frame]));
        }
        Some("REQ") => say(socket, &json!(["EOSE", message[1], ["finish"]])),
        _ => {}
    });
    let (_, said) = fails(&here.data(), &["nostr", "pull", &format!("ws://{liar}")]);
    assert!(said.contains("does not serve"), "{said}");

    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = nobody.local_addr().expect("it is bound");
    drop(nobody);
    let (_, said) = fails(&here.data(), &["nostr", "pull", &format!("ws://{address}")]);
    assert!(said.contains("cannot connect"), "{said}");
    let (_, said) = fails(&here.data(), &["nostr", "pull", "https://x.example"]);
    assert!(said.contains("wss://"), "{said}");
}

/// A relay that says nothing is an error in bounded time, and its last notice is told.
#[test]
fn silence_ends_with_its_cause() {
    let folder = Folder::new();
    ok(&folder.path(), &["topic", "new", "silent"]);
    let relay = fake(|socket, message| match message[0].as_str() {
        Some("NEG-OPEN") => say(socket, &json!(["NEG-ERR", message[1], "blocked: no"])),
        Some("REQ") => say(socket, &json!(["NOTICE", "slow disk"])),
        _ => {}
    });
    let (url, begun) = (format!("ws://{relay}"), Instant::now());
    let pull = ["nostr", "pull", &url, "--patience", "1"];
    let (_, said) = fails(&folder.path(), &pull);
    assert!(
        said.contains("said nothing for 1 s") && said.contains("slow disk"),
        "{said}"
    );
    assert!(begun.elapsed() < PATIENCE);
}

/// case CT-09: whatever stands third in an `EOSE`, the connection is read on, and only `finish` is
/// taken for the end: otherwise another page is asked for.
#[test]
fn case_ct_09_hints_of_any_shape_are_read() {
    let here = Node::start();
    for (hints, pages) in [
        (json!([]), 2),
        (json!(["finish"]), 1),
        (json!(["x", "more"]), 2),
        (json!({ "debug": [] }), 2),
        (json!("finish"), 2),
        (Value::Null, 2),
    ] {
        let event = testing::note(1, 5, &hints.to_string());
        let served: Value = serde_json::from_str(event.json()).expect("an event");
        let asked = Arc::new(AtomicU64::new(0));
        let (counter, third) = (Arc::clone(&asked), hints.clone());
        let relay = fake(move |socket, message| match message[0].as_str() {
            Some("NEG-OPEN") => say(socket, &json!(["NEG-ERR", message[1], "blocked: no"])),
            Some("REQ") => {
                if counter.fetch_add(1, Ordering::Relaxed) == 0 {
                    say(socket, &json!(["EVENT", message[1], served]));
                }
                let end = json!(["EOSE", message[1], third]);
                let short = json!(["EOSE", message[1]]);
                say(socket, if third.is_null() { &short } else { &end });
            }
            _ => {}
        });
        let url = format!("ws://{relay}");
        let pull = ["nostr", "pull", &url];
        if hints == json!(["x", "more"]) {
            // It says that there is more, and gives none.
            let (_, said) = fails(&here.data(), &pull);
            assert!(said.contains("not everything"), "{said}");
        } else {
            let pulled = json_of(&here.data(), &pull);
            assert_eq!(pulled["stored"], 1, "{hints}: {pulled}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), pages, "{hints}");
    }
}
