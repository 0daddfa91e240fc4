//! Being behind: how it is known, and the session that catches up (`CMP-33`, `GOS-8`).
//!
//! Gossip reorders, so a gap or a foreign watermark often mends itself within a round trip. Such a
//! hint is only looked at again after a settling time; what then still stands is a reason to be
//! behind, and only a session that began after the last reason can end it.

use osier_core::{Duration, NodeId, TopicId};
use osier_policy::{Outcome, Phase};

use crate::{
    claim::Claim,
    completion::Behind,
    engine::{Engine, Now},
    event::{BehindCause, SyncEvent},
    limit,
    schedule::Timer,
    topic::Topic,
};

impl Engine {
    /// There is history that this node may not have: "synced" no longer holds until a session that
    /// begins from now on says so.
    pub(crate) fn behind(&mut self, id: TopicId, cause: BehindCause, lag_entries: u64, now: Now) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let was_synced = topic.completion.is_synced();
        if was_synced {
            topic.completion.relapses.fell_behind(now.at);
        }
        let settle = self.settle(id);
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        topic.completion.doubted = Some(now.at);
        let told = topic.completion.behind.is_some_and(|behind| behind.told);
        let providers = ask_again(topic, self.me, now, settle);
        if providers {
            topic.completion.behind = Some(Behind {
                since: now.at,
                told: told || was_synced,
                cause,
                lag_entries,
            });
            if was_synced {
                self.emit(id, SyncEvent::Behind { cause, lag_entries });
            }
            self.reconsider(id, now);
        } else {
            self.ask_neighbors(id, now);
        }
    }

    /// A peer seems to hold something that this node does not.
    pub(crate) fn hint(&mut self, id: TopicId, node: NodeId, claim: Claim, now: Now) {
        if let Some(topic) = self.topics.get_mut(&id) {
            let peer = topic.peer_mut(node, now.at);
            peer.claim = Some(peer.claim.map_or(claim, |before| before.and_then(claim)));
        }
        self.look_again_soon(id, now);
    }

    /// Looks at hints and gaps when they have had time to mend by themselves.
    pub(crate) fn look_again_soon(&mut self, id: TopicId, now: Now) {
        let settle = self.jittered(Duration::from_millis(limit::BEHIND_SETTLE_MS));
        self.schedule
            .set_if_absent(Timer::CatchUp(id), now.at.after(settle));
    }

    /// How long reasons to be behind may mend by themselves (`CMP-40`).
    pub(crate) fn settle(&mut self, id: TopicId) -> Duration {
        let relapses = self.topics.get(&id).map(|topic| topic.completion.relapses);
        self.jittered(relapses.unwrap_or_default().settle())
    }

    /// No provider's word counts here, but neighbours may hold what is missing.
    fn ask_neighbors(&mut self, id: TopicId, now: Now) {
        if let Some(topic) = self.topics.get_mut(&id) {
            for peer in topic.peers.values_mut().filter(|peer| peer.is_reached()) {
                peer.claim = Some(Claim::entry(now.at));
            }
        }
        self.look_again_soon(id, now);
    }

    /// The settling time is over: what still stands?
    pub(crate) fn catch_up(&mut self, id: TopicId, now: Now) {
        let room = limit::SESSIONS_ASKED_PER_TOPIC_MAX.saturating_sub(self.sessions.asking_in(id));
        let standing = self.take_standing_claims(id, now);
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        let count = topic.held.summary.set.count();
        let gap = topic.held.holes > topic.completion.holes_accepted;
        let (trusted, strangers): (Vec<_>, Vec<_>) = standing
            .into_iter()
            .partition(|(node, _)| topic.trusts(*node));
        let reached = |node: &NodeId| {
            let peer = topic.peers.get(node);
            peer.is_some_and(|peer| peer.is_connected() && peer.may_ask(now.at))
        };
        let strangers: Vec<NodeId> = strangers
            .into_iter()
            .map(|(node, _)| node)
            .filter(|node| reached(node) && !self.is_served_stranger(id, *node))
            .collect();
        for node in strangers.into_iter().take(room) {
            self.ask(id, node, now);
        }
        let more = |(_, claim): &(NodeId, Claim)| claim.entries().saturating_sub(count);
        if let Some(lag) = trusted.iter().map(more).max() {
            self.behind(id, BehindCause::Watermark, lag, now);
        } else if gap {
            self.gap(id, now);
        }
    }

    /// A session is over: holes that it has left and that nobody accounts for are looked into like
    /// those of gossip.
    pub(crate) fn look_at_holes(&mut self, id: TopicId, now: Now) {
        let topic = self.topics.get(&id);
        if topic.is_some_and(|topic| topic.held.holes > topic.completion.holes_accepted) {
            self.look_again_soon(id, now);
        }
    }

    /// Entries are named that are not held, and no session has accounted for them.
    fn gap(&mut self, id: TopicId, now: Now) {
        if let Some(topic) = self.topics.get_mut(&id) {
            // Looked into once; a further one is a new reason.
            topic.completion.holes_accepted = topic.held.holes;
        }
        self.behind(id, BehindCause::Gap, 0, now);
    }
}

/// Every trusted provider that has answered is to be asked again, after `settle`. Whether there is
/// any trusted provider that can be reached.
pub(crate) fn ask_again(topic: &mut Topic, me: NodeId, now: Now, settle: Duration) -> bool {
    let at = now.at.after(settle);
    let mut any = false;
    for (node, peer) in &mut topic.peers {
        if *node == me || topic.trust.trusted(*node).is_none() {
            continue;
        }
        if !peer.is_connected() {
            // What it vouched for must not count again when it comes back.
            if matches!(peer.outcome, Outcome::Drained(_)) {
                peer.outcome = Outcome::Lost;
            }
            continue;
        }
        any = true;
        // One that failed is asked again when its backoff says so; till then nobody waits for it.
        let failed = matches!(
            peer.outcome,
            Outcome::Refused { .. } | Outcome::Cut(_) | Outcome::Silent { .. } | Outcome::Lost
        );
        if failed {
            continue;
        }
        if peer.asking.is_none() {
            // A further reason does not put off what is due already, or nothing would ever be asked
            // while reasons go on coming.
            let due = peer.retry_at.filter(|due| *due > now.at);
            peer.retry_at = Some(due.unwrap_or(at));
        }
        // What stood before proves nothing any more.
        if peer.asking.is_none() {
            peer.outcome = Outcome::Unasked;
        } else if matches!(peer.outcome, Outcome::Drained(_)) {
            // An audit is under way: from now on it is a session like any other, and another
            // provider is asked as well if it is slow.
            peer.outcome = Outcome::Streaming {
                since: now.at,
                last_progress: now.at,
                phase: Phase::Sending,
            };
        }
    }
    any
}
