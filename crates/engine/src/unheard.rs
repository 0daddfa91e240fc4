//! Which of its own entries a node knows to be elsewhere (`STO-18`).
//!
//! A ring drops what is old, its own entries too. What nobody else has would be gone for good, and
//! whoever has later entries of the chain would have a hole that nobody can fill. So it waits for a
//! session with one that keeps everything to show that it has them. One that this node serves does
//! when the client says that it has drained, for that is after its own uploads. One that this node
//! opens does when there was nothing to upload: uploads are under way when it ends. Gossip shows
//! nothing of the kind, and neither does another ring, which drops, too.

use osier_core::{NodeId, Role, Seq, TopicId};
use osier_proto::{ProviderEnd, Summary, Verdict};

use crate::{
    end::Meaning,
    engine::Engine,
    session_table::{Asking, Serving},
    topic::Topic,
};

/// Whether a peer that shows this keeps everything. One that was a ring once has a floor.
pub(crate) fn keeps_all(role: Role, shown: &Summary) -> bool {
    role != Role::Replay && shown.coverage.is_complete()
}

impl Engine {
    /// What the store must not drop yet; none where it drops nothing.
    pub(crate) fn unheard(&self, id: TopicId) -> Option<(NodeId, Seq)> {
        let topic = self.topics.get(&id)?;
        (topic.role == Role::Replay).then(|| (self.me, topic.own.unheard()))
    }

    /// A session that this node served has ended.
    pub(crate) fn served(&mut self, serving: &Serving, end: &ProviderEnd) {
        let is_drained = matches!(
            end,
            ProviderEnd::Served {
                verdict: Verdict::Drained,
                ..
            }
        );
        if let Some(topic) = self.topics.get_mut(&serving.topic)
            && is_drained
            && serving.keeps_all
        {
            topic.own.is_heard(serving.own);
        }
    }
}

impl Topic {
    /// The last own entry that is part of the history; none while this node may not write, for what
    /// it wrote then waits aside.
    pub(crate) fn last_own(&self, me: NodeId) -> Option<Seq> {
        let counts = self.may_not_write(me).is_none();
        self.own.last().filter(|_| counts)
    }

    /// Whether there are own entries that must be heard before they may be dropped.
    pub(crate) fn is_unheard(&self) -> bool {
        self.role == Role::Replay && self.own.last() >= Some(self.own.unheard())
    }

    /// A session that this node opened has ended.
    pub(crate) fn asked(&mut self, asking: &Asking, meaning: &Meaning) {
        if let Meaning::Drained(evidence) = meaning
            && asking.keeps_all
            && evidence.surplus() == 0
        {
            self.own.is_heard(asking.own);
        }
    }
}
