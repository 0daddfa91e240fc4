//! What the checkers are shown as the world goes on.

use osier_core::{EntryHash, NodeId, SignedEntry, Timestamp, TopicId};
use osier_engine::{SyncEvent, Synced, TopicState};
use osier_proto::{ClientEnd, Lsn, ProviderEnd, Source};

use super::World;
use crate::{check::marker_parties, clock::Time, event::NodeIndex, node::Live};

/// Bytes on the way to one end of a stream beyond its window: one batch and a few small messages.
const STREAM_SLACK_BYTES: usize = 4 * 1024 * 1024;

impl World {
    /// Safety at every step.
    pub(super) fn probe(&mut self) {
        self.checks.overdue(self.now);
        if self.events().is_multiple_of(64) {
            self.probe_memory();
        }
    }

    fn probe_memory(&mut self) {
        let window = self.network.window_bytes + STREAM_SLACK_BYTES;
        let full = self
            .network
            .streams
            .values()
            .any(|stream| stream.ends.iter().any(|end| end.unread_bytes > window));
        if full {
            self.checks
                .fail(self.now, "a stream holds more than its window".to_owned());
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(up) = &node.up else { continue };
            let served = up
                .sessions
                .values()
                .filter(|live| !live.machine.is_client())
                .count();
            let asked = up.sessions.len() - served + up.dials.len();
            let asked_max = 64 * node.spec.topics.len();
            if served > osier_engine::limit::SESSIONS_SERVED_MAX || asked > asked_max {
                let what = format!("n{index}: {served} sessions served, {asked} asked");
                self.checks.fail(self.now, what);
                return;
            }
        }
        if self.queue.len() > 500_000 {
            self.checks
                .fail(self.now, format!("{} events wait", self.queue.len()));
        }
    }

    pub(super) fn note_emitted(
        &mut self,
        index: NodeIndex,
        topic: TopicId,
        upto: Lsn,
        event: SyncEvent,
    ) {
        if let SyncEvent::HistorySynced(synced) = &event {
            self.check_own_extent(index, topic, synced);
        }
        self.checks.emitted(self.now, index, topic, upto, event);
    }

    /// Nobody says that more is complete here than this node itself holds (`CMP-36`).
    fn check_own_extent(&mut self, index: NodeIndex, topic: TopicId, synced: &Synced) {
        let node = &self.nodes[index];
        let up = node.up.as_ref().expect("a running engine speaks");
        let state = up.engine.state(topic, node.clock.read(self.now));
        let own = state.map(|state| state.coverage);
        if own.is_some_and(|own| !own.reaches(&synced.coverage)) {
            let what = format!("n{index} says {:?} and holds {own:?}", synced.coverage);
            self.checks.fail(self.now, what);
        }
    }

    pub(super) fn judge_client_end(&mut self, index: NodeIndex, live: &Live, end: &ClientEnd) {
        let parties = marker_parties(index, self.id(index), self.id(live.peer));
        self.checks.client_ended(self.now, parties, live, end);
    }

    pub(super) fn judge_provider_end(&mut self, index: NodeIndex, live: &Live, end: &ProviderEnd) {
        let parties = marker_parties(index, self.id(index), self.id(live.peer));
        self.checks.provider_ended(self.now, parties, live, end);
    }

    /// Everything that applications of a node have been told of a topic, with the time.
    pub fn told(&self, index: NodeIndex, topic: usize) -> Vec<(Time, &SyncEvent)> {
        let topic = self.topic(topic);
        let all = self.checks.told.iter();
        let mine = all.filter(|(_, node, of, _)| *node == index && *of == topic);
        mine.map(|(at, _, _, event)| (*at, event)).collect()
    }

    /// Where a topic stands at a node; none when it does not run.
    pub fn state(&self, index: NodeIndex, topic: usize) -> Option<TopicState> {
        let node = &self.nodes[index];
        let up = node.up.as_ref()?;
        up.engine
            .state(self.topic(topic), node.clock.read(self.now))
    }

    /// What a node's log holds of a topic after a place: what an application reads.
    pub fn read_log(&self, index: NodeIndex, topic: usize, after: Lsn) -> Vec<(Lsn, EntryHash)> {
        let view = self.nodes[index].vault.store.view(self.topic(topic));
        let page = view.expect("memory can be read");
        let page = page.log(after, usize::MAX, usize::MAX);
        let entries = page.expect("memory can be read").entries.into_iter();
        entries.map(|(at, entry)| (at, entry.hash())).collect()
    }

    /// Who signed each entry of a node's log of a topic, and the stamp that it bears.
    pub fn stamps(&self, index: NodeIndex, topic: usize) -> Vec<(NodeId, Timestamp)> {
        let view = self.nodes[index].vault.store.view(self.topic(topic));
        let page = view.expect("memory can be read");
        let page = page.log(Lsn::START, usize::MAX, usize::MAX);
        let entries = page.expect("memory can be read").entries.into_iter();
        let stamp = |wire| {
            let entry = SignedEntry::parse(wire).expect("a stored entry");
            let header = entry.trust_stored().header().clone();
            (header.author(), header.time())
        };
        entries.map(|(_, wire)| stamp(wire)).collect()
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many of them are honest.
    pub fn nodes_honest(&self) -> usize {
        self.nodes
            .iter()
            .filter(|node| node.spec.lie.is_none() && !node.spec.outsider)
            .count()
    }

    /// How many entries a node's disk has taken of a topic.
    pub fn taken(&self, index: NodeIndex, topic: usize) -> usize {
        self.checks.taken(index, self.topic(topic))
    }
}
