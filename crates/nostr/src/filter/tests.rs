//! Reading, writing and matching filters.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{limit, testing};

fn parse(value: &Value) -> Result<Filter, FilterInvalid> {
    Filter::parse(&value.to_string())
}

fn matches(filter: &Value, event: &Event) -> bool {
    parse(filter).unwrap().matches(event)
}

/// NOS-13.
#[test]
fn what_is_not_understood_is_refused() {
    for (filter, prefix) in [
        (json!({"kind": 3}), "invalid: "),
        (json!({"tags": []}), "invalid: "),
        (json!({"#ab": ["x"]}), "invalid: "),
        (json!({"&t": ["x"]}), "invalid: "),
        (json!({"search": "x"}), "unsupported: "),
        (json!({"ids": "x"}), "invalid: "),
        (json!({"ids": ["x"]}), "invalid: "),
        (json!({"#e": ["AB".repeat(32)]}), "invalid: "),
        (json!({"kinds": [1.5]}), "invalid: "),
        (json!({"kinds": ["1"]}), "invalid: "),
        (json!({"kinds": null}), "invalid: "),
        (json!({"limit": -1}), "invalid: "),
        (json!({"since": 1.5}), "invalid: "),
        (json!([]), "invalid: "),
        (
            json!({"#t": vec!["x"; limit::FILTER_VALUES_MAX + 1]}),
            "invalid: ",
        ),
    ] {
        let refused = parse(&filter).unwrap_err().reason();
        assert!(refused.text().starts_with(prefix), "{refused:?}");
    }
    let twice = r#"{"kinds":[1],"\u006binds":[2]}"#;
    assert_eq!(
        Filter::parse(twice),
        Err(FilterInvalid::Twice("kinds".to_owned()))
    );
    let long = json!({ "x".repeat(1_000_000): 1 });
    assert!(parse(&long).unwrap_err().reason().text().len() < 200);
}

/// NOS-10 and NOS-11.
#[test]
fn conditions_are_all_to_be_met() {
    let event = testing::event(1, 100, 7, &[&["e", &"ab".repeat(32)], &["t", "x", "y"]], "");
    let author = event.pubkey().to_string();
    for (filter, expected) in [
        (json!({}), true),
        (json!({"kinds": [1, 7]}), true),
        (json!({"kinds": [1]}), false),
        (json!({"kinds": []}), false),
        (json!({"ids": []}), false),
        (json!({"#z": []}), false),
        (
            json!({"ids": [event.id().to_string()], "authors": [author]}),
            true,
        ),
        (
            json!({"ids": [event.id().to_string()], "authors": ["00".repeat(32)]}),
            false,
        ),
        (json!({"#e": ["ab".repeat(32)], "#t": ["w", "x"]}), true),
        (json!({"#t": ["y"]}), false),
        (json!({"#T": ["x"]}), false),
        (json!({"since": 100, "until": 100}), true),
        (json!({"since": 101}), false),
        (json!({"until": 99}), false),
        (json!({"limit": 0}), true),
    ] {
        assert_eq!(matches(&filter, &event), expected, "{filter}");
    }
}

/// NOS-14.
#[test]
fn integers_out_of_range_match_nothing_and_widen_nothing() {
    let event = testing::event(1, 100, 1, &[], "");
    for (filter, expected) in [
        (json!({"kinds": [65_537]}), false),
        (json!({"kinds": [9_999_999_999_u64, -1]}), false),
        (json!({"kinds": [65_537, 1]}), true),
        (json!({"since": 1_700_000_000_000_u64}), false),
        (json!({"since": u64::MAX}), false),
        (json!({"since": -5}), true),
        (json!({"until": -1}), false),
        (json!({"until": u64::MAX}), true),
        (json!({"limit": u64::MAX}), true),
    ] {
        assert_eq!(matches(&filter, &event), expected, "{filter}");
        let nothing = parse(&filter).unwrap().matches_nothing();
        assert!(!(nothing && expected), "{filter}");
    }
}

/// NOS-15: the first tag and its first value are kept for NIP-45.
#[test]
fn order_is_forgotten_but_for_what_came_first() {
    let one = parse(&json!({"kinds": [7, 1, 7], "#t": ["a", "b"]})).unwrap();
    let two = parse(&json!({"#t": ["a", "b", "a"], "kinds": [1, 7]})).unwrap();
    assert_eq!(one.to_json(), r##"{"kinds":[1,7],"#t":["a","b"]}"##);
    assert_eq!(one, two);
    let three = Filter::parse(r##"{"#t":["b","a"],"#a":["x"],"#E":["y"]}"##).unwrap();
    assert_eq!(three.first_tag_value(), Some("b"));
    assert_eq!(
        three.to_json(),
        r##"{"#t":["b","a"],"#E":["y"],"#a":["x"]}"##
    );
}

fn filter_json() -> impl Strategy<Value = Value> {
    let hex = prop_oneof!["[0-9a-f]{64}", Just("ab".repeat(32))];
    let hexes = prop::option::of(prop::collection::vec(hex, 0..4));
    let kinds = prop::option::of(prop::collection::vec(-2_i64..70_000, 0..4));
    let words = prop::option::of(prop::collection::vec("[\\PC\"\\\\\n]{0,4}", 0..4));
    let number = prop::option::of(any::<i64>());
    let limit = prop::option::of(any::<u64>());
    let parts = (
        hexes.clone(),
        hexes.clone(),
        hexes,
        kinds,
        words,
        number.clone(),
        number,
        limit,
    );
    parts.prop_map(|(ids, authors, e, kinds, t, since, until, limit)| {
        let fields = json!({
            "limit": limit, "ids": ids, "#t": t, "authors": authors, "#e": e,
            "kinds": kinds, "since": since, "until": until,
        });
        let Value::Object(fields) = fields else {
            unreachable!()
        };
        fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect()
    })
}

proptest! {
    #![proptest_config(testing::cases())]

    /// NOS-15: printing and reading return the same filter, and print the same text.
    #[test]
    fn a_filter_is_read_as_it_was_printed(json in filter_json()) {
        let filter = parse(&json).unwrap();
        let text = filter.to_json();
        let again = Filter::parse(&text).unwrap();
        prop_assert_eq!(&again, &filter);
        prop_assert_eq!(again.to_json(), text.clone());
        prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}
