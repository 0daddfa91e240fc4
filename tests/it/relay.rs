//! A Nostr client and the relay of one node.

use std::time::Duration;

use osier_nostr::{Event, limit, testing};
use osier_reconcile::FrameLimit;
use serde_json::{Value, json};

use crate::support::{
    client::{Client, ids, now},
    compare,
    node::Node,
};

/// The whole way: published, durable, read, counted, live. A node alone says `finish` from the
/// start: nobody could know more.
#[test]
fn an_event_is_published_read_counted_and_seen_live() {
    let node = Node::start();
    let mut writer = Client::connect(&node);
    let mut reader = Client::connect(&node);
    let first = testing::note(1, 1_000, "first");
    assert_eq!(writer.publish(&first), (true, String::new()));
    let (again, reason) = writer.publish(&first);
    assert!(again && reason.starts_with("duplicate: "), "{reason}");

    let stored = reader.req("s", &[json!({ "kinds": [1] })]);
    assert_eq!(stored.ids, ids([&first]));
    assert_eq!(stored.hints, json!(["finish"]));
    assert_eq!(reader.count(&[json!({ "kinds": [1] })])["count"], 1);

    let second = testing::note(2, 2_000, "second");
    writer.publish_all([&second]);
    let live = reader.expect("EVENT", "s");
    assert_eq!(live[2]["id"], second.id().to_string());
    let text: Value = serde_json::from_str(second.json()).unwrap();
    assert_eq!(live[2], text, "as it was signed");
    writer.publish(&second);
    writer.publish_all([&testing::event(1, 3_000, 7, &[], "+")]);
    assert_eq!(
        reader.drain(),
        [] as [Value; 0],
        "nothing twice, and nothing else"
    );

    reader.send(&json!(["CLOSE", "s"]));
    reader.drain();
    writer.publish_all([&testing::note(1, 4_000, "late")]);
    assert_eq!(reader.drain(), [] as [Value; 0]);
    assert_eq!(reader.count(&[json!({ "kinds": [1, 7] })])["count"], 4);
}

/// Answers are pages, newest first; what is behind a page is said, and nothing else.
#[test]
fn pages_say_whether_there_is_more() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    // Two in one second: the lowest id first (case NR-05).
    let mut events: Vec<Event> = (1..=9_u64)
        .map(|n| testing::note(1, n / 2 * 100, &format!("{n}")))
        .collect();
    client.publish_all(&events);
    events.sort_by_key(|it| (std::cmp::Reverse(it.created_at()), it.id()));
    let all = ids(&events);
    for (filter, count, hints) in [
        (json!({}), 9, json!(["finish", "auth"])),
        (json!({ "kinds": [1] }), 9, json!(["finish"])),
        (json!({ "kinds": [1], "limit": 9 }), 9, json!(["finish"])),
        (json!({ "kinds": [1], "limit": 8 }), 8, json!(["more"])),
        (json!({ "kinds": [1], "limit": 3 }), 3, json!(["more"])),
        (json!({ "kinds": [1], "limit": 0 }), 0, Value::Null),
        (json!({ "kinds": [], "limit": 3 }), 0, json!(["finish"])),
        (
            json!({ "kinds": [1, 7], "until": 99 }),
            1,
            json!(["finish"]),
        ),
    ] {
        let stored = client.req("page", std::slice::from_ref(&filter));
        let expected = if filter["until"] == 99 {
            &all[8..]
        } else {
            &all[..count]
        };
        assert_eq!(stored.ids, expected, "{filter}");
        assert_eq!(stored.hints, hints, "{filter}");
    }
    // Several filters: each its own limit, each event once, one EOSE (case NR-04).
    let author = testing::pubkey(1).to_string();
    let filters = [
        json!({ "kinds": [1], "limit": 1 }),
        json!({ "authors": [author], "limit": 2 }),
    ];
    assert_eq!(client.req("or", &filters).ids, all[..2]);
}

