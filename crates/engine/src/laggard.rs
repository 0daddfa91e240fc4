//! Members that stay behind (`GOS-11`).
//!
//! Who holds less hears of it by gossip, and asks. One that gossip does not reach any more does
//! not: it is heard and hears nothing. So whoever hears it looks after a while whether it has come
//! along, and otherwise opens the session itself.

use osier_core::{Duration, Instant, NodeId, StateHash, TopicId};
use osier_policy::Outcome;
use osier_proto::Summary;

use crate::{
    engine::{Engine, Now},
    limit::{LAGGARD_AFTER_MS, LAGGARD_AGAIN_MS, SESSIONS_ASKED_PER_TOPIC_MAX},
    schedule::Timer,
    topic::Topic,
};

/// A peer whose watermark showed less than this node holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lagging {
    /// Since when it has not come along.
    since: Instant,
    /// What it held then.
    state: StateHash,
    /// How many entries this node held then.
    entries: u64,
}

/// A session that this node has opened with a peer because it stayed behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roused {
    at: Instant,
    theirs: StateHash,
    ours: StateHash,
}

impl Roused {
    /// Two that differ for good must not have sessions for ever.
    fn may_be_again(&self, lagging: &Lagging, ours: StateHash, now: Instant) -> bool {
        let long_ago = now.since(self.at) >= Duration::from_millis(LAGGARD_AGAIN_MS);
        long_ago && (self.theirs, self.ours) != (lagging.state, ours)
    }
}

impl Lagging {
    /// Whether the peer has taken something in since. A ring's number of entries does not grow, so
    /// it is gone by its state.
    fn has_come_along(&self, said: &Summary) -> bool {
        if said.coverage.is_complete() {
            said.set.count() >= self.entries
        } else {
            said.state != self.state
        }
    }
}

impl Engine {
    /// A watermark shows less than this node holds.
    pub(crate) fn heard_laggard(&mut self, id: TopicId, node: NodeId, said: &Summary, now: Now) {
        let wait = self.jittered(Duration::from_millis(LAGGARD_AFTER_MS));
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let entries = topic.held.summary.set.count();
        let peer = topic.peer_mut(node, now.at);
        peer.lagging = peer
            .lagging
            .filter(|lagging| !lagging.has_come_along(said))
            .or(Some(Lagging {
                since: now.at,
                state: said.state,
                entries,
            }));
        self.schedule
            .set_if_absent(Timer::Laggards(id), now.at.after(wait));
    }

    /// Of those that have not come along, the one that has not for longest is asked.
    pub(crate) fn laggards_due(&mut self, id: TopicId, now: Now) {
        let wait = self.jittered(Duration::from_millis(LAGGARD_AFTER_MS));
        let room = self.sessions.asking_in(id) < SESSIONS_ASKED_PER_TOPIC_MAX;
        let is_served = |node: &NodeId| self.sessions.is_serving(id, *node);
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let archive = topic.is_trusted_archive(self.me);
        let ours = topic.held.summary.state;
        let next = next(topic, archive, now.at, is_served).filter(|_| room);
        if topic.peers.values().any(|peer| peer.lagging.is_some()) {
            self.schedule.set(Timer::Laggards(id), now.at.after(wait));
        }
        let Some(node) = next else {
            return;
        };
        let peer = topic.peer_mut(node, now.at);
        peer.roused = peer.lagging.take().map(|lagging| Roused {
            at: now.at,
            theirs: lagging.state,
            ours,
        });
        let audit = matches!(peer.outcome, Outcome::Drained(_));
        self.open_session(id, node, audit, now);
    }
}

/// Whom to ask. Neighbours and archives ask, so that not every member does; those who ask already
/// or who cannot be reached are left out.
fn next(
    topic: &mut Topic,
    archive: bool,
    now: Instant,
    is_served: impl Fn(&NodeId) -> bool,
) -> Option<NodeId> {
    let after = Duration::from_millis(LAGGARD_AFTER_MS);
    let mine = topic.held.summary.state;
    let mut late: Vec<(Instant, NodeId)> = Vec::new();
    for (node, peer) in &mut topic.peers {
        let Some(lagging) = peer.lagging.filter(|l| now.since(l.since) >= after) else {
            continue;
        };
        let ours = archive || peer.neighbor;
        let may = ours && peer.is_connected() && peer.may_ask(now) && !is_served(node);
        let again = |roused: Roused| roused.may_be_again(&lagging, mine, now);
        if may && peer.roused.is_none_or(again) {
            late.push((lagging.since, *node));
        } else {
            peer.lagging = None;
        }
    }
    late.into_iter().min().map(|(_, node)| node)
}
