//! Form, id and signature of events, with `serde_json` as the second reader.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{limit, testing};

fn parse(value: &Value) -> Result<UnverifiedEvent, EventMalformed> {
    UnverifiedEvent::parse(&value.to_string())
}

fn sample() -> Value {
    let event = testing::note(1, 100, "hello");
    serde_json::from_str(event.json()).unwrap()
}

/// NOS-1, NOS-3: what was changed after it was signed is not an event.
#[test]
fn an_event_is_had_only_by_checking_it() {
    let secp = Secp256k1::verification_only();
    let event = testing::note(1, 100, "hello");
    let parsed = UnverifiedEvent::parse(event.json()).unwrap();
    assert_eq!(parsed.clone().verify(&secp), Ok(event.clone()));
    assert_eq!(parsed.trust_stored(), event);

    let mut changed = sample();
    changed["content"] = json!("other");
    assert_eq!(parse(&changed).unwrap().verify(&secp), Err(EventForged::Id));

    let other = testing::note(2, 100, "hello");
    let mut stolen = sample();
    stolen["sig"] = json!(other.signature().to_string());
    assert_eq!(
        parse(&stolen).unwrap().verify(&secp),
        Err(EventForged::Signature)
    );

    let off_curve = testing::draft(100, 1, &[], "x").unsigned(&PublicKey::from_bytes([0xff; 32]));
    let off_curve = UnverifiedEvent::parse(off_curve.json()).unwrap();
    assert_eq!(off_curve.verify(&secp), Err(EventForged::Signature));
}

/// NOS-4: integers outside the range are refused, never wrapped.
#[test]
fn numbers_out_of_range_are_refused() {
    for (field, number) in [
        ("kind", json!(65_536)),
        ("kind", json!(65_537)),
        ("kind", json!(-1)),
        ("created_at", json!(-1)),
        ("created_at", json!(1_u64 << 63)),
    ] {
        let mut event = sample();
        event[field] = number.clone();
        assert_eq!(
            parse(&event),
            Err(EventMalformed::OutOfRange(field)),
            "{number}"
        );
    }
    for number in ["1.5", "1e3", "\"1\"", "null", "01"] {
        let text = sample().to_string().replace("100", number);
        assert!(UnverifiedEvent::parse(&text).is_err(), "{number}");
    }
}

