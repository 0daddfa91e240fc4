//! Keys: our own fixed-width big-endian bytes (`NOS-101`), so that byte order is the order of
//! answers.
//!
//! Times are stored inverted where the newest comes first. Values of any length are hashed to 16
//! bytes: finding two that collide takes 2^64 steps.

use osier_nostr::{Address, EventId, EventKind, Letter, PublicKey, Seconds};
use osier_store::{Item, ItemPlace, Lsn, TopicNo};

/// What events have in common: an author, a kind, a tag with a value, those involved.
pub(crate) type Facet = [u8; 16];

/// Key of a facet row.
pub(crate) type FacetKey = [u8; 56];

// What a hash is of. Tags have their letter.
const AUTHOR: u8 = 0;
const KIND: u8 = 1;
const INVOLVED: u8 = 2;
const ADDRESS: u8 = 3;
const DELETION: u8 = 4;

fn hash(what: u8, parts: &[&[u8]]) -> Facet {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[what]);
    for part in parts {
        hasher.update(part);
    }
    let mut facet = [0; 16];
    facet.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    facet
}

/// Events that a key signed.
pub(crate) fn author(key: &PublicKey) -> Facet {
    hash(AUTHOR, &[key.as_bytes()])
}

/// Events of a kind.
pub(crate) fn kind(kind: EventKind) -> Facet {
    hash(KIND, &[&kind.get().to_be_bytes()])
}

/// Events with a tag.
pub(crate) fn tag(letter: Letter, value: &str) -> Facet {
    hash(letter.get(), &[value.as_bytes()])
}

/// Gated events that a key signed or that name it in a `p` tag.
pub(crate) fn involved(key: &PublicKey) -> Facet {
    hash(INVOLVED, &[key.as_bytes()])
}

/// An address. The `d` part comes last, so that no two addresses are spelled alike.
pub(crate) fn address(address: &Address) -> Facet {
    let kind = address.kind.get().to_be_bytes();
    let parts: [&[u8]; 3] = [&kind, address.pubkey.as_bytes(), address.d.as_bytes()];
    hash(ADDRESS, &parts)
}

/// A key's request to delete an event.
pub(crate) fn deletion(id: &EventId, by: &PublicKey) -> Facet {
    hash(DELETION, &[id.as_bytes(), by.as_bytes()])
}

/// The place of an event among those with a facet: the newest first, then the lowest id.
pub(crate) fn facet(facet: &Facet, time: Seconds, id: &[u8; 32]) -> FacetKey {
    let mut key = [0; 56];
    key[..16].copy_from_slice(facet);
    key[16..24].copy_from_slice(&(!time.get()).to_be_bytes());
    key[24..].copy_from_slice(id);
    key
}

/// Time and id of a facet row; none if the time is out of range.
pub(crate) fn of_facet(key: &FacetKey) -> Option<(Seconds, EventId)> {
    let time = Seconds::new(!u64::from_be_bytes(part(key, 16)))?;
    Some((time, EventId::from_bytes(part(key, 24))))
}

/// Expiration and id.
pub(crate) fn expiry(at: Seconds, id: &EventId) -> [u8; 40] {
    let mut key = [0; 40];
    key[..8].copy_from_slice(&at.get().to_be_bytes());
    key[8..].copy_from_slice(id.as_bytes());
    key
}

/// The id of an expiry row.
pub(crate) fn of_expiry(key: &[u8; 40]) -> EventId {
    EventId::from_bytes(part(key, 8))
}

/// An item's place, in order.
pub(crate) fn place(place: &ItemPlace) -> [u8; 13] {
    let mut key = [0; 13];
    key[..4].copy_from_slice(&place.topic.get().to_be_bytes());
    key[4..12].copy_from_slice(&place.lsn.get().to_be_bytes());
    // Entries have at most 256 items; what is beyond is never given a place.
    key[12] = u8::try_from(place.item).unwrap_or(u8::MAX);
    key
}

/// The place that bytes spell.
pub(crate) fn of_place(key: &[u8; 13]) -> ItemPlace {
    ItemPlace {
        topic: TopicNo::new(u32::from_be_bytes(part(key, 0))),
        lsn: Lsn::new(u64::from_be_bytes(part(key, 4))),
        item: u16::from(key[12]),
    }
}

/// Another place of an event that is held twice.
pub(crate) fn copy(id: &EventId, at: &ItemPlace) -> [u8; 45] {
    let mut key = [0; 45];
    key[..32].copy_from_slice(id.as_bytes());
    key[32..].copy_from_slice(&place(at));
    key
}

/// The place of a copy row.
pub(crate) fn of_copy(key: &[u8; 45]) -> ItemPlace {
    of_place(&part(key, 32))
}

/// An entry.
pub(crate) fn entry(topic: TopicNo, lsn: Lsn) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&topic.get().to_be_bytes());
    key[4..].copy_from_slice(&lsn.get().to_be_bytes());
    key
}

/// A question that a sketch is kept for.
pub(crate) fn sketch(question: u8, facet: &Facet) -> [u8; 17] {
    let mut key = [question; 17];
    key[1..].copy_from_slice(facet);
    key
}

/// An event as reconciliation has it.
pub(crate) fn item(time: Seconds, id: &EventId) -> Item {
    Item::new(time.get(), *id.as_bytes())
}

/// The bytes of a key from `at` on. The caller's `N` is within the key.
fn part<const N: usize>(key: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&key[at..at + N]);
    out
}
