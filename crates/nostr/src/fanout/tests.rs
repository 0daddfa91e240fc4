//! Where filters are registered, and what an event costs.

use super::*;
use crate::testing;

fn filter(text: &str) -> Filter {
    Filter::parse(text).unwrap()
}

/// NOS-45: an event asks those whom it concerns, not all who subscribe to its kind.
#[test]
fn a_subscription_to_one_author_is_asked_about_that_author_only() {
    let mut fanout = Fanout::new();
    for n in 0..200_u8 {
        let author = testing::pubkey(n);
        fanout.insert(
            n,
            [Filter::default()
                .with_authors([author])
                .with_kinds([EventKind::TEXT])],
        );
    }
    assert_eq!(fanout.len(), 200);
    let event = testing::note(7, 1, "");
    assert_eq!(fanout.matching(&event), [7]);
    assert_eq!(fanout.candidates_count(&event), 1);
}

/// A crowd that asks for one author and many kinds is spread over the kinds.
#[test]
fn a_crowded_value_gives_way_to_another_dimension() {
    let author = testing::pubkey(1);
    let mut fanout = Fanout::new();
    for n in 0..2_000_u16 {
        let kind = EventKind::new(40_000 + n);
        fanout.insert(
            n,
            [Filter::default().with_authors([author]).with_kinds([kind])],
        );
    }
    let event = testing::event(1, 1, 41_999, &[], "");
    assert_eq!(fanout.matching(&event), [1_999]);
    assert!(fanout.candidates_count(&event) < 300);
}

#[test]
fn what_is_removed_leaves_nothing_behind() {
    let mut fanout = Fanout::new();
    let ids = format!(r##"{{"ids":["{0}"],"#t":["x","y"]}}"##, "ab".repeat(32));
    fanout.insert(
        1,
        [
            filter(&ids),
            filter(r##"{"#t":["x"]}"##),
            filter(r#"{"kinds":[1,2]}"#),
        ],
    );
    fanout.insert(2, [filter("{}"), filter(r#"{"kinds":[]}"#)]);
    fanout.insert(1, [filter(r#"{"since":5}"#)]);
    assert_eq!(fanout.matching(&testing::note(1, 5, "")), [1, 2]);
    assert!(fanout.remove(&1) && fanout.remove(&2) && !fanout.remove(&2));
    assert!(fanout.is_empty() && fanout.slots.is_empty() && fanout.unindexed.is_empty());
    assert!(fanout.ids.is_empty() && fanout.authors.is_empty());
    assert!(fanout.tags.is_empty() && fanout.kinds.is_empty());
}

/// An event cannot make itself expensive by repeating what others subscribe to.
#[test]
fn repeated_tags_cost_nothing_more() {
    let values: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let list = values
        .iter()
        .map(|value| format!("\"{value}\""))
        .collect::<Vec<_>>()
        .join(",");
    let mut fanout = Fanout::new();
    fanout.insert(1, [filter(&format!(r##"{{"#t":[{list}]}}"##))]);
    fanout.insert(2, [filter(r##"{"#t":["7"]}"##)]);
    let tags: Vec<[&str; 2]> = values.iter().map(|value| ["t", &**value]).collect();
    let tags: Vec<&[&str]> = tags
        .iter()
        .map(|tag| &tag[..])
        .cycle()
        .take(5_000)
        .collect();
    let event = testing::draft(1, 1, &tags, "").unsigned(&testing::pubkey(1));
    assert_eq!(fanout.candidates_count(&event), 2);
    assert_eq!(fanout.matching(&event), [1, 2]);
}
