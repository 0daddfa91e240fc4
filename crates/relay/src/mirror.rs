//! This node as a client of other relays: events are pulled from them, pushed to them, counted.
//!
//! Nothing here ends well by itself: a pull is complete only if the comparison came to its end and
//! everything that was offered is accounted for, or if paging was told so. A refusal, a silence and
//! a lost connection are errors that say so (`NOS-72`).

mod compare;
mod count;
mod error;
mod fetch;
mod follow;
mod link;
mod page;
mod push;
mod reading;

use std::{collections::BTreeSet, time::Duration};

use osier::Topic;
use osier_eventdb::EventIndex;
use osier_nostr::{EventId, EventKey, Filter, Reason, nip::nip17::Viewer};

use self::{compare::Difference, link::Link, reading::Reading};
pub use self::{
    count::{Answer, Counted, count},
    error::MirrorError,
};
use crate::{clock::Clock, import::Importer};

/// Which way events go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the relay to this node.
    Pull,
    /// From this node to the relay.
    Push,
    /// Both.
    Sync,
}

/// What is mirrored.
#[derive(Debug, Clone)]
pub struct Order {
    /// The relay.
    pub url: String,
    /// Which events.
    pub filter: Filter,
    /// Which way.
    pub direction: Direction,
    /// Who we are to the relay, where it asks.
    pub key: Option<EventKey>,
    /// Whether what was read to its end before is read again (`NOS-73`).
    pub again: bool,
    /// How long the relay may say nothing; [`crate::limit::MIRROR_PATIENCE`] unless there is a
    /// reason.
    pub patience: Duration,
}

/// What a mirroring did. It has done all that it was to, or is an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mirrored {
    /// Why the two were not compared by negentropy, if they were not.
    pub paged_because: Option<String>,
    /// Whether everything of the relay has been read. By pages of a relay that gives no hints this
    /// is as far as it shows; never if a second had more events than a page.
    pub complete: bool,
    /// Whether something of it was read before and was not asked for again.
    pub resumed: bool,
    /// Events that came.
    pub received: u64,
    /// Of them, new here.
    pub stored: u64,
    /// Of them, held here already.
    pub held: u64,
    /// Of them, not taken: forged, expired, deleted here.
    pub refused: u64,
    /// Events that were sent.
    pub sent: u64,
    /// Of them, new there.
    pub taken: u64,
    /// Of them, not taken there.
    pub rejected: u64,
    /// The first reasons for what was not taken, here or there.
    pub reasons: Vec<String>,
    /// Addresses of events that came and are deleted here.
    deleted: BTreeSet<String>,
}

/// Reasons that are kept.
const REASONS_MAX: usize = 20;

impl Mirrored {
    fn reason(&mut self, id: EventId, why: &str) {
        if self.reasons.len() < REASONS_MAX {
            self.reasons.push(format!("{id}: {why}"));
        }
    }
}

/// Mirrors other relays into, and out of, an index.
#[derive(Debug, Clone)]
pub struct Mirror {
    index: EventIndex,
    importer: Importer,
    clock: Clock,
}

impl Mirror {
    pub(crate) fn new(index: EventIndex, clock: Clock) -> Self {
        Self {
            importer: Importer::new(index.clone(), clock),
            index,
            clock,
        }
    }

    /// Carries an order out; what comes is written to the topic.
    ///
    /// # Errors
    /// If the relay cannot be reached, refuses, falls silent, or offers what it does not serve; or
    /// if this node cannot read or write. What was transferred before stays.
    pub async fn run(&self, topic: &Topic, order: &Order) -> Result<Mirrored, MirrorError> {
        let link = Link::open(&order.url, order.key.clone(), order.patience, self.clock);
        let mut link = link.await?;
        let viewer = self.viewer(order);
        let now = self.clock.now().wall;
        let reading = Reading::open(&self.index, topic.id(), order, now)?;
        let mut done = Mirrored::default();
        match self.compare(&mut link, &order.filter, &viewer).await? {
            Ok(difference) => {
                let Difference { have, need } = difference;
                if order.direction != Direction::Push {
                    self.fetch(&mut link, topic, &need, &mut done).await?;
                    reading.cover_all()?;
                    done.complete = true;
                }
                if order.direction == Direction::Sync {
                    let gone = self.deletions_at(&done.deleted, &viewer)?;
                    self.push(&mut link, &gone, &viewer, &mut done).await?;
                }
                if order.direction != Direction::Pull {
                    let gone = self.deletions_of(&need, &viewer)?;
                    self.push(&mut link, &gone, &viewer, &mut done).await?;
                    self.push(&mut link, &have, &viewer, &mut done).await?;
                }
            }
            Err(why) => {
                done.paged_because = Some(why);
                if order.direction != Direction::Push {
                    let what = (&order.filter, &reading);
                    self.pages(&mut link, topic, what, &mut done).await?;
                }
                if order.direction != Direction::Pull {
                    self.push_all(&mut link, &order.filter, &viewer, &mut done)
                        .await?;
                }
            }
        }
        link.close().await;
        Ok(done)
    }

    /// What of this node's own store goes to others: what is gated only if it is our key's.
    fn viewer(&self, order: &Order) -> Viewer {
        let mut viewer = Viewer::new(self.index.db().settings().gate.clone());
        if let Some(key) = &order.key {
            viewer.authenticate(key.pubkey());
        }
        viewer
    }
}

/// A relay's reason in words.
fn words(reason: &Reason) -> String {
    match reason.text() {
        "" => "no reason given".to_owned(),
        text => text.to_owned(),
    }
}
