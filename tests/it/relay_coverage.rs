//! What was read of a relay to its end is not read again.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use osier_nostr::{Event, testing};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    relay_mirror::{fake, say},
    support::{
        client::{Client, now},
        fails, json as json_of,
        node::Node,
    },
};

/// A relay without negentropy that shows 50 events a page, and hangs up after some pages.
struct Pager {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
    pages_left: Arc<AtomicUsize>,
}

impl Pager {
    fn of(events: Vec<Event>) -> Self {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let pages_left = Arc::new(AtomicUsize::new(usize::MAX));
        let (notes, left) = (Arc::clone(&asked), Arc::clone(&pages_left));
        let address = fake(move |socket, message| match message[0].as_str() {
            Some("NEG-OPEN") => say(socket, &json!(["NEG-ERR", message[1], "blocked: no"])),
            Some("REQ") => {
                let filter = &message[2];
                notes
                    .lock()
                    .expect("no test thread has failed")
                    .push(filter.clone());
                if left.fetch_sub(1, Ordering::SeqCst) == 0 {
                    let _ = socket.close(None);
                    return;
                }
                for event in page(&events, filter) {
                    let event: Value = serde_json::from_str(event.json()).expect("an event");
                    say(socket, &json!(["EVENT", message[1], event]));
                }
                say(socket, &json!(["EOSE", message[1]]));
            }
            _ => {}
        });
        Self {
            address,
            asked,
            pages_left,
        }
    }

    fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// The filters that were asked for since the last call.
    fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().expect("no test thread has failed"))
    }
}

/// The newest 50 that match.
fn page<'a>(events: &'a [Event], filter: &Value) -> Vec<&'a Event> {
    let (since, until) = (filter["since"].as_u64(), filter["until"].as_u64());
    let kinds = filter["kinds"].as_array();
    let matches = |event: &&Event| {
        let at = event.created_at().get();
        since.is_none_or(|since| at >= since)
            && until.is_none_or(|until| at <= until)
            && kinds.is_none_or(|kinds| kinds.contains(&json!(event.kind().get())))
    };
    let mut found: Vec<&Event> = events.iter().filter(matches).collect();
    found.sort_by_key(|event| (std::cmp::Reverse(event.created_at()), event.id()));
    found.truncate(50);
    found
}

