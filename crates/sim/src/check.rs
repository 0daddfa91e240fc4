//! Checkers: they know what the world did and hold every node's words against it.
//!
//! `safety` is asked at every step, `liveness` and `agreement` once the faults have stopped.

pub(crate) mod agreement;
mod doubt;
pub(crate) mod granted;
pub(crate) mod liveness;
mod lost;
mod marker;
mod promise;
mod safety;

use std::collections::{BTreeMap, BTreeSet};

use doubt::Doubt;
use granted::{Known, Words};
use marker::Parties;
use osier_core::{EntryHash, NodeId, OrderKey, SessionId, TopicId};
use osier_engine::{CommandId, SyncEvent};
use osier_proto::Lsn;

use crate::{
    clock::{MS, SEC, Time},
    event::NodeIndex,
    liar::Lie,
    swarm::Knobs,
};

/// What must never happen has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// When, in virtual time.
    pub at: Time,
    /// What.
    pub what: String,
}

impl Violation {
    /// What kind of violation it is: its text without names and numbers.
    pub fn kind(&self) -> String {
        let words = self.what.split(|c: char| !c.is_ascii_alphabetic());
        let words = words.filter(|word| word.len() > 2 && !word.starts_with("Node"));
        words.take(8).collect::<Vec<_>>().join(" ")
    }
}

/// Everything that a node's disk has ever taken of a topic, noted beside the store.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    log: Vec<(EntryHash, OrderKey)>,
    at: BTreeMap<EntryHash, Lsn>,
    /// Below it a ring may have dropped entries.
    floor: Option<OrderKey>,
    last: Lsn,
}

/// What a provider's snapshot held when a session was granted.
#[derive(Debug, Clone, Copy)]
struct Vouch {
    provider: NodeIndex,
    topic: TopicId,
    life_of_disk: u32,
    len: usize,
    floor: Option<OrderKey>,
}

/// All checkers of one run.
#[derive(Debug)]
pub struct Checks {
    violation: Option<Violation>,
    lies: Vec<Option<Lie>>,
    outsiders: Vec<bool>,
    /// Granted topics with their owners.
    owners: BTreeMap<TopicId, NodeId>,
    /// The owners' words that each node has on its disk.
    words: BTreeMap<(NodeIndex, TopicId), Words>,
    /// Every entry that some node was given to store.
    known: BTreeMap<EntryHash, Known>,
    /// Entries that a revocation has cut off somewhere.
    withdrawn: BTreeSet<EntryHash>,
    holdings: BTreeMap<(NodeIndex, TopicId), Holdings>,
    disks: Vec<u32>,
    vouches: BTreeMap<SessionId, Vouch>,
    published: BTreeMap<(NodeIndex, CommandId), TopicId>,
    acknowledged: BTreeMap<(NodeIndex, TopicId), BTreeSet<EntryHash>>,
    watches: BTreeMap<(NodeIndex, TopicId), Watch>,
    /// Every event of every node, for scenarios.
    pub(crate) told: Vec<(Time, NodeIndex, TopicId, SyncEvent)>,
    /// Sessions that ended as drained, and others.
    pub(crate) drained: u64,
    pub(crate) undrained: u64,
    slack: Time,
    has_bad_signers: bool,
}

/// What one application has been told of one topic in one life of its node.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The last place in the log that it was shown.
    shown: Lsn,
    /// Sessions that have begun and not ended, with the entries received.
    begun: BTreeMap<SessionId, u64>,
    ended: BTreeSet<SessionId>,
    /// When it must have been told something; none while nothing is awaited.
    due: Option<Time>,
    /// The latest that `due` may move to without a word that answers.
    due_max: Time,
    forked: BTreeSet<NodeId>,
    failed: bool,
    doubt: Doubt,
}