/// case NR-15: what an earlier request of the same name still had to say is not said.
#[test]
fn case_nr_15_a_subscription_is_replaced_and_asked_for_again() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let notes: Vec<Event> = (0..400)
        .map(|n| testing::note(1, n, &"x".repeat(2_000)))
        .collect();
    client.publish_all(&notes);
    let like = testing::event(1, 5, 7, &[], "+");
    client.publish_all([&like]);
    client.ask("REQ", "s", &[json!({ "kinds": [1] })]);
    client.ask("REQ", "s", &[json!({ "kinds": [7] })]);
    let mut own = Vec::new();
    // Frames of the first may be on their way before the second is read; none after its own.
    let second = |own: &[Value]| own.iter().position(|it| it[2]["kind"] == 7);
    while own.last().is_none_or(|it: &Value| it[0] != "EOSE") || second(&own).is_none() {
        own.push(client.expect_any("s"));
    }
    let at = second(&own).expect("it is served");
    assert_eq!(
        own.len(),
        at + 2,
        "nothing of the first after it, and one EOSE"
    );
    let late = client.drain();
    assert!(late.iter().all(|it| it[1] != "s"), "{late:?}");
    client.publish_all([
        &testing::note(1, 900, "no more"),
        &testing::event(2, 6, 7, &[], "+"),
    ]);
    let live: Vec<Value> = client.drain();
    let of_s = live.iter().filter(|it| it[1] == "s");
    assert_eq!(
        of_s.map(|it| it[2]["kind"].clone()).collect::<Vec<_>>(),
        [7]
    );
}

/// cases NR-25 and NR-26, on every path.
#[test]
fn case_nr_26_messages_are_for_those_involved() {
    let node = Node::start();
    let mut writer = Client::connect(&node);
    let wrap = |to: u8, at| {
        let to = testing::pubkey(to).to_string();
        testing::event(9, at, 1059, &[&["p", &to]], "sealed")
    };
    let (for_a, for_b, for_c) = (wrap(1, 10), wrap(2, 11), wrap(3, 12));
    writer.publish_all([&for_a, &for_b, &for_c]);

    let mut reader = Client::connect(&node);
    let gated = json!({ "kinds": [1059] });
    for verb in ["REQ", "COUNT"] {
        let reason = reader.refused(verb, "dm", std::slice::from_ref(&gated));
        assert!(reason.starts_with("auth-required: "), "{reason}");
    }
    let all = reader.req("all", &[json!({})]);
    assert_eq!((all.ids.len(), all.hints), (0, json!(["finish", "auth"])));
    let by_id = json!({ "ids": [for_a.id().to_string()] });
    assert!(reader.req("id", &[by_id]).ids.is_empty());
    assert_eq!(reader.count(&[json!({})])["count"], 0);
    let live = wrap(1, 13);
    writer.publish_all([&live]);
    assert_eq!(reader.drain(), [] as [Value; 0]);

    // A challenge is for one connection, and for this relay.
    let stranger = Client::connect(&node).challenge.clone();
    let url = format!("ws://{}", node.relay());
    let (ok, reason) = reader.authenticate_with(1, &stranger, &url);
    assert!(!ok && reason.starts_with("invalid: "), "{reason}");
    let challenge = reader.challenge.clone();
    assert!(
        !reader
            .authenticate_with(1, &challenge, "wss://elsewhere.example")
            .0
    );
    assert_eq!(reader.authenticate(1), (true, String::new()));
    assert_eq!(reader.authenticate(2), (true, String::new()));
    let own = reader.req("dm", std::slice::from_ref(&gated));
    assert_eq!(own.ids, ids([&live, &for_b, &for_a]));
    let others = json!({ "kinds": [1059], "#p": [testing::pubkey(3).to_string()] });
    let reason = reader.refused("REQ", "others", &[others]);
    assert!(reason.starts_with("restricted: "), "{reason}");
    let late = wrap(2, 14);
    writer.publish_all([&late, &wrap(3, 15)]);
    assert_eq!(reader.expect("EVENT", "dm")[2]["id"], late.id().to_string());
    assert_eq!(
        reader.expect("EVENT", "all")[2]["id"],
        late.id().to_string()
    );
    assert_eq!(
        reader.drain(),
        [] as [Value; 0],
        "nothing of what is others'"
    );
}

