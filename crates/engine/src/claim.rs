//! What peers say to hold that this node may not, until it is looked into (`GOS-8`).

use osier_core::{Duration, Instant, NodeId, SetSum, StateHash, TopicId};
use osier_policy::Outcome;
use osier_proto::Summary;

use crate::{
    engine::{Engine, Now},
    limit::CLAIM_WAITS_MS,
    peer::Peer,
    proof::Drained,
    topic::Topic,
};

/// What a peer has said to hold that this node may not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// When it last named an entry, if it did.
    named: Option<Instant>,
    /// When it last said what it holds in all, and that.
    holds: Option<(Instant, Summary)>,
}

impl Claim {
    /// It names an entry.
    pub(crate) fn entry(heard: Instant) -> Self {
        Self {
            named: Some(heard),
            holds: None,
        }
    }

    /// It says what it holds.
    pub(crate) fn all(heard: Instant, summary: Summary) -> Self {
        Self {
            named: None,
            holds: Some((heard, summary)),
        }
    }

    /// Takes a later one in: what it does not speak of stays claimed.
    pub(crate) fn and_then(self, later: Self) -> Self {
        Self {
            named: later.named.or(self.named),
            holds: later.holds.or(self.holds),
        }
    }

    /// How many entries it holds, as far as it has said.
    pub(crate) fn entries(&self) -> u64 {
        self.holds.map_or(0, |(_, summary)| summary.set.count())
    }

    /// Whether it is of these very entries, and of no other.
    fn is_of(&self, state: StateHash, set: SetSum) -> bool {
        let holds = self.holds.map(|(_, summary)| (summary.state, summary.set));
        self.named.is_none() && holds == Some((state, set))
    }

    /// What is left of it when all that was heard before `since` is known.
    fn after(self, since: Instant) -> Option<Self> {
        let left = Self {
            named: self.named.filter(|at| *at >= since),
            holds: self.holds.filter(|(at, _)| *at >= since),
        };
        (left.named.is_some() || left.holds.is_some()).then_some(left)
    }
}

/// Whether two hold the same. Equal tips do not make equal sets: a hole may be open on one side
/// only. Rings with equal tips need not keep the same.
pub(crate) fn agree(mine: &Summary, theirs: &Summary) -> bool {
    let whole = mine.coverage.is_complete() && theirs.coverage.is_complete();
    theirs.state == mine.state && (theirs.set == mine.set || !whole)
}

impl Peer {
    /// Since when the session began by which it is drained.
    fn answers_since(&self) -> Option<Instant> {
        matches!(self.outcome, Outcome::Drained(_)).then_some(self.drained_since)
    }
}

impl Topic {
    /// What no session accounts for of what `of` claims: none with it that began later, and none
    /// that drained a provider that counts, or `of` itself, in that very state. This node's own
    /// state does not tell: a ring is never in that of one who keeps everything.
    pub(crate) fn unanswered(&self, of: NodeId, claim: Claim) -> Option<Claim> {
        let answered = self.peers.get(&of).and_then(Peer::answers_since);
        let claim = match answered {
            Some(since) => claim.after(since)?,
            None => claim,
        };
        let drained_so = self.peers.iter().any(|(node, peer)| {
            let Outcome::Drained(Drained(evidence)) = &peer.outcome else {
                return false;
            };
            let counts = *node == of || (self.trusts(*node) && peer.is_connected());
            counts && claim.is_of(evidence.state(), evidence.set())
        });
        (!drained_so).then_some(claim)
    }

    /// What stands of a claim: neither answered, nor come by other ways.
    fn standing(&self, of: NodeId, claim: Claim) -> Option<Claim> {
        let claim = self.unanswered(of, claim)?;
        let mine = &self.held.summary;
        let has_come = claim.holds.is_some_and(|(_, theirs)| agree(mine, &theirs));
        (claim.named.is_some() || !has_come).then_some(claim)
    }
}

impl Engine {
    /// Takes out the claims that still stand. One about which a session is under way stays for a
    /// while: that session may settle it.
    pub(crate) fn take_standing_claims(&mut self, id: TopicId, now: Now) -> Vec<(NodeId, Claim)> {
        let Some(topic) = self.topics.get(&id) else {
            return Vec::new();
        };
        let claims = topic.peers.iter();
        let claims = claims.filter_map(|(node, peer)| Some((*node, peer.claim?)));
        let mut standing = Vec::new();
        let mut settled = Vec::new();
        let mut waits = false;
        for (node, claim) in claims {
            match topic.standing(node, claim) {
                None => settled.push(node),
                Some(claim) if self.is_looked_into(id, node, &claim, now) => waits = true,
                Some(claim) => standing.push((node, claim)),
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
    /// counts, of a snapshot in that very state. Nobody's session is waited for longer than a
    /// moment: one that crawls, or a liar's, would hide what an honest signer says.
    fn is_looked_into(&self, id: TopicId, of: NodeId, claim: &Claim, now: Now) -> bool {
        let patience = Duration::from_millis(CLAIM_WAITS_MS);
        if claim
            .holds
            .is_none_or(|(heard, _)| now.at > heard.after(patience))
        {
            return false;
        }
        let trusts = |node| self.topics.get(&id).is_some_and(|topic| topic.trusts(node));
        self.sessions.asking.values().any(|asking| {
            let counts = asking.provider == of || trusts(asking.provider);
            let snapshot = asking.snapshot.as_ref();
            let is_of_it = snapshot.is_some_and(|theirs| claim.is_of(theirs.state, theirs.set));
            asking.topic == id && !asking.silent && counts && is_of_it
        })
    }
}
