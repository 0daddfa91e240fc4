//! The reader against `serde_json`, and what it refuses.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

fn read_string(text: &str) -> Result<String, Fault> {
    let mut reader = Reader::new(text);
    let read = reader.string().map(Cow::into_owned);
    let ended = read.and_then(|string| reader.end().map(|()| string));
    ended.map_err(|malformed| malformed.fault)
}

/// NOS-5.
#[test]
fn strings_that_readers_disagree_on_are_refused() {
    assert_eq!(read_string("\"a\nb\""), Err(Fault::RawControl));
    assert_eq!(read_string("\"\u{1}\""), Err(Fault::RawControl));
    assert_eq!(read_string(r#""\ud800""#), Err(Fault::LoneSurrogate));
    assert_eq!(read_string(r#""\udc00""#), Err(Fault::LoneSurrogate));
    assert_eq!(read_string(r#""\ud800\u0041""#), Err(Fault::LoneSurrogate));
    assert_eq!(read_string(r#""\u+041""#), Err(Fault::UnknownEscape));
    assert_eq!(read_string(r#""\x""#), Err(Fault::UnknownEscape));
    assert_eq!(
        read_string("\"\u{7f}\u{2028}\""),
        Ok("\u{7f}\u{2028}".to_owned())
    );
    assert_eq!(
        read_string(r#""\ud83d\udE00\/""#),
        Ok("\u{1f600}/".to_owned())
    );
}

#[test]
fn integers_of_any_size_are_told_apart() {
    let read = |text: &str| Reader::new(text).integer().map_err(|it| it.fault);
    assert_eq!(read("0"), Ok(Int::Value(0)));
    assert_eq!(read("-0"), Ok(Int::Negative));
    assert_eq!(read("18446744073709551615"), Ok(Int::Value(u64::MAX)));
    assert_eq!(read("18446744073709551616"), Ok(Int::TooLarge));
    assert_eq!(read("-1"), Ok(Int::Negative));
    for text in ["1.5", "1e3", "1.0", &"9".repeat(65)] {
        assert_eq!(read(text), Err(Fault::NotAnInteger), "{text}");
    }
    for text in ["01", "", "-", "+1", "x"] {
        assert_eq!(read(text), Err(Fault::Expected("an integer")), "{text}");
    }
}

#[test]
fn depth_is_bounded_without_recursion() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Reader::new(&nested(limit::SKIP_DEPTH_MAX)).skip().is_ok());
    let deep = Reader::new(&nested(limit::SKIP_DEPTH_MAX + 1)).skip();
    assert_eq!(deep.map_err(|it| it.fault), Err(Fault::TooDeep));
    let million = "[".repeat(1_000_000);
    assert!(Reader::new(&million).skip().is_err());
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".*", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(crate::testing::cases())]

    #[test]
    fn a_string_is_read_as_the_second_reader_reads_it(text in "[\"\\\\\\PC\\x00-\\x1f]{0,12}") {
        let quoted = format!("\"{text}\"");
        let second = serde_json::from_str::<String>(&quoted).ok();
        prop_assert_eq!(read_string(&quoted).ok(), second);
    }

    #[test]
    fn whatever_is_skipped_is_json_and_the_other_way_round(
        value in value(),
        cut in any::<prop::sample::Index>(),
        byte in any::<char>(),
    ) {
        let text = value.to_string();
        let whole = |text: &str| {
            let mut reader = Reader::new(text);
            reader.skip().and_then(|()| reader.end()).is_ok()
        };
        prop_assert!(whole(&text));
        let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        places.push(text.len());
        let at = places[cut.index(places.len())];
        let changed = format!("{}{byte}{}", &text[..at], &text[at..]);
        let second = serde_json::from_str::<serde::de::IgnoredAny>(&changed).is_ok();
        prop_assert_eq!(whole(&changed), second, "{}", changed);
    }
}
