//! Keys: our own fixed-width big-endian bytes (`STO-2`), so that byte order is the order of what
//! they say. Every key of a topic starts with its short local number.

use osier_core::{EntryHash, NodeId, OrderKey, Seq, Timestamp};
use osier_proto::{Lsn, range_item};

/// A topic's short number in this store; never given to another topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicNo(pub(crate) u32);

impl TopicNo {
    /// The topic with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// An author's short number in one topic of this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AuthorNo(pub(crate) u32);

/// Bytes of a hash that `by_hash` keys carry; equal prefixes are told apart by the log (`STO-4`).
pub(crate) const HASH_PREFIX: usize = 8;

macro_rules! joined {
    ($bytes:literal, $($part:expr),+) => {{
        let mut key = [0_u8; $bytes];
        let mut at = 0;
        $(
            let part = $part;
            let end = at + part.len();
            key[at..end].copy_from_slice(&part[..]);
            at = end;
        )+
        debug_assert!(at == $bytes, "the parts fill the key");
        key
    }};
}

pub(crate) fn topic(no: TopicNo) -> [u8; 4] {
    no.0.to_be_bytes()
}

pub(crate) fn log(no: TopicNo, lsn: Lsn) -> [u8; 12] {
    joined!(12, topic(no), lsn.get().to_be_bytes())
}

pub(crate) fn body(no: TopicNo, lsn: Lsn, item: u16) -> [u8; 14] {
    joined!(14, topic(no), lsn.get().to_be_bytes(), item.to_be_bytes())
}

pub(crate) fn by_hash(no: TopicNo, hash: &EntryHash, lsn: Lsn) -> [u8; 20] {
    joined!(
        20,
        topic(no),
        &hash.as_bytes()[..HASH_PREFIX],
        lsn.get().to_be_bytes()
    )
}

pub(crate) fn chain(no: TopicNo, author: AuthorNo, seq: u64, lsn: Lsn) -> [u8; 24] {
    let author = author.0.to_be_bytes();
    joined!(
        24,
        topic(no),
        author,
        seq.to_be_bytes(),
        lsn.get().to_be_bytes()
    )
}

pub(crate) fn order(no: TopicNo, key: &OrderKey) -> [u8; 44] {
    let item = range_item(key);
    joined!(44, topic(no), item.time.to_be_bytes(), item.id)
}

/// Also the key of `trust` and `token` rows.
pub(crate) fn node(no: TopicNo, node: &NodeId) -> [u8; 36] {
    joined!(36, topic(no), node.as_bytes())
}

pub(crate) fn control(no: TopicNo, seq: Seq, hash: &EntryHash) -> [u8; 44] {
    let mut out = [0; 44];
    out[..4].copy_from_slice(&topic(no));
    out[4..12].copy_from_slice(&seq.get().to_be_bytes());
    out[12..].copy_from_slice(hash.as_bytes());
    out
}

pub(crate) fn tip(no: TopicNo, author: AuthorNo, seq: Seq, hash: &EntryHash) -> [u8; 48] {
    let author = author.0.to_be_bytes();
    joined!(
        48,
        topic(no),
        author,
        seq.get().to_be_bytes(),
        hash.as_bytes()
    )
}

pub(crate) fn hole(no: TopicNo, hash: &EntryHash) -> [u8; 36] {
    joined!(36, topic(no), hash.as_bytes())
}

pub(crate) fn awaited(no: TopicNo, hash: &EntryHash, author: &NodeId) -> [u8; 68] {
    joined!(68, topic(no), hash.as_bytes(), author.as_bytes())
}

/// An entry that waits, by author.
pub(crate) fn waiting(no: TopicNo, author: &NodeId, seq: u64, hash: &EntryHash) -> [u8; 76] {
    joined!(
        76,
        topic(no),
        author.as_bytes(),
        seq.to_be_bytes(),
        hash.as_bytes()
    )
}

/// All keys of an author in `waiting`.
pub(crate) fn waiting_bounds(no: TopicNo, author: &NodeId) -> ([u8; 76], [u8; 76]) {
    (
        waiting(no, author, 0, &EntryHash::MIN),
        waiting(no, author, u64::MAX, &EntryHash::MAX),
    )
}

/// A number that no author has any more.
pub(crate) fn spare(no: TopicNo, author: AuthorNo) -> [u8; 8] {
    joined!(8, topic(no), author.0.to_be_bytes())
}

/// All keys of a topic in `spare`.
pub(crate) fn spare_bounds(no: TopicNo) -> ([u8; 8], [u8; 8]) {
    (spare(no, AuthorNo(0)), spare(no, AuthorNo(u32::MAX)))
}

pub(crate) fn number_of_spare(key: [u8; 8]) -> AuthorNo {
    AuthorNo(u32::from_be_bytes(part(&key, 4)))
}

/// All keys of a topic in `frontier`.
pub(crate) fn frontier_bounds(no: TopicNo) -> ([u8; 37], [u8; 37]) {
    (frontier(no, 0, &[0; 32]), frontier(no, 0xff, &[0xff; 32]))
}

/// A branch of the frontier tree: its depth in nibbles, and the nibbles before it, zero-filled.
pub(crate) fn frontier(no: TopicNo, depth: u8, prefix: &[u8; 32]) -> [u8; 37] {
    joined!(37, topic(no), [depth], prefix)
}

/// The bytes of a key from `at` on. The caller's `N` is within the key.
fn part<const N: usize>(key: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&key[at..at + N]);
    out
}

pub(crate) fn lsn_of_log(key: &[u8; 12]) -> Lsn {
    Lsn::new(u64::from_be_bytes(part(key, 4)))
}

pub(crate) fn lsn_of_by_hash(key: &[u8; 20]) -> Lsn {
    Lsn::new(u64::from_be_bytes(part(key, 12)))
}

pub(crate) fn seq_lsn_of_chain(key: &[u8; 24]) -> (u64, Lsn) {
    (
        u64::from_be_bytes(part(key, 8)),
        Lsn::new(u64::from_be_bytes(part(key, 16))),
    )
}

/// Time as in the range order, and hash.
pub(crate) fn order_of(key: &[u8; 44]) -> OrderKey {
    OrderKey {
        time: Timestamp::from_millis(u64::from_be_bytes(part(key, 4))),
        hash: EntryHash::from_bytes(part(key, 12)),
    }
}

pub(crate) fn node_of(key: &[u8; 36]) -> NodeId {
    NodeId::from_bytes(part(key, 4))
}

pub(crate) fn hash_of_hole(key: &[u8; 36]) -> EntryHash {
    EntryHash::from_bytes(part(key, 4))
}

pub(crate) fn author_of_awaited(key: &[u8; 68]) -> NodeId {
    NodeId::from_bytes(part(key, 36))
}

pub(crate) fn tip_of(key: &[u8; 48]) -> (u64, EntryHash) {
    (
        u64::from_be_bytes(part(key, 8)),
        EntryHash::from_bytes(part(key, 16)),
    )
}

/// The place of an entry in the range order of every store.
pub(crate) fn place(key: &OrderKey) -> OrderKey {
    OrderKey {
        time: Timestamp::from_millis(range_item(key).time),
        hash: key.hash,
    }
}
