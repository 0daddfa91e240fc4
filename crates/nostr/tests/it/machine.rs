//! The machine of a connection: every input for every state of a request.

use osier_core::Instant;
use osier_nostr::{
    Commit, Connection, ConnectionId, CountAnswer, Generation, Input, Now, Output, Prefix,
    Published, Purpose, Reason, ScanEnd, Seconds, Settings, limit, testing,
};

fn now() -> Now {
    Now {
        wall: Seconds::new(1_000_000).expect("in range"),
        instant: Instant::START,
    }
}

struct Machine {
    connection: Connection,
}

impl Machine {
    fn new() -> Self {
        let mut out = Vec::new();
        let settings = Settings::default().into();
        let connection = Connection::open(ConnectionId(1), settings, "c", &mut out);
        Self { connection }
    }

    fn input(&mut self, input: Input<'_>) -> Vec<Output> {
        let mut out = Vec::new();
        self.connection.handle(now(), input, &mut out);
        out
    }

    fn text(&mut self, text: &str) -> Vec<Output> {
        self.input(Input::Text(text))
    }
}

fn frames(out: &[Output]) -> Vec<String> {
    let sent = out.iter().filter_map(|it| match it {
        Output::Send(frame) => Some(frame.to_text()),
        _ => None,
    });
    sent.collect()
}

fn end(commit: u64) -> ScanEnd {
    ScanEnd::Done {
        drained: true,
        more: false,
        synced: true,
        commit: Commit(commit),
    }
}

