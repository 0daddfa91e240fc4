//! Everything that can reach the driver, in one closed enum.

use bytes::Bytes;
use osier_core::{NodeId, Role, TopicId};
use osier_engine::{
    BatchId, DiskError, Rank, Reply, Rule, SessionEvent, SessionKey, TopicReport, TopicSetup,
    TopicState,
};
use osier_proto::Lsn;
use tokio::sync::oneshot;

use crate::{ephemeral::EphemeralStream, error::NodeError, net::Ask, watch::EventStream};

/// What a watcher's queue carries: an event, after every entry up to a place in the log.
pub(crate) type Told = (Lsn, osier_engine::SyncEvent);

/// The answer to a command.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, NodeError>>;

/// What the driver wakes for.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// The disk has answered.
    Disk(DiskAnswer),
    /// Somebody has called the handle.
    Command(Command),
    /// A peer asks for a session.
    Asked(Ask),
    /// Something came of a session.
    Session {
        /// Which.
        key: SessionKey,
        /// What.
        event: SessionEvent,
    },
    /// The last connection to a peer has closed.
    PeerLost {
        /// Which peer.
        peer: NodeId,
    },
    /// Something came from a topic's swarm.
    Swarm {
        /// Which topic's.
        topic: TopicId,
        /// What.
        news: SwarmNews,
    },
    /// A watcher that was too slow has caught up.
    WatcherReady,
    /// The engine's deadline has come.
    Due,
    /// Every handle is gone.
    Abandoned,
}

/// What came of one commit.
#[derive(Debug)]
pub(crate) struct DiskAnswer {
    /// Which.
    pub(crate) batch: BatchId,
    /// What it did, by topic.
    pub(crate) result: Result<Vec<TopicReport>, DiskError>,
}

/// What a topic's swarm tells.
#[derive(Debug)]
pub(crate) enum SwarmNews {
    /// A neighbour has come or gone.
    Neighbor {
        /// Who.
        peer: NodeId,
        /// Whether it came.
        up: bool,
    },
    /// A message.
    Message(Bytes),
    /// Messages were dropped.
    Lagged,
}

/// What a handle asks of the driver.
#[derive(Debug)]
pub(crate) enum Command {
    /// Take part in a topic.
    Open {
        /// What it starts from.
        setup: Box<TopicSetup>,
        /// Answered once the engine has it.
        answer: Answer<()>,
    },
    /// Stop taking part.
    Close {
        /// In which topic.
        topic: TopicId,
        /// Answered once the engine has let go.
        answer: Answer<()>,
    },
    /// Write entries.
    Publish {
        /// Where.
        topic: TopicId,
        /// What the items are.
        kind: osier_core::Kind,
        /// The items of each.
        entries: Vec<Vec<Bytes>>,
        /// Answered when durable.
        answer: Answer<Reply>,
    },
    /// Pass an ephemeral item on.
    PassOn {
        /// Where.
        topic: TopicId,
        /// What the item is.
        kind: osier_core::Kind,
        /// The item.
        item: Bytes,
        /// Answered at once.
        answer: Answer<Reply>,
    },
    /// Listen for ephemeral items of other nodes.
    Listen {
        /// In which topic.
        topic: TopicId,
        /// The listener's stream.
        answer: Answer<EphemeralStream>,
    },
    /// Change the trust list.
    Trust {
        /// In which topic.
        topic: TopicId,
        /// Whom.
        node: NodeId,
        /// Rank and role, or none for distrust.
        entry: Option<(Rank, Role)>,
        /// Answered when durable.
        answer: Answer<Reply>,
    },
    /// Choose the completion rule.
    SetRule {
        /// In which topic.
        topic: TopicId,
        /// Which.
        rule: Rule,
        /// Answered once it is in force.
        answer: Answer<()>,
    },
    /// Tell where a topic stands.
    State {
        /// Which.
        topic: TopicId,
        /// None when the node does not take part in it.
        answer: Answer<Option<Box<TopicState>>>,
    },
    /// Tell which topics are open.
    Topics {
        /// Sorted.
        answer: Answer<Vec<TopicId>>,
    },
    /// Follow a topic.
    Watch {
        /// Which.
        topic: TopicId,
        /// The watcher's stream.
        answer: Answer<EventStream>,
    },
    /// Stop the node.
    Stop {
        /// Answered when the socket is closed and everything durable.
        answer: oneshot::Sender<()>,
    },
}
