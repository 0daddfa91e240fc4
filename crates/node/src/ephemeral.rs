//! Those who listen for what is of the moment (`GOS-10`): a bounded ring a topic, and no promise.

use std::collections::BTreeMap;

use bytes::Bytes;
use osier_core::{Kind, TopicId};
use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};

use crate::{limit::EPHEMERAL_WAITING_MAX, metric::SharedCounters};

/// All listeners of a node.
#[derive(Debug)]
pub(crate) struct Listeners {
    topics: BTreeMap<TopicId, Sender<(Kind, Bytes)>>,
    counters: SharedCounters,
}

/// Ephemeral items of other nodes of a topic, as they come. Ends when the topic is closed.
///
/// Bounded: a listener that is too slow goes on with later ones, and what it missed is counted.
#[derive(Debug)]
pub struct EphemeralStream {
    items: Receiver<(Kind, Bytes)>,
    counters: SharedCounters,
}

impl EphemeralStream {
    /// The next item: what it is, and its bytes as some node of the topic has sent them. None when
    /// the topic is closed or the node has stopped. Cancel-safe.
    pub async fn next(&mut self) -> Option<(Kind, Bytes)> {
        loop {
            match self.items.recv().await {
                Ok(item) => return Some(item),
                Err(RecvError::Lagged(missed)) => self.counters.ephemeral_missed.add(missed),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Listeners {
    /// Nobody yet.
    pub(crate) fn new(counters: SharedCounters) -> Self {
        Self {
            topics: BTreeMap::new(),
            counters,
        }
    }

    /// A new listener.
    pub(crate) fn add(&mut self, topic: TopicId) -> EphemeralStream {
        let sender = self.topics.entry(topic);
        let sender = sender.or_insert_with(|| channel(EPHEMERAL_WAITING_MAX).0);
        EphemeralStream {
            items: sender.subscribe(),
            counters: SharedCounters::clone(&self.counters),
        }
    }

    /// Hands an item to everyone who listens.
    pub(crate) fn tell(&mut self, topic: TopicId, kind: Kind, item: Bytes) {
        self.counters.ephemeral_heard.one();
        let Some(sender) = self.topics.get(&topic) else {
            return;
        };
        if sender.send((kind, item)).is_err() {
            // The last one has gone.
            self.topics.remove(&topic);
        }
    }

    /// The topic is closed: its listeners' streams end.
    pub(crate) fn remove(&mut self, topic: TopicId) {
        self.topics.remove(&topic);
    }
}

#[cfg(test)]
mod tests {
    use osier_core::testing::topic;

    use super::*;

    /// GOS-10.
    #[tokio::test]
    async fn a_slow_listener_goes_on_with_what_is_left() {
        let counters = SharedCounters::default();
        let mut listeners = Listeners::new(SharedCounters::clone(&counters));
        let item = |n: usize| Bytes::from(n.to_string());
        listeners.tell(topic(), Kind::NOSTR, item(0));
        let mut heard = listeners.add(topic());
        let over = EPHEMERAL_WAITING_MAX + 3;
        (0..over).for_each(|n| listeners.tell(topic(), Kind::NOSTR, item(n)));
        assert_eq!(heard.next().await, Some((Kind::NOSTR, item(3))));
        assert_eq!(counters.read().ephemeral_missed, 3);
        listeners.remove(topic());
        let mut left = 0;
        while heard.next().await.is_some() {
            left += 1;
        }
        assert_eq!(left, EPHEMERAL_WAITING_MAX - 1);
        drop(listeners.add(topic()));
        listeners.tell(topic(), Kind::NOSTR, item(1));
        assert!(listeners.topics.is_empty());
    }
}
