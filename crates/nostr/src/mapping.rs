//! Between events and the entries that carry them.
//!
//! An event is one item of an entry of kind [`osier_core::Kind::NOSTR`]: its canonical JSON, so
//! that it is served by copying (`NOS-70`).

use bytes::Bytes;
use osier_core::{Kind, TopicId, limit as core_limit};

use crate::{
    event::{Event, EventMalformed, UnverifiedEvent},
    filter::Filter,
    kind::EventKind,
    limit,
};

/// The kind of entries that hold events.
pub const ENTRY_KIND: Kind = Kind::NOSTR;

/// Why an item is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ItemInvalid {
    /// Longer than an event may be.
    #[error("an item of {bytes} bytes is longer than an event may be")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Not text.
    #[error("an item is not UTF-8")]
    NotText,
    /// Not an event.
    #[error("an item is no event: {0}")]
    Event(#[from] EventMalformed),
    /// An event in another form than the canonical one: it would be served in a form that no
    /// other node serves.
    #[error("an item is an event in another form than the canonical one")]
    NotCanonical,
    /// Ephemeral events, and those that authenticate, are in no history.
    #[error("an item is an event of a kind that is never stored")]
    NeverStored,
    /// What is stored travels in entries, and kind 22242 does not travel.
    #[error("an item that is passed on is not of an ephemeral kind")]
    NotEphemeral,
}

/// Reads an item of a peer's entry; every node judges it alike (`NOS-70`). What comes out still
/// has to be verified.
///
/// # Errors
/// If it is not the canonical text of an event that may be stored. The item is skipped; the entry
/// that holds it stays what it is.
pub fn read_item(item: &[u8]) -> Result<UnverifiedEvent, ItemInvalid> {
    let event = read_text(item)?;
    if event.claimed_kind().is_ephemeral() {
        return Err(ItemInvalid::NeverStored);
    }
    Ok(event)
}

/// Reads an item that a node of a topic has passed on (`NOS-34`). What comes out still has to be
/// verified.
///
/// # Errors
/// If it is not the canonical text of an ephemeral event. It goes to nobody.
pub fn read_ephemeral_item(item: &[u8]) -> Result<UnverifiedEvent, ItemInvalid> {
    let event = read_text(item)?;
    let kind = event.claimed_kind();
    if !kind.is_ephemeral() || kind == EventKind::AUTH {
        return Err(ItemInvalid::NotEphemeral);
    }
    Ok(event)
}

fn read_text(item: &[u8]) -> Result<UnverifiedEvent, ItemInvalid> {
    if item.len() > limit::EVENT_JSON_BYTES_MAX {
        return Err(ItemInvalid::TooLong { bytes: item.len() });
    }
    let text = std::str::from_utf8(item).map_err(|_| ItemInvalid::NotText)?;
    let event = UnverifiedEvent::parse(text)?;
    if event.json() != text {
        return Err(ItemInvalid::NotCanonical);
    }
    Ok(event)
}

/// Puts the events of a commit batch into as few entry bodies as their bounds allow, in order.
/// Ephemeral events are left out.
pub fn bodies<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Vec<Bytes>> {
    let mut bodies: Vec<Vec<Bytes>> = Vec::new();
    let mut room = 0;
    for event in events
        .into_iter()
        .filter(|event| !event.kind().is_ephemeral())
    {
        let item = event.to_bytes();
        let full = bodies
            .last()
            .is_none_or(|body| body.len() == core_limit::ENTRY_ITEMS_MAX);
        if full || item.len() > room {
            bodies.push(Vec::new());
            room = core_limit::ENTRY_BODY_BYTES_MAX;
        }
        room -= item.len();
        bodies
            .last_mut()
            .expect("one was just pushed if there was none")
            .push(item);
    }
    bodies
}

/// Which events go to which topic: the first route that matches, else the default (`NOS-71`).
#[derive(Debug, Clone)]
pub struct Routes {
    routes: Vec<(Filter, TopicId)>,
    default: TopicId,
}

impl Routes {
    /// Everything goes to one topic.
    pub fn to(default: TopicId) -> Self {
        Self {
            routes: Vec::new(),
            default,
        }
    }

