//! Cases of the area "COUNT, HLL, EOSE".

use osier_core::{Duration, Instant};
use osier_nostr::{
    Asking, CountAnswer, Ending, EventDraft, Filter, PublicKey, Reason, RelayMessage, Settings,
    Sketch, Step, SubscriptionId,
    nip::{
        nip45::{HllRule, RelayCount, total},
        nip67::Hints,
    },
    testing::{self, World},
};

use crate::support::{count, event_ids, filter, named, world};

/// A relay with so many notes, one a second.
fn filled(settings: Settings, notes: u64) -> World {
    let mut world = World::new(settings);
    let author = testing::pubkey(1);
    for n in 0..notes {
        let draft: EventDraft = testing::draft(n, 1, &[], "");
        world.oracle.receive(&draft.unsigned(&author));
    }
    world
}

/// NOS-67.
#[test]
fn case_ct_01_a_count_knows_no_page() {
    let mut world = filled(Settings::default(), 1_200);
    let id = world.connect();
    world.frames(id);
    let mut ask = |filters: &str| {
        let frames = world.say(id, &named(&format!(r#"["COUNT","c",{filters}]"#)));
        let Ok(RelayMessage::Count { answer, .. }) = RelayMessage::parse(&frames[0]) else {
            panic!("{frames:?}");
        };
        answer.count
    };
    assert_eq!(ask(r#"{"kinds":[1]}"#), 1_200);
    assert_eq!(ask(r#"{"kinds":[1]},{"authors":["$1"]}"#), 1_200);
    assert_eq!(
        ask(r#"{"kinds":[1],"since":1000},{"kinds":[1],"since":1100}"#),
        200
    );
    assert_eq!(ask(r#"{"kinds":[1],"limit":10}"#), 10);
}

/// NOS-65.
#[test]
fn case_ct_03_a_register_holds_leading_zeros_and_one() {
    let p = filter(&format!(r##"{{"#p":["{}"]}}"##, "0".repeat(64)));
    let offset = HllRule::Merged.offset(&p).unwrap();
    assert_eq!(offset.get(), 8);
    let key = |byte_9: u8, rest: u8| {
        let mut bytes = [rest; 32];
        bytes[8] = 0x2a;
        bytes[9] = byte_9;
        PublicKey::from_bytes(bytes)
    };
    let mut sketch = Sketch::empty();
    let mut add = |key| {
        HllRule::Merged.add(&mut sketch, offset, &key);
        sketch.registers()[0x2a]
    };
    assert_eq!(add(key(0x80, 0xff)), 1);
    assert_eq!(add(key(0x01, 0xff)), 8);
    assert_eq!(add(key(0x80, 0xff)), 8, "the greater stays");
    assert_eq!(
        add(key(0x00, 0x00)),
        23 * 8 + 1,
        "nothing but zeros does not overflow"
    );
    assert_eq!(sketch.to_hex().len(), 512);

    let mut draft = Sketch::empty();
    let offset = HllRule::Draft.offset(&p).unwrap();
    HllRule::Draft.add(&mut draft, offset, &PublicKey::from_bytes([0; 32]));
    assert_eq!(offset.get(), b'0' % 24);
    assert_eq!(draft.registers()[0], 31 * 8 - offset.get() * 8);
}

/// NOS-66.
#[test]
fn case_ct_05_counts_are_merged_and_not_added() {
    let p = filter(&format!(r##"{{"#p":["{}"]}}"##, "0".repeat(64)));
    let offset = HllRule::Merged.offset(&p).unwrap();
    let mut sketch = Sketch::empty();
    for n in 0..50 {
        HllRule::Merged.add(&mut sketch, offset, &testing::pubkey(n));
    }
    let with = |count, sketch: Option<&Sketch>| {
        RelayCount::Answered(CountAnswer {
            count,
            approximate: false,
            sketch: sketch.cloned(),
        })
    };
    let answers = [
        with(50, Some(&sketch)),
        with(50, Some(&sketch)),
        with(5_000, None),
        RelayCount::Missing,
    ];
    let all = total(&answers).unwrap();
    assert_eq!(all.count, 5_000);
    assert!(all.approximate && all.partial);
    assert_eq!(
        all.sketch,
        Some(sketch.clone()),
        "the same sketch twice changes nothing"
    );
    let mirrored = total(&answers[..2]).unwrap();
    assert!(
        (50..60).contains(&mirrored.count) && !mirrored.partial,
        "{mirrored:?}"
    );
    assert_eq!(total(&[RelayCount::Missing]), None);
}

/// NOS-67.
#[test]
fn case_ct_06_a_refused_count_gives_no_number() {
    let mut world = world();
    let wrap = testing::event(9, 5, 1059, &[&["p", &testing::pubkey(1).to_string()]], "");
    world.oracle.receive(&wrap);
    let id = world.connect();
    world.frames(id);
    let ask = named(r##"["COUNT","c",{"kinds":[1059],"#p":["$1"]}]"##);
    let frames = world.say(id, &ask);
    assert_eq!(count(&frames, "[\"CLOSED\",\"c\",\"auth-required: "), 1);
    assert!(world.authenticate(id, 2));
    let frames = world.say(id, &ask);
    assert_eq!(count(&frames, "[\"CLOSED\",\"c\",\"restricted: "), 1);
    assert_eq!(frames.len(), 1);

    let mut off = World::new(Settings {
        counts: false,
        ..Settings::default()
    });
    let id = off.connect();
    off.frames(id);
    let frames = off.say(id, r#"["COUNT","c",{}]"#);
    assert_eq!(count(&frames, "[\"CLOSED\",\"c\",\"unsupported: "), 1);
}

/// NOS-60.
#[test]
fn case_ct_07_finish_is_said_only_of_what_was_drained() {
    for (stored, limit, hint) in [
        (299, Some(500), Some("finish")),
        (299, None, Some("finish")),
        (300, Some(500), Some("finish")),
        (300, Some(300), Some("finish")),
        (300, None, Some("finish")),
        (301, Some(500), Some("more")),
        (301, Some(300), Some("more")),
        (301, None, Some("more")),
    ] {
        let settings = Settings {
            page_events_max: 300,
            ..Settings::default()
        };
        let mut world = filled(settings, stored);
        let id = world.connect();
        world.frames(id);
        let limit = limit.map_or(String::new(), |limit| format!(r#","limit":{limit}"#));
        let request = format!(r#"["REQ","s",{{"kinds":[1]{limit}}}]"#);
        let frames = world.say(id, &request);
        assert_eq!(event_ids(&frames).len() as u64, stored.min(300));
        let expected = hint.map_or(String::new(), |hint| format!(r#",["{hint}"]"#));
        assert_eq!(
            *frames.last().unwrap(),
            format!(r#"["EOSE","s"{expected}]"#),
            "{stored}{limit}"
        );

        world.synced = false;
        let frames = world.say(id, &request);
        assert!(
            !frames.last().unwrap().contains("finish"),
            "a topic is behind"
        );
    }
}

/// A page that our own cap cuts ends with its second; the client's limit is never exceeded.
#[test]
fn a_page_holds_the_whole_of_its_last_second() {
    let settings = Settings {
        page_events_max: 3,
        ..Settings::default()
    };
    let mut world = World::new(settings);
    for n in 1..=9 {
        world
            .oracle
            .receive(&testing::note(n, if n < 3 { 9 } else { 5 }, "x"));
    }
    let id = world.connect();
    world.frames(id);
    let frames = world.say(id, r#"["REQ","s",{"kinds":[1]}]"#);
    assert_eq!(event_ids(&frames).len(), 9);
    assert_eq!(frames.last().unwrap(), r#"["EOSE","s",["finish"]]"#);
    let frames = world.say(id, r#"["REQ","s",{"kinds":[1],"limit":3}]"#);
    assert_eq!(event_ids(&frames).len(), 3);
    assert_eq!(frames.last().unwrap(), r#"["EOSE","s",["more"]]"#);
}

/// NOS-72.
#[test]
fn case_ct_10_four_ends_are_told_apart() {
    let patience = Duration::from_secs(5);
    let start = Instant::START;
    let ask = || {
        let id = SubscriptionId::new("s").unwrap();
        Asking::read(id, Filter::default(), patience, start).0
    };
    let say =
        |asking: &mut Asking, text: &str| asking.handle(start, RelayMessage::parse(text).unwrap());
    let event = testing::note(1, 7, "x");
    let found = format!(r#"["EVENT","s",{}]"#, event.json());

    // An event and the end in one read: the event is handed on first.
    let mut drained = ask();
    assert!(matches!(say(&mut drained, &found), Step::Event(_)));
    let end = say(&mut drained, r#"["EOSE","s",["finish"]]"#);
    assert_eq!(end, Step::Ended(Ending::Drained));
    assert_eq!(say(&mut drained, &found), Step::None);

    // A full page, after whatever reconnect, says nothing of the rest.
    let mut cut = ask();
    say(&mut cut, &found);
    let oldest = Some(event.created_at());
    let end = say(&mut cut, r#"["EOSE","s"]"#);
    assert_eq!(
        end,
        Step::Ended(Ending::Cut {
            oldest,
            more: false
        })
    );
    let empty = say(&mut ask(), r#"["EOSE","s"]"#);
    assert_eq!(
        empty,
        Step::Ended(Ending::Cut {
            oldest: None,
            more: false
        })
    );

    // A wall, with the challenge before it: the read resumes, once.
    let wall = r#"["CLOSED","s","auth-required: who are you"]"#;
    let mut walled = ask();
    say(&mut walled, r#"["AUTH","c"]"#);
    assert_eq!(say(&mut walled, wall), Step::Authenticate("c".into()));
    assert!(matches!(say(&mut walled, &found), Step::Event(_)));
    assert!(matches!(
        say(&mut walled, wall),
        Step::Ended(Ending::Refused(_))
    ));

    let mut silent = ask();
    say(&mut silent, r#"["NOTICE","busy"]"#);
    assert_eq!(silent.tick(start), Step::None);
    let notice = Some(Reason::from_peer("busy"));
    let end = silent.tick(start.after(patience));
    assert_eq!(end, Step::Ended(Ending::Silent { notice }));
}

/// NOS-61: the reading half.
#[test]
fn case_ct_09_hints_of_any_shape_are_read() {
    for (text, complete) in [
        (r#"["EOSE","s",[]]"#, false),
        (r#"["EOSE","s",["finish"]]"#, true),
        (r#"["EOSE","s",["x","more"]]"#, false),
        (r#"["EOSE","s",{"debug":[]}]"#, false),
        (r#"["EOSE","s"]"#, false),
        (r#"["EOSE","s",["finish","more"]]"#, false),
    ] {
        let Ok(RelayMessage::Eose { hints, .. }) = RelayMessage::parse(text) else {
            panic!("{text}");
        };
        assert_eq!(hints.is_complete(), complete, "{text}");
    }
    assert!(!Hints::default().is_complete());
}
