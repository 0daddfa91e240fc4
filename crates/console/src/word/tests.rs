//! The sentences name who, what and how far.

use osier::{StateHash, TopicId};

use super::*;
use crate::shape::testing::{node, provider as drained, state};

fn info(state: TopicState) -> TopicInfo {
    TopicInfo {
        id: TopicId::from_bytes([9; 32]),
        name: "lobby".to_owned(),
        owner: node(1),
        owned: false,
        writing: osier::Writing::Open,
        may_write: true,
        role: state.role,
        rule: state.rule,
        entries: state.entries,
        authors: state.authors,
        holes: state.holes,
        state_hash: state.state_hash,
        coverage: state.coverage,
        end: osier::Position::START,
        own_seq: 0,
        state: Some(state),
    }
}

fn why(phase: TopicPhase, change: impl FnOnce(&mut TopicState)) -> Option<String> {
    let mut state = TopicState { phase, ..state() };
    change(&mut state);
    topic(&info(state))
}

fn at(outcome: &'static str, detail: &str) -> ProviderState {
    ProviderState {
        outcome,
        detail: detail.to_owned(),
        ..drained(1)
    }
}

#[test]
fn complete_needs_no_reason() {
    assert_eq!(why(TopicPhase::Synced, |_| {}), None);
}

#[test]
fn syncing_names_who_is_waited_for() {
    let said = why(TopicPhase::Syncing, |state| {
        state.providers = vec![at("streaming", "sending"), drained(2)];
        state.waiting = vec![node(1), node(2)];
    });
    let expected = "Waiting for the archive 01010101: it is sending entries; and for 1 more.";
    assert_eq!(said.unwrap(), expected);
    let said = why(TopicPhase::Syncing, |state| state.search_ms = Some(9));
    assert!(said.unwrap().starts_with("Looking for"));
}

#[test]
fn behind_says_how_it_is_known_and_how_far() {
    let said = why(TopicPhase::Behind, |state| {
        state.waiting = vec![node(1)];
        state.providers = vec![at("unasked", "")];
        state.behind = Some(BehindState {
            cause: BehindCause::Watermark,
            lag_entries: 12,
            age_ms: 1,
        });
    });
    let said = said.unwrap();
    assert!(said.contains("a trusted node holds more"), "{said}");
    assert!(said.contains("At least 12 entries are missing."), "{said}");
    assert!(said.contains("it has not been asked yet"), "{said}");
}

#[test]
fn failed_gives_each_reason() {
    let said = why(TopicPhase::Failed, |state| {
        let refused = at("refused", "it has too much to do");
        state.providers = vec![at("silent", "hello"), refused];
    });
    let said = said.unwrap();
    let start = "No trusted provider could complete it: the archive 01010101: ";
    assert!(said.starts_with(start), "{said}");
    assert!(
        said.contains("it said nothing for too long after it was asked"),
        "{said}"
    );
    assert!(
        said.contains("it would not serve: it has too much to do"),
        "{said}"
    );
    let said = why(TopicPhase::Failed, |state| state.providers.clear());
    assert!(said.unwrap().contains("nobody can vouch"));
}

#[test]
fn diverged_names_the_camps() {
    let said = why(TopicPhase::Diverged, |state| {
        let camp = |n| (StateHash::from_bytes([n; 32]), vec![node(n)]);
        state.camps = vec![camp(1), camp(2)];
    });
    assert!(said.unwrap().contains("01010101 against 02020202"));
}
