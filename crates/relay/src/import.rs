//! Events that come from elsewhere than a client, such as a file of JSON lines: they are verified
//! and judged like any other, and written by the node.

use std::{collections::BTreeSet, sync::Mutex, thread};

use bytes::Bytes;
use osier::{Kind, Topic};
use osier_eventdb::{Admission, EventIndex};
use osier_nostr::{Event, EventKind, Hidden, UnverifiedEvent, bodies};
use secp256k1::{Secp256k1, VerifyOnly};

use crate::{clock::Clock, error::RelayError, limit, relay::cores};

/// Takes events in.
#[derive(Debug, Clone)]
pub struct Importer {
    index: EventIndex,
    clock: Clock,
    secp: Secp256k1<VerifyOnly>,
}

/// What became of lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Events that are stored now and were not before.
    pub stored: u64,
    /// Events that were held already.
    pub held: u64,
    /// Lines that were refused.
    pub refused: u64,
    /// The first [`limit::IMPORT_REASONS_MAX`] of them: their places from 0, and why.
    pub reasons: Vec<(u64, String)>,
    /// Places of the refused lines that are events which are deleted here.
    pub deleted: Vec<u64>,
}

/// Whether a line is a Nostr event, as far as its form tells.
pub fn is_event(line: &str) -> bool {
    UnverifiedEvent::parse(line).is_ok()
}

/// A line with its place.
type Placed<T> = (u64, T);

impl Importer {
    pub(crate) fn new(index: EventIndex, clock: Clock) -> Self {
        Self {
            index,
            clock,
            secp: Secp256k1::verification_only(),
        }
    }

    /// Writes the events of these lines into a topic, those that are not held yet and that nothing
    /// hides. All of it is durable when this returns. Empty lines are passed over. Needs a
    /// multi-threaded tokio runtime.
    ///
    /// # Errors
    /// If the index cannot be read, or the node did not take them; the lines of earlier batches
    /// stay, and sending all again is harmless.
    pub async fn import(&self, topic: &Topic, lines: &Bytes) -> Result<Imported, RelayError> {
        let mut imported = Imported::default();
        let all: Vec<Placed<&[u8]>> = (0..).zip(lines.split(|byte| *byte == b'\n')).collect();
        for batch in all.chunks(limit::APPEND_EVENTS_MAX) {
            let fresh = tokio::task::block_in_place(|| self.judge(batch, &mut imported))?;
            for event in &fresh {
                self.index.db().vouch(event);
            }
            let entries = bodies(&fresh);
            if !entries.is_empty() {
                topic.publish_entries(Kind::NOSTR, entries).await?;
            }
            imported.stored += fresh.len() as u64;
        }
        Ok(imported)
    }

    /// The events of a batch that are new.
    fn judge(
        &self,
        batch: &[Placed<&[u8]>],
        imported: &mut Imported,
    ) -> Result<Vec<Event>, RelayError> {
        let now = self.clock.now().wall;
        let view = self.index.view().map_err(RelayError::Index)?;
        let (mut fresh, mut seen) = (Vec::new(), BTreeSet::new());
        for (at, outcome) in self.verify(batch) {
            let event = match outcome {
                Ok(event) => event,
                Err(why) => {
                    imported.refuse(at, why);
                    continue;
                }
            };
            match view.admit(&event, now).map_err(RelayError::Index)? {
                Admission::New if seen.insert(event.id()) => fresh.push(event),
                Admission::New | Admission::Held => imported.held += 1,
                Admission::Hidden(hidden) => {
                    if hidden == Hidden::Deleted {
                        imported.deleted.push(at);
                    }
                    imported.refuse(at, hidden.reason().text().to_owned());
                }
            }
        }
        Ok(fresh)
    }

    /// Checks the lines of a batch on all cores; in order.
    fn verify(&self, batch: &[Placed<&[u8]>]) -> Vec<Placed<Result<Event, String>>> {
        let share = batch.len().div_ceil(cores()).max(1);
        let done = Mutex::new(Vec::with_capacity(batch.len()));
        thread::scope(|scope| {
            for part in batch.chunks(share) {
                let done = &done;
                scope.spawn(move || {
                    let events: Vec<_> = part
                        .iter()
                        .filter(|(_, line)| !line.trim_ascii().is_empty())
                        .map(|(at, line)| (*at, self.verify_one(line)))
                        .collect();
                    done.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .extend(events);
                });
            }
        });
        let mut done = done
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        done.sort_unstable_by_key(|(at, _)| *at);
        done
    }

    fn verify_one(&self, line: &[u8]) -> Result<Event, String> {
        let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
        let event = UnverifiedEvent::parse(text.trim()).map_err(|error| error.to_string())?;
        let kind = event.claimed_kind();
        if kind == EventKind::AUTH || kind.is_ephemeral() {
            return Err(format!("events of kind {} are never stored", kind.get()));
        }
        event.verify(&self.secp).map_err(|error| error.to_string())
    }
}

impl Imported {
    fn refuse(&mut self, at: u64, why: String) {
        self.refused += 1;
        if self.reasons.len() < limit::IMPORT_REASONS_MAX {
            self.reasons.push((at, why));
        }
    }
}
