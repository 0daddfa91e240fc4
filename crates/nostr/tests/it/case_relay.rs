//! Cases of the area "Nostr relay": what a request gets.

use osier_nostr::{
    Event,
    testing::{self, World},
};

use crate::support::{count, event_ids, ids, is_ok, named, world};

/// Three notes at seconds 1 to 3.
fn three(world: &mut World) -> Vec<Event> {
    let notes: Vec<Event> = (1..=3).map(|at| testing::note(1, at, "x")).collect();
    for note in &notes {
        world.oracle.receive(note);
    }
    notes
}

/// NOS-17.
#[test]
fn case_nr_01_limit_zero_is_live_only() {
    let mut world = world();
    let notes = three(&mut world);
    let id = world.connect();
    world.frames(id);
    let frames = world.say(id, r#"["REQ","s",{"kinds":[1],"limit":0}]"#);
    assert_eq!(frames, [r#"["EOSE","s"]"#]);
    let frames = world.say(
        id,
        r#"["REQ","m",{"kinds":[1],"limit":0},{"kinds":[1],"limit":2}]"#,
    );
    assert_eq!(event_ids(&frames), ids([&notes[2], &notes[1]]));
    assert_eq!(count(&frames, "[\"EOSE\""), 1);
    let fourth = testing::note(2, 4, "y");
    let frames = world.publish(id, &fourth);
    assert_eq!(
        event_ids(&frames),
        ids([&fourth, &fourth]),
        "once for each subscription"
    );
}

/// NOS-11 and NOS-13.
#[test]
fn case_nr_02_the_empty_filter_is_everything_and_unknown_keys_are_refused() {
    let mut world = world();
    three(&mut world);
    let id = world.connect();
    world.frames(id);
    assert_eq!(event_ids(&world.say(id, r#"["REQ","s",{}]"#)).len(), 3);
    assert_eq!(
        event_ids(&world.publish(id, &testing::note(1, 4, "live"))).len(),
        1
    );
    for request in [r#"["REQ","b",{"kind":3,"tags":[]}]"#, r#"["REQ","b"]"#] {
        let frames = world.say(id, request);
        assert_eq!(
            count(&frames, "[\"CLOSED\",\"b\",\"invalid: "),
            1,
            "{frames:?}"
        );
        assert_eq!(frames.len(), 1);
    }
    assert_eq!(
        event_ids(&world.say(id, r#"["REQ","c",{"kinds":[1]}]"#)).len(),
        4
    );
}

/// NOS-11.
#[test]
fn case_nr_03_an_empty_list_matches_nothing_and_harms_nobody() {
    let mut world = world();
    three(&mut world);
    let e = "ab".repeat(32);
    let other = testing::event(2, 9, 7, &[&["e", &e]], "");
    world.oracle.receive(&other);
    let id = world.connect();
    world.frames(id);
    let request = format!(r##"["REQ","s",{{"#a":[],"kinds":[1]}},{{"#e":["{e}"],"kinds":[7]}}]"##);
    let frames = world.say(id, &request);
    assert_eq!(event_ids(&frames), ids([&other]));
    assert_eq!(frames.len(), 2);
    let frames = world.say(id, r#"["REQ","t",{"ids":[]}]"#);
    assert_eq!(
        frames,
        [r#"["EOSE","t",["finish"]]"#],
        "nothing is all there is"
    );
}

#[test]
fn case_nr_04_filters_are_or_each_with_its_limit_each_event_once() {
    let mut world = world();
    let (a, b) = (1, 2);
    let events = [
        testing::note(a, 3, ""),
        testing::note(b, 2, ""),
        testing::note(a, 1, ""),
    ];
    for event in &events {
        world.oracle.receive(event);
    }
    let id = world.connect();
    world.frames(id);
    let request = r#"["REQ","s",{"kinds":[1],"limit":1},{"authors":["$1"],"limit":2}]"#;
    let frames = world.say(id, &named(request));
    assert_eq!(event_ids(&frames), ids([&events[0], &events[2]]));
    assert_eq!(count(&frames, "[\"EOSE\""), 1);
    assert!(frames.last().unwrap().starts_with("[\"EOSE\""));
}

/// NOS-16.
#[test]
fn case_nr_05_ties_are_broken_by_the_lowest_id() {
    let mut world = world();
    let mut notes: Vec<Event> = (1..=3).map(|n| testing::note(n, 7, "tie")).collect();
    notes.sort_by_key(|note| std::cmp::Reverse(note.id()));
    for note in &notes {
        world.oracle.receive(note);
    }
    let id = world.connect();
    world.frames(id);
    let expected = ids([&notes[2], &notes[1]]);
    for filter in [
        r#"{"kinds":[1],"limit":2}"#,
        r#"{"authors":["$1","$2","$3"],"limit":2}"#,
    ] {
        for _ in 0..10 {
            let frames = world.say(id, &format!(r#"["REQ","s",{}]"#, named(filter)));
            assert_eq!(event_ids(&frames), expected);
        }
    }
}

#[test]
fn case_nr_13_ephemeral_events_are_passed_on_and_not_kept() {
    let mut world = world();
    let (reader, writer) = (world.connect(), world.connect());
    world.say(reader, r#"["REQ","s",{"kinds":[20001]}]"#);
    let event = testing::event(1, 5, 20_001, &[], "now");
    assert!(is_ok(&world.publish(writer, &event), &event, true, ""));
    assert_eq!(event_ids(&world.frames(reader)), ids([&event]));
    let frames = world.say(writer, r#"["REQ","t",{"kinds":[20001]}]"#);
    assert_eq!(event_ids(&frames), [""; 0]);
    world.say(writer, r#"["CLOSE","t"]"#);
    world.say(reader, r#"["CLOSE","s"]"#);
    assert!(is_ok(
        &world.publish(writer, &event),
        &event,
        false,
        "mute: "
    ));
}
