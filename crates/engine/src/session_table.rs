//! The sessions that this node has open, as client and as provider.

use std::collections::{BTreeMap, VecDeque};

use osier_core::{Instant, NodeId, Seq, SessionId, TopicId};
use osier_proto::{ClientEnd, Summary};

use crate::input::{BatchId, SessionKey};

/// A session that this node opened.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Asking {
    pub(crate) topic: TopicId,
    pub(crate) provider: NodeId,
    pub(crate) opened: Instant,
    /// Whether it only looks whether a provider that has drained still agrees (`GOS-9`): till it
    /// finds otherwise, what that provider vouched for stands.
    pub(crate) audit: bool,
    /// When it last moved.
    pub(crate) progress: Instant,
    /// The provider's name for it, once granted.
    pub(crate) session: Option<SessionId>,
    /// What the provider's snapshot holds, once it has said so.
    pub(crate) snapshot: Option<Summary>,
    /// Whether a token was shown.
    pub(crate) with_token: bool,
    /// When progress was last told.
    pub(crate) told: Option<Instant>,
    /// Whether it has been told to be silent; its late end is still welcome.
    pub(crate) silent: bool,
    /// Whether its pace is hopeless (`POL-19`).
    pub(crate) crawls: bool,
    /// Batches of it that are on their way to disk: then the wait is ours, not the provider's.
    pub(crate) storing: u32,
    /// The last own entry that counted when it began.
    pub(crate) own: Option<Seq>,
    /// Whether the provider keeps everything, and has it from the beginning.
    pub(crate) keeps_all: bool,
}

/// A session that this node granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Serving {
    pub(crate) topic: TopicId,
    pub(crate) client: NodeId,
    /// Whether the client keeps everything, and has it from the beginning.
    pub(crate) keeps_all: bool,
    /// The last own entry that counted when it began.
    pub(crate) own: Option<Seq>,
}

/// Both kinds, by this node's own names.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    next: u64,
    pub(crate) asking: BTreeMap<SessionKey, Asking>,
    pub(crate) serving: BTreeMap<SessionKey, Serving>,
    /// Drained sessions whose entries are not all reported: what they wait for, oldest first. As
    /// many as there are sessions at most.
    pub(crate) settling: VecDeque<(BatchId, SessionKey, ClientEnd)>,
}

impl SessionTable {
    pub(crate) fn next_key(&mut self) -> SessionKey {
        self.next += 1;
        SessionKey(self.next)
    }

    /// Sessions open as client in a topic, silent ones left out.
    pub(crate) fn asking_in(&self, topic: TopicId) -> usize {
        self.asking
            .values()
            .filter(|s| s.topic == topic && !s.silent)
            .count()
    }

    /// Sessions being served to a peer.
    pub(crate) fn serving_to(&self, client: NodeId) -> usize {
        self.serving.values().filter(|s| s.client == client).count()
    }

    /// Whether a session has its end, which waits for entries to be reported.
    pub(crate) fn is_settling(&self, key: SessionKey) -> bool {
        self.settling
            .iter()
            .any(|(_, settling, _)| *settling == key)
    }

    /// Whether a peer is being served in a topic: entries move both ways in that session.
    pub(crate) fn is_serving(&self, topic: TopicId, client: NodeId) -> bool {
        self.serving
            .values()
            .any(|s| s.topic == topic && s.client == client)
    }

    /// The topic of a session of either kind.
    pub(crate) fn topic_of(&self, key: SessionKey) -> Option<TopicId> {
        let asking = self.asking.get(&key).map(|s| s.topic);
        asking.or_else(|| self.serving.get(&key).map(|s| s.topic))
    }
}