/// NOS-43: for a request that is over, whatever comes is ignored.
#[test]
fn nothing_is_sent_for_a_request_that_is_over() {
    let event = testing::note(1, 5, "x");
    let generation = Generation(1);
    let late = || {
        [
            Input::Stored {
                generation,
                event: &event,
            },
            Input::ScanEnded {
                generation,
                end: end(1),
            },
            Input::ScanEnded {
                generation,
                end: ScanEnd::Failed(Reason::new(Prefix::Error, "x")),
            },
            Input::Live {
                generation,
                event: &event,
                commit: Some(Commit(5)),
            },
            Input::Lagged { generation },
            Input::Counted {
                generation,
                outcome: Ok(CountAnswer::exact(5)),
            },
            Input::NegAnswered {
                generation,
                outcome: Ok(vec![0x61]),
            },
        ]
    };
    for (open, close) in [
        (r#"["REQ","s",{}]"#, r#"["CLOSE","s"]"#),
        (r#"["REQ","s",{}]"#, r#"["REQ","s",{"kinds":[1059]}]"#),
        (r#"["REQ","s",{}]"#, r#"["REQ","s",{"limit":0}]"#),
        (r#"["NEG-OPEN","s",{},"61"]"#, r#"["NEG-CLOSE","s"]"#),
        (
            r#"["NEG-OPEN","s",{},"61"]"#,
            r#"["NEG-OPEN","s",{"kinds":[1059]},"61"]"#,
        ),
    ] {
        let mut machine = Machine::new();
        machine.text(open);
        let closed = machine.text(close);
        assert!(closed.contains(&Output::Stop { generation }), "{close}");
        for input in late() {
            let said = format!("{input:?}");
            assert_eq!(machine.input(input), [], "{close}: {said}");
        }
    }
    let mut machine = Machine::new();
    machine.text(r#"["REQ","s",{}]"#);
    machine.text(r#"["COUNT","s",{}]"#);
    assert_eq!(machine.connection.open_requests(), 2);
    assert_eq!(machine.input(Input::Gone).len(), 2);
    assert_eq!(machine.connection.open_requests(), 0);
    for input in late() {
        assert_eq!(machine.input(input), []);
    }
}

/// NOS-44: live events wait for `EOSE`, and those of the snapshot are not sent twice.
#[test]
fn stored_and_live_meet_without_a_hole_or_a_double() {
    let mut machine = Machine::new();
    let out = machine.text(r#"["REQ","s",{"kinds":[1]}]"#);
    assert!(
        matches!(&out[..], [Output::Subscribe { .. }, Output::Scan { .. }]),
        "in this order"
    );
    let generation = Generation(1);
    let (early, late) = (testing::note(1, 5, "early"), testing::note(1, 6, "late"));
    let ephemeral = testing::note(1, 7, "never stored");
    let live = |event, commit: Option<u64>| Input::Live {
        generation,
        event,
        commit: commit.map(Commit),
    };
    assert_eq!(machine.input(live(&early, Some(3))), []);
    assert_eq!(machine.input(live(&late, Some(4))), []);
    assert_eq!(machine.input(live(&ephemeral, None)), []);
    assert_eq!(
        machine
            .input(Input::Stored {
                generation,
                event: &early
            })
            .len(),
        1
    );
    let out = frames(&machine.input(Input::ScanEnded {
        generation,
        end: end(3),
    }));
    assert_eq!(out.len(), 3);
    assert!(out[0].starts_with("[\"EOSE\"") && out[1].contains("late"));
    assert!(out[2].contains("never stored"));
    // A live feed may be slower than a scan: what the snapshot held has been sent.
    assert_eq!(machine.input(live(&early, Some(3))), []);
    assert_eq!(machine.input(live(&late, Some(4))).len(), 1);
    assert_eq!(
        machine.input(Input::ScanEnded {
            generation,
            end: end(9)
        }),
        [],
        "one EOSE"
    );
    assert_eq!(
        machine.input(Input::Stored {
            generation,
            event: &early
        }),
        []
    );
}

/// NOS-17: what was durable before a request that wants live events only is not live, however late
/// it is told.
#[test]
fn limit_zero_begins_where_it_is_asked() {
    let mut machine = Machine::new();
    let out = machine.text(r#"["REQ","s",{"kinds":[1],"limit":0}]"#);
    let generation = Generation(1);
    assert!(
        matches!(&out[..], [Output::Subscribe { .. }, Output::Mark { .. }]),
        "{out:?}"
    );
    let eose = frames(&machine.input(Input::ScanEnded {
        generation,
        end: end(3),
    }));
    assert_eq!(eose, [r#"["EOSE","s"]"#]);
    let event = testing::note(1, 5, "x");
    let mut live = |commit| {
        let live = Input::Live {
            generation,
            event: &event,
            commit: Some(Commit(commit)),
        };
        machine.input(live).len()
    };
    assert_eq!((live(3), live(4)), (0, 1));
}

/// NOS-17 and NOS-44 in one request: its snapshot is younger than itself, so of the filter that
/// wants live events only it has sent nothing.
#[test]
fn what_a_snapshot_holds_is_live_for_a_filter_that_was_not_read() {
    let mut machine = Machine::new();
    machine.text(r#"["REQ","s",{"kinds":[1]},{"kinds":[7],"limit":0}]"#);
    let generation = Generation(1);
    machine.input(Input::ScanEnded {
        generation,
        end: end(3),
    });
    let read = testing::event(1, 5, 1, &[], "");
    let unread = testing::event(1, 5, 7, &[], "");
    let mut live = |event, commit| {
        let live = Input::Live {
            generation,
            event,
            commit: Some(Commit(commit)),
        };
        machine.input(live).len()
    };
    assert_eq!((live(&read, 3), live(&unread, 3)), (0, 1));
    assert_eq!((live(&read, 4), live(&unread, 4)), (1, 1));
}

/// NOS-43: the client takes a refusal for the end of whatever has that id.
#[test]
fn a_refusal_ends_what_is_open_under_its_id() {
    let stop = Output::Stop {
        generation: Generation(1),
    };
    for (open, refused) in [
        (r#"["REQ","s",{}]"#, r#"["REQ","s"]"#),
        (r#"["REQ","s",{}]"#, r#"["REQ","s",{"x":1}]"#),
        (r#"["REQ","s",{}]"#, r#"["COUNT","s",{"kinds":[1059]}]"#),
        (r#"["NEG-OPEN","s",{},"61"]"#, r#"["NEG-MSG","s","6"]"#),
    ] {
        let mut machine = Machine::new();
        machine.text(open);
        let out = machine.text(refused);
        assert!(out.contains(&stop), "{refused}");
        assert_eq!(frames(&out).len(), 1);
    }
}

#[test]
fn a_failed_scan_closes_the_subscription() {
    let mut machine = Machine::new();
    machine.text(r#"["REQ","s",{}]"#);
    let failed = ScanEnd::Failed(Reason::new(Prefix::Error, "the store is busy"));
    let out = machine.input(Input::ScanEnded {
        generation: Generation(1),
        end: failed,
    });
    assert_eq!(
        frames(&out),
        [r#"["CLOSED","s","error: the store is busy"]"#]
    );
    assert!(out.contains(&Output::Stop {
        generation: Generation(1)
    }));
}

/// Limits of a connection: each is a refusal with an id.
#[test]
fn what_is_too_much_is_refused_with_its_id() {
    let mut machine = Machine::new();
    for n in 0..limit::SUBSCRIPTIONS_MAX {
        machine.text(&format!(r#"["REQ","s{n}",{{}}]"#));
    }
    let out = frames(&machine.text(r#"["REQ","over",{}]"#));
    assert!(out[0].starts_with("[\"CLOSED\",\"over\",\"rate-limited: "));
    assert_eq!(
        frames(&machine.text(r#"["REQ","s0",{}]"#)),
        [""; 0],
        "replacing takes no more"
    );
    for n in 0..limit::COUNTS_MAX {
        machine.text(&format!(r#"["COUNT","c{n}",{{}}]"#));
    }
    let out = frames(&machine.text(r#"["COUNT","over",{}]"#));
    assert!(out[0].starts_with("[\"CLOSED\",\"over\",\"rate-limited: "));
    for n in 0..limit::NEG_SESSIONS_MAX {
        machine.text(&format!(r#"["NEG-OPEN","n{n}",{{}},"61"]"#));
    }
    let out = frames(&machine.text(r#"["NEG-OPEN","over",{},"61"]"#));
    assert!(out[0].starts_with("[\"NEG-ERR\",\"over\",\"rate-limited: "));
    let out = frames(&machine.text(r#"["NEG-MSG","n0","61"]"#));
    assert!(
        out[0].starts_with("[\"NEG-ERR\",\"n0\",\"invalid: "),
        "out of turn"
    );
}

/// A client that sends faster than events become durable waits; it is not cut off.
#[test]
fn unanswered_events_make_the_client_wait() {
    let mut machine = Machine::new();
    let event = testing::note(1, 5, "x");
    let text = format!("[\"EVENT\",{}]", event.json());
    for _ in 0..limit::UNANSWERED_EVENTS_MAX / 2 {
        assert!(machine.connection.wants_input());
        assert!(matches!(&machine.text(&text)[..], [Output::Verify { .. }]));
    }
    assert!(!machine.connection.wants_input());
    let id = event.id();
    let out = machine.input(Input::Published {
        id,
        outcome: Published::Duplicate,
    });
    assert!(frames(&out)[0].contains(",true,\"duplicate: "));
    assert!(machine.connection.wants_input());
    while machine
        .text(&text)
        .iter()
        .all(|it| !matches!(it, Output::Send(_)))
    {}
    let refused = frames(&machine.text(&text));
    assert!(refused[0].contains(",false,\"rate-limited: "));
}

/// NOS-33, NOS-31 and NOS-30: admission.
#[test]
fn what_is_not_to_be_published_is_refused_with_a_reason() {
    let admit = |event: osier_nostr::Event| {
        let mut machine = Machine::new();
        machine.text(&format!("[\"EVENT\",{}]", event.json()));
        let id = event.id();
        machine.input(Input::Verified {
            purpose: Purpose::Publish,
            id,
            outcome: Ok(event),
        })
    };
    let reason = |event| frames(&admit(event)).first().cloned().unwrap_or_default();
    let at = |seconds| testing::note(1, seconds, "x");
    assert!(matches!(&admit(at(1_000_900))[..], [Output::Append(_)]));
    assert!(reason(at(1_000_901)).contains("invalid: the event is dated"));
    assert!(reason(testing::event(1, 5, 22_242, &[], "")).contains("invalid: "));
    assert!(reason(testing::event(1, 5, 1, &[&["expiration", "7"]], "")).contains("expired"));
    assert!(reason(testing::event(1, 5, 1, &[&["-"]], "")).contains("auth-required: "));
    let ephemeral = testing::event(1, 5, 20_000, &[], "");
    assert!(matches!(&admit(ephemeral)[..], [Output::Broadcast(_)]));
}