/// NOS-6: unknown keys are dropped, known ones are there exactly once.
#[test]
fn keys_are_known_and_there_once() {
    let event = testing::note(1, 100, "hello");
    let more = event
        .json()
        .replacen('{', r#"{"seen":[{"a":[1e9,null]}],"x":"y","#, 1);
    assert_eq!(UnverifiedEvent::parse(&more).unwrap().0, event);
    for name in [
        "id",
        "pubkey",
        "created_at",
        "kind",
        "tags",
        "content",
        "sig",
    ] {
        let mut less = sample();
        less.as_object_mut().unwrap().remove(name);
        assert_eq!(parse(&less), Err(EventMalformed::Missing(name)));
        let again = format!(r#"{{"{name}":{},"#, sample()[name]);
        let twice = event.json().replacen('{', &again, 1);
        let twice = UnverifiedEvent::parse(&twice);
        assert_eq!(twice, Err(EventMalformed::Twice(name)));
    }
    let escaped = event.json().replacen("\"kind\"", r#""\u006bind""#, 1);
    assert!(UnverifiedEvent::parse(&escaped).is_ok());
}

#[test]
fn bounds_are_checked() {
    let mut event = sample();
    event["tags"] = json!(vec![json!(["t"]); limit::EVENT_TAGS_MAX]);
    assert!(parse(&event).is_ok());
    event["tags"] = json!(vec![json!(["t"]); limit::EVENT_TAGS_MAX + 1]);
    assert_eq!(parse(&event), Err(EventMalformed::TooManyTags));
    event["tags"] = json!([vec!["t"; limit::TAG_VALUES_MAX + 1]]);
    assert_eq!(parse(&event), Err(EventMalformed::TagTooLong));
    event["tags"] = json!([[]]);
    assert_eq!(parse(&event), Err(EventMalformed::EmptyTag));
    event["tags"] = json!([]);
    event["content"] = json!("x".repeat(limit::EVENT_JSON_BYTES_MAX));
    assert_eq!(parse(&event), Err(EventMalformed::TooLong));
    event["content"] = json!("");
    event["pubkey"] = json!("AB".repeat(32));
    assert_eq!(parse(&event), Err(EventMalformed::NotHex("pubkey")));
}

fn text() -> impl Strategy<Value = String> {
    "[\\x00-\\x7f\\PC]{0,12}"
}

proptest! {
    #![proptest_config(testing::cases())]

    /// NOS-2: the second reader reads what we write; we read what the second writer writes.
    #[test]
    fn an_event_makes_the_round_trip_through_a_second_reader(
        created_at in 0..=Seconds::MAX.get(),
        kind: u16,
        tags in prop::collection::vec(prop::collection::vec(text(), 1..4), 0..4),
        content in text(),
        seed: u8,
    ) {
        let draft = EventDraft {
            created_at: Seconds::new(created_at).unwrap(),
            kind: EventKind::new(kind),
            tags: tags.iter().map(|tag| Tag::new(tag.clone()).unwrap()).collect(),
            content: content.clone(),
        };
        let event = draft.unsigned(&PublicKey::from_bytes([seed; 32]));
        let second: Value = serde_json::from_str(event.json()).unwrap();
        prop_assert_eq!(&second["content"], &json!(content));
        prop_assert_eq!(&second["tags"], &json!(tags));
        prop_assert_eq!(&second["kind"], &json!(kind));
        prop_assert_eq!(&second["created_at"], &json!(created_at));
        let array = json!([0, second["pubkey"], created_at, kind, tags, content]);
        let hash = Sha256::digest(array.to_string().as_bytes());
        prop_assert_eq!(event.id().as_bytes()[..].to_vec(), hash.to_vec());
        // Other order, other spacing: the same event.
        let pretty = serde_json::to_string_pretty(&second).unwrap();
        prop_assert_eq!(UnverifiedEvent::parse(&pretty).unwrap().trust_stored(), event);
    }

    /// NOS-5: no text makes the reader panic, and what it takes the second reader takes.
    #[test]
    fn what_is_read_the_second_reader_reads(at in any::<prop::sample::Index>(), byte: char) {
        let text = sample().to_string();
        let at = at.index(text.len());
        let changed = format!("{}{byte}{}", &text[..at], &text[at + 1..]);
        if UnverifiedEvent::parse(&changed).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&changed).is_ok(), "{}", changed);
        }
    }
}

/// The vectors of BIP-340, through the function that checks events (NOS-3).
#[test]
fn bip_340_vectors_hold() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../specs/vectors/nostr-bip340.json"
    );
    #[expect(clippy::disallowed_methods, reason = "a test reads its vectors")]
    let text = std::fs::read_to_string(path).expect("the vectors are in the repository");
    let golden: Value = serde_json::from_str(&text).unwrap();
    let secp = Secp256k1::new();
    let vectors = golden["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 19);
    for vector in vectors {
        let field = |name: &str| vector[name].as_str().unwrap();
        let message = data_encoding::HEXLOWER
            .decode(field("message").as_bytes())
            .unwrap();
        let key = PublicKey::from_hex(field("public_key")).unwrap();
        let signature = Signature::from_hex(field("signature")).unwrap();
        let outcome = verify_signature(&secp, &signature, &message, &key);
        assert_eq!(
            outcome.is_ok(),
            vector["valid"].as_bool().unwrap(),
            "{vector}"
        );
        if let Some(secret) = vector["secret_key"].as_str() {
            let secret = *PublicKey::from_hex(secret).unwrap().as_bytes();
            assert_eq!(EventKey::from_bytes(&secret).unwrap().pubkey(), key);
        }
    }
}
