//! A topic at one moment, for a late watcher and for `status`.

use osier_core::{Instant, NodeId};
use osier_policy::{Outcome, silent_at};

use crate::{
    event::{ProviderState, Synced, TopicState},
    peer::Peer,
    session_table::SessionTable,
    topic::Topic,
};

/// Where a topic stands.
pub(crate) fn state_of(
    topic: &Topic,
    me: NodeId,
    sessions: &SessionTable,
    now: Instant,
) -> TopicState {
    let held = &topic.held;
    let peers = topic.peers.iter().filter(|(node, _)| **node != me);
    TopicState {
        phase: topic.completion.phase(),
        role: topic.role,
        rule: topic.rule,
        entries: held.summary.set.count(),
        authors: held.summary.authors,
        holes: held.holes,
        state_hash: held.summary.state,
        coverage: held.summary.coverage,
        synced: topic
            .completion
            .synced()
            .map(|synced| as_of_now(topic, synced)),
        providers: peers
            .map(|(node, peer)| provider(topic, *node, peer, sessions, now))
            .collect(),
        upto: held.last,
    }
}

fn provider(
    topic: &Topic,
    node: NodeId,
    peer: &Peer,
    sessions: &SessionTable,
    now: Instant,
) -> ProviderState {
    let standing = topic.trust.trusted(node);
    let asking = peer
        .asking
        .and_then(|key| sessions.asking.get(&key))
        .filter(|s| !s.silent);
    let deadline = asking.map(|s| silent_at(s.opened, s.progress));
    ProviderState {
        node,
        trusted: standing.is_some(),
        rank: standing.map(|standing| standing.rank.get()),
        role: standing.map_or(peer.role_said, |standing| standing.role),
        connected: peer.is_reached(),
        outcome: outcome_word(peer),
        detail: detail(peer),
        session: peer.shown.session,
        received: peer.shown.received,
        expected: peer.shown.expected,
        deadline_ms: deadline.map(|at| at.since(now).as_millis()),
    }
}

/// The last word on completeness. A node that vouches for itself vouches for what it holds now.
fn as_of_now(topic: &Topic, synced: &Synced) -> Synced {
    let mut synced = synced.clone();
    if synced.session.is_none() {
        synced.entries = topic.held.summary.set.count();
        synced.state_hash = topic.held.summary.state;
        synced.dangling = topic.held.holes;
    }
    synced
}

/// A provider's outcome in one word.
pub(crate) fn outcome_word(peer: &Peer) -> &'static str {
    match &peer.outcome {
        Outcome::Unasked => "unasked",
        Outcome::Streaming { .. } => "streaming",
        Outcome::Drained(_) => "drained",
        Outcome::Cut(_) => "cut",
        Outcome::Refused { .. } => "refused",
        Outcome::Silent { .. } => "silent",
        Outcome::Lost => "lost",
    }
}

fn detail(peer: &Peer) -> String {
    match &peer.outcome {
        Outcome::Unasked | Outcome::Lost => String::new(),
        Outcome::Streaming { phase, .. } | Outcome::Silent { phase } => phase.as_str().to_owned(),
        Outcome::Drained(proof) => format!("{} entries", proof.0.entries()),
        Outcome::Cut(reason) => format!("{reason:?}"),
        Outcome::Refused { reason, .. } => format!("{reason:?}"),
    }
}
