//! Holes (`STO-11`): hashes that a held entry names as `prev` or `dep` and that are not held.
//!
//! A row counts its referrers, so that it goes when the last of them does. A hash that is known to
//! lie below the floor of a ring keeps its row as *boundary*: it is not a hole.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{EntryHash, EntryHeader, NodeId};
use osier_proto::Lsn;
use redb::ReadableTable;

use crate::{
    error::Cause,
    key::{self, TopicNo},
    row::{HoleRow, Point},
    schema::Tables,
};

/// What a batch names and does not find.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    named: BTreeMap<EntryHash, Named>,
}

#[derive(Debug)]
struct Named {
    refs: u64,
    since: Lsn,
    /// Authors who name it by `prev`, and how often.
    awaited: BTreeMap<NodeId, u64>,
}

impl Missing {
    /// An entry at a place names a hash that is not held.
    pub(crate) fn add(&mut self, hash: EntryHash, lsn: Lsn, awaited_by: Option<NodeId>) {
        let named = self.named.entry(hash).or_insert(Named {
            refs: 0,
            since: lsn,
            awaited: BTreeMap::new(),
        });
        named.refs += 1;
        named.since = named.since.min(lsn);
        if let Some(author) = awaited_by {
            *named.awaited.entry(author).or_insert(0) += 1;
        }
    }

    /// Writes the rows.
    pub(crate) fn store(
        &self,
        tables: &mut Tables<'_>,
        no: TopicNo,
        point: &mut Point,
    ) -> Result<(), Cause> {
        for (hash, named) in &self.named {
            let key = key::hole(no, hash);
            let row = read(tables, &key)?;
            let new = row.is_none();
            let mut row = row.unwrap_or(HoleRow {
                refs: 0,
                since: named.since,
                boundary: false,
            });
            row.refs += named.refs;
            tables.hole.insert(&key, &row.encode())?;
            point.holes += u64::from(new);
            point.hole_rows += u64::from(new);
            for (author, count) in &named.awaited {
                let key = key::awaited(no, hash, author);
                let before = count_of(tables, &key)?;
                tables
                    .awaited
                    .insert(&key, &(before + count).to_be_bytes())?;
            }
        }
        Ok(())
    }
}

/// What an entry names, each hash once: `prev` first.
pub(crate) fn links(header: &EntryHeader) -> impl Iterator<Item = EntryHash> + '_ {
    let prev = header.prev();
    let deps = header
        .deps()
        .iter()
        .copied()
        .filter(move |dep| Some(*dep) != prev);
    prev.into_iter().chain(deps)
}

/// Whether an entry of the author names the hash, which is not held, as its `prev`.
pub(crate) fn is_awaited(
    tables: &Tables<'_>,
    no: TopicNo,
    hash: &EntryHash,
    author: &NodeId,
) -> Result<bool, Cause> {
    Ok(tables
        .awaited
        .get(&key::awaited(no, hash, author))?
        .is_some())
}

/// Closes holes whose entries have come; those that were holes, sorted.
pub(crate) fn close(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    came: &[EntryHash],
) -> Result<Vec<EntryHash>, Cause> {
    let mut closed = Vec::new();
    for hash in came {
        if point.hole_rows == 0 {
            break;
        }
        let key = key::hole(no, hash);
        let Some(row) = read(tables, &key)? else {
            continue;
        };
        remove(tables, no, point, hash, &row)?;
        if !row.boundary {
            closed.push(*hash);
        }
    }
    Ok(closed)
}

/// Settles holes that are known to lie below the floor.
pub(crate) fn settle(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    below: &BTreeSet<EntryHash>,
) -> Result<(), Cause> {
    for hash in below {
        let key = key::hole(no, hash);
        if let Some(row) = read(tables, &key)?.filter(|row| !row.boundary) {
            tables.hole.insert(
                &key,
                &HoleRow {
                    boundary: true,
                    ..row
                }
                .encode(),
            )?;
            point.holes -= 1;
        }
    }
    Ok(())
}

/// An entry that named hashes goes: what only it named is no hole any more.
pub(crate) fn unlink(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    header: &EntryHeader,
    lsn: Lsn,
) -> Result<(), Cause> {
    for hash in links(header) {
        if point.hole_rows == 0 {
            break;
        }
        let key = key::hole(no, &hash);
        let Some(mut row) = read(tables, &key)?.filter(|row| row.since <= lsn) else {
            continue;
        };
        row.refs -= 1;
        if row.refs == 0 {
            remove(tables, no, point, &hash, &row)?;
            continue;
        }
        tables.hole.insert(&key, &row.encode())?;
        if header.prev() == Some(hash) {
            let key = key::awaited(no, &hash, &header.author());
            match count_of(tables, &key)? {
                0 | 1 => drop(tables.awaited.remove(&key)?),
                more => drop(tables.awaited.insert(&key, &(more - 1).to_be_bytes())?),
            }
        }
    }
    Ok(())
}

fn read(tables: &Tables<'_>, key: &[u8; 36]) -> Result<Option<HoleRow>, Cause> {
    tables
        .hole
        .get(key)?
        .map(|row| HoleRow::decode(row.value()))
        .transpose()
}

fn count_of(tables: &Tables<'_>, key: &[u8; 68]) -> Result<u64, Cause> {
    Ok(tables
        .awaited
        .get(key)?
        .map_or(0, |row| u64::from_be_bytes(*row.value())))
}

fn remove(
    tables: &mut Tables<'_>,
    no: TopicNo,
    point: &mut Point,
    hash: &EntryHash,
    row: &HoleRow,
) -> Result<(), Cause> {
    tables.hole.remove(&key::hole(no, hash))?;
    let from = key::awaited(no, hash, &NodeId::NOBODY);
    let to = key::awaited(no, hash, &NodeId::from_bytes([0xff; 32]));
    tables
        .awaited
        .retain_in::<&[u8; 68], _>(&from..=&to, |_, _| false)?;
    point.hole_rows -= 1;
    point.holes -= u64::from(!row.boundary);
    Ok(())
}
