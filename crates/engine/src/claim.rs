//! What peers say to hold that this node may not, until it is looked into (`GOS-8`).

use osier_core::{Instant, NodeId, SetSum, StateHash, TopicId};
use osier_policy::Outcome;
use osier_proto::Summary;

use crate::{
    engine::{Engine, Now},
    proof::Drained,
    topic::Topic,
};

/// What a peer has said to hold that this node may not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// When it was heard.
    pub(crate) heard: Instant,
    /// All that it holds; none when it only named an entry.
    pub(crate) summary: Option<Summary>,
}

impl Claim {
    /// How many entries it holds, as far as it has said.
    pub(crate) fn entries(&self) -> u64 {
        self.summary.map_or(0, |summary| summary.set.count())
    }

    /// Whether it is of these very entries.
    fn is_of(&self, state: StateHash, set: SetSum) -> bool {
        self.summary
            .is_some_and(|theirs| (theirs.state, theirs.set) == (state, set))
    }
}

/// Whether two hold the same. Equal tips do not make equal sets: a hole may be open on one side
/// only. Rings with equal tips need not keep the same.
pub(crate) fn agree(mine: &Summary, theirs: &Summary) -> bool {
    let whole = mine.coverage.is_complete() && theirs.coverage.is_complete();
    theirs.state == mine.state && (theirs.set == mine.set || !whole)
}

impl Topic {
    /// Whether a session accounts for what `of` claims: one with it that began later, or one that
    /// drained a provider that counts, or `of` itself, in that very state. This node's own state
    /// does not tell: a ring is never in that of one who keeps everything.
    pub(crate) fn has_answered(&self, of: NodeId, claim: &Claim) -> bool {
        self.peers.iter().any(|(node, peer)| {
            let Outcome::Drained(Drained(evidence)) = &peer.outcome else {
                return false;
            };
            let counts = *node == of || (self.trusts(*node) && peer.is_connected());
            counts && claim.is_of(evidence.state(), evidence.set())
                || *node == of && claim.heard < peer.drained_since
        })
    }
}

impl Engine {
    /// Takes out the claims that still stand. One about which a session is under way stays until
    /// that session has its end.
    pub(crate) fn take_standing_claims(&mut self, id: TopicId, now: Now) -> Vec<(NodeId, Claim)> {
        let Some(topic) = self.topics.get(&id) else {
            return Vec::new();
        };
        let mut standing = Vec::new();
        let mut settled = Vec::new();
        let mut waits = false;
        for (node, peer) in &topic.peers {
            let Some(claim) = peer.claim else {
                continue;
            };
            let mine = &topic.held.summary;
            let has_come = claim.summary.is_some_and(|theirs| agree(mine, &theirs));
            if has_come || topic.has_answered(*node, &claim) {
                settled.push(*node);
            } else if self.is_looked_into(id, *node, &claim) {
                waits = true;
            } else {
                standing.push((*node, claim));
            }
        }
        if let Some(topic) = self.topics.get_mut(&id) {
            for node in settled.iter().chain(standing.iter().map(|(node, _)| node)) {
                topic.peer_mut(*node, now.at).claim = None;
            }
        }
        if waits {
            self.look_again_soon(id, now);
        }
        standing
    }

    /// Whether a session is under way that brings what `of` claims: with it or with a provider that
    /// counts, of a snapshot in that very state.
    fn is_looked_into(&self, id: TopicId, of: NodeId, claim: &Claim) -> bool {
        let trusts = |node| self.topics.get(&id).is_some_and(|topic| topic.trusts(node));
        self.sessions.asking.values().any(|asking| {
            let counts = asking.provider == of || trusts(asking.provider);
            let snapshot = asking.snapshot.as_ref();
            let is_of_it = snapshot.is_some_and(|theirs| claim.is_of(theirs.state, theirs.set));
            asking.topic == id && !asking.silent && counts && is_of_it
        })
    }
}
