//! What reaches the engine: commands, peers, sessions, the disk.

use bytes::Bytes;
use osier_core::{
    Entry, EntryHash, Kind, NodeId, OrderKey, Role, Seq, SessionId, StateHash, Ticket, TopicId,
    Verified,
};
use osier_policy::{OwnerWords, Rank, Rule};
use osier_proto::{ClientEnd, Hello, Lsn, Mode, ProviderEnd, StorePoint, Summary, Token};

/// Names a command whose answer comes later as [`crate::Output::Reply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// Names a session on this node, client's or provider's, before and after it has a wire name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(pub u64);

/// Names a group of rows handed to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u64);

/// Names a stream on which a peer has asked for a session; the driver's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub u64);

/// Everything that can happen to a node.
#[derive(Debug)]
pub enum Input {
    /// Take part in a topic: at start for each stored one, later when joined or made.
    Open(Box<TopicSetup>),
    /// Stop taking part. Stored history stays.
    Close {
        /// Which topic.
        topic: TopicId,
    },
    /// Write entries under the node's key.
    Publish {
        /// Answered when durable.
        command: CommandId,
        /// Where.
        topic: TopicId,
        /// What the items are.
        kind: Kind,
        /// One list of items for each entry, in order.
        entries: Vec<Vec<Bytes>>,
    },
    /// Pass an ephemeral item on to who listens now (`GOS-10`).
    PassOn {
        /// Answered at once.
        command: CommandId,
        /// Where.
        topic: TopicId,
        /// What the item is.
        kind: Kind,
        /// The item.
        item: Bytes,
    },
    /// Change the node's own trust list. Durable before it is answered.
    Trust {
        /// Answered when durable.
        command: CommandId,
        /// In which topic.
        topic: TopicId,
        /// Whom.
        node: NodeId,
        /// Rank and role, or none to take the node off the list.
        entry: Option<(Rank, Role)>,
    },
    /// Choose the completion rule of a topic.
    SetRule {
        /// In which topic.
        topic: TopicId,
        /// The rule.
        rule: Rule,
    },
    /// A gossip neighbour of a topic has come or gone.
    Neighbor {
        /// In which topic.
        topic: TopicId,
        /// Who.
        peer: NodeId,
        /// Whether it came.
        up: bool,
    },
    /// A connection for sessions has closed; every session on it has ended or will say so.
    PeerLost {
        /// Who.
        peer: NodeId,
    },
    /// Bytes from the topic's gossip.
    Gossip {
        /// Of which topic.
        topic: TopicId,
        /// As sent; not verified.
        bytes: Bytes,
    },
    /// Gossip of this topic has dropped messages.
    GossipLagged {
        /// Of which topic.
        topic: TopicId,
    },
    /// A peer asks for a session.
    SessionAsked {
        /// The stream that it asked on.
        ask: AskId,
        /// Who, as the connection has proven.
        peer: NodeId,
        /// Bytes exported from the connection's key exchange, the same at both ends.
        binding: [u8; 32],
        /// The request.
        hello: Box<Hello>,
    },
    /// Something came of a session that this node opened or granted.
    Session {
        /// Which.
        key: SessionKey,
        /// What.
        event: SessionEvent,
    },
    /// A batch is on disk, or could not be put there.
    Durable {
        /// Which.
        batch: BatchId,
        /// What came of it.
        result: Result<Vec<TopicReport>, DiskError>,
    },
    /// Nothing but time has passed.
    Tick,
}

/// What a topic starts from: its record and O(1) readings of its store.
#[derive(Debug, Clone)]
pub struct TopicSetup {
    /// The topic's ticket.
    pub ticket: Ticket,
    /// In what role this node takes part.
    pub role: Role,
    /// When history counts as complete.
    pub rule: Rule,
    /// The node's own trust list: rank and role, or none for a node that is distrusted.
    pub trust: Vec<(NodeId, Option<(Rank, Role)>)>,
    /// Tokens of last sessions, by provider.
    pub tokens: Vec<(NodeId, Token)>,
    /// What the owner has said, as far as this node knows (`ENT-30`).
    pub words: OwnerWords,
    /// What the store holds.
    pub summary: Summary,
    /// Where the log stands.
    pub point: StorePoint,
    /// The newest entry held, in range order.
    pub newest: Option<OrderKey>,
    /// The node's own last entry.
    pub own_tip: Option<(Seq, EntryHash)>,
}

/// What a session tells the engine.
#[derive(Debug)]
pub enum SessionEvent {
    /// The provider has granted it.
    Started {
        /// The provider's name for it.
        session: SessionId,
        /// How the difference is found.
        mode: Mode,
        /// What the provider holds.
        summary: Summary,
        /// The provider's own word on its role: shown, never trusted.
        role: Role,
        /// The provider could not serve the token that was shown.
        token_unserviceable: bool,
    },
    /// It is moving.
    Progress {
        /// Entries received so far.
        received: u64,
        /// Entries expected in all, once known.
        expected: Option<u64>,
    },
    /// Authentic entries to store.
    Ingest {
        /// The session's number for them, answered by [`crate::Output::SessionDurable`].
        batch: u64,
        /// The entries.
        entries: Vec<Verified<Entry>>,
        /// A token to store with them.
        token: Option<Token>,
    },
    /// A session that this node opened has ended.
    ClientEnded(ClientEnd),
    /// A session that this node granted has ended.
    ProviderEnded(ProviderEnd),
    /// No connection could be made, or it closed before the session was granted.
    Unreachable {
        /// What failed, for people.
        cause: String,
    },
}

/// What one batch did to one topic.
#[derive(Debug, Clone)]
pub struct TopicReport {
    /// Which topic.
    pub topic: TopicId,
    /// Entries that were new, in log order, with the places that they got.
    pub appended: Vec<(Lsn, EntryHash)>,
    /// How many of the new ones name a `prev` or `dep` that is not held.
    pub holes_opened: u64,
    /// Authors found to have forked, with the hashes of two entries at one position.
    pub forked: Vec<(NodeId, EntryHash, EntryHash)>,
    /// The topic's state after it.
    pub summary: Summary,
    /// The last place in its log.
    pub last: Lsn,
    /// Number of holes after it.
    pub holes: u64,
    /// Entries of the batch that do not count in this granted topic, or not yet (`ENT-43`).
    pub withheld: Vec<EntryHash>,
    /// Entries that were held and that a revocation has cut off.
    pub removed: Vec<EntryHash>,
    /// The owner has spoken of an author, and entries that might count now were dropped before.
    pub missed: bool,
}

/// A batch that is not on disk. Nothing of it has been acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DiskError(pub String);

/// For tests and traces: the state that a report leaves.
impl TopicReport {
    /// The state hash after the batch.
    pub fn state(&self) -> StateHash {
        self.summary.state
    }
}
