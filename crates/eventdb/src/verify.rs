//! Which items of entries are events (`NOS-1`, `NOS-70`): every node checks that itself.

use bytes::Bytes;
use osier_nostr::{Event, EventId, read_item};
use osier_store::ItemPlace;
use secp256k1::{Secp256k1, VerifyOnly};

use crate::{limit, recent::Recent};

/// An event, and where the log holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) event: Event,
    pub(crate) place: ItemPlace,
}

/// Tells events from other items.
pub(crate) struct Verifier {
    secp: Secp256k1<VerifyOnly>,
    /// Verified by this node, and still to come.
    pub(crate) vouched: Recent,
}

impl Verifier {
    pub(crate) fn new() -> Self {
        Self {
            secp: Secp256k1::verification_only(),
            vouched: Recent::of_events(limit::VOUCHED_EVENTS_MAX),
        }
    }

    /// The events among some items, in order. Those that this node has verified already, byte for
    /// byte, are not verified again; many others are shared out to all cores.
    pub(crate) fn events(&self, known: &Recent, items: Vec<(ItemPlace, Bytes)>) -> Vec<Arrival> {
        let mut found: Vec<Option<Event>> = items
            .iter()
            .map(|(_, item)| self.known(known, item))
            .collect();
        let open: Vec<(&mut Option<Event>, &Bytes)> = found
            .iter_mut()
            .zip(&items)
            .filter(|(event, _)| event.is_none())
            .map(|(event, (_, item))| (event, item))
            .collect();
        self.verify_all(open);
        for event in found.iter().flatten() {
            self.vouched.take(&event.id());
        }
        let places = items.into_iter().map(|(place, _)| place);
        let arrivals = places
            .zip(found)
            .filter_map(|(place, event)| event.map(|event| Arrival { event, place }));
        arrivals.collect()
    }

    fn known(&self, known: &Recent, item: &Bytes) -> Option<Event> {
        let id = claimed_id(item)?;
        let same =
            |event: &Event| event.json().as_bytes() == &**item && !event.kind().is_ephemeral();
        let vouched = self.vouched.get(&id).filter(same);
        vouched.or_else(|| known.get(&id).filter(same))
    }

    fn verify_all(&self, mut open: Vec<(&mut Option<Event>, &Bytes)>) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if open.len() < limit::PARALLEL_ITEMS_MIN || cores == 1 {
            return self.verify_each(&mut open);
        }
        let share = open.len().div_ceil(cores);
        std::thread::scope(|scope| {
            for part in open.chunks_mut(share) {
                scope.spawn(|| self.verify_each(part));
            }
        });
    }

    fn verify_each(&self, open: &mut [(&mut Option<Event>, &Bytes)]) {
        for (event, item) in open {
            **event = read_item(item)
                .ok()
                .and_then(|read| read.verify(&self.secp).ok());
        }
    }
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier")
    }
}

/// The id that canonical text claims: it comes first.
fn claimed_id(item: &[u8]) -> Option<EventId> {
    let hex = item.strip_prefix(b"{\"id\":\"")?.get(..64)?;
    EventId::from_hex(std::str::from_utf8(hex).ok()?)
}

#[cfg(test)]
mod tests {
    use osier_nostr::testing;
    use osier_store::{Lsn, TopicNo};

    use super::*;

    fn places(items: Vec<Bytes>) -> Vec<(ItemPlace, Bytes)> {
        let place = |(n, item)| {
            let item_no = u16::try_from(n).unwrap();
            let (topic, lsn) = (TopicNo::new(1), Lsn::new(1));
            (
                ItemPlace {
                    topic,
                    lsn,
                    item: item_no,
                },
                item,
            )
        };
        items.into_iter().enumerate().map(place).collect()
    }

    /// NOS-1: a vouched event is taken as it is; its id with other bytes is not.
    #[test]
    fn only_what_is_verified_is_an_event() {
        let (verifier, known) = (Verifier::new(), Recent::of_events(10));
        let signed = testing::note(1, 1, "signed");
        let unsigned = testing::draft(1, 1, &[], "unsigned").unsigned(&testing::pubkey(1));
        let vouched = testing::draft(1, 1, &[], "vouched").unsigned(&testing::pubkey(1));
        verifier.vouched.insert(&vouched);
        // The same id, another signature.
        let mut changed = vouched.json().to_owned().into_bytes();
        let last = changed.len() - 3;
        changed[last] = b'1';
        let items = vec![
            signed.to_bytes(),
            unsigned.to_bytes(),
            vouched.to_bytes(),
            Bytes::from_static(b"{}"),
            Bytes::from(changed),
        ];
        let found = verifier.events(&known, places(items));
        let found: Vec<(u16, Event)> = found
            .into_iter()
            .map(|it| (it.place.item, it.event))
            .collect();
        assert_eq!(found, [(0, signed), (2, vouched.clone())]);
        let again = verifier.events(&known, places(vec![vouched.to_bytes()]));
        assert_eq!(again, [], "it was vouched for once");
    }

    #[test]
    fn many_are_verified_like_one() {
        let (verifier, known) = (Verifier::new(), Recent::of_events(10));
        let events: Vec<Event> = (0..200).map(|n| testing::note(1, n, "")).collect();
        let found = verifier.events(&known, places(events.iter().map(Event::to_bytes).collect()));
        assert!(found.into_iter().map(|it| it.event).eq(events));
    }
}
