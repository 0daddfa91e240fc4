//! What is stored is found, in order, by each kind of condition.

use std::collections::BTreeSet;

use osier_nostr::{Event, testing};
use serde_json::{Value, json};

use super::{ago, author, find, relay};
use crate::support::{
    client::{Client, ids},
    node::Node,
};

/// The events that all of this is about; the last ones are hidden by others.
fn published() -> (Node, Client, Vec<Event>) {
    let (node, mut client) = relay();
    let p = author(1);
    let shown = vec![
        ago(1, 40, 1, &[&["t", "a"]], "first"),
        ago(1, 50, 1, &[&["t", "a"]], "third"),
        ago(1, 45, 1, &[&["t", "b"]], "second"),
        ago(1, 55, 1, &[&["t", "b"]], "fourth"),
        ago(1, 0, 0, &[], "newer metadata"),
        ago(
            1,
            10,
            3,
            &[&["p", &p], &["n", "approved"]],
            "newer contacts",
        ),
        ago(
            1,
            10,
            9_999,
            &[&["k", "3036"], &["n", "approved"]],
            "both tags",
        ),
        ago(1, 10, 9_999, &[&["n", "approved"]], "one tag"),
        ago(
            2,
            12,
            9_999,
            &[&["k", "3036"], &["n", "approved"]],
            "another's",
        ),
        ago(1, 60, 30_000, &[&["d", "1"]], "newer set"),
        ago(3, 10, 1, &[&["n", "approved"], &["p", &p]], "a stranger's"),
    ];
    let hidden = [
        ago(1, 60, 0, &[], "older metadata"),
        ago(1, 120, 30_000, &[&["d", "1"]], "older set"),
    ];
    client.publish_all(hidden.iter().chain(&shown));
    (node, client, shown)
}

/// A filter finds exactly the events that are named by their place.
fn finds(filter: &Value, right: &[usize]) {
    let (_node, mut client, shown) = published();
    let found: BTreeSet<String> = find(&mut client, filter.clone()).into_iter().collect();
    let right = ids(right.iter().map(|at| &shown[*at]));
    assert_eq!(found, right.into_iter().collect(), "{filter}");
}

#[test]
fn events_are_ordered_from_newest_to_oldest() {
    let (_node, mut client, mut shown) = published();
    shown.sort_by_key(|it| (std::cmp::Reverse(it.created_at()), it.id()));
    let right = ids(&shown);
    assert_eq!(find(&mut client, json!({ "ids": right })), right);
}

/// Of one second the lowest id comes first, however they came.
#[test]
fn ties_are_ordered_by_id() {
    let (_node, mut client) = relay();
    let mut notes: Vec<Event> = (1..=9).map(|n| testing::note(n, 1_000, "tie")).collect();
    notes.sort_by_key(|it| std::cmp::Reverse(it.id()));
    client.publish_all(&notes);
    notes.reverse();
    for filter in [
        json!({ "kinds": [1] }),
        json!({}),
        json!({ "ids": ids(&notes) }),
    ] {
        assert_eq!(find(&mut client, filter), ids(&notes));
    }
    let some = json!({ "authors": (1..=9).map(author).collect::<Vec<_>>(), "limit": 4 });
    assert_eq!(find(&mut client, some), ids(&notes[..4]));
}

#[test]
fn newest_events_are_returned_when_filter_is_limited() {
    let (_node, mut client, shown) = published();
    let filter = json!({
        "authors": [author(1)], "#t": ["a", "b"], "kinds": [1, 7], "limit": 2,
    });
    assert_eq!(find(&mut client, filter), ids([&shown[0], &shown[2]]));
}

#[test]
fn finds_by_id() {
    let (_node, mut client, shown) = published();
    for event in &shown {
        let filter = json!({ "ids": [event.id().to_string()] });
        assert_eq!(find(&mut client, filter), ids([event]));
    }
}

#[test]
fn finds_by_pubkey_and_kind() {
    finds(
        &json!({ "authors": [author(1), author(3)], "kinds": [1, 3] }),
        &[0, 1, 2, 3, 5, 10],
    );
}

#[test]
fn finds_by_pubkey_and_tags() {
    finds(&json!({ "authors": [author(1)], "#p": [author(1)] }), &[5]);
}

#[test]
fn finds_by_kind_and_tags() {
    finds(
        &json!({ "kinds": [1, 9_999, 3], "#n": ["approved"] }),
        &[5, 6, 7, 8, 10],
    );
}

#[test]
fn finds_by_tags() {
    finds(&json!({ "#k": ["3036"] }), &[6, 8]);
}

#[test]
fn finds_by_multiple_tags() {
    let filter = json!({
        "kinds": [9_999], "authors": [author(1)], "#k": ["3036"], "#n": ["approved"], "limit": 20,
    });
    finds(&filter, &[6]);
}

#[test]
fn finds_by_pubkey() {
    finds(
        &json!({ "authors": [author(1)] }),
        &[0, 1, 2, 3, 4, 5, 6, 7, 9],
    );
}

#[test]
fn finds_by_scrape() {
    finds(&json!({}), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}