/// Protected events come from their author (NIP-70); ephemeral ones are for those who listen
/// (case NR-13); what has expired is refused (case NR-12).
#[test]
fn what_may_be_published() {
    let node = Node::start();
    let mut writer = Client::connect(&node);
    let mut reader = Client::connect(&node);
    let protected = testing::event(1, 5, 1, &[&["-"]], "mine");
    let (taken, reason) = writer.publish(&protected);
    assert!(!taken && reason.starts_with("auth-required: "), "{reason}");
    writer.authenticate(1);
    writer.publish_all([&protected]);

    let ephemeral = testing::event(1, now(), 20_001, &[], "typing");
    let (taken, reason) = writer.publish(&ephemeral);
    assert!(!taken && reason.starts_with("mute: "), "{reason}");
    reader.req("e", &[json!({ "kinds": [20_001] })]);
    writer.publish_all([&ephemeral]);
    assert_eq!(
        reader.expect("EVENT", "e")[2]["id"],
        ephemeral.id().to_string()
    );
    assert!(
        Client::connect(&node)
            .req("e", &[json!({ "kinds": [20_001] })])
            .ids
            .is_empty()
    );

    let until = |at: u64| testing::event(1, 5, 1, &[&["expiration", &at.to_string()]], "");
    let (taken, reason) = writer.publish(&until(now() - 1));
    assert!(!taken && reason.starts_with("invalid: "), "{reason}");
    let future = testing::note(1, now() + 100_000, "");
    assert!(writer.publish(&future).1.starts_with("invalid: "));
    // A signature of another event.
    let forged = testing::note(1, 7, "a").json().replace("\"a\"", "\"b\"");
    let id = testing::note(1, 7, "a").id().to_string();
    let (taken, reason) = writer.publish_text(&id, &forged);
    assert!(!taken && reason.starts_with("invalid: "), "{reason}");
}

/// What has expired is on no path from its second on (case NR-12).
#[test]
fn case_nr_12_an_expired_event_is_gone_everywhere() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let at = now() + 2;
    let short = testing::event(1, 5, 1, &[&["expiration", &at.to_string()]], "short");
    let long = testing::event(
        1,
        6,
        1,
        &[&["expiration", &(at + 600_000).to_string()]],
        "long",
    );
    client.publish_all([&short, &long]);
    let all = [json!({ "kinds": [1] })];
    assert_eq!(client.req("s", &all).ids, ids([&long, &short]));
    while now() < at {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(client.req("s", &all).ids, ids([&long]));
    assert_eq!(client.count(&all)["count"], 1);
    assert_eq!(
        compare(&mut client, &json!({ "kinds": [1] }), &[]),
        (vec![], ids([&long]))
    );
}

/// Deletion and replacement, whatever comes first (cases NR-08, NR-10).
#[test]
fn case_nr_10_deletions_and_versions() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let article = |at, text: &str| testing::event(1, at, 30_023, &[&["d", "x"]], text);
    let address = format!("30023:{}:x", testing::pubkey(1));
    let (old, new) = (article(10, "old"), article(30, "new"));
    let delete = testing::event(1, 20, 5, &[&["a", &address]], "");
    client.publish_all([&old, &delete]);
    let articles = [json!({ "kinds": [30_023] })];
    assert!(client.req("s", &articles).ids.is_empty());
    let (taken, reason) = client.publish(&old);
    assert!(!taken && reason.starts_with("blocked: "), "{reason}");
    client.publish_all([&new]);
    assert_eq!(client.req("new", &articles).ids, ids([&new]));
    assert_eq!(
        client.req("d", &[json!({ "kinds": [5] })]).ids,
        ids([&delete])
    );

    let note = testing::note(1, 40, "later deleted");
    let early = testing::event(1, 41, 5, &[&["e", &note.id().to_string()]], "");
    client.publish_all([&early]);
    assert!(client.publish(&note).1.starts_with("blocked: "));

    let profile = |text: &str| testing::event(2, 50, 0, &[], text);
    let (mut one, mut other) = (profile("{}"), profile("{\"name\":\"a\"}"));
    if other.id() < one.id() {
        std::mem::swap(&mut one, &mut other);
    }
    // Of one second the lowest id wins, though it comes last.
    client.publish_all([&other, &one]);
    assert_eq!(client.req("p", &[json!({ "kinds": [0] })]).ids, ids([&one]));
    assert!(client.publish(&other).1.starts_with("blocked: "));
}

