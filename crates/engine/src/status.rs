//! A topic at one moment, for a late watcher and for `status`.

use osier_core::{Instant, NodeId, StateHash};
use osier_policy::{Convergence, Outcome, Verdict, no_provider_at, silent_at, verdict};

use crate::{
    completion::as_told,
    event::{ProviderState, Synced, TopicPhase, TopicState},
    peer::Peer,
    proof::Drained,
    session_table::SessionTable,
    topic::Topic,
    word,
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
    let phase = topic.completion.phase();
    let verdict = verdict(topic.rule, &topic.facts(me, now));
    let camps = camps(topic, &verdict);
    let (waiting, search_ms) = waited_for(topic, verdict, now);
    TopicState {
        phase,
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
        waiting,
        search_ms,
        behind: topic
            .completion
            .behind_state(now)
            .filter(|_| phase == TopicPhase::Behind),
        camps,
        upto: held.last,
    }
}

/// Those who disagree, also where a rule is satisfied all the same (`POL-13`).
fn camps(topic: &Topic, verdict: &Verdict<Drained>) -> Vec<(StateHash, Vec<NodeId>)> {
    match verdict {
        Verdict::Synced {
            convergence: Convergence::Diverged { camps },
            ..
        } if topic.completion.is_synced() => as_told(camps.clone()),
        _ => topic.completion.camps(),
    }
}

/// Whom the rule waits for, and for how long somebody may still turn up.
fn waited_for(
    topic: &Topic,
    verdict: Verdict<Drained>,
    now: Instant,
) -> (Vec<NodeId>, Option<u64>) {
    let Verdict::Pending { waiting, .. } = verdict else {
        return (Vec::new(), None);
    };
    let ends = no_provider_at(topic.completion.search_since());
    let searches = waiting.is_empty() && now < ends;
    (waiting, searches.then(|| ends.since(now).as_millis()))
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
        session_age_ms: asking.map(|s| now.since(s.opened).as_millis()),
        deadline_ms: deadline.map(|at| at.since(now).as_millis()),
        retry_ms: retry_at(peer).map(|at| at.since(now).as_millis()),
    }
}

/// When a peer that is not being asked will be.
fn retry_at(peer: &Peer) -> Option<Instant> {
    let drained = matches!(peer.outcome, Outcome::Drained(_));
    peer.retry_at.filter(|_| peer.asking.is_none() && !drained)
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
        Outcome::Cut(reason) => word::cut(*reason),
        Outcome::Refused { reason, .. } => word::refused(*reason).to_owned(),
    }
}
