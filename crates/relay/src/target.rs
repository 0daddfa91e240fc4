//! Where published events go (`NOS-71`).

use std::collections::BTreeMap;

use osier::{Topic, TopicId};
use osier_nostr::{Event, Filter, Routes};

/// Which events go to which topic of the node.
#[derive(Debug, Clone)]
pub struct Target {
    routes: Routes,
    topics: BTreeMap<TopicId, Topic>,
}

impl From<Topic> for Target {
    fn from(topic: Topic) -> Self {
        Self::to(topic)
    }
}

impl Target {
    /// Everything goes to one topic.
    pub fn to(topic: Topic) -> Self {
        Self {
            routes: Routes::to(topic.id()),
            topics: [(topic.id(), topic)].into(),
        }
    }

    /// Events that match go to this topic, unless an earlier route takes them.
    pub fn route(&mut self, filter: Filter, topic: Topic) {
        self.routes.add(filter, topic.id());
        self.topics.insert(topic.id(), topic);
    }

    /// All topics that events go to.
    pub fn topics(&self) -> impl Iterator<Item = &Topic> {
        self.topics.values()
    }

    /// Where an event goes.
    pub(crate) fn of(&self, event: &Event) -> TopicId {
        self.routes.topic_of(event)
    }

    /// The topic with this id.
    pub(crate) fn topic(&self, id: TopicId) -> Option<&Topic> {
        self.topics.get(&id)
    }
}
