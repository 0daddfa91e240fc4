//! Messages there and back, and refusals that carry their ids.

use proptest::prelude::*;

use super::*;
use crate::{limit, reason::Prefix, testing};

fn refused(text: &str) -> String {
    ClientMessage::parse(text)
        .unwrap_err()
        .into_message()
        .to_json()
}

/// NOS-40: whatever is wrong, the refusal carries the id, if there is one.
#[test]
fn a_refusal_carries_the_id_that_it_refuses() {
    let id = "5c".repeat(32);
    for (text, start) in [
        ("not json".to_owned(), "[\"NOTICE\",\"invalid: ".to_owned()),
        ("[]".to_owned(), "[\"NOTICE\",\"invalid: ".to_owned()),
        (
            r#"["EVENT"]"#.to_owned(),
            "[\"NOTICE\",\"invalid: ".to_owned(),
        ),
        (
            r#"["WHAT","x"]"#.to_owned(),
            "[\"NOTICE\",\"unsupported: ".to_owned(),
        ),
        (
            r#"["REQ",5,{}]"#.to_owned(),
            "[\"NOTICE\",\"invalid: ".to_owned(),
        ),
        (
            r#"["CLOSE",""]"#.to_owned(),
            "[\"NOTICE\",\"invalid: ".to_owned(),
        ),
        (
            r#"["REQ","a\"b"]"#.to_owned(),
            r#"["CLOSED","a\"b","invalid: "#.to_owned(),
        ),
        (
            r#"["REQ","s",{"x":1}]"#.to_owned(),
            "[\"CLOSED\",\"s\",\"invalid: ".to_owned(),
        ),
        (
            r#"["REQ","s",{}"#.to_owned(),
            "[\"CLOSED\",\"s\",\"invalid: ".to_owned(),
        ),
        (
            r#"["REQ","",{}]"#.to_owned(),
            "[\"CLOSED\",\"\",\"invalid: ".to_owned(),
        ),
        (
            r#"["COUNT","s",{"search":"x"}]"#.to_owned(),
            "[\"CLOSED\",\"s\",\"unsupported: ".to_owned(),
        ),
        (
            r#"["NEG-OPEN","n",{},"6"]"#.to_owned(),
            "[\"NEG-ERR\",\"n\",\"invalid: ".to_owned(),
        ),
        (
            r#"["NEG-OPEN","n",{}]"#.to_owned(),
            "[\"NEG-ERR\",\"n\",\"invalid: ".to_owned(),
        ),
        (
            r#"["NEG-MSG","n","xy"]"#.to_owned(),
            "[\"NEG-ERR\",\"n\",\"invalid: ".to_owned(),
        ),
        (
            format!(r#"["EVENT",{{"id":"{id}"}}]"#),
            format!("[\"OK\",\"{id}\",false,\"invalid: "),
        ),
        (
            format!(r#"["AUTH",{{"id":"{id}"}}]"#),
            format!("[\"OK\",\"{id}\",false,\"invalid: "),
        ),
    ] {
        let refused = refused(&text);
        assert!(refused.starts_with(&start), "{text}: {refused}");
    }
    let many = format!(r#"["REQ","s"{}]"#, ",{}".repeat(limit::FILTERS_MAX + 1));
    assert!(refused(&many).contains("more than"));
    let event = testing::note(1, 1, "x");
    let twice = refused(&format!(r#"["EVENT",{},1]"#, event.json()));
    assert!(
        twice.starts_with(&format!("[\"OK\",\"{}\",false", event.id())),
        "{twice}"
    );
}

/// NOS-85.
#[test]
fn a_session_may_be_opened_with_a_list_of_one_filter() {
    let plain = ClientMessage::parse(r#"["NEG-OPEN","n",{"kinds":[1]},"61"]"#).unwrap();
    for listed in ["[{\"kinds\":[1]}]", " [ {\"kinds\":[1]} ] "] {
        let text = format!("[\"NEG-OPEN\",\"n\",{listed},\"61\"]");
        assert_eq!(ClientMessage::parse(&text).unwrap(), plain);
    }
    for other in ["[]", "[{},{}]", "[[{}]]", "[{}"] {
        let refused = refused(&format!("[\"NEG-OPEN\",\"n\",{other},\"61\"]"));
        assert!(
            refused.starts_with("[\"NEG-ERR\",\"n\",\"invalid: "),
            "{other}: {refused}"
        );
    }
}

/// NOS-61: hints of any shape are read, and unknown ones say nothing.
#[test]
fn a_hint_of_any_shape_is_no_reason_to_drop_the_message() {
    for (text, finish, more) in [
        (r#"["EOSE","s"]"#, false, false),
        (r#"["EOSE","s",[]]"#, false, false),
        (r#"["EOSE","s",["finish"]]"#, true, false),
        (r#"["EOSE","s",["x","more"],7]"#, false, true),
        (
            r#"["EOSE","s",[["finish"],{"more":1},"more"]]"#,
            false,
            true,
        ),
        (r#"["EOSE","s",{"debug":[]}]"#, false, false),
        (r#"["EOSE","s","finish"]"#, false, false),
        (r#"["EOSE","s",null]"#, false, false),
    ] {
        let Ok(RelayMessage::Eose { hints, .. }) = RelayMessage::parse(text) else {
            panic!("{text}");
        };
        assert_eq!((hints.finish, hints.more), (finish, more), "{text}");
    }
}

fn id() -> impl Strategy<Value = SubscriptionId> {
    "[\\PC\"\\\\\n]{1,16}".prop_map(|text| SubscriptionId::new(&text).unwrap())
}

fn relay_message() -> impl Strategy<Value = RelayMessage> {
    let reason = || "[\\PC\"\n]{0,16}".prop_map(|text| Reason::new(Prefix::Error, &text));
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let event = any::<u8>().prop_map(|n| UnverifiedEvent::from(testing::note(n, 1, "x\u{1}")));
    let sketch = prop::option::of(any::<u8>().prop_map(|n| Sketch::from_registers([n; 256])));
    prop_oneof![
        (id(), event).prop_map(|(id, event)| RelayMessage::Event { id, event }),
        (any::<[u8; 32]>(), any::<bool>(), reason()).prop_map(|(id, accepted, reason)| {
            RelayMessage::Ok {
                id: EventId::from_bytes(id),
                accepted,
                reason,
            }
        }),
        (id(), any::<[bool; 3]>()).prop_map(|(id, [finish, more, auth])| {
            RelayMessage::Eose {
                id,
                hints: Hints { finish, more, auth },
            }
        }),
        (id(), reason()).prop_map(|(id, reason)| RelayMessage::Closed { id, reason }),
        reason().prop_map(RelayMessage::Notice),
        (id(), any::<u64>(), any::<bool>(), sketch).prop_map(|(id, count, approximate, sketch)| {
            RelayMessage::Count {
                id,
                answer: CountAnswer {
                    count,
                    approximate,
                    sketch,
                },
            }
        }),
        ".{0,16}".prop_map(|text| RelayMessage::Auth {
            challenge: text.into()
        }),
        (id(), bytes).prop_map(|(id, frame)| RelayMessage::NegMsg { id, frame }),
        (id(), reason(), any::<Option<u64>>()).prop_map(|(id, reason, cap)| RelayMessage::NegErr {
            id,
            reason,
            cap
        }),
    ]
}

fn client_message() -> impl Strategy<Value = ClientMessage> {
    let event = any::<u8>().prop_map(|n| UnverifiedEvent::from(testing::note(n, 1, "x\"")));
    let filter = prop_oneof![
        Just(Filter::default()),
        any::<u64>().prop_map(|limit| Filter::default().with_limit(Some(limit))),
    ];
    let filters = prop::collection::vec(filter.clone(), 1..4);
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        event.clone().prop_map(ClientMessage::Event),
        event.prop_map(ClientMessage::Auth),
        (id(), filters.clone()).prop_map(|(id, filters)| ClientMessage::Req { id, filters }),
        (id(), filters).prop_map(|(id, filters)| ClientMessage::Count { id, filters }),
        id().prop_map(|id| ClientMessage::Close { id }),
        id().prop_map(|id| ClientMessage::NegClose { id }),
        (id(), bytes.clone()).prop_map(|(id, frame)| ClientMessage::NegMsg { id, frame }),
        (id(), filter, bytes).prop_map(|(id, filter, frame)| ClientMessage::NegOpen {
            id,
            filter,
            frame
        }),
    ]
}

proptest! {
    #![proptest_config(testing::cases())]

    #[test]
    fn relay_messages_are_read_as_written(message in relay_message()) {
        let text = message.to_json();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        prop_assert_eq!(RelayMessage::parse(&text), Ok(message));
    }

    #[test]
    fn client_messages_are_read_as_written(message in client_message()) {
        let text = message.to_json();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        prop_assert_eq!(ClientMessage::parse(&text), Ok(message));
    }

    /// NOS-40: no text makes a reader panic, and every refusal is a message.
    #[test]
    fn any_text_is_a_message_or_refused(text in "[\\[\\]{}\",:A-Z\\\\0-9a-f#\\-]{0,40}") {
        if let Err(refusal) = ClientMessage::parse(&text) {
            let text = refusal.into_message().to_json();
            prop_assert!(RelayMessage::parse(&text).is_ok() || text.contains("\"\""), "{}", text);
        }
        let _ = RelayMessage::parse(&text);
    }
}
