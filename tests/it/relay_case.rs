//! Public faults of other relays that ours must not repeat, over a real socket. `specs/cases.md`
//! lists them.

use std::fs;

use osier_nostr::{Event, testing};
use osier_reconcile::FrameLimit;
use serde_json::{Value, json};

use crate::support::{
    client::{Client, ids, now},
    compare::compare,
    node::{Folder, Node},
    ok,
};

/// One event, three ways to write it: one id, served as it was signed. What is no text is refused.
#[test]
fn case_nr_19_one_event_has_one_id_however_it_is_escaped() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let content = "\u{1}\u{8}\u{c}\u{7f}\u{2028}/\u{1f469}\u{200d}\u{1f4bb}";
    let event = testing::note(1, 5, content);
    let id = event.id().to_string();
    let (before, rest) = event
        .json()
        .split_once("\"content\":\"")
        .expect("a content");
    let (_, after) = rest.split_once("\",\"sig\"").expect("a signature");
    let with = |raw: &str| format!("{before}\"content\":\"{raw}\",\"sig\"{after}");
    assert_eq!(client.publish(&event), (true, String::new()));
    let units = content.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    let (taken, reason) = client.publish_text(&id, &with(&units.collect::<String>()));
    assert!(taken && reason.starts_with("duplicate: "), "{reason}");
    for broken in ["\\ud83d", "line\nbreak", "\\udc69\\ud83d"] {
        let (taken, reason) = client.publish_text(&id, &with(broken));
        assert!(
            !taken && reason.starts_with("invalid: "),
            "{broken}: {reason}"
        );
    }
    client.ask("REQ", "s", &[json!({ "ids": [id] })]);
    let served = client.expect("EVENT", "s");
    let signed: Value = serde_json::from_str(event.json()).expect("JSON");
    assert_eq!(served[2], signed);
}

/// Behind a proxy the relay is called by its public URL, in any of its forms.
#[test]
fn case_nr_23_relay_urls_are_compared_in_one_form() {
    let urls = "wss://h.example:3443/relay,wss://d.example,ws://[::1]:7777";
    let node = Node::start_with(Folder::new(), &[("OSIER_RELAY_URLS", urls)]);
    for (url, accepted) in [
        ("wss://h.example:3443/relay", true),
        ("wss://h.example:3443/relay/", true),
        ("wss://H.Example:3443/relay", true),
        ("wss://d.example:443/", true),
        ("ws://[0:0::1]:7777/", true),
        ("wss://h.example:3443/other", false),
        ("wss://g.example:3443/relay", false),
        ("wss://h.example/relay", false),
    ] {
        let mut client = Client::connect(&node);
        let challenge = client.challenge.clone();
        let (done, reason) = client.authenticate_with(1, &challenge, url);
        assert_eq!(done, accepted, "{url}: {reason}");
        assert!(done || reason.starts_with("invalid: "), "{url}: {reason}");
    }
}

/// Bytes that are no frame end their own session, and nothing else.
#[test]
fn case_ng_07_malformed_and_foreign_frames_harm_nobody_else() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let note = testing::note(1, 5, "x");
    client.publish_all([&note]);
    client.send(&json!(["NEG-OPEN", "good", {}, "6100000200"]));
    client.expect("NEG-MSG", "good");
    let long_list = format!("61000002ff01{}", "cd".repeat(32));
    for hex in [
        "",                   // nothing
        "610",                // half a byte
        "zz",                 // no hex
        "ff",                 // no version
        "6180",               // a varint that ends with the frame
        "610201050001010300", // a bound that goes backwards
        &long_list,           // more ids announced than there are
    ] {
        client.send(&json!(["NEG-OPEN", "bad", {}, hex]));
        let end = client.expect("NEG-ERR", "bad");
        let reason = end[2].as_str().expect("a reason");
        assert!(reason.starts_with("invalid: "), "{hex}: {reason}");
    }
    client.send(&json!(["NEG-OPEN", "later", {}, "6200000200"]));
    assert_eq!(client.expect("NEG-MSG", "later")[2], "61");
    client.send(&json!(["NEG-MSG", "good", "6100000200"]));
    let answer = client.expect("NEG-MSG", "good");
    assert!(
        answer[2]
            .as_str()
            .expect("hex")
            .contains(&note.id().to_string())
    );
}

