//! Cases of the area "Nostr relay": escapes, numbers, ids, bad frames, several keys.

use osier_nostr::{
    Event, Input, limit,
    testing::{self, World},
};

use crate::support::{count, event_ids, ids, is_ok, named, verb, world};

/// NOS-2 and NOS-5.
#[test]
fn case_nr_19_one_event_has_one_id_however_it_is_escaped() {
    let content = "\u{1}\u{8}\u{c}\u{7f}\u{2028}/\u{1f469}\u{200d}\u{1f4bb}";
    let event = testing::note(1, 5, content);
    let mut world = world();
    let id = world.connect();
    assert!(is_ok(&world.publish(id, &event), &event, true, ""));
    let units: Vec<String> = content
        .encode_utf16()
        .map(|unit| format!("\\u{unit:04X}"))
        .collect();
    let escaped = units.concat();
    let (before, after) = event.json().split_once("\"content\":\"").unwrap();
    let (_, after) = after.split_once("\",\"sig\"").unwrap();
    let again = format!("[\"EVENT\",{before}\"content\":\"{escaped}\",\"sig\"{after}]");
    assert!(is_ok(&world.say(id, &again), &event, true, "duplicate: "));
    for broken in ["\\ud83d", "line\nbreak", "\\udc69\\ud83d"] {
        let text = format!("[\"EVENT\",{before}\"content\":\"{broken}\",\"sig\"{after}]");
        assert!(
            is_ok(&world.say(id, &text), &event, false, "invalid: "),
            "{broken}"
        );
    }
    let frames = world.say(id, r#"["REQ","s",{}]"#);
    assert!(
        frames[0].contains(event.json()),
        "it is served verifiable, and the socket is open"
    );
}

/// NOS-4 and NOS-14.
#[test]
fn case_nr_21_integers_out_of_range_do_not_wrap() {
    let mut world = world();
    world.oracle.receive(&testing::note(1, 1, "x"));
    let id = world.connect();
    world.frames(id);
    for filter in [
        r#"{"since":1700000000000}"#,
        r#"{"until":-1}"#,
        r#"{"kinds":[9999999999]}"#,
    ] {
        let frames = world.say(id, &format!(r#"["REQ","s",{filter}]"#));
        assert_eq!(frames.len(), 1, "{frames:?}");
        assert_eq!(count(&frames, "[\"EOSE\",\"s\""), 1);
    }
    let event = testing::note(1, 77, "x");
    for (field, value) in [
        ("\"kind\":1", "\"kind\":65537"),
        ("\"kind\":1", "\"kind\":-1"),
        ("\"created_at\":77", "\"created_at\":1.5"),
        ("\"created_at\":77", "\"created_at\":9223372036854775808"),
    ] {
        let text = event.json().replace(field, value);
        let frames = world.say(id, &format!("[\"EVENT\",{text}]"));
        assert!(is_ok(&frames, &event, false, "invalid: "), "{frames:?}");
    }
}

/// NOS-42.
#[test]
fn case_nr_22_a_bad_id_is_refused_with_the_id() {
    let mut world = world();
    let id = world.connect();
    world.frames(id);
    for length in [0, 64, 65, 400_000] {
        let name = "s".repeat(length);
        let frames = world.say(id, &format!(r#"["REQ","{name}",{{}}]"#));
        assert_eq!(frames.len(), 1);
        let (kind, said) = verb(&frames[0]);
        assert_eq!(kind, if length == 64 { "EOSE" } else { "CLOSED" });
        assert_eq!(said, name[..length.min(limit::SUBSCRIPTION_ID_CHARS_MAX)]);
    }
}

/// NOS-50 and NOS-52.
#[test]
fn case_nr_25_several_keys_on_one_connection() {
    let mut world = world();
    let wraps: Vec<Event> = (1..=3)
        .map(|n| testing::event(9, 5, 1059, &[&["p", &testing::pubkey(n).to_string()]], ""))
        .collect();
    for wrap in &wraps {
        world.oracle.receive(wrap);
    }
    let (id, other) = (world.connect(), world.connect());
    assert_eq!(
        world.frames(id),
        [r#"["AUTH","challenge-0"]"#],
        "before anything is asked"
    );
    let ask = |world: &mut World, n: u8| {
        world.say(
            id,
            &named(&format!(
                r##"["REQ","s",{{"kinds":[1059],"#p":["${n}"]}}]"##
            )),
        )
    };
    let frames = ask(&mut world, 1);
    assert_eq!(count(&frames, "[\"CLOSED\",\"s\",\"auth-required: "), 1);

    let tags: &[&[&str]] = &[
        &["relay", "wss://relay.test"],
        &["challenge", "challenge-0"],
    ];
    let foreign = testing::event(1, 1_000_000, 22_242, tags, "");
    let frames = world.say(other, &format!("[\"AUTH\",{}]", foreign.json()));
    assert!(
        frames.iter().any(|it| it.contains(",false,\"invalid: ")),
        "another's challenge"
    );

    assert!(world.authenticate(id, 1) && world.authenticate(id, 2));
    assert_eq!(event_ids(&ask(&mut world, 1)), ids([&wraps[0]]));
    assert_eq!(event_ids(&ask(&mut world, 2)), ids([&wraps[1]]));
    assert_eq!(
        count(&ask(&mut world, 3), "[\"CLOSED\",\"s\",\"restricted: "),
        1
    );
}

/// NOS-40. Joining fragments and the size of a frame are the driver's part.
#[test]
fn case_nr_31_a_bad_frame_costs_nothing_but_itself() {
    let mut world = world();
    let id = world.connect();
    world.frames(id);
    for text in [
        "not json",
        "[]",
        r#"["EVENT"]"#,
        "",
        "{}",
        "\u{0}",
        "[\"REQ\"",
    ] {
        let frames = world.say(id, text);
        assert_eq!(
            count(&frames, "[\"NOTICE\",\"invalid: "),
            1,
            "{text:?}: {frames:?}"
        );
    }
    world.input(id, Input::Binary);
    assert_eq!(count(&world.frames(id), "[\"NOTICE\",\"invalid: "), 1);
    let event = testing::note(1, 5, "x");
    assert!(is_ok(&world.publish(id, &event), &event, true, ""));
    assert_eq!(
        event_ids(&world.say(id, r#"["REQ","s",{}]"#)),
        ids([&event])
    );
}
