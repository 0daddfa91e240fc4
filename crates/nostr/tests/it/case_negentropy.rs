//! Cases of the area "negentropy".

use data_encoding::HEXLOWER as HEX;
use osier_core::{Duration, Instant};
use osier_nostr::{
    Asking, Ending, Event, Filter, Input, RelayMessage, Seconds, Settings, Step, SubscriptionId,
    nip::{
        nip17::{Gate, Viewer},
        nip77::{NegSession, item},
    },
    testing::{self, Oracle, World},
};
use osier_reconcile::{FrameLimit, Initiator, Item, VectorStorage};

use crate::support::{count, filter, world};

fn now() -> Seconds {
    Seconds::new(1_000_000).expect("in range")
}

fn nobody() -> Viewer {
    Viewer::new(Gate::default())
}

/// Runs a sync of `own` against what the relay shows; what only this end has, what only the relay.
fn sync(world: &mut World, filter: &str, own: &VectorStorage) -> (Vec<[u8; 32]>, Vec<[u8; 32]>) {
    let id = world.connect();
    world.frames(id);
    let (mut initiator, frame) = Initiator::start(own, FrameLimit::NONE).expect("own items");
    let (mut have, mut need) = (Vec::new(), Vec::new());
    let mut text = format!(r#"["NEG-OPEN","n",{filter},"{}"]"#, HEX.encode(&frame));
    loop {
        let frames = world.say(id, &text);
        let Ok(RelayMessage::NegMsg { frame, .. }) = RelayMessage::parse(&frames[0]) else {
            panic!("{frames:?}");
        };
        let progress = initiator.reconcile(own, &frame).expect("an honest reply");
        have.extend(progress.have);
        need.extend(progress.need);
        let Some(next) = progress.next else {
            return (have, need);
        };
        text = format!(r#"["NEG-MSG","n","{}"]"#, HEX.encode(&next));
    }
}

/// Our own relay's part: every refusal is a `NEG-ERR` with the id.
#[test]
fn case_ng_01_a_refusal_names_the_session() {
    let settings = Settings {
        negentropy: false,
        ..Settings::default()
    };
    let mut off = World::new(settings);
    let id = off.connect();
    off.frames(id);
    let frames = off.say(id, r#"["NEG-OPEN","n",{},"61"]"#);
    assert_eq!(count(&frames, "[\"NEG-ERR\",\"n\",\"unsupported: "), 1);
    let mut world = world();
    let id = world.connect();
    world.frames(id);
    for (text, start) in [
        (r#"["NEG-MSG","n","61"]"#, "[\"NEG-ERR\",\"n\",\"closed: "),
        (
            r#"["NEG-OPEN","n",{"x":1},"61"]"#,
            "[\"NEG-ERR\",\"n\",\"invalid: ",
        ),
        (
            r#"["NEG-OPEN","n",{"kinds":[1059]},"61"]"#,
            "[\"NEG-ERR\",\"n\",\"auth-required: ",
        ),
    ] {
        assert_eq!(count(&world.say(id, text), start), 1, "{text}");
    }
}

/// NOS-72: as a client, whatever the refusal, it ends soon and names the cause.
#[test]
fn case_ng_01_a_refusal_is_never_in_sync() {
    let id = || SubscriptionId::new("n").unwrap();
    let patience = Duration::from_secs(5);
    let ask = || {
        let filter = Filter::default();
        Asking::compare(id(), filter, vec![0x61], patience, Instant::START).0
    };
    for text in [
        r#"["NOTICE","ERROR: bad msg: unknown cmd"]"#,
        r#"["CLOSED","n","unsupported: no"]"#,
        r#"["NEG-ERR","n","blocked: too big",500]"#,
        r#"["CLOSED","n","auth-required: no challenge came"]"#,
    ] {
        let message = RelayMessage::parse(text).unwrap();
        let Step::Ended(Ending::Refused(reason)) = ask().handle(Instant::START, message) else {
            panic!("{text}");
        };
        assert!(text.contains(reason.text()));
    }
    let mut silent = ask();
    let other = RelayMessage::parse(r#"["EOSE","n",["finish"]]"#).unwrap();
    assert_eq!(silent.handle(Instant::START, other), Step::None);
    let later = Instant::START.after(patience);
    assert_eq!(
        silent.tick(later),
        Step::Ended(Ending::Silent { notice: None })
    );
    assert_eq!(silent.tick(later), Step::None, "it ends once");
}

/// NOS-81.
#[test]
fn case_ng_03_too_many_records_are_refused_with_the_cap() {
    let settings = Settings {
        neg_items_max: 3,
        ..Settings::default()
    };
    let mut world = World::new(settings);
    for n in 0..3 {
        world.oracle.receive(&testing::note(1, n, "x"));
    }
    let open = r#"["NEG-OPEN","n",{},"6100000200"]"#;
    let ids: Vec<_> = (0..5).map(|_| world.connect()).collect();
    for id in &ids {
        world.frames(*id);
        assert_eq!(count(&world.say(*id, open), "[\"NEG-MSG\""), 1);
    }
    world.oracle.receive(&testing::note(1, 3, "x"));
    for id in ids {
        let frames = world.say(id, open);
        let parsed = RelayMessage::parse(frames.last().unwrap());
        let Ok(RelayMessage::NegErr { reason, cap, .. }) = parsed else {
            panic!("{frames:?}");
        };
        assert!(reason.text().starts_with("blocked: "));
        assert_eq!(cap, Some(3));
    }
}

/// NOS-23 and NOS-80.
#[test]
fn case_ng_05_a_deleted_event_does_not_come_back() {
    let x = testing::note(1, 10, "x");
    let deletion = testing::event(1, 20, 5, &[&["e", &x.id().to_string()]], "");
    let (mut a, mut b) = (Oracle::default(), Oracle::default());
    a.receive(&x);
    a.receive(&deletion);
    b.receive(&x);
    let kinds_1 = filter(r#"{"kinds":[1]}"#);
    let set = |oracle: &Oracle, filter: &Filter| oracle.records(filter, &nobody(), now());
    // A does not have X as far as a sync can see; B offers it, and A refuses it.
    assert_eq!(set(&a, &kinds_1).as_slice(), []);
    assert_eq!(set(&b, &kinds_1).as_slice(), [item(&x)]);
    assert!(matches!(
        a.publish(&x, now()),
        osier_nostr::Published::Refused(_)
    ));
    b.receive(&deletion);
    assert_eq!(set(&b, &kinds_1), set(&a, &kinds_1));
    assert_eq!(set(&b, &filter("{}")), set(&a, &filter("{}")));
}

/// NOS-82.
#[test]
fn case_ng_07_malformed_and_foreign_frames_harm_nobody_else() {
    let mut world = world();
    let note = testing::note(1, 5, "x");
    world.oracle.receive(&note);
    let id = world.connect();
    world.frames(id);
    world.say(id, r#"["NEG-OPEN","good",{},"6100000200"]"#);
    for hex in [
        "",                   // nothing
        "ff",                 // no version
        "6180",               // a varint that ends with the frame
        "610200",             // no mode
        "61000003",           // an unknown mode
        "610000020a00",       // ten ids announced, none there
        "610201050001010300", // a bound that goes backwards
    ] {
        let frames = world.say(id, &format!(r#"["NEG-OPEN","bad",{{}},"{hex}"]"#));
        assert_eq!(
            count(&frames, "[\"NEG-ERR\",\"bad\",\"invalid: "),
            1,
            "{hex}: {frames:?}"
        );
    }
    let odd = world.say(id, r#"["NEG-OPEN","bad",{},"610"]"#);
    assert_eq!(count(&odd, "[\"NEG-ERR\",\"bad\",\"invalid: "), 1);
    let foreign = world.say(id, r#"["NEG-OPEN","v2",{},"6200000200"]"#);
    assert_eq!(foreign, [r#"["NEG-MSG","v2","61"]"#]);
    let retried = world.say(id, r#"["NEG-MSG","v2","6100000200"]"#);
    assert!(
        retried[0].contains(&note.id().to_string()),
        "the session stayed open"
    );
    let good = world.say(id, r#"["NEG-MSG","good","6100000200"]"#);
    assert!(good[0].contains(&note.id().to_string()));
}

#[test]
fn case_ng_09_ids_of_one_second_are_ordered_as_unsigned_bytes() {
    let record = |first: u8| {
        let mut id = [7; 32];
        id[0] = first;
        Item::new(5, id)
    };
    let all: VectorStorage = [0x00, 0x7f, 0x80, 0xff].map(record).into_iter().collect();
    let less: VectorStorage = [0x00, 0x7f, 0xff].map(record).into_iter().collect();
    let start = Instant::START;
    let mut session = NegSession::open(&all, 10, start).unwrap();
    let (mut initiator, frame) = Initiator::start(&less, FrameLimit::NONE).unwrap();
    let reply = session.answer(&all, &frame, start).unwrap();
    let progress = initiator.reconcile(&less, &reply).unwrap();
    assert_eq!(
        (progress.need, progress.have),
        (vec![record(0x80).id], Vec::new())
    );
    assert!(progress.next.is_none());
}

/// The frames of a session are limited; the sets are found equal to a plain difference.
#[test]
fn case_ng_10_a_large_set_against_a_small_one_ends() {
    let mut world = world();
    let author = testing::pubkey(1);
    let events: Vec<Event> = (0..20_000)
        .map(|n| testing::draft(n, 1, &[], "").unsigned(&author))
        .collect();
    for event in &events {
        world.oracle.receive(event);
    }
    let own: VectorStorage = events.iter().step_by(2_000).map(item).collect();
    let (have, need) = sync(&mut world, "{}", &own);
    assert_eq!((have.len(), need.len()), (0, 20_000 - 10));
    let all: VectorStorage = events.iter().map(item).collect();
    let (have, need) = sync(&mut world, "{}", &all);
    assert_eq!((have.len(), need.len()), (0, 0));
}

/// NOS-83 and NOS-84.
#[test]
fn a_session_is_idle_by_its_own_progress() {
    let mut world = world();
    let id = world.connect();
    world.frames(id);
    world.say(id, r#"["NEG-OPEN","n",{},"6100000200"]"#);
    world.say(id, r#"["REQ","n",{}]"#);
    world.now.instant = world.now.instant.after(Duration::from_secs(59));
    world.input(id, Input::Tick);
    assert_eq!(world.frames(id), [""; 0]);
    world.say(id, r#"["REQ","other",{}]"#);
    world.now.instant = world.now.instant.after(Duration::from_secs(1));
    world.input(id, Input::Tick);
    let frames = world.frames(id);
    assert_eq!(count(&frames, "[\"NEG-ERR\",\"n\",\"closed: "), 1);
    let frames = world.publish(id, &testing::note(1, 5, "x"));
    assert_eq!(
        count(&frames, "[\"EVENT\",\"n\""),
        1,
        "the subscription of that id lives on"
    );
}
