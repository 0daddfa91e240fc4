//! What the engine asks of the world.

use std::sync::Arc;

use bytes::Bytes;
use osier_core::{
    Control, Entry, EntryHash, Kind, NodeId, RequestId, Role, Seq, SessionId, TopicId, TopicKeys,
    Verified,
};
use osier_policy::Rank;
use osier_proto::{ClientConfig, FailureReason, Lsn, Refuse, Source, Token};

use crate::{
    event::SyncEvent,
    input::{AskId, BatchId, CommandId, SessionKey},
};

/// Everything that a node can do. The driver carries each out and reports what came of it.
#[derive(Debug)]
pub enum Output {
    /// Put rows on disk. Answered by [`crate::Input::Durable`]. The driver may put several commits
    /// into one transaction; it keeps their order.
    Commit(Commit),
    /// Dial a provider if need be and open a session with it.
    OpenSession(OpenSession),
    /// Grant the session that a peer asked for.
    GrantSession(GrantSession),
    /// Refuse it.
    RefuseSession {
        /// The stream that it was asked on.
        ask: AskId,
        /// What to say.
        refuse: Refuse,
    },
    /// Tell a session that one of its batches is durable (or is not, and it must fail).
    SessionDurable {
        /// Which session.
        key: SessionKey,
        /// Its own number for the batch.
        batch: u64,
        /// Whether it is on disk.
        ok: bool,
        /// Those of its entries that were not stored, since their authors may not write.
        withheld: Vec<EntryHash>,
    },
    /// End a session.
    CancelSession {
        /// Which.
        key: SessionKey,
        /// Why.
        reason: FailureReason,
    },
    /// Join the gossip swarm of a topic.
    JoinGossip {
        /// The topic.
        topic: TopicId,
        /// The swarm's id.
        swarm: [u8; 32],
        /// Nodes to join through, with addresses in text form, if known.
        bootstrap: Vec<(NodeId, Option<String>)>,
    },
    /// Join through more nodes.
    JoinPeers {
        /// The topic.
        topic: TopicId,
        /// Nodes believed to take part.
        peers: Vec<NodeId>,
    },
    /// Leave the swarm.
    LeaveGossip {
        /// The topic.
        topic: TopicId,
    },
    /// Send to the topic's swarm. Fits the payload room.
    Broadcast {
        /// The topic.
        topic: TopicId,
        /// The signed message.
        bytes: Bytes,
    },
    /// Hand an ephemeral item to who listens (`GOS-10`): its signer takes part in the topic, and
    /// nothing else is known of it.
    Ephemeral {
        /// The topic.
        topic: TopicId,
        /// What the item is.
        kind: Kind,
        /// The item.
        item: Bytes,
    },
    /// Tell the topic's watchers, after every entry up to `upto` has been shown to them.
    Emit {
        /// The topic.
        topic: TopicId,
        /// The last place in the log that precedes the event.
        upto: Lsn,
        /// What to tell.
        event: SyncEvent,
    },
    /// Answer a command.
    Reply {
        /// Which.
        command: CommandId,
        /// What came of it.
        result: Result<Reply, CommandError>,
    },
}

/// Rows that belong together: all or none are kept.
#[derive(Debug)]
pub struct Commit {
    /// Its name.
    pub batch: BatchId,
    /// The topic.
    pub topic: TopicId,
    /// Entries, in the order in which they came.
    pub entries: Vec<Verified<Entry>>,
    /// A provider's token for these entries.
    pub token: Option<(NodeId, Token)>,
    /// What the topic's owner says in those of the entries that are its control entries.
    pub control: Vec<OwnerWord>,
    /// A change of the trust list: rank and role, or none for distrust.
    pub trust: Option<(NodeId, Option<(Rank, Role)>)>,
    /// In a ring: own entries from here on are not known to be anywhere else, and must not be
    /// dropped yet (`STO-18`).
    pub unheard: Option<(NodeId, Seq)>,
}

