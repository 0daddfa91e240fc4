//! Cases of the area "Nostr relay": what is hidden, from whom, on every path; NIP-11.

use osier_nostr::{
    Event, Published, Seconds, Settings,
    nip::{
        nip11::{self, Identity},
        nip17::{Gate, Viewer},
    },
    testing::{self, Oracle},
};
use serde_json::Value;

use crate::support::{count, event_ids, filter, ids, is_ok, named, world};

const NOW: u64 = 1_000_000;

fn now() -> Seconds {
    Seconds::new(NOW).expect("in range")
}

fn nobody() -> Viewer {
    Viewer::new(Gate::default())
}

fn shown(oracle: &Oracle, text: &str) -> Vec<String> {
    ids(oracle.matching(&filter(text), &nobody(), now()))
}

/// NOS-21 and NOS-22.
#[test]
fn case_nr_08_the_lowest_id_wins_on_every_node() {
    let mut versions = [
        testing::event(1, 5, 0, &[], "a"),
        testing::event(1, 5, 0, &[], "b"),
    ];
    versions.sort_by_key(Event::id);
    let [low, high] = &versions;
    let (mut one, mut two) = (Oracle::default(), Oracle::default());
    one.publish(low, now());
    let refused = one.publish(high, now());
    assert!(matches!(refused, Published::Refused(why) if why.text().starts_with("blocked: ")));
    two.publish(high, now());
    assert_eq!(two.publish(low, now()), Published::Stored);
    // Sync: each takes what the other has.
    one.receive(high);
    two.receive(low);
    for oracle in [&one, &two] {
        assert_eq!(shown(oracle, r#"{"kinds":[0]}"#), ids([low]));
    }
    let records = |oracle: &Oracle| oracle.records(&filter("{}"), &nobody(), now());
    assert_eq!(
        records(&one),
        records(&two),
        "a second sync transfers nothing"
    );

    let tagged = testing::event(1, 5, 30_000, &[&["d", "b"], &["d", "a"]], "");
    let missing = testing::event(1, 5, 30_000, &[], "");
    let valueless = testing::event(1, 6, 30_000, &[&["d"], &["d", "x"]], "");
    let d = |event: &Event| event.address().unwrap().d;
    assert_eq!(
        (&*d(&tagged), &*d(&missing), &*d(&valueless)),
        ("b", "", "")
    );
}

/// NOS-23 and NOS-32.
#[test]
fn case_nr_10_deletion_by_address_is_bounded_by_its_time() {
    let mut world = world();
    let id = world.connect();
    let at = |seconds, text: &str| testing::event(1, seconds, 30_023, &[&["d", "x"]], text);
    let (first, again, later) = (at(10, "one"), at(10, "one"), at(30, "two"));
    let address = named("30023:$1:x");
    let deletion = testing::event(1, 20, 5, &[&["a", &address]], "");
    for event in [&first, &deletion] {
        assert!(is_ok(&world.publish(id, event), event, true, ""));
    }
    assert!(is_ok(
        &world.publish(id, &again),
        &again,
        false,
        "blocked: "
    ));
    assert!(is_ok(&world.publish(id, &later), &later, true, ""));
    let frames = world.say(id, r#"["REQ","s",{}]"#);
    assert_eq!(
        event_ids(&frames),
        ids([&later, &deletion]),
        "the request itself is served"
    );

    let target = testing::note(1, 40, "not here yet");
    let early = testing::event(1, 35, 5, &[&["e", &target.id().to_string()]], "");
    let foreign = testing::event(2, 35, 5, &[&["e", &later.id().to_string()]], "");
    for event in [&early, &foreign] {
        assert!(is_ok(&world.publish(id, event), event, true, ""));
    }
    assert!(is_ok(
        &world.publish(id, &target),
        &target,
        false,
        "blocked: "
    ));
    assert!(
        world.oracle.fate(&later, now()).is_none(),
        "another's request does nothing"
    );
    let undo = testing::event(1, 50, 5, &[&["e", &deletion.id().to_string()]], "");
    world.publish(id, &undo);
    assert!(is_ok(
        &world.publish(id, &again),
        &again,
        false,
        "blocked: "
    ));
}

/// NOS-24.
#[test]
fn case_nr_12_expired_events_are_on_no_path() {
    let mut world = world();
    let id = world.connect();
    let expiring =
        |seconds: u64| testing::event(1, NOW - 5, 1, &[&["expiration", &seconds.to_string()]], "");
    let (soon, week) = (expiring(NOW + 2), expiring(NOW + 7 * 86_400));
    for event in [&soon, &week] {
        assert!(is_ok(&world.publish(id, event), event, true, ""));
    }
    let gone = expiring(NOW - 1);
    assert!(is_ok(&world.publish(id, &gone), &gone, false, "invalid: "));
    world.now.wall = world.now.wall.after(3);
    assert_eq!(
        event_ids(&world.say(id, r#"["REQ","s",{"kinds":[1]}]"#)),
        ids([&week])
    );
    let counted = world.say(id, r#"["COUNT","c",{"kinds":[1]}]"#);
    assert_eq!(counted, [r#"["COUNT","c",{"count":1}]"#]);
    let records = world
        .oracle
        .records(&filter("{}"), &nobody(), world.now.wall);
    assert_eq!(records.as_slice().len(), 1);
    let fate = |event| world.oracle.fate(event, world.now.wall);
    assert!(fate(&soon).is_some_and(osier_nostr::Hidden::is_for_good));
    assert!(
        fate(&week).is_none(),
        "a purge of what is hidden for good spares it"
    );
}

/// NOS-25, NOS-26 and NOS-27.
#[test]
fn case_nr_26_what_is_gated_is_gated_on_every_path() {
    let mut world = world();
    let wrap = testing::event(9, 5, 1059, &[&["p", &testing::pubkey(1).to_string()]], "");
    let note = testing::note(2, 6, "open");
    world.oracle.receive(&wrap);
    world.oracle.receive(&note);
    let (nobody, owner) = (world.connect(), world.connect());
    assert!(world.authenticate(owner, 1));
    world.frames(nobody);
    let by_id = format!(r#"["REQ","i",{{"ids":["{}"]}}]"#, wrap.id());

    let frames = world.say(nobody, r#"["REQ","s",{}]"#);
    assert_eq!(event_ids(&frames), ids([&note]));
    assert_eq!(frames.last().unwrap(), r#"["EOSE","s",["finish","auth"]]"#);
    assert_eq!(event_ids(&world.say(nobody, &by_id)), [""; 0]);
    assert_eq!(event_ids(&world.say(owner, &by_id)), ids([&wrap]));
    let count_all = r#"["COUNT","c",{}]"#;
    assert_eq!(
        world.say(nobody, count_all),
        [r#"["COUNT","c",{"count":1}]"#]
    );
    assert_eq!(
        world.say(owner, count_all),
        [r#"["COUNT","c",{"count":2}]"#]
    );

    // An initiator with nothing learns what is in the set.
    let open = r#"["NEG-OPEN","n",{},"6100000200"]"#;
    let (seen, owned) = (world.say(nobody, open), world.say(owner, open));
    assert!(seen[0].contains(&note.id().to_string()));
    assert!(!seen[0].contains(&wrap.id().to_string()));
    assert!(owned[0].contains(&wrap.id().to_string()));

    let live = testing::event(8, 7, 1059, &[&["p", &testing::pubkey(1).to_string()]], "");
    world.say(owner, r#"["REQ","s",{}]"#);
    world.receive(&live);
    assert_eq!(world.frames(nobody), [""; 0]);
    assert_eq!(event_ids(&world.frames(owner)), ids([&live]));

    for request in [
        r#"["REQ","g",{"kinds":[1059]}]"#,
        r#"["COUNT","g",{"kinds":[4,1059]}]"#,
    ] {
        let frames = world.say(nobody, request);
        assert_eq!(count(&frames, "[\"CLOSED\",\"g\",\"auth-required: "), 1);
    }
    let frames = world.say(nobody, r#"["NEG-OPEN","g",{"kinds":[1059]},"61"]"#);
    assert_eq!(count(&frames, "[\"NEG-ERR\",\"g\",\"auth-required: "), 1);
}

/// NOS-90 and NOS-91. The headers are sent by the driver.
#[test]
fn case_nr_27_the_document_says_what_is_enforced() {
    assert!(nip11::is_asked_for(
        "text/html, Application/nostr+json; q=1, */*"
    ));
    assert!(!nip11::is_asked_for("*/*"));
    assert!(
        nip11::CORS
            .iter()
            .all(|(name, _)| name.starts_with("access-control-allow-"))
    );
    let identity = Identity {
        name: "a \"name\"".to_owned(),
        ..Identity::default()
    };
    let document = |settings: &Settings| {
        let text = nip11::document(&identity, settings, &[], &[]);
        serde_json::from_str::<Value>(&text).expect("the document is JSON")
    };
    let settings = Settings {
        page_events_max: 300,
        ..Settings::default()
    };
    let said = document(&settings);
    assert_eq!(said["name"], "a \"name\"");
    assert_eq!(said["limitation"]["max_limit"], 300);
    assert_eq!(said["limitation"]["max_subid_length"], 64);
    let nips = |said: &Value| said["supported_nips"].as_array().unwrap().clone();
    assert!(nips(&said).contains(&77.into()) && nips(&said).contains(&45.into()));
    let off = Settings {
        negentropy: false,
        counts: false,
        ..settings.clone()
    };
    let nips = nips(&document(&off));
    assert!(!nips.contains(&77.into()) && !nips.contains(&45.into()));

    // The cap that is enforced is the one in the document.
    let mut world = testing::World::new(settings);
    for n in 0..400 {
        let event = testing::draft(n, 1, &[], "").unsigned(&testing::pubkey(1));
        world.oracle.receive(&event);
    }
    let id = world.connect();
    let frames = world.say(id, r#"["REQ","s",{"kinds":[1],"limit":999999}]"#);
    assert_eq!(event_ids(&frames).len(), 300);
}

/// NOS-28.
#[test]
fn vanishing_takes_everything_up_to_its_second() {
    let mut oracle = Oracle::default();
    let own = testing::pubkey(1).to_string();
    let events = [
        testing::note(1, 10, "old"),
        testing::event(1, 11, 5, &[&["e", &"ab".repeat(32)]], ""),
        testing::event(9, 12, 1059, &[&["p", &own]], "a letter"),
        testing::note(2, 13, "another's"),
        testing::note(1, 21, "new"),
    ];
    let vanish = testing::event(1, 20, 62, &[&["relay", "ALL_RELAYS"]], "");
    oracle.receive(&vanish);
    for event in &events {
        oracle.receive(event);
    }
    let expected = ids([&events[4], &vanish, &events[3]]);
    assert_eq!(shown(&oracle, "{}"), expected);
}
