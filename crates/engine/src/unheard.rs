//! Which of its own entries a node knows to be elsewhere (`STO-18`).
//!
//! A ring drops what is old, its own entries too. What nobody else has would be gone for good, and
//! whoever has later entries of the chain would have a hole that nobody can fill. A session that
//! ends drained shows that both ends hold the same; one with a peer that keeps everything settles
//! it. Gossip shows nothing of the kind, and neither does another ring, which drops, too.

use osier_core::{NodeId, Role, Seq, TopicId};
use osier_proto::{ProviderEnd, Verdict};

use crate::{
    end::Meaning,
    engine::Engine,
    session_table::{Asking, Serving},
    topic::Topic,
};

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
            && serving.role != Role::Replay
        {
            topic.own.is_heard(serving.own);
        }
    }
}

impl Topic {
    /// A session that this node opened has ended.
    pub(crate) fn asked(&mut self, asking: &Asking, meaning: &Meaning) {
        if let Meaning::Drained(evidence) = meaning
            && evidence.coverage().is_complete()
        {
            self.own.is_heard(asking.own);
        }
    }
}
