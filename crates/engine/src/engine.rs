//! The engine: one state, fed by [`Engine::handle`], drained by [`Engine::poll`].

use std::collections::{BTreeMap, VecDeque};

use osier_core::{Duration, Instant, KeyCache, NodeId, NodeSecret, Timestamp, TopicId};
use osier_proto::Lsn;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::{
    event::{SyncEvent, TopicState},
    ingest::Batches,
    input::{BatchId, CommandId, Input, SessionKey},
    output::{CommandError, Output, Reply},
    schedule::{Schedule, Timer},
    session_table::SessionTable,
    topic::Topic,
};

/// One moment on both of a node's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Monotonic; every deadline is on it.
    pub at: Instant,
    /// The wall clock; it stamps own entries and nothing else.
    pub wall: Timestamp,
}

/// What an engine starts from.
#[derive(Debug)]
pub struct EngineConfig {
    /// The node's key: signs own entries and gossip.
    pub secret: NodeSecret,
    /// 32 bytes from the operating system's randomness (or the simulator's seed): names of
    /// sessions and requests must not be guessed.
    pub seed: [u8; 32],
}

/// The node's brain. Pure: it never waits, reads no clock and draws no randomness but its seed's.
///
/// Call [`Engine::handle`] with every input as it comes and with [`Input::Tick`] at
/// [`Engine::deadline`], then [`Engine::poll`] until it gives none and carry out each output.
/// Time must not go backwards.
#[derive(Debug)]
pub struct Engine {
    pub(crate) me: NodeId,
    pub(crate) secret: NodeSecret,
    pub(crate) random: ChaCha20Rng,
    pub(crate) keys: KeyCache,
    pub(crate) topics: BTreeMap<TopicId, Topic>,
    pub(crate) sessions: SessionTable,
    pub(crate) batches: Batches,
    pub(crate) schedule: Schedule,
    outbox: VecDeque<Output>,
    last: Instant,
    wall: Timestamp,
}

impl Engine {
    /// An engine without topics.
    pub fn new(config: EngineConfig, now: Now) -> Self {
        Self {
            me: config.secret.node_id(),
            secret: config.secret,
            random: ChaCha20Rng::from_seed(config.seed),
            keys: KeyCache::new(),
            topics: BTreeMap::new(),
            sessions: SessionTable::default(),
            batches: Batches::default(),
            schedule: Schedule::default(),
            outbox: VecDeque::new(),
            last: now.at,
            wall: now.wall,
        }
    }

    /// Takes one input.
    ///
    /// # Panics
    /// If `now` is before an earlier call's.
    pub fn handle(&mut self, now: Now, input: Input) {
        assert!(now.at >= self.last, "time does not go backwards");
        (self.last, self.wall) = (now.at, now.wall);
        match input {
            Input::Open(setup) => self.open(*setup, now),
            Input::Close { topic } => self.close(topic),
            Input::Publish {
                command,
                topic,
                kind,
                entries,
            } => {
                self.publish(
                    topic,
                    crate::own_chain::Write {
                        command,
                        kind,
                        entries,
                    },
                    now,
                );
            }
            Input::PassOn {
                command,
                topic,
                kind,
                item,
            } => self.pass_on(command, topic, kind, item, now),
            Input::Trust {
                command,
                topic,
                node,
                entry,
            } => {
                self.change_trust(command, topic, node, entry);
            }
            Input::SetRule { topic, rule } => self.set_rule(topic, rule, now),
            Input::Neighbor { topic, peer, up } => self.neighbor(topic, peer, up, now),
            Input::PeerLost { peer } => self.peer_lost(peer, now),
            Input::Gossip { topic, bytes } => self.gossip(topic, &bytes, now),
            Input::GossipLagged { topic } => self.gossip_lagged(topic, now),
            Input::SessionAsked {
                ask,
                peer,
                binding,
                hello,
            } => {
                self.session_asked(ask, peer, &binding, &hello, now);
            }
            Input::Session { key, event } => self.session_event(key, event, now),
            Input::Durable { batch, result } => self.durable(batch, result, now),
            Input::Tick => {}
        }
        self.on_time(now);
    }

    /// The next thing to do; none when all is done.
    pub fn poll(&mut self) -> Option<Output> {
        self.outbox.pop_front()
    }

    /// When to call again with [`Input::Tick`] if nothing comes before.
    pub fn deadline(&self) -> Option<Instant> {
        self.schedule.deadline()
    }

    /// Where a topic stands; none when this node does not take part in it.
    pub fn state(&self, topic: TopicId, now: Now) -> Option<TopicState> {
        let topic = self.topics.get(&topic)?;
        Some(crate::status::state_of(
            topic,
            self.me,
            &self.sessions,
            now.at,
        ))
    }

    /// The topics that this node takes part in.
    pub fn topics(&self) -> impl Iterator<Item = TopicId> + '_ {
        self.topics.keys().copied()
    }

    fn on_time(&mut self, now: Now) {
        while let Some(timer) = self.schedule.pop_due(now.at) {
            match timer {
                Timer::Watermark(topic) => self.watermark_due(topic, now),
                Timer::NoProvider(topic) | Timer::Reconsider(topic) => self.reconsider(topic, now),
                Timer::CatchUp(topic) => self.catch_up(topic, now),
                Timer::Audit(topic) => self.audit_due(topic, now),
                Timer::Dispute(topic) => self.dispute_due(topic, now),
                Timer::Laggards(topic) => self.laggards_due(topic, now),
                Timer::Retry(topic, peer) => self.retry(topic, peer, now),
                Timer::Silence(key) => self.silence(key, now),
            }
        }
    }

    /// The time of the present input.
    pub(crate) fn last(&self) -> Instant {
        self.last
    }

    /// The wall clock at the present input.
    pub(crate) fn wall(&self) -> Timestamp {
        self.wall
    }

    pub(crate) fn put(&mut self, output: Output) {
        self.outbox.push_back(output);
    }

    /// Tells a topic's watchers, after the entries that are in the log now.
    pub(crate) fn emit(&mut self, topic: TopicId, event: SyncEvent) {
        let upto = self
            .topics
            .get(&topic)
            .map_or(Lsn::START, |topic| topic.held.last);
        self.put(Output::Emit { topic, upto, event });
    }

    pub(crate) fn reply(&mut self, command: CommandId, result: Result<Reply, CommandError>) {
        self.put(Output::Reply { command, result });
    }

    pub(crate) fn random_bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn random_u64(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// A span between `base` and twice `base`: so that many nodes do not act at one moment.
    pub(crate) fn jittered(&mut self, base: Duration) -> Duration {
        let spread = self.random_u64() % base.as_nanos().max(1);
        Duration::from_nanos(base.as_nanos() + spread)
    }

    pub(crate) fn next_batch(&mut self) -> BatchId {
        self.batches.next_id()
    }

    pub(crate) fn next_session(&mut self) -> SessionKey {
        self.sessions.next_key()
    }
}
