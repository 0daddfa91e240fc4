//! From entries that have become durable to the subscriptions that they concern: own, gossiped and
//! synced ones alike.

use std::sync::Arc;

use osier::{Lsn, TopicId};
use osier_eventdb::EventIndex;

use crate::{clock::Clock, hub::Hub, workers::Job};

/// A stretch of a topic's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Which topic's.
    pub(crate) topic: TopicId,
    /// The last place before it.
    pub(crate) after: Lsn,
    /// Its last place.
    pub(crate) upto: Lsn,
}

impl Job for Stretch {
    /// In the order in which they became durable.
    fn owner(&self) -> u64 {
        0
    }
}

/// Tells subscriptions of new events.
#[derive(Debug)]
pub(crate) struct Feeder {
    /// What an entry brought.
    pub(crate) index: EventIndex,
    /// Who is subscribed.
    pub(crate) hub: Arc<Hub>,
    /// The time.
    pub(crate) clock: Clock,
}

impl Feeder {
    /// Takes a stretch to those whom it concerns. Who subscribes from now on reads it from the
    /// index.
    pub(crate) fn run(&self, stretch: Stretch) {
        for lsn in stretch.after.get() + 1..=stretch.upto.get() {
            if self.hub.is_idle() {
                return;
            }
            let now = self.clock.now().wall;
            match self.index.fresh(stretch.topic, Lsn::new(lsn), now) {
                Ok(Some(fresh)) => {
                    for event in fresh.events {
                        self.hub.publish(event, Some(fresh.commit));
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(%error, "new events cannot be read for live subscriptions");
                    // Nobody is left with a gap and no word of it.
                    self.hub.lose();
                    return;
                }
            }
        }
    }
}