/// Small frames: sets of very different sizes meet in bounded rounds, both ways; equal sets in one.
#[test]
fn case_ng_10_a_large_set_against_a_small_one_ends() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let events: Vec<Event> = (0..4_000).map(|n| testing::note(1, n, "")).collect();
    let (theirs, mine) = events.split_at(3_000);
    let lines: Vec<&str> = theirs.iter().map(Event::json).collect();
    let file = node.data().join("events.jsonl");
    fs::write(&file, lines.join("\n")).expect("the folder takes a file");
    ok(&node.data(), &["import", "lobby", &file.to_string_lossy()]);
    let frames = FrameLimit::new(4_096).expect("a limit");
    let all: Vec<&Event> = theirs.iter().collect();
    let few: Vec<&Event> = theirs.iter().step_by(300).collect();
    let more: Vec<&Event> = events.iter().collect();
    let filter = json!({ "kinds": [1] });
    let rest = theirs.iter().filter(|it| !few.contains(it));
    let sorted = |mut ids: Vec<String>| {
        ids.sort_unstable();
        ids
    };

    let found = compare(&mut client, &filter, &few, frames);
    assert_eq!((found.have, found.need), (Vec::new(), sorted(ids(rest))));
    assert!(found.rounds < 100, "{} rounds", found.rounds);
    let found = compare(&mut client, &filter, &more, frames);
    assert_eq!((found.have, found.need), (sorted(ids(mine)), Vec::new()));
    assert!(found.rounds < 100, "{} rounds", found.rounds);
    let found = compare(&mut client, &filter, &all, frames);
    assert_eq!(
        (found.have.len(), found.need.len(), found.rounds),
        (0, 0, 1)
    );
}

/// A sketch that is counted over the socket: each register is leading zeros and one more.
#[test]
fn case_ct_03_a_register_holds_leading_zeros_and_one() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    // The digit at position 32 of the tag's value is 0, so the offset is 8.
    let liked = "ab".repeat(16) + &"0".repeat(32);
    let likes: Vec<Event> = (1..=60)
        .map(|n| testing::event(n, 100, 7, &[&["e", &liked]], "+"))
        .collect();
    client.publish_all(&likes);
    let mut registers = [0_u8; 256];
    for like in &likes {
        let key = *like.pubkey().as_bytes();
        let rest = u128::from_be_bytes(key[9..25].try_into().expect("sixteen bytes"));
        let rank = u8::try_from(rest.leading_zeros() + 1).expect("few zeros");
        let register = &mut registers[usize::from(key[8])];
        *register = rank.max(*register);
    }
    let right = data_encoding::HEXLOWER.encode(&registers);
    let answer = client.count(&[json!({ "kinds": [7], "#e": [liked] })]);
    assert_eq!(answer, json!({ "count": 60, "hll": right }));
}

/// Neither a number nor a notice for who may not count.
#[test]
fn case_ct_06_a_refused_count_gives_no_number() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let to = testing::pubkey(1).to_string();
    let wrap = testing::event(9, 5, 1059, &[&["p", &to]], "sealed");
    client.publish_all([&wrap]);
    let gated = [json!({ "kinds": [1059], "#p": [to] })];
    let reason = client.refused("COUNT", "c", &gated);
    assert!(reason.starts_with("auth-required: "), "{reason}");
    assert_eq!(client.authenticate(2), (true, String::new()));
    let reason = client.refused("COUNT", "c", &gated);
    assert!(reason.starts_with("restricted: "), "{reason}");
    assert_eq!(client.authenticate(1), (true, String::new()));
    assert_eq!(client.count(&gated)["count"], 1);

    let off = Node::start_with(Folder::new(), &[("OSIER_RELAY_COUNT", "false")]);
    let mut client = Client::connect(&off);
    let reason = client.refused("COUNT", "c", &[json!({})]);
    assert!(reason.starts_with("unsupported: "), "{reason}");
}

/// `finish` only when the scan was drained, whatever the cap, the limit and the number that match.
#[test]
fn case_ct_07_finish_is_said_only_of_what_was_drained() {
    for stored in 29..=31_u64 {
        let settings = [("OSIER_RELAY_PAGE_EVENTS_MAX", "30")];
        let node = Node::start_with(Folder::new(), &settings);
        let mut client = Client::connect(&node);
        let notes: Vec<Event> = (0..stored).map(|n| testing::note(1, n, "")).collect();
        client.publish_all(&notes);
        for limit in [Some(50), Some(30), None] {
            let mut filter = json!({ "kinds": [1] });
            if let Some(limit) = limit {
                filter["limit"] = json!(limit);
            }
            let answer = client.req("s", &[filter]);
            assert_eq!(answer.ids.len() as u64, stored.min(30));
            let hint = if stored > 30 { "more" } else { "finish" };
            assert_eq!(answer.hints, json!([hint]), "{stored} {limit:?}");
        }
    }
}

/// Numbers that fit into no field of an event are refused, and wrap into none.
#[test]
fn case_nr_21_integers_out_of_range_do_not_wrap() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let note = testing::note(1, 77, "x");
    let id = note.id().to_string();
    for (field, value) in [
        ("\"kind\":1", "\"kind\":65537"),
        ("\"kind\":1", "\"kind\":-1"),
        ("\"created_at\":77", "\"created_at\":1.5"),
        ("\"created_at\":77", "\"created_at\":9223372036854775808"),
    ] {
        let text = note.json().replace(field, value);
        let (taken, reason) = client.publish_text(&id, &text);
        assert!(
            !taken && reason.starts_with("invalid: "),
            "{value}: {reason}"
        );
    }
    let soon = testing::note(1, now(), "now");
    client.publish_all([&soon]);
    assert_eq!(client.count(&[json!({ "kinds": [1] })])["count"], 1);
}
