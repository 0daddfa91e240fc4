//! Cases of the area "Nostr relay": generations, one key, lagging.

use osier_core::{Duration, Instant};
use osier_nostr::{
    Commit, Connection, ConnectionId, EventDraft, EventKind, Generation, Input, Now, Output,
    Published, Purpose, Reason, ScanEnd, Seconds, Settings, limit, nip::nip42::RelayUrl, testing,
};

use crate::support::{count, event_ids, ids, is_ok, named, world};

fn open(out: &mut Vec<Output>) -> Connection {
    let settings = Settings {
        urls: RelayUrl::parse("wss://relay.test").into_iter().collect(),
        ..Settings::default()
    };
    Connection::open(ConnectionId(1), settings.into(), "c", out)
}

fn now() -> Now {
    Now {
        wall: Seconds::new(1_000_000).expect("in range"),
        instant: Instant::START,
    }
}

fn texts(out: &[Output]) -> Vec<String> {
    let frames = out.iter().filter_map(|output| match output {
        Output::Send(frame) => Some(frame.to_text()),
        _ => None,
    });
    frames.collect()
}

fn done() -> ScanEnd {
    ScanEnd::Done {
        drained: true,
        more: false,
        synced: true,
        commit: Commit(9),
    }
}

/// NOS-43: what a slow scan still says for a replaced request is dropped.
#[test]
fn case_nr_15_a_replaced_subscription_is_silent() {
    let mut out = Vec::new();
    let mut connection = open(&mut out);
    connection.handle(now(), Input::Text(r#"["REQ","s",{"kinds":[1]}]"#), &mut out);
    connection.handle(now(), Input::Text(r#"["REQ","s",{"kinds":[7]}]"#), &mut out);
    let (slow, fast) = (Generation(1), Generation(2));
    assert!(out.contains(&Output::Stop { generation: slow }));
    out.clear();
    let (old, new) = (
        testing::note(1, 1, "old"),
        testing::event(1, 1, 7, &[], "new"),
    );
    connection.handle(
        now(),
        Input::Stored {
            generation: fast,
            event: &new,
        },
        &mut out,
    );
    connection.handle(
        now(),
        Input::Stored {
            generation: slow,
            event: &old,
        },
        &mut out,
    );
    connection.handle(
        now(),
        Input::ScanEnded {
            generation: slow,
            end: done(),
        },
        &mut out,
    );
    let live = Input::Live {
        generation: slow,
        event: &old,
        commit: Some(Commit(10)),
    };
    connection.handle(now(), live, &mut out);
    connection.handle(
        now(),
        Input::ScanEnded {
            generation: fast,
            end: done(),
        },
        &mut out,
    );
    let frames = texts(&out);
    assert_eq!(event_ids(&frames), ids([&new]));
    assert_eq!(frames.len(), 2, "{frames:?}");
}

#[test]
fn case_nr_15_an_id_that_was_refused_can_be_used_again() {
    let mut world = world();
    let id = world.connect();
    world.frames(id);
    let request = named(r##"["REQ","s",{"kinds":[1059],"#p":["$1"]}]"##);
    let frames = world.say(id, &request);
    assert_eq!(count(&frames, "[\"CLOSED\",\"s\",\"auth-required: "), 1);
    assert!(world.authenticate(id, 1));
    assert_eq!(world.say(id, &request), [r#"["EOSE","s",["finish"]]"#]);
    let wrap = testing::event(5, 9, 1059, &[&["p", &testing::pubkey(1).to_string()]], "");
    world.receive(&wrap);
    assert_eq!(event_ids(&world.frames(id)), ids([&wrap]));
}

/// NOS-51.
#[test]
fn case_nr_23_relay_urls_are_compared_in_one_form() {
    let secp = secp256k1::Secp256k1::verification_only();
    for (ours, theirs, accepted) in [
        ("wss://h:3443/relay", "wss://h:3443/relay/", true),
        ("wss://h:3443/relay", "WSS://H:3443/relay", true),
        ("wss://h:3443/relay", "wss://h:3443/other", false),
        ("wss://h:3443/relay", "wss://g:3443/relay", false),
        ("wss://h/relay", "wss://h:443/relay", true),
        ("ws://[::1]:7777", "ws://[0:0::1]:7777/", true),
    ] {
        let urls = RelayUrl::parse(ours).into_iter().collect();
        let settings = Settings {
            urls,
            ..Settings::default()
        };
        let mut out = Vec::new();
        let mut connection = Connection::open(ConnectionId(1), settings.into(), "c", &mut out);
        let tags: &[&[&str]] = &[&["relay", theirs], &["challenge", "c"]];
        let event = testing::event(1, 1_000_000, 22_242, tags, "");
        out.clear();
        let text = format!("[\"AUTH\",{}]", event.json());
        connection.handle(now(), Input::Text(&text), &mut out);
        let Some(Output::Verify {
            purpose,
            event: unverified,
        }) = out.pop()
        else {
            panic!("an authentication is verified");
        };
        let outcome = unverified.verify(&secp);
        let verified = Input::Verified {
            purpose,
            id: event.id(),
            outcome,
        };
        connection.handle(now(), verified, &mut out);
        assert!(is_ok(&texts(&out), &event, accepted, ""), "{ours} {theirs}");
        assert_eq!(connection.viewer().keys().len(), usize::from(accepted));
    }
}

/// NOS-46: a gap is never silent.
#[test]
fn case_nr_30_a_subscriber_that_lags_is_told() {
    let mut out = Vec::new();
    let mut connection = open(&mut out);
    connection.handle(now(), Input::Text(r#"["REQ","s",{"kinds":[1]}]"#), &mut out);
    out.clear();
    let draft = EventDraft {
        created_at: Seconds::ZERO,
        kind: EventKind::TEXT,
        tags: Vec::new(),
        content: String::new(),
    };
    let event = draft.unsigned(&testing::pubkey(1));
    for n in 0..=limit::HELD_EVENTS_MAX as u64 {
        let commit = Some(Commit(n + 1));
        let live = Input::Live {
            generation: Generation(1),
            event: &event,
            commit,
        };
        connection.handle(now(), live, &mut out);
    }
    assert!(out.contains(&Output::Stop {
        generation: Generation(1)
    }));
    let frames = texts(&out);
    assert_eq!(count(&frames, "[\"CLOSED\",\"s\",\"error: "), 1);
    assert_eq!(frames.len(), 1);

    out.clear();
    connection.handle(now(), Input::Text(r#"["REQ","s",{"kinds":[1]}]"#), &mut out);
    connection.handle(
        now(),
        Input::Lagged {
            generation: Generation(2),
        },
        &mut out,
    );
    assert_eq!(count(&texts(&out), "[\"CLOSED\",\"s\",\"error: "), 1);
}

/// NOS-48: a request that holds a snapshot ends in time, whatever the client still does.
#[test]
fn a_snapshot_is_not_held_for_ever() {
    let mut out = Vec::new();
    let mut connection = open(&mut out);
    let at = |ms: u64| Now {
        instant: Instant::START.after(Duration::from_millis(ms)),
        ..now()
    };
    connection.handle(at(0), Input::Text(r#"["REQ","s",{}]"#), &mut out);
    let open = r#"["NEG-OPEN","n",{},"6100000200"]"#;
    connection.handle(at(0), Input::Text(open), &mut out);
    let last = limit::SNAPSHOT_MS;
    for ms in (0..last).step_by(50_000) {
        let session = Generation(2);
        let answered = Input::NegAnswered {
            generation: session,
            outcome: Ok(vec![0x61]),
        };
        connection.handle(at(ms), answered, &mut out);
        connection.handle(at(ms), Input::Tick, &mut out);
        assert_eq!(connection.open_requests(), 2, "{ms}");
        connection.handle(at(ms), Input::Text(r#"["NEG-MSG","n","61"]"#), &mut out);
    }
    out.clear();
    connection.handle(at(last), Input::Tick, &mut out);
    assert_eq!(connection.open_requests(), 0);
    let said = texts(&out);
    assert_eq!(count(&said, r#"["CLOSED","s","error: "#), 1, "{said:?}");
    assert_eq!(count(&said, r#"["NEG-ERR","n","closed: "#), 1, "{said:?}");
    for generation in [Generation(1), Generation(2)] {
        assert!(out.contains(&Output::Stop { generation }));
    }
}

/// NOS-53: what follows an `AUTH` waits until it has been checked, or refused unchecked.
#[test]
fn what_follows_an_auth_waits_for_it() {
    let mut out = Vec::new();
    let mut connection = open(&mut out);
    let tags: &[&[&str]] = &[&["relay", "wss://relay.test"], &["challenge", "c"]];
    let auth = testing::event(1, 1_000_000, 22_242, tags, "");
    let text = format!("[\"AUTH\",{}]", auth.json());
    connection.handle(now(), Input::Text(&text), &mut out);
    assert!(!connection.wants_input());
    let verified = Input::Verified {
        purpose: Purpose::Authenticate,
        id: auth.id(),
        outcome: Ok(auth.clone()),
    };
    connection.handle(now(), verified, &mut out);
    assert!(connection.wants_input());
    assert!(is_ok(&texts(&out), &auth, true, ""));
    connection.handle(now(), Input::Text(&text), &mut out);
    assert!(!connection.wants_input());
    let refused = Input::Published {
        id: auth.id(),
        outcome: Published::Refused(Reason::none()),
    };
    connection.handle(now(), refused, &mut out);
    assert!(connection.wants_input());
}