    /// Events that match go to this topic, unless an earlier route takes them.
    pub fn add(&mut self, filter: Filter, topic: TopicId) {
        self.routes.push((filter, topic));
    }

    /// Where an event goes.
    pub fn topic_of(&self, event: &Event) -> TopicId {
        let route = self.routes.iter().find(|(filter, _)| filter.matches(event));
        route.map_or(self.default, |(_, topic)| *topic)
    }

    /// All topics that events go to: those that have to be complete before a relay says that it
    /// has sent everything. A topic may hold events that its routes would send elsewhere now.
    pub fn topics(&self) -> impl Iterator<Item = TopicId> + '_ {
        std::iter::once(self.default).chain(self.routes.iter().map(|(_, topic)| *topic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// NOS-70.
    #[test]
    fn an_item_is_the_canonical_text_and_nothing_else() {
        let event = testing::note(1, 1, "x");
        let item = event.to_bytes();
        assert_eq!(read_item(&item).unwrap().trust_stored(), event);
        let spaced = event.json().replacen(':', ": ", 1);
        assert_eq!(read_item(spaced.as_bytes()), Err(ItemInvalid::NotCanonical));
        assert_eq!(read_item(&[0xff]), Err(ItemInvalid::NotText));
        assert!(matches!(read_item(b"{}"), Err(ItemInvalid::Event(_))));
        let bytes = limit::EVENT_JSON_BYTES_MAX + 1;
        assert_eq!(
            read_item(&vec![b' '; bytes]),
            Err(ItemInvalid::TooLong { bytes })
        );
        let ephemeral = testing::event(1, 1, 20_001, &[], "");
        assert_eq!(
            read_item(&ephemeral.to_bytes()),
            Err(ItemInvalid::NeverStored)
        );
    }

    /// NOS-34.
    #[test]
    fn only_ephemeral_events_are_passed_on() {
        let ephemeral = testing::event(1, 1, 20_001, &[], "");
        let read = read_ephemeral_item(&ephemeral.to_bytes()).unwrap();
        assert_eq!(read.trust_stored(), ephemeral);
        for kind in [1, 19_999, 22_242, 30_000] {
            let other = testing::event(1, 1, kind, &[], "").to_bytes();
            let refused = Err(ItemInvalid::NotEphemeral);
            assert_eq!(read_ephemeral_item(&other), refused, "{kind}");
        }
        let spaced = ephemeral.json().replacen(':', ": ", 1);
        let refused = Err(ItemInvalid::NotCanonical);
        assert_eq!(read_ephemeral_item(spaced.as_bytes()), refused);
    }

    #[test]
    fn a_batch_fills_bodies_up_to_their_bounds() {
        let small: Vec<_> = (0..600).map(|n| testing::draft(n, 1, &[], "")).collect();
        let author = testing::pubkey(1);
        let small: Vec<_> = small.iter().map(|draft| draft.unsigned(&author)).collect();
        let lengths: Vec<_> = bodies(&small).iter().map(Vec::len).collect();
        assert_eq!(lengths, [256, 256, 88]);
        let large = testing::draft(1, 1, &[], &"x".repeat(250_000)).unsigned(&author);
        let lengths: Vec<_> = bodies(&vec![large; 9]).iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 4, 1]);
        assert!(bodies([&testing::event(1, 1, 20_000, &[], "")]).is_empty());
    }

    /// NOS-71.
    #[test]
    fn the_first_route_that_matches_takes_the_event() {
        let topic = |n| TopicId::from_bytes([n; 32]);
        let mut routes = Routes::to(topic(0));
        routes.add(Filter::parse(r#"{"kinds":[1]}"#).unwrap(), topic(1));
        routes.add(Filter::parse(r#"{"kinds":[1,7]}"#).unwrap(), topic(2));
        let of = |kind| routes.topic_of(&testing::event(1, 1, kind, &[], ""));
        assert_eq!([of(1), of(7), of(3)], [topic(1), topic(2), topic(0)]);
        assert_eq!(routes.topics().count(), 3);
    }
}
