//! Sending events to a relay, and what it says to each.

use std::collections::{BTreeMap, BTreeSet};

use osier_eventdb::{Budget, Hit};
use osier_nostr::{
    ClientMessage, Event, EventId, Filter, Page, Prefix, Reason, RelayMessage, nip::nip17::Viewer,
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
        let mut found = BTreeSet::new();
        let view = self.index.view()?;
        for ids in there.chunks(limit::MIRROR_IDS) {
            let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
            let text = format!("{{\"kinds\":[5],\"#e\":[{}]}}", ids.join(","));
            let filter = Filter::parse(&text).expect("a filter of our own is well formed");
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

    async fn send(
        &self,
        link: &mut Link,
        events: Vec<Event>,
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        let mut waiting: BTreeMap<EventId, Event> = BTreeMap::new();
        for event in events {
            link.send(DOING, &ClientMessage::Event(event.clone().into()))
                .await?;
            waiting.insert(event.id(), event);
        }
        done.sent += waiting.len() as u64;
        let mut asked_again = BTreeSet::new();
        while !waiting.is_empty() {
            let Some(message) = link.next(DOING, link.patience()).await? else {
                return Err(link.silent(DOING, ""));
            };
            let RelayMessage::Ok {
                id,
                accepted,
                reason,
            } = message
            else {
                continue;
            };
            let Some(event) = waiting.remove(&id) else {
                continue;
            };
            let wall = !accepted && reason.prefix() == Some(Prefix::AuthRequired);
            if wall && asked_again.insert(id) && self.knock(link).await? {
                link.send(DOING, &ClientMessage::Event(event.clone().into()))
                    .await?;
                waiting.insert(id, event);
                continue;
            }
            answered(id, accepted, &reason, done);
        }
        Ok(())
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
