//! Sending events to a relay, and what it says to each.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use osier_eventdb::{Budget, Hit};
use osier_nostr::{
    ClientMessage, Event, EventId, EventKind, Filter, Letter, Page, Prefix, Reason, RelayMessage,
    nip::nip17::Viewer,
};

use super::{Link, Mirror, MirrorError, Mirrored, words};
use crate::limit;

const DOING: &str = "to take events";

impl Mirror {
    /// Sends these events; each gets its answer.
    pub(super) async fn push(
        &self,
        link: &mut Link,
        ids: &[EventId],
        viewer: &Viewer,
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        for ids in ids.chunks(limit::MIRROR_SENDING) {
            let view = self.index.view()?;
            let now = self.clock.now().wall;
            let mut events = Vec::new();
            for id in ids {
                // One that was hidden meanwhile is not sent.
                events.extend(view.get(id, viewer, now)?);
            }
            self.send(link, events, done).await?;
        }
        Ok(())
    }

    /// The deletion requests held here that name one of these events, which the relay still has:
    /// without them the two would differ for ever (`NG-05`).
    pub(super) fn deletions_of(
        &self,
        there: &[EventId],
        viewer: &Viewer,
    ) -> Result<Vec<EventId>, MirrorError> {
        let ids: Vec<String> = there.iter().map(EventId::to_string).collect();
        self.deletions_naming(Letter::E, &ids, viewer)
    }

    /// The same for requests that name the address of an event which the relay still has.
    pub(super) fn deletions_at(
        &self,
        addresses: &BTreeSet<String>,
        viewer: &Viewer,
    ) -> Result<Vec<EventId>, MirrorError> {
        let addresses: Vec<String> = addresses.iter().cloned().collect();
        self.deletions_naming(Letter::A, &addresses, viewer)
    }

    fn deletions_naming(
        &self,
        letter: Letter,
        values: &[String],
        viewer: &Viewer,
    ) -> Result<Vec<EventId>, MirrorError> {
        let mut found = BTreeSet::new();
        let view = self.index.view()?;
        for values in values.chunks(limit::MIRROR_IDS) {
            let filter = Filter::default().with_kinds([EventKind::DELETION]);
            let filter = filter.with_tag(letter, values.iter().map(String::as_str));
            let page = Page {
                filter,
                events_max: u64::MAX,
                whole_second: false,
            };
            let mut scan = view.scan(vec![page], viewer, self.clock.now().wall);
            loop {
                let chunk = scan.next(Budget::default())?;
                found.extend(chunk.events.iter().map(Hit::id));
                if chunk.end.is_some() {
                    break;
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Sends everything that matches.
    pub(super) async fn push_all(
        &self,
        link: &mut Link,
        filter: &Filter,
        viewer: &Viewer,
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        let page = Page {
            filter: filter.clone(),
            events_max: filter.limit().unwrap_or(u64::MAX),
            whole_second: false,
        };
        let view = self.index.view()?;
        let mut scan = view.scan(vec![page], viewer, self.clock.now().wall);
        loop {
            let budget = Budget {
                events: limit::MIRROR_SENDING,
                ..Budget::default()
            };
            let chunk = scan.next(budget)?;
            let events = chunk.events.iter().map(|hit| hit.event().clone());
            self.send(link, events.collect(), done).await?;
            if chunk.end.is_some() {
                return Ok(());
            }
        }
    }

    /// Sends events and reads what became of each. Those of which the relay takes no more for now
    /// are sent again, slower and slower.
    async fn send(
        &self,
        link: &mut Link,
        events: Vec<Event>,
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        done.sent += events.len() as u64;
        let (mut left, mut wait, mut tries) = (events, limit::MIRROR_SLOWER, 0);
        loop {
            let before = left.len();
            let slowed = self.send_once(link, left, done).await?;
            if slowed.len() < before {
                (wait, tries) = (limit::MIRROR_SLOWER, 0);
            }
            if slowed.is_empty() || tries == limit::MIRROR_SLOWER_MAX {
                for (event, reason) in slowed {
                    answered(event.id(), false, &reason, done);
                }
                return Ok(());
            }
            link.rest(DOING, wait).await?;
            (wait, tries) = (wait * 2, tries + 1);
            left = slowed.into_iter().map(|(event, _)| event).collect();
        }
    }

    /// The same, once; gives back what the relay takes no more of for now, with its words.
    async fn send_once(
        &self,
        link: &mut Link,
        events: Vec<Event>,
        done: &mut Mirrored,
    ) -> Result<Vec<(Event, Reason)>, MirrorError> {
        let mut waiting: BTreeMap<EventId, Event> = BTreeMap::new();
        for event in events {
            link.send(DOING, &ClientMessage::Event(event.clone().into()))
                .await?;
            waiting.insert(event.id(), event);
        }
        let mut slowed = Vec::new();
        let mut asked_again = BTreeSet::new();
        let mut notice = String::new();
        let mut until = Instant::now() + link.patience();
        while !waiting.is_empty() {
            // Other messages do not put the end off (`NOS-74`).
            let left = until.saturating_duration_since(Instant::now());
            let (id, accepted, reason) = match link.next(DOING, left).await? {
                Some(RelayMessage::Ok {
                    id,
                    accepted,
                    reason,
                }) => (id, accepted, reason),
                Some(RelayMessage::Notice(reason)) => {
                    notice = words(&reason);
                    continue;
                }
                Some(_) => continue,
                None => return Err(link.silent(DOING, &notice)),
            };
            let Some(event) = waiting.remove(&id) else {
                continue;
            };
            until = Instant::now() + link.patience();
            let refused = reason.prefix().filter(|_| !accepted);
            if refused == Some(Prefix::AuthRequired)
                && asked_again.insert(id)
                && self.knock(link).await?
            {
                link.send(DOING, &ClientMessage::Event(event.clone().into()))
                    .await?;
                waiting.insert(id, event);
            } else if refused == Some(Prefix::RateLimited) {
                slowed.push((event, reason));
            } else {
                answered(id, accepted, &reason, done);
            }
        }
        Ok(slowed)
    }

    /// Authenticates, if we have a key and there is a challenge.
    async fn knock(&self, link: &mut Link) -> Result<bool, MirrorError> {
        match link.challenge().map(str::to_owned) {
            Some(challenge) => link.authenticate(DOING, &challenge).await,
            None => Ok(false),
        }
    }
}

fn answered(id: EventId, accepted: bool, reason: &Reason, done: &mut Mirrored) {
    match (accepted, reason.prefix()) {
        (true, Some(Prefix::Duplicate)) => {}
        (true, _) => done.taken += 1,
        (false, _) => {
            done.rejected += 1;
            done.reason(id, &words(reason));
        }
    }
}
