//! Fetching events by id, and taking in what comes.

use std::collections::BTreeSet;

use bytes::Bytes;
use osier::Topic;
use osier_nostr::{EventId, Filter, UnverifiedEvent};

use super::{Link, Mirror, MirrorError, Mirrored};
use crate::limit;

const DOING: &str = "to send events by id";

impl Mirror {
    /// Fetches events that the relay offers. Each comes, or the relay withholds it.
    pub(super) async fn fetch(
        &self,
        link: &mut Link,
        topic: &Topic,
        need: &[EventId],
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        let mut missing: Vec<EventId> = Vec::new();
        for ids in need.chunks(limit::MIRROR_IDS) {
            let mut wanted: BTreeSet<EventId> = ids.iter().copied().collect();
            // A relay may send fewer than were asked for: those that are left are asked for again.
            while !wanted.is_empty() {
                let filter = Filter::default().with_ids(wanted.iter().copied());
                let mut events = Vec::new();
                let ending = link.read(DOING, &filter, &mut events).await?;
                if let Some(error) = link.bad_end(DOING, &ending) {
                    self.take(topic, &events, done).await?;
                    return Err(error);
                }
                let before = wanted.len();
                events.retain(|event| wanted.remove(&event.claimed_id()));
                self.take(topic, &events, done).await?;
                if wanted.len() == before {
                    missing.extend(wanted);
                    break;
                }
            }
        }
        let Some(example) = missing.first() else {
            return Ok(());
        };
        Err(MirrorError::Withheld {
            url: link.url().to_owned(),
            count: missing.len(),
            example: example.to_string(),
        })
    }

    /// Verifies and stores what came.
    pub(super) async fn take(
        &self,
        topic: &Topic,
        events: &[UnverifiedEvent],
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        if events.is_empty() {
            return Ok(());
        }
        let lines: Vec<&str> = events.iter().map(UnverifiedEvent::json).collect();
        let imported = self
            .importer
            .import(topic, &Bytes::from(lines.join("\n")))
            .await?;
        done.received += events.len() as u64;
        done.stored += imported.stored;
        done.held += imported.held;
        done.refused += imported.refused;
        let event_at = |at: &u64| usize::try_from(*at).ok().and_then(|at| events.get(at));
        for event in imported.deleted.iter().filter_map(event_at) {
            // It has been verified, or it would have been refused for that.
            let address = event.clone().trust_stored().address();
            done.deleted.extend(address.map(|it| it.to_string()));
        }
        for (at, why) in &imported.reasons {
            let event = event_at(at);
            if let Some(event) = event {
                done.reason(event.claimed_id(), why);
            }
        }
        Ok(())
    }
}
