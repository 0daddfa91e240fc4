//! Whatever a client says, in whatever order: every frame that comes back is a message, and
//! events come only for what is open.

use std::collections::BTreeSet;

use osier_nostr::{RelayMessage, testing};
use proptest::prelude::*;

use crate::support::{cases, count, world};

#[derive(Debug, Clone)]
enum Said {
    Req(&'static str, &'static str),
    Close(&'static str),
    Publish(u8, u16),
    Authenticate(u8),
    Other(String),
}

fn said() -> impl Strategy<Value = Said> {
    let id = || prop::sample::select(vec!["a", "b", "\\u0061", "\\\"\\n"]);
    let filters = prop::sample::select(vec![
        "{}",
        r#"{"kinds":[1]}"#,
        r#"{"kinds":[1059]}"#,
        r#"{"limit":0}"#,
        r#"{"ids":[]},{"kinds":[0,20001]}"#,
        r#"{"x":1}"#,
    ]);
    let kind = prop::sample::select(vec![0_u16, 1, 5, 62, 1_059, 20_001, 22_242, 30_000]);
    let other = prop::sample::select(vec![
        r#"["COUNT","a",{}]"#,
        r#"["NEG-OPEN","a",{},"6100000200"]"#,
        r#"["NEG-MSG","a","6100000200"]"#,
        r#"["NEG-CLOSE","a"]"#,
        r#"["REQ","a"]"#,
        r#"["EVENT",{}]"#,
    ]);
    prop_oneof![
        (id(), filters).prop_map(|(id, filters)| Said::Req(id, filters)),
        id().prop_map(Said::Close),
        (0_u8..3, kind).prop_map(|(n, kind)| Said::Publish(n, kind)),
        (0_u8..3).prop_map(Said::Authenticate),
        other.prop_map(|text| Said::Other(text.to_owned())),
        "[\\[\\]{}\",:A-Z0-9]{0,12}".prop_map(Said::Other),
    ]
}

/// The id as the relay writes it back.
fn written(id: &str) -> String {
    serde_json::from_str(&format!("\"{id}\"")).expect("an escaped id")
}

proptest! {
    #![proptest_config(cases())]

    /// NOS-40 and NOS-43.
    #[test]
    fn events_come_only_for_what_is_open(all in prop::collection::vec(said(), 1..24)) {
        let mut world = world();
        let id = world.connect();
        world.frames(id);
        let mut open: BTreeSet<String> = BTreeSet::new();
        for (at, said) in all.into_iter().enumerate() {
            let frames = match &said {
                Said::Req(name, filters) => {
                    open.insert(written(name));
                    world.say(id, &format!("[\"REQ\",\"{name}\",{filters}]"))
                }
                Said::Close(name) => {
                    open.remove(&written(name));
                    world.say(id, &format!("[\"CLOSE\",\"{name}\"]"))
                }
                Said::Publish(n, kind) => {
                    let tags: &[&[&str]] = &[&["relay", "ALL_RELAYS"]];
                    let event = testing::event(*n, at as u64, *kind, tags, "");
                    let frames = world.publish(id, &event);
                    prop_assert_eq!(count(&frames, "[\"OK\""), 1, "{:?}", frames);
                    frames
                }
                Said::Authenticate(n) => {
                    prop_assert!(world.authenticate(id, *n));
                    Vec::new()
                }
                Said::Other(text) => world.say(id, text),
            };
            for frame in frames {
                match RelayMessage::parse(&frame) {
                    Ok(RelayMessage::Event { id, .. } | RelayMessage::Eose { id, .. }) => {
                        prop_assert!(open.contains(id.as_str()), "{frame} after {said:?}");
                    }
                    Ok(RelayMessage::Closed { id, .. }) => {
                        open.remove(id.as_str());
                    }
                    Ok(_) => {}
                    Err(why) => prop_assert!(frame.contains("\"\""), "{why}: {frame}"),
                }
            }
        }
    }
}
