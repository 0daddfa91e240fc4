//! One node: the production engine, session machines and store, with the simulator as driver.

use std::collections::BTreeMap;

use osier_core::{NodeId, NodeSecret, RequestId, Role, TopicId};
use osier_engine::{AskId, Engine, OpenSession, SessionKey};
use osier_policy::{Rank, Rule};
use osier_proto::{
    ClientSession, FrameDecoder, Hello, HelloAck, HistorySyncComplete, ProviderSession, Session,
    StoreId,
};

use crate::{
    clock::{Clock, Time},
    dice::Dice,
    disk::{Disk, Vault},
    event::{Life, NodeIndex},
    liar::{Lie, Memory, Telling},
};

/// What a node is.
#[derive(Debug, Clone)]
pub struct NodeSpec {
    /// In what role it takes part in every topic.
    pub role: Role,
    /// Entries that it keeps when its role is replay.
    pub ring: u64,
    /// When its topics count as complete.
    pub rule: Rule,
    /// Its own trust list.
    pub trust: Vec<(NodeIndex, Rank, Role)>,
    /// Which topics it takes part in, by their place in the world.
    pub topics: Vec<usize>,
    /// What it does as a provider; none for an honest one.
    pub lie: Option<Lie>,
    /// It writes in granted topics without a grant, and keeps and serves what anybody writes.
    pub outsider: bool,
    /// How far its monotonic clock runs fast.
    pub drift_ppm: i64,
    /// How far its wall clock is off.
    pub wall_off_ms: i64,
}

impl NodeSpec {
    /// An honest peer with the default rule that trusts only the owner.
    pub fn peer() -> Self {
        Self {
            role: Role::Peer,
            ring: 0,
            rule: Rule::StorageFirst,
            trust: Vec::new(),
            topics: vec![0],
            lie: None,
            outsider: false,
            drift_ppm: 0,
            wall_off_ms: 0,
        }
    }

    /// An honest archive.
    pub fn archive() -> Self {
        Self {
            role: Role::Archive,
            ..Self::peer()
        }
    }

    /// An honest ring of so many entries.
    pub fn replay(ring: u64) -> Self {
        Self {
            role: Role::Replay,
            ring,
            ..Self::peer()
        }
    }

    /// The same with one more node on its trust list.
    #[must_use]
    pub fn trusting(mut self, node: NodeIndex, rank: u16, role: Role) -> Self {
        self.trust.push((node, Rank::new(rank), role));
        self
    }

    /// An archive that heeds no grants and has none.
    pub fn outsider() -> Self {
        Self {
            outsider: true,
            ..Self::archive()
        }
    }

    /// The same as a liar.
    #[must_use]
    pub fn lying(mut self, lie: Lie) -> Self {
        self.lie = Some(lie);
        self
    }
}

/// A node, running or not.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) secret: NodeSecret,
    pub(crate) id: NodeId,
    pub(crate) spec: NodeSpec,
    pub(crate) clock: Clock,
    pub(crate) life: Life,
    /// What survives a crash.
    pub(crate) vault: Vault,
    pub(crate) up: Option<Running>,
    pub(crate) memory: Memory,
}

impl Node {
    /// A node that has never run. Its key follows from its place, so that the trace of a seed can
    /// be read beside another's.
    pub(crate) fn new(index: NodeIndex, spec: NodeSpec, is_relay: bool, dice: &mut Dice) -> Self {
        let secret = osier_core::testing::secret(index as u64 + 1);
        Self {
            id: secret.node_id(),
            secret,
            clock: Clock::new(0, spec.drift_ppm, spec.wall_off_ms),
            spec,
            life: 0,
            vault: Vault::new(StoreId::from_bytes(dice.bytes()), is_relay),
            up: None,
            memory: Memory::default(),
        }
    }
}

/// What a crash loses.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) disk: Disk,
    pub(crate) sessions: BTreeMap<SessionKey, Live>,
    /// Streams on which a peer has asked, until the engine has decided.
    pub(crate) asks: BTreeMap<AskId, Asked>,
    /// Sessions whose provider is being dialed.
    pub(crate) dials: BTreeMap<SessionKey, NodeId>,
    /// When the engine's next wake-up is planned.
    pub(crate) wake: Option<Time>,
    pub(crate) next_ask: u64,
}

/// A request that the engine has been asked about.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) stream: u64,
    pub(crate) binding: [u8; 32],
    pub(crate) peer: NodeIndex,
    pub(crate) hello: Hello,
}

/// A session being driven.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) topic: TopicId,
    pub(crate) stream: u64,
    /// Which end of the stream is this node's.
    pub(crate) end: usize,
    pub(crate) peer: NodeIndex,
    pub(crate) machine: Machine,
    pub(crate) decoder: FrameDecoder,
    pub(crate) told_closed: bool,
    pub(crate) telling: Option<Telling>,
    pub(crate) heard: Heard,
    pub(crate) wake: Option<Time>,
    /// When the slice of work that it is at will be done.
    pub(crate) works_till: Option<Time>,
}

/// Either machine.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a few sessions a node")]
pub(crate) enum Machine {
    Client(ClientSession),
    Provider(ProviderSession),
}

impl Machine {
    pub(crate) fn session(&mut self) -> &mut dyn Session {
        match self {
            Self::Client(machine) => machine,
            Self::Provider(machine) => machine,
        }
    }

    pub(crate) fn is_client(&self) -> bool {
        matches!(self, Self::Client(_))
    }

    /// When it wants to be called.
    pub(crate) fn deadline(&self) -> Option<osier_core::Instant> {
        match self {
            Self::Client(machine) => machine.deadline(),
            Self::Provider(machine) => machine.deadline(),
        }
    }
}

/// What the world itself has seen come to a client session: the checker's own notes.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) request: Option<RequestId>,
    pub(crate) ack: Option<HelloAck>,
    /// Entries that came, and the last of them.
    pub(crate) count: u64,
    pub(crate) last: Option<osier_core::EntryHash>,
    /// Whether the client has asked for what was missing after the marker.
    pub(crate) repaired: bool,
    /// Markers with their signers, in the order in which they came.
    pub(crate) markers: Vec<(NodeId, HistorySyncComplete)>,
}

impl Heard {
    pub(crate) fn of(open: &OpenSession) -> Self {
        Self {
            request: Some(open.request),
            ..Self::default()
        }
    }
}
