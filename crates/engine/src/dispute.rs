//! Providers that were drained in different states (`POL-27`): a write between two sessions looks
//! like a disagreement. Those whose state is not this node's are asked once more, and what they say
//! then replaces what they said.

use osier_core::{Duration, Instant, NodeId, StateHash, TopicId};
use osier_policy::{Convergence, Outcome, Verdict};

use crate::{
    engine::{Engine, Now},
    limit::{DISPUTE_AFTER_MS, DISPUTE_AGAIN_MS, SESSIONS_ASKED_PER_TOPIC_MAX},
    peer::Peer,
    proof::Drained,
    schedule::Timer,
    topic::Topic,
};

/// A peer that was asked once more because its state was another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Disputed {
    at: Instant,
    /// The state that it was drained in.
    pub(crate) theirs: StateHash,
    ours: StateHash,
}

/// Whether drained providers are in different states.
pub(crate) const fn is_disputed(verdict: &Verdict<Drained>) -> bool {
    matches!(
        verdict,
        Verdict::Diverged { .. }
            | Verdict::Synced {
                convergence: Convergence::Diverged { .. },
                ..
            }
    )
}

impl Engine {
    /// Providers disagree, as far as is known.
    pub(crate) fn look_into_dispute(&mut self, id: TopicId, now: Now) {
        let wait = self.jittered(Duration::from_millis(DISPUTE_AFTER_MS));
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        let ours = topic.held.summary.state;
        let mut times = topic.peers.iter().filter_map(|(node, peer)| {
            let theirs = disputed_state(topic, *node, peer)?;
            may_ask_from(peer, theirs, ours)
        });
        if let Some(at) = times.by_ref().min() {
            let at = now.at.after(wait).max(at);
            self.schedule.set_if_absent(Timer::Dispute(id), at);
        }
    }

    /// What this node holds has changed: where a dispute keeps the topic from being synced, it is
    /// looked into again. Elsewhere every write would lead to sessions that change nothing.
    pub(crate) fn look_again_into_dispute(&mut self, id: TopicId, now: Now) {
        let topic = self.topics.get(&id);
        if topic.is_some_and(|topic| topic.completion.is_diverged()) {
            self.look_into_dispute(id, now);
        }
    }

    /// A provider is heard to hold the same by now: what it vouched for before is old.
    pub(crate) fn heard_to_agree(&mut self, id: TopicId, now: Now) {
        let topic = self.topics.get(&id);
        if topic.is_some_and(|topic| topic.completion.is_disputed()) {
            self.look_into_dispute(id, now);
        }
    }

    /// The providers whose state is another are asked once more.
    pub(crate) fn dispute_due(&mut self, id: TopicId, now: Now) {
        let room = SESSIONS_ASKED_PER_TOPIC_MAX.saturating_sub(self.sessions.asking_in(id));
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        if !is_disputed(&osier_policy::verdict(
            topic.rule,
            &topic.facts(self.me, now.at),
        )) {
            return;
        }
        let ours = topic.held.summary.state;
        let due = topic.peers.iter().filter_map(|(node, peer)| {
            let theirs = disputed_state(topic, *node, peer).filter(|_| peer.may_ask(now.at))?;
            let from = may_ask_from(peer, theirs, ours).filter(|from| *from <= now.at);
            from.map(|_| (*node, theirs))
        });
        let due: Vec<_> = due.take(room).collect();
        for (node, theirs) in due {
            if let Some(topic) = self.topics.get_mut(&id) {
                topic.peer_mut(node, now.at).disputed = Some(Disputed {
                    at: now.at,
                    theirs,
                    ours,
                });
            }
            self.open_session(id, node, true, now);
        }
        self.look_into_dispute(id, now);
    }
}

/// The state that a trusted provider was drained in, if it is not this node's.
fn disputed_state(topic: &Topic, node: NodeId, peer: &Peer) -> Option<StateHash> {
    let Outcome::Drained(Drained(evidence)) = &peer.outcome else {
        return None;
    };
    let theirs = evidence.state();
    let counts = topic.trusts(node) && peer.is_connected() && peer.asking.is_none();
    (counts && theirs != topic.held.summary.state).then_some(theirs)
}

/// From when on it may be asked for this; none if that has been settled: it differs. One that has
/// been heard to agree since has another state by now, be it by what that very session brought it.
fn may_ask_from(peer: &Peer, theirs: StateHash, ours: StateHash) -> Option<Instant> {
    let has_moved = |before: Disputed| peer.agreed.is_some_and(|at| at > before.at);
    match peer.disputed {
        None => Some(Instant::START),
        Some(before) if (before.theirs, before.ours) == (theirs, ours) && !has_moved(before) => {
            None
        }
        Some(before) => Some(before.at.after(Duration::from_millis(DISPUTE_AGAIN_MS))),
    }
}