impl Checks {
    pub(crate) fn new(knobs: &Knobs) -> Self {
        let disk = 8 * (knobs.disk_ms + knobs.report_ms) * MS;
        let skew = knobs.drift_ppm * 10 * SEC / 1_000_000;
        Self {
            violation: None,
            lies: Vec::new(),
            outsiders: Vec::new(),
            owners: BTreeMap::new(),
            words: BTreeMap::new(),
            known: BTreeMap::new(),
            withdrawn: BTreeSet::new(),
            holdings: BTreeMap::new(),
            disks: Vec::new(),
            vouches: BTreeMap::new(),
            published: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            watches: BTreeMap::new(),
            told: Vec::new(),
            drained: 0,
            undrained: 0,
            slack: SEC + disk + skew,
            has_bad_signers: knobs.bad_signers > 0,
        }
    }

    pub(crate) fn add_node(&mut self, lie: Option<Lie>, outsider: bool) {
        self.lies.push(lie);
        self.outsiders.push(outsider);
        self.disks.push(0);
    }

    /// Notes a violation; the first one stands.
    pub(crate) fn fail(&mut self, at: Time, what: String) {
        self.violation.get_or_insert(Violation { at, what });
    }

    /// The first violation.
    pub(crate) fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    pub(crate) fn is_liar(&self, node: NodeIndex) -> bool {
        self.lies[node].is_some()
    }

    /// Whether a node's disk has taken an entry.
    pub(crate) fn has(&self, node: NodeIndex, topic: TopicId, hash: &EntryHash) -> bool {
        let holdings = self.holdings.get(&(node, topic));
        holdings.is_some_and(|holdings| holdings.at.contains_key(hash))
    }

    /// Entries that a node's disk holds of a topic: what a ring dropped is left out.
    pub(crate) fn held(&self, node: NodeIndex, topic: TopicId) -> BTreeSet<(OrderKey, EntryHash)> {
        let Some(holdings) = self.holdings.get(&(node, topic)) else {
            return BTreeSet::new();
        };
        let floor = holdings.floor.unwrap_or(OrderKey::MIN);
        let held = holdings
            .log
            .iter()
            .filter(|(hash, key)| *key >= floor && holdings.at.contains_key(hash));
        held.map(|(hash, key)| (*key, *hash)).collect()
    }

    /// The newest entry that a node holds, in range order.
    pub(crate) fn newest(&self, node: NodeIndex, topic: TopicId) -> Option<OrderKey> {
        let holdings = self.holdings.get(&(node, topic))?;
        let held = holdings
            .log
            .iter()
            .filter(|(hash, _)| holdings.at.contains_key(hash));
        held.map(|(_, key)| *key).max()
    }

    /// Where a node's ring begins.
    pub(crate) fn floor(&self, node: NodeIndex, topic: TopicId) -> Option<OrderKey> {
        self.holdings.get(&(node, topic))?.floor
    }

    /// How many entries a node's disk has taken of a topic.
    pub(crate) fn taken(&self, node: NodeIndex, topic: TopicId) -> usize {
        self.holdings
            .get(&(node, topic))
            .map_or(0, |holdings| holdings.log.len())
    }

    /// A provider session has taken its snapshot.
    pub(crate) fn granted(&mut self, provider: NodeIndex, topic: TopicId, session: SessionId) {
        let holdings = self.holdings.get(&(provider, topic));
        let vouch = Vouch {
            provider,
            topic,
            life_of_disk: self.disks[provider],
            len: holdings.map_or(0, |holdings| holdings.log.len()),
            floor: holdings.and_then(|holdings| holdings.floor),
        };
        self.vouches.insert(session, vouch);
    }

    /// Whether a node has ever lost its disk.
    pub(crate) fn has_lost_disk(&self, node: NodeIndex) -> bool {
        self.disks[node] > 0
    }

    /// A node has lost its disk.
    pub(crate) fn wiped(&mut self, node: NodeIndex) {
        self.disks[node] += 1;
        self.holdings.retain(|(of, _), _| *of != node);
        self.acknowledged.retain(|(of, _), _| *of != node);
        self.words.retain(|(of, _), _| *of != node);
        // What its snapshots held is not known any more.
        self.vouches.retain(|_, vouch| vouch.provider != node);
    }
}

/// Who takes part in a session that ends.
pub(crate) fn marker_parties(node: NodeIndex, id: NodeId, peer: NodeId) -> Parties {
    Parties { node, id, peer }
}
