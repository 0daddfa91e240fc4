//! Entries of a granted topic that do not count, or not yet (`ENT-43`): they are in no sum, index
//! or log, are never served or shown, and are judged again when the owner speaks of their author.
//!
//! Bounded, since anybody who has the topic's secret can write them. What does not fit is dropped,
//! and remembered as missed: a later grant makes the topic look for it elsewhere.

use osier_core::{Entry, NodeId, SignedEntry, Verified, WireEntry, decode_canonical, limit};
use redb::ReadableTable;

use crate::{
    error::Cause,
    key::{self, TopicNo},
    row::Cut,
    schema::{SHARE_BYTES, Tables},
};

/// Entries of one author that wait in one topic: what a node writes in the moments before its grant
/// is known. Over it: dropped, and missed.
pub const WAITING_PER_AUTHOR_MAX: u32 = 1024;

/// Bytes of them: four of the largest. Over it: dropped, and missed.
pub const WAITING_BYTES_PER_AUTHOR_MAX: u64 = 4 * 1024 * 1024 + 64 * 1024;

/// Entries that wait in one topic, all authors together: an outsider has as many names as it likes.
/// Over it: dropped, and missed.
pub const WAITING_MAX: u32 = 8 * 1024;

/// Bytes of them, on disk. Over it: dropped, and missed.
pub const WAITING_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// What waits of one author, or (under the name of nobody) in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) entries: u32,
    pub(crate) bytes: u64,
    /// Only in all: something was dropped.
    pub(crate) missed: bool,
}

impl Share {
    pub(crate) fn encode(self) -> [u8; SHARE_BYTES] {
        let mut out = [0; SHARE_BYTES];
        out[..4].copy_from_slice(&self.entries.to_be_bytes());
        out[4..12].copy_from_slice(&self.bytes.to_be_bytes());
        out[12] = u8::from(self.missed);
        out
    }

    pub(crate) fn decode(bytes: &[u8; SHARE_BYTES]) -> Result<Self, Cause> {
        const WHAT: &str = "row of waiting shares";
        let mut cut = Cut::new(WHAT, bytes);
        let (entries, bytes, missed) = (cut.u32()?, cut.u64()?, cut.byte()?);
        cut.end()?;
        if missed > 1 {
            return Err(Cause::damaged(WHAT));
        }
        let missed = missed == 1;
        Ok(Self {
            entries,
            bytes,
            missed,
        })
    }

    const fn has_room(self, bytes: u64, entries_max: u32, bytes_max: u64) -> bool {
        self.entries < entries_max && self.bytes + bytes <= bytes_max
    }
}

/// The share of an author, or of all for nobody.
pub(crate) fn share(
    table: &impl ReadableTable<&'static [u8; 36], &'static [u8; SHARE_BYTES]>,
    no: TopicNo,
    author: &NodeId,
) -> Result<Share, Cause> {
    let row = table.get(&key::node(no, author))?;
    row.map_or(Ok(Share::default()), |row| Share::decode(row.value()))
}

/// Puts an entry to wait, if there is room for it.
pub(crate) fn put(tables: &mut Tables<'_>, no: TopicNo, entry: &Entry) -> Result<(), Cause> {
    let author = entry.header().author();
    let key = key::waiting(no, &author, entry.header().seq().get(), &entry.hash());
    if tables.waiting.get(&key)?.is_some() {
        return Ok(());
    }
    let row = osier_core::encode_canonical(&entry.to_wire());
    let bytes = row.len() as u64;
    let mut own = share(&tables.waiting_share, no, &author)?;
    let mut all = share(&tables.waiting_share, no, &NodeId::NOBODY)?;
    let fits = own.has_room(bytes, WAITING_PER_AUTHOR_MAX, WAITING_BYTES_PER_AUTHOR_MAX)
        && all.has_room(bytes, WAITING_MAX, WAITING_BYTES_MAX);
    if fits {
        tables.waiting.insert(&key, row.as_slice())?;
        for share in [&mut own, &mut all] {
            share.entries += 1;
            share.bytes += bytes;
        }
        keep(tables, no, &author, own)?;
    }
    all.missed |= !fits;
    keep(tables, no, &NodeId::NOBODY, all)
}

/// What waits of an author, by place in its chain.
pub(crate) fn of(
    tables: &Tables<'_>,
    no: TopicNo,
    author: &NodeId,
) -> Result<Vec<Verified<Entry>>, Cause> {
    let (from, to) = key::waiting_bounds(no, author);
    let mut entries = Vec::new();
    for row in tables.waiting.range::<&[u8; 76]>(&from..=&to)? {
        entries.push(read(row?.1.value())?);
    }
    Ok(entries)
}

/// Takes an entry out that counts now.
pub(crate) fn remove(tables: &mut Tables<'_>, no: TopicNo, entry: &Entry) -> Result<(), Cause> {
    let author = entry.header().author();
    let key = key::waiting(no, &author, entry.header().seq().get(), &entry.hash());
    let bytes = tables.waiting.remove(&key)?;
    let Some(bytes) = bytes.map(|row| row.value().len() as u64) else {
        return Ok(());
    };
    for whose in [author, NodeId::NOBODY] {
        let mut share = share(&tables.waiting_share, no, &whose)?;
        share.entries -= 1;
        share.bytes -= bytes;
        keep(tables, no, &whose, share)?;
    }
    Ok(())
}

fn keep(tables: &mut Tables<'_>, no: TopicNo, author: &NodeId, share: Share) -> Result<(), Cause> {
    let key = key::node(no, author);
    if share == Share::default() {
        tables.waiting_share.remove(&key)?;
    } else {
        tables.waiting_share.insert(&key, &share.encode())?;
    }
    Ok(())
}

fn read(row: &[u8]) -> Result<Verified<Entry>, Cause> {
    let wire = decode_canonical::<WireEntry>("waiting row", row, limit::ENTRY_WIRE_BYTES_MAX);
    let entry = SignedEntry::parse(wire.map_err(Cause::damaged)?);
    // It was authentic when it was put here.
    Ok(entry.map_err(Cause::damaged)?.trust_stored())
}
