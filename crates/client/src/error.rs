//! What a call can end in that is not success: what failed, why, and what to do next.

use std::{
    io,
    path::{Path, PathBuf},
};

use osier_core::{EntryHash, Malformed, NodeId, TicketInvalid, TopicId};
use osier_node::NodeError;
use osier_store::StoreError;

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. [`Error::fault`] says who can mend it, [`Error::hint`] how.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the data directory.
    #[error("cannot {doing} {}: {cause}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// A secret that others can read is not used.
    #[error(
        "{} can be read by others (mode {mode:o}); run `chmod 600 {}`, and if others may have \
         read it, start a new node", path.display(), path.display()
    )]
    TooOpen {
        /// Which file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The key file does not hold a key.
    #[error("{} does not hold a key of 64 hex digits", path.display())]
    KeyInvalid {
        /// Which file.
        path: PathBuf,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The topic's log cannot be read.
    #[error("cannot read the topic's history: {0}")]
    Read(String),
    /// The node.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Not a ticket, or not a name that a topic can have.
    #[error(transparent)]
    Ticket(#[from] TicketInvalid),
    /// This node has no such topic.
    #[error("this node does not take part in topic {0}")]
    UnknownTopic(TopicId),
    /// Only its owner may say this of a topic.
    #[error("topic {topic} belongs to node {owner}, and only its owner can do this")]
    NotOwner {
        /// Which topic.
        topic: TopicId,
        /// Who owns it.
        owner: NodeId,
    },
    /// A revocation names an entry that is not held, or not of that node.
    #[error("{entry} is no entry of node {node} that this node holds and that proves itself")]
    NotItsEntry {
        /// Whose it should be.
        node: NodeId,
        /// Which.
        entry: EntryHash,
    },
    /// The topic is not the control topic of a space that this node takes part in.
    #[error("topic {0} is no space of this node; `space join` takes a space's ticket")]
    NoSpace(TopicId),
    /// A space cannot list this.
    #[error(transparent)]
    Manifest(#[from] Malformed),
    /// What was asked needs the network, and the node was opened without it.
    #[error("the node was opened offline, so it cannot follow a topic")]
    Offline,
    /// A position that this log has not reached.
    #[error("position {at} is beyond the end of this node's log, {end}")]
    PositionBeyond {
        /// What was given.
        at: crate::Position,
        /// The last place.
        end: crate::Position,
    },
    /// A listing in causal order that cannot go on.
    #[error("cannot list the topic in causal order: {0}")]
    Causal(&'static str),
    /// The node was shut down while the call ran.
    #[error("the node was shut down")]
    Stopped,
}

/// Who can mend an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The caller: what was asked is not valid.
    Caller,
    /// The caller: what was named does not exist here.
    Unknown,
    /// Nobody: it passes; try again.
    Busy,
    /// Whoever looks after this machine.
    Local,
}

impl Error {
    pub(crate) fn file(doing: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::File {
            doing,
            path: path.to_owned(),
            cause,
        }
    }

    /// Who can mend it.
    pub fn fault(&self) -> Fault {
        use osier_engine::CommandError;
        match self {
            Self::Ticket(_)
            | Self::Offline
            | Self::PositionBeyond { .. }
            | Self::Causal(_)
            | Self::NotOwner { .. }
            | Self::NotItsEntry { .. }
            | Self::Manifest(_)
            | Self::Node(NodeError::Command(
                CommandError::MayNotWrite(_) | CommandError::Invalid(_),
            )) => Fault::Caller,
            Self::UnknownTopic(_)
            | Self::NoSpace(_)
            | Self::Node(NodeError::Command(CommandError::UnknownTopic(_))) => Fault::Unknown,
            Self::Stopped
            | Self::Node(
                NodeError::Stopped
                | NodeError::TooManyWatchers(_)
                | NodeError::Command(CommandError::Overloaded),
            ) => Fault::Busy,
            _ => Fault::Local,
        }
    }

    /// Whether the data directory is what cannot be used.
    pub fn is_store(&self) -> bool {
        matches!(
            self,
            Self::File { .. }
                | Self::TooOpen { .. }
                | Self::KeyInvalid { .. }
                | Self::Store(_)
                | Self::Read(_)
                | Self::Node(NodeError::Store { .. })
        )
    }

    /// Whether another process has the data directory open.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_locked())
    }

    /// What to do next, where the error itself does not say.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path, the rights on it, and the room on the disk",
            Self::KeyInvalid { .. } => "restore the key from a copy, or start a new node elsewhere",
            Self::Read(_) => "`osier check` tells what is damaged",
            Self::UnknownTopic(_) => "`osier topic ls` lists the topics",
            Self::Offline => "start the node with `osier run`",
            Self::Ticket(_) => {
                "copy the ticket whole from `osier topic ticket`; a topic's name \
                                has 1 to 128 bytes"
            }
            Self::PositionBeyond { .. } => "it is of another store; begin at the start",
            Self::NotOwner { .. } => {
                "ask its owner, or use this node's own list: `osier trust add`"
            }
            Self::NotItsEntry { .. } => {
                "`osier log` shows the entries of a topic with their hashes"
            }
            Self::NoSpace(_) => "`osier space ls` lists the spaces",
            Self::Manifest(_) => "make a second space for more topics",
            Self::Stopped => "start it again",
            _ => "",
        }
    }
}