/// Counts are of the union and of no page (case CT-01), with a sketch where there is a tag.
#[test]
fn case_ct_01_counts() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let notes: Vec<Event> = (0..60)
        .map(|n| testing::note(u8::try_from(n % 3).unwrap(), n, "x"))
        .collect();
    let liked = notes[0].id().to_string();
    let likes: Vec<Event> = (1..=20)
        .map(|n| testing::event(n, 100, 7, &[&["e", &liked]], "+"))
        .collect();
    client.publish_all(notes.iter().chain(&likes));
    let kinds = json!({ "kinds": [1] });
    let author = json!({ "authors": [testing::pubkey(1).to_string()] });
    assert_eq!(
        client.count(std::slice::from_ref(&kinds)),
        json!({ "count": 60 })
    );
    assert_eq!(client.count(&[kinds, author])["count"], 61);
    assert_eq!(
        client.count(&[json!({ "kinds": [1], "limit": 10 })])["count"],
        10
    );
    let answer = client.count(&[json!({ "kinds": [7], "#e": [liked] })]);
    assert_eq!(answer["count"], 20);
    assert_eq!(answer["hll"].as_str().map(str::len), Some(512));
}

/// One comparison; what the client alone has, and what the relay alone has.
fn compare(client: &mut Client, filter: &Value, own: &[&Event]) -> (Vec<String>, Vec<String>) {
    let frames = FrameLimit::new(60_000).expect("a limit");
    let found = compare::compare(client, filter, own, frames);
    (found.have, found.need)
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort_unstable();
    ids
}

/// NIP-77: both ends find exactly what the other lacks, of what may be seen and fetched.
#[test]
fn sets_are_compared() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let notes: Vec<Event> = (0..500)
        .map(|n| testing::note(1, n / 3, &format!("{n}")))
        .collect();
    let (shared, rest) = notes.split_at(480);
    let (theirs, mine) = rest.split_at(10);
    let wrap = testing::event(9, 10, 1059, &[&["p", &testing::pubkey(1).to_string()]], "");
    client.publish_all(shared.iter().chain(theirs).chain([&wrap]));
    let own: Vec<&Event> = shared.iter().chain(mine).collect();
    for filter in [json!({}), json!({ "kinds": [1] })] {
        let found = compare(&mut client, &filter, &own);
        assert_eq!(found, (sorted(ids(mine)), sorted(ids(theirs))), "{filter}");
    }
    let equal: Vec<&Event> = shared.iter().chain(theirs).collect();
    assert_eq!(
        compare(&mut client, &json!({ "kinds": [1] }), &equal),
        (vec![], vec![])
    );
    let some = json!({ "kinds": [1], "since": 160 });
    let (have, need) = compare(&mut client, &some, &[]);
    assert!(have.is_empty() && !need.is_empty() && need.len() < 30);
    client.send(&json!(["NEG-MSG", "unknown", "61"]));
    let end = client.expect("NEG-ERR", "unknown");
    assert!(end[2].as_str().unwrap().starts_with("closed: "), "{end}");
}

/// A client that publishes without waiting gets an answer to each, in any order, and each is true.
#[test]
fn a_pipeline_of_events_is_answered_one_by_one() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let events: Vec<Event> = (0..1_500)
        .map(|n| testing::note(u8::try_from(n % 7).unwrap(), n, "pipelined"))
        .collect();
    // In pieces that the sockets' buffers hold: this client reads only between them.
    for piece in events.chunks(500) {
        for event in piece {
            client.text(&format!("[\"EVENT\",{}]", event.json()));
        }
        for event in piece {
            let ok = client.expect("OK", &event.id().to_string());
            assert_eq!(ok[2], true, "{ok}");
        }
    }
    assert_eq!(client.count(&[json!({})])["count"], 1_500);
    let page = client.req("s", &[json!({ "kinds": [1] })]);
    assert_eq!(page.ids.len() as u64, limit::PAGE_EVENTS_MAX);
    assert_eq!(page.hints, json!(["more"]));
}

/// case NR-30: who reads late misses nothing: 3,000 events wait, or the subscription says it ends.
#[test]
fn case_nr_30_a_late_reader_misses_nothing() {
    let node = Node::start();
    let mut late = Client::connect(&node);
    late.req("s", &[json!({ "kinds": [1] })]);
    let mut writer = Client::connect(&node);
    let events: Vec<Event> = (0..3_000)
        .map(|n| {
            testing::note(
                u8::try_from(n % 5).unwrap(),
                n,
                "for one who does not read yet",
            )
        })
        .collect();
    for piece in events.chunks(500) {
        for event in piece {
            writer.text(&format!("[\"EVENT\",{}]", event.json()));
        }
        for event in piece {
            assert_eq!(writer.expect("OK", &event.id().to_string())[2], true);
        }
    }
    // Only now it reads.
    let mut seen: Vec<String> = (0..events.len())
        .map(|_| {
            late.expect("EVENT", "s")[2]["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, sorted(ids(&events)));
}
