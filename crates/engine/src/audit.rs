//! Audits (`GOS-9`): a provider that has drained, and that gossip has not shown to agree since, is
//! asked once more now and then.
//!
//! Gossip can fall into islands, each of which agrees with itself: nobody lags, nobody hears of
//! another state, and no hint ever leads to a session. An audit that finds equal summaries costs a
//! round trip and changes nothing that was told.

use osier_core::{Duration, Instant, NodeId, Role, TopicId};
use osier_policy::Outcome;

use crate::{
    engine::{Engine, Now},
    limit::{AUDIT_MAX_MS, AUDIT_MIN_MS},
    peer::{Link, Peer},
    schedule::Timer,
    topic::Topic,
};

/// One topic's audits: the time between two doubles while they find nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audits {
    interval: Duration,
    /// What this node holds changed last then: who agreed before has not agreed to that.
    changed: Instant,
}

impl Audits {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            interval: Duration::from_millis(AUDIT_MIN_MS),
            changed: now,
        }
    }

    /// A point in the second half of the interval, so that many nodes do not ask at one moment.
    fn next(&self, now: Instant, random: u64) -> Instant {
        let half = self.interval.as_nanos() / 2;
        now.after(Duration::from_nanos(half + random % half.max(1)))
    }

    fn back_off(&mut self) {
        let doubled = self.interval.times(2);
        self.interval = doubled.min(Duration::from_millis(AUDIT_MAX_MS));
    }
}

impl Engine {
    /// Sets the topic's timer.
    pub(crate) fn schedule_audit(&mut self, id: TopicId, now: Now) {
        let random = self.random_u64();
        if let Some(topic) = self.topics.get(&id) {
            let at = topic.audits.next(now.at, random);
            self.schedule.set(Timer::Audit(id), at);
        }
    }

    /// What this node holds has changed, or an audit has found something: again within a minute.
    pub(crate) fn audit_soon(&mut self, id: TopicId, now: Now) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        topic.audits.changed = now.at;
        let shortest = Duration::from_millis(AUDIT_MIN_MS);
        if topic.audits.interval > shortest {
            topic.audits.interval = shortest;
            self.schedule_audit(id, now);
        }
        self.look_again_into_dispute(id, now);
    }

    /// The topic's timer has come: the provider that has not agreed for longest is asked.
    pub(crate) fn audit_due(&mut self, id: TopicId, now: Now) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let doubtful = doubtful(topic, now.at);
        topic.audits.back_off();
        self.schedule_audit(id, now);
        if let Some(provider) = doubtful {
            self.open_session(id, provider, true, now);
        }
    }
}

/// The provider to audit; none while a session is under way or wanted anyway, or when gossip has
/// shown that all agree. That is not enough for a ring with own entries to be heard (`STO-18`).
fn doubtful(topic: &Topic, now: Instant) -> Option<NodeId> {
    let busy = topic.peers.values().any(|peer| peer.asking.is_some());
    if busy || topic.completion.behind.is_some() {
        return None;
    }
    let lately = |at: Instant| at >= topic.audits.changed && now.since(at) < topic.audits.interval;
    let may_doubt = |node: &NodeId, peer: &Peer| {
        topic.trusts(*node)
            && peer.link == Link::Up
            && matches!(peer.outcome, Outcome::Drained(_))
            && peer.may_ask(now)
            && (!peer.agreed.is_some_and(lately) || topic.is_unheard())
    };
    let doubted = topic
        .peers
        .iter()
        .filter(|(node, peer)| may_doubt(node, peer));
    let oldest = doubted.min_by_key(|(_, peer)| peer.agreed);
    oldest.map(|(node, _)| *node)
}

/// What another's watermark that agrees with ours is worth against one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Ours is superfluous.
    Enough,
    /// Two of them make it so.
    Counts,
    /// Ours is wanted all the same.
    CountsNothing,
}

impl Topic {
    /// What a watermark of this signer is worth. An archive goes by other archives only: their
    /// clients go by their word, and would have to ask for it. So for all others the word of one
    /// archive is enough (`GOS-12`).
    pub(crate) fn word_of(&self, signer: NodeId) -> Word {
        let standing = self.trust.trusted(signer);
        let archive = standing.is_some_and(|s| s.role == Role::Archive);
        match (self.role, archive) {
            (Role::Archive, true) | (Role::Peer | Role::Replay, false) => Word::Counts,
            (Role::Archive, false) => Word::CountsNothing,
            (Role::Peer | Role::Replay, true) => Word::Enough,
        }
    }
}
