//! Events as text: answers to good ones and bad ones, escapes, times.

use osier_nostr::{Event, testing};

use super::{is_there, refused, relay};
use crate::support::client::{Client, now};

/// The event with its content written so.
fn with_content(event: &Event, raw: &str) -> String {
    let (before, rest) = event
        .json()
        .split_once("\"content\":\"")
        .expect("a content");
    let (_, after) = rest.split_once("\",\"sig\"").expect("a signature");
    format!("{before}\"content\":\"{raw}\",\"sig\"{after}")
}

/// Whatever was refused cost nothing but itself.
fn still_works(client: &mut Client) {
    let note = testing::note(1, now(), "still here");
    client.publish_all([&note]);
    assert!(is_there(client, &note));
}

#[test]
fn sends_ok_after_event() {
    let (_node, mut client) = relay();
    assert_eq!(
        client.publish(&testing::note(1, now(), "")),
        (true, String::new())
    );
}

#[test]
fn verifies_event_signatures() {
    let (_node, mut client) = relay();
    let note = testing::note(1, now(), "");
    let (before, _) = note.json().split_once("\"sig\":").expect("a signature");
    let zeros = format!("{before}\"sig\":\"{}\"}}", "0".repeat(128));
    let (taken, reason) = client.publish_text(&note.id().to_string(), &zeros);
    assert!(!taken && reason.starts_with("invalid: "), "{reason}");
    assert!(!is_there(&mut client, &note));
}

#[test]
fn verifies_event_id_hashes() {
    let (_node, mut client) = relay();
    let note = testing::note(1, now(), "");
    let other = "cafebabe".repeat(8);
    let text = note.json().replace(&note.id().to_string(), &other);
    let (taken, reason) = client.publish_text(&other, &text);
    assert!(!taken && reason.starts_with("invalid: "), "{reason}");
}

#[test]
fn accepts_nip_01_json_escape_sequences() {
    let (_node, mut client) = relay();
    let raw = r#"linebreak\ndoublequote\"backslash\\carriagereturn\rtab\tbackspace\bformfeed\fend"#;
    let content: String = serde_json::from_str(&format!("\"{raw}\"")).expect("JSON");
    let note = testing::note(1, now(), &content);
    assert_eq!(with_content(&note, raw), note.json(), "it is written so");
    client.publish_all([&note]);
    assert!(is_there(&mut client, &note));
}

#[test]
fn accepts_utf8_non_characters() {
    let (_node, mut client) = relay();
    let note = testing::note(1, now(), "\u{fdd1}\u{10fff2}");
    client.publish_all([&note]);
    assert!(is_there(&mut client, &note));
}

/// It would have them kept as they are, which makes one event of two texts two ids. We take the
/// text that they stand for, and its id is that of the canonical text.
#[test]
fn unlisted_escapes_stand_for_their_characters() {
    let (_node, mut client) = relay();
    let note = testing::note(1, now(), "\u{0}\u{1}\u{b} /");
    let raw = r"\u0000\u0001\u000b \/";
    let id = note.id().to_string();
    assert_eq!(
        client.publish_text(&id, &with_content(&note, raw)),
        (true, String::new())
    );
    let other = "ab".repeat(32);
    let text = with_content(&note, raw).replace(&id, &other);
    let (taken, reason) = client.publish_text(&other, &text);
    assert!(!taken && reason.starts_with("invalid: "), "{reason}");
    still_works(&mut client);
}

/// They are not JSON. Other relays do not answer, or drop the connection.
#[test]
fn literal_control_characters_are_refused_and_the_connection_stays() {
    let (_node, mut client) = relay();
    let note = testing::note(1, now(), "line\nbreak");
    for raw in ["line\nbreak", "tab\t", "backspace\u{8}", "formfeed\u{c}"] {
        let text = with_content(&note, raw);
        let (taken, reason) = client.publish_text(&note.id().to_string(), &text);
        assert!(
            !taken && reason.starts_with("invalid: "),
            "{raw:?}: {reason}"
        );
    }
    still_works(&mut client);
}

#[test]
fn accepts_event_created_at_one_week_old() {
    let (_node, mut client) = relay();
    client.publish_all([&testing::note(1, now() - 7 * 86_400, "")]);
}

/// A month, a year, before Nostr, before 2000, and the first second of all.
#[test]
fn accepts_event_created_at_of_any_past() {
    let (_node, mut client) = relay();
    let old = [
        now() - 28 * 86_400,
        now() - 365 * 86_400,
        1_420_070_461,
        915_148_861,
        0,
    ];
    client.publish_all(&old.map(|at| testing::note(1, at, "old")));
}

/// A year from now, after 2038, after 2106, the end of time; negative; no whole number.
#[test]
fn other_event_created_at_are_refused_and_the_connection_stays() {
    let (_node, mut client) = relay();
    for at in [
        now() + 365 * 86_400,
        (1 << 31) + 1,
        (1 << 32) + 1,
        u64::MAX >> 1,
    ] {
        let reason = refused(&mut client, &testing::note(1, at, ""));
        assert!(reason.starts_with("invalid: "), "{at}: {reason}");
    }
    let note = testing::note(1, 77, "");
    for at in [
        "-200",
        "1e+10",
        "7.7e1",
        "77.0",
        "1.5",
        "9223372036854775808",
        "\"77\"",
        "null",
    ] {
        let text = note
            .json()
            .replace("\"created_at\":77", &format!("\"created_at\":{at}"));
        let (taken, reason) = client.publish_text(&note.id().to_string(), &text);
        assert!(!taken && reason.starts_with("invalid: "), "{at}: {reason}");
    }
    still_works(&mut client);
}

/// A tag is a list of one string or more.
#[test]
fn events_with_empty_tags_are_refused_and_the_connection_stays() {
    let (_node, mut client) = relay();
    let note = testing::note(1, now(), "");
    let text = note.json().replace("\"tags\":[]", "\"tags\":[[],[]]");
    let (taken, reason) = client.publish_text(&note.id().to_string(), &text);
    assert!(!taken && reason.starts_with("invalid: "), "{reason}");
    still_works(&mut client);
}