/// What the topic's owner says in one of its control entries (`ENT-30`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerWord {
    /// Where the entry stands in the owner's chain.
    pub seq: Seq,
    /// The entry.
    pub hash: EntryHash,
    /// What it says.
    pub control: Control,
}

/// A session to open as client.
#[derive(Debug, Clone)]
pub struct OpenSession {
    /// Its name on this node.
    pub key: SessionKey,
    /// The topic.
    pub topic: TopicId,
    /// The topic's keys.
    pub keys: TopicKeys,
    /// Whom to ask.
    pub provider: NodeId,
    /// Addresses to try, in text form; the driver may know others.
    pub addresses: Vec<String>,
    /// The request's name.
    pub request: RequestId,
    /// This node's role in the topic.
    pub role: Role,
    /// The token of the last session with this provider.
    pub token: Option<Token>,
}

impl OpenSession {
    /// What the session machine of node `me` is made of, once the provider is connected: `binding`
    /// is of that connection, snapshots come from `source`.
    pub fn into_config(
        self,
        me: NodeId,
        binding: [u8; 32],
        source: Arc<dyn Source>,
    ) -> ClientConfig {
        ClientConfig {
            me,
            provider: self.provider,
            topic: self.topic,
            keys: self.keys,
            binding,
            request: self.request,
            role: self.role,
            token: self.token,
            source,
        }
    }
}

/// A session to serve.
#[derive(Debug, Clone)]
pub struct GrantSession {
    /// The stream that it was asked on.
    pub ask: AskId,
    /// Its name on this node.
    pub key: SessionKey,
    /// The topic.
    pub topic: TopicId,
    /// The topic's keys.
    pub keys: TopicKeys,
    /// Its wire name.
    pub session: SessionId,
    /// This node's role in the topic.
    pub role: Role,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The entries are durable: their hashes in order.
    Published(Vec<EntryHash>),
    /// The change is durable.
    Done,
    /// What became of an ephemeral item.
    PassedOn(PassedOn),
}

/// How far an ephemeral item has got (`GOS-10`). Nobody knows who hears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassedOn {
    /// The swarm has it.
    Sent,
    /// No other node takes part now.
    Alone,
    /// It is over [`osier_proto::limit::EPHEMERAL_BYTES_MAX`]: no other node gets it.
    TooLarge,
    /// More than [`crate::limit::EPHEMERAL_SENT`]: no other node gets it.
    TooMany,
}

/// Why a node may not write in a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "node {node} may not write in topic {topic}: {why} its owner, {owner}; ask the owner to run \
     `osier grant {topic} {node}`"
)]
pub struct NotGranted {
    /// The topic.
    pub topic: TopicId,
    /// Its owner.
    pub owner: NodeId,
    /// This node.
    pub node: NodeId,
    /// How it stands with the owner.
    pub why: NotGrantedBecause,
}

/// How a node that may not write stands with a topic's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotGrantedBecause {
    /// No grant is known here. There may be one that has not come yet.
    NeverGranted,
    /// The owner's last word on the node is a revocation.
    Revoked,
    /// It came while the write was on its way: the entry is kept aside, and counts if the node is
    /// granted again.
    RevokedMeanwhile,
}

impl std::fmt::Display for NotGrantedBecause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NeverGranted => "it is granted, and no grant for this node is known here from",
            Self::Revoked => "it has been revoked by",
            Self::RevokedMeanwhile => {
                "it was revoked while the entry was written (which is kept aside) by"
            }
        })
    }
}

/// A command that was not carried out. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The node does not take part in the topic.
    #[error("this node does not take part in topic {0}; join it with a ticket first")]
    UnknownTopic(TopicId),
    /// The topic is granted, and this node is not its owner and has no grant (`ENT-44`).
    #[error("{0}")]
    MayNotWrite(NotGranted),
    /// The entry breaks a bound.
    #[error("{0}")]
    Invalid(String),
    /// Too many writes wait for the disk.
    #[error("too many writes are waiting for the disk; try again in a moment")]
    Overloaded,
    /// The disk refused.
    #[error("the disk did not take the write: {0}")]
    Disk(String),
}