/// NOS-73: a pull that breaks goes on where it was; one after it asks for what is not covered only,
/// also with fewer kinds; `--again` asks for everything.
#[test]
fn a_pull_goes_on_and_asks_for_nothing_twice() {
    let start = now() - 10_000;
    let of = |n: u64| {
        let kind = if n.is_multiple_of(2) { 1 } else { 7 };
        testing::event(1, start + n, kind, &[], &n.to_string())
    };
    let relay = Pager::of((0..400).map(of).collect());
    let here = Node::start();
    let data = here.data();
    let pull = |more: &[&str]| {
        let url = relay.url();
        json_of(&data, &[&["nostr", "pull", &url], more].concat())
    };
    relay.pages_left.store(3, Ordering::SeqCst);
    let (_, said) = fails(&data, &["nostr", "pull", &relay.url()]);
    assert!(said.contains("closed the connection"), "{said}");
    let before = relay.asked();
    assert_eq!(before.len(), 4, "three pages and the one that broke");

    relay.pages_left.store(usize::MAX, Ordering::SeqCst);
    let resumed = pull(&[]);
    assert_eq!(resumed["resumed"], true, "{resumed}");
    assert_eq!(resumed["complete"], true);
    let received = resumed["received"].as_u64().expect("a number");
    assert!(
        (200..300).contains(&received),
        "{received} of 400 after 150"
    );
    let after = relay.asked();
    // The last hour is asked for again; below it nothing that has come.
    let lowest = |filters: &[Value]| filters.iter().filter_map(|it| it["until"].as_u64()).min();
    let went_on = after.iter().filter(|it| it["since"].is_null());
    let highest = went_on.filter_map(|it| it["until"].as_u64()).max();
    assert!(highest <= lowest(&before), "{before:?} {after:?}");
    let mut client = Client::connect(&here);
    assert_eq!(client.count(&[json!({ "kinds": [1, 7] })])["count"], 400);

    for more in [&[][..], &["--filter", r#"{"kinds":[7]}"#]] {
        let again = pull(more);
        assert_eq!(
            (&again["received"], &again["resumed"]),
            (&json!(0), &json!(true))
        );
        let asked = relay.asked();
        let recent = |it: &Value| it["since"].as_u64() > Some(start + 400);
        assert!(asked.iter().all(recent), "{asked:?}");
    }
    let whole = pull(&["--again"]);
    assert_eq!(
        (&whole["received"], &whole["held"]),
        (&json!(400), &json!(400))
    );
    assert_eq!(whole["resumed"], false);
}

/// NOS-73: two kinds that were read apart are read together; a third is not covered by them.
#[test]
fn kinds_are_covered_apart() {
    let start = now() - 10_000;
    let of = |n: u64| {
        testing::event(
            1,
            start + n,
            [1, 6, 7][usize::try_from(n % 3).expect("less than 3")],
            &[],
            "x",
        )
    };
    let relay = Pager::of((0..90).map(of).collect());
    let here = Node::start();
    let pull = |kinds: &str| {
        let filter = format!("{{\"kinds\":{kinds}}}");
        let args = ["nostr", "pull", &relay.url(), "--filter", &filter];
        json_of(&here.data(), &args)["received"].clone()
    };
    assert_eq!([pull("[1]"), pull("[6]")], [json!(30), json!(30)]);
    assert_eq!(
        [pull("[1,6]"), pull("[6,7]"), pull("[7]")],
        [json!(0), json!(60), json!(0)]
    );
}

/// NOS-74: a relay that takes no more for now gets the rest later; a deletion by address reaches a
/// relay that still has what it deletes.
#[test]
fn a_push_waits_and_a_sync_tells_of_deletions_by_address() {
    let times = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&times);
    let slow = fake(move |socket, message| match message[0].as_str() {
        Some("NEG-OPEN") => say(socket, &json!(["NEG-ERR", message[1], "blocked: no"])),
        Some("EVENT") => {
            let id = &message[1]["id"];
            let first = seen.fetch_add(1, Ordering::SeqCst) < 5;
            let reason = if first { "rate-limited: slow down" } else { "" };
            say(socket, &json!(["OK", id, !first, reason]));
        }
        _ => {}
    });
    let (here, there) = (Node::start(), Node::start());
    let notes: Vec<Event> = (0..10).map(|n| testing::note(1, n, "x")).collect();
    Client::connect(&here).publish_all(&notes);
    let pushed = json_of(&here.data(), &["nostr", "push", &format!("ws://{slow}")]);
    assert_eq!(
        (&pushed["sent"], &pushed["taken"]),
        (&json!(10), &json!(10))
    );
    assert_eq!(times.load(Ordering::SeqCst), 15);

    let article = testing::event(2, 10, 30_023, &[&["d", "a \"b\""]], "an article");
    let address = format!("30023:{}:a \"b\"", article.pubkey());
    let delete = testing::event(2, 20, 5, &[&["a", &address]], "");
    Client::connect(&here).publish_all([&article, &delete]);
    let mut at_there = Client::connect(&there);
    at_there.publish_all([&article]);
    let url = format!("ws://{}", there.relay());
    let synced = json_of(
        &here.data(),
        &["nostr", "sync", &url, "--filter", r#"{"kinds":[30023]}"#],
    );
    assert_eq!(synced["sent"], 1, "{synced}");
    assert_eq!(at_there.count(&[json!({ "kinds": [30_023] })])["count"], 0);
    assert_eq!(
        at_there.req("d", &[json!({ "kinds": [5] })]).ids,
        [delete.id().to_string()]
    );
}

/// NOS-74: a relay that talks of something else all the time and never answers is given up.
#[test]
fn chatter_does_not_put_the_end_off() {
    let chatty = fake(|socket, message| match message[0].as_str() {
        Some("NEG-OPEN") => say(socket, &json!(["NEG-ERR", message[1], "blocked: no"])),
        Some("REQ") => {
            // Fifteen seconds of it, unless the other side hangs up.
            for n in 0..150 {
                let text = json!(["NOTICE", format!("ad number {n}")]).to_string();
                if socket.send(Message::text(text)).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(100));
            }
        }
        _ => {}
    });
    let here = Node::start();
    let url = format!("ws://{chatty}");
    let begun = Instant::now();
    let (_, said) = fails(&here.data(), &["nostr", "pull", &url, "--patience", "1"]);
    assert!(said.contains("said nothing for 1 s"), "{said}");
    assert!(
        said.contains("ad number"),
        "its last notice may be the cause: {said}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}
