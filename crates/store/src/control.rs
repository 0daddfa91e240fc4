//! What a topic's owner has said in control entries (`ENT-34`): kept apart from the log, so that
//! retention, which drops entries, takes nothing back of whom to trust.

use bytes::Bytes;
use osier_core::{EntryHash, Seq, TopicId, limit::CONTROL_BYTES_MAX};
use redb::ReadableTable;

use crate::{
    error::{Cause, StoreError},
    key::{self, TopicNo},
    row::Cut,
    schema::{ReadTables, Tables},
    store::Store,
    topic::{check_size, number},
};

/// Words of the owner that a ring keeps as entries below its floor, for those who join through it.
/// Only the owner can make it keep so many. Over it: the earliest go.
pub const WORDS_KEPT_MAX: usize = 4096;

/// One word of the owner, and the entry that said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlRow {
    /// Where the entry stands in the owner's chain.
    pub seq: Seq,
    /// The entry.
    pub hash: EntryHash,
    /// Its only item: a `Control`, canonical.
    pub bytes: Bytes,
}

impl ControlRow {
    /// What it says, and where: as [`Store::control`]'s callers add words up.
    pub fn said(&self) -> (Seq, EntryHash, &[u8]) {
        (self.seq, self.hash, &self.bytes)
    }
}

impl Store {
    /// The owner's words in a topic, in the order of its chain. As many as the owner has said.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn control(&self, topic: TopicId) -> Result<Vec<ControlRow>, StoreError> {
        self.read("read the owner's words of", |txn| {
            let tables = ReadTables::open(txn)?;
            match number(&tables.topic_number, &topic)? {
                Some(no) => rows(&tables.control, no),
                None => Ok(Vec::new()),
            }
        })
    }
}

pub(crate) fn put(tables: &mut Tables<'_>, no: TopicNo, row: &ControlRow) -> Result<(), Cause> {
    check_size("the control entry", row.bytes.len(), CONTROL_BYTES_MAX)?;
    let key = key::control(no, row.seq, &row.hash);
    tables.control.insert(&key, &row.bytes[..])?;
    Ok(())
}

/// The entries of the owner's latest words: those that a ring keeps below its floor (`STO-12`).
pub(crate) fn kept(
    table: &impl ReadableTable<&'static [u8; 44], &'static [u8]>,
    no: TopicNo,
) -> Result<Vec<EntryHash>, Cause> {
    let (from, to) = bounds(no);
    let mut hashes = Vec::new();
    let rows = table.range::<&[u8; 44]>(&from..=&to)?;
    for row in rows.rev().take(WORDS_KEPT_MAX) {
        let (key, _) = row?;
        let mut cut = Cut::new("control key", &key.value()[12..]);
        hashes.push(cut.hash()?);
    }
    hashes.reverse();
    Ok(hashes)
}

/// Whether an entry carries a word of the owner.
pub(crate) fn is_word(
    table: &impl ReadableTable<&'static [u8; 44], &'static [u8]>,
    no: TopicNo,
    seq: Seq,
    hash: &EntryHash,
) -> Result<bool, Cause> {
    Ok(table.get(&key::control(no, seq, hash))?.is_some())
}

fn bounds(no: TopicNo) -> ([u8; 44], [u8; 44]) {
    let from = key::control(no, Seq::FIRST, &EntryHash::from_bytes([0; 32]));
    let mut to = [0xff; 44];
    to[..4].copy_from_slice(&key::topic(no));
    (from, to)
}

/// All rows of a topic.
pub(crate) fn rows(
    table: &impl ReadableTable<&'static [u8; 44], &'static [u8]>,
    no: TopicNo,
) -> Result<Vec<ControlRow>, Cause> {
    let (from, to) = bounds(no);
    let mut rows = Vec::new();
    for row in table.range::<&[u8; 44]>(&from..=&to)? {
        let (key, value) = row?;
        let mut cut = Cut::new("control key", &key.value()[4..]);
        let seq = Seq::new(cut.u64()?).ok_or(Cause::damaged("control key"))?;
        rows.push(ControlRow {
            seq,
            hash: cut.hash()?,
            bytes: Bytes::copy_from_slice(value.value()),
        });
    }
    Ok(rows)
}
