//! Single items of the log, by place: what a projection serves without reading whole entries.

use bytes::Bytes;
use osier_core::WireEntry;
use osier_proto::Lsn;
use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, Table};

use crate::{
    error::Cause,
    key::{self, TopicNo},
    log, point, schema,
    schema::Tables,
};

type LogKey = &'static [u8; 12];
type BodyKey = &'static [u8; 14];
type TopicKey = &'static [u8; 4];
type Row = &'static [u8];
type Point = &'static [u8; schema::POINT_BYTES];

/// Where a topic's log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    /// The last place given out; the entry there may have been removed.
    pub last: Lsn,
    /// Entries held.
    pub entries: u64,
    /// Entries removed by retention.
    pub pruned: u64,
}

/// Where an item stands in this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemPlace {
    /// The topic's number.
    pub topic: TopicNo,
    /// The entry's place in the topic's log.
    pub lsn: Lsn,
    /// The item's place in the entry, from 0.
    pub item: u16,
}

/// What reads items.
pub trait ItemSource {
    /// The bytes of an item; none if the entry or the item is not held. Costs one lookup, or two
    /// for an entry whose body is kept apart, and one copy.
    ///
    /// # Errors
    /// Our disk is at fault.
    fn item(&self, place: ItemPlace) -> Result<Option<Bytes>, redb::Error>;
}

/// Items within a write transaction.
pub struct LogItems<'a> {
    log: &'a Table<'a, LogKey, Row>,
    body: &'a Table<'a, BodyKey, Row>,
    point: &'a Table<'a, TopicKey, Point>,
}

impl<'a> LogItems<'a> {
    pub(crate) fn of(tables: &'a Tables<'_>) -> Self {
        Self {
            log: &tables.log,
            body: &tables.body,
            point: &tables.point,
        }
    }

    /// As [`ItemReader::entries`].
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn entries(
        &self,
        topic: TopicNo,
        after: Lsn,
        entries_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<(Lsn, WireEntry)>, redb::Error> {
        Ok(entries(
            self.log,
            self.body,
            topic,
            after,
            entries_max,
            bytes_max,
        )?)
    }

    /// Where a topic's log stands; not to be asked while the topic changes.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn log_end(&self, topic: TopicNo) -> Result<LogEnd, redb::Error> {
        Ok(log_end(self.point, topic)?)
    }
}

impl ItemSource for LogItems<'_> {
    fn item(&self, place: ItemPlace) -> Result<Option<Bytes>, redb::Error> {
        Ok(read(self.log, self.body, place)?)
    }
}

impl std::fmt::Debug for LogItems<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogItems")
    }
}

/// Items and entries as of one snapshot.
pub struct ItemReader {
    log: ReadOnlyTable<LogKey, Row>,
    body: ReadOnlyTable<BodyKey, Row>,
    point: ReadOnlyTable<TopicKey, Point>,
}

impl ItemReader {
    /// Reads in this transaction.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn open(txn: &ReadTransaction) -> Result<Self, redb::Error> {
        Ok(Self {
            log: txn.open_table(schema::log)?,
            body: txn.open_table(schema::body)?,
            point: txn.open_table(schema::point)?,
        })
    }

    /// Entries of a topic after a place: at most so many, and up to the one that reaches this many
    /// bytes; none only at the end of the log.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn entries(
        &self,
        topic: TopicNo,
        after: Lsn,
        entries_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<(Lsn, WireEntry)>, redb::Error> {
        Ok(entries(
            &self.log,
            &self.body,
            topic,
            after,
            entries_max,
            bytes_max,
        )?)
    }

    /// Where a topic's log stands.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn log_end(&self, topic: TopicNo) -> Result<LogEnd, redb::Error> {
        Ok(log_end(&self.point, topic)?)
    }
}

impl ItemSource for ItemReader {
    fn item(&self, place: ItemPlace) -> Result<Option<Bytes>, redb::Error> {
        Ok(read(&self.log, &self.body, place)?)
    }
}

impl std::fmt::Debug for ItemReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ItemReader")
    }
}

fn read(
    log_table: &impl ReadableTable<LogKey, Row>,
    body: &impl ReadableTable<BodyKey, Row>,
    place: ItemPlace,
) -> Result<Option<Bytes>, Cause> {
    let Some(row) = log_table.get(&key::log(place.topic, place.lsn))? else {
        return Ok(None);
    };
    match log::item(row.value(), place.item)? {
        log::Found::Held(bytes) => Ok(Some(Bytes::copy_from_slice(bytes))),
        log::Found::Nothing => Ok(None),
        log::Found::Apart(length) => {
            let bytes = log::body_item(body, place.topic, place.lsn, place.item)?;
            let bytes = bytes.filter(|bytes| bytes.len() == length);
            bytes.map(Some).ok_or(Cause::damaged("body row"))
        }
    }
}

/// Entries of a topic after a place in its log.
pub(crate) fn entries(
    log_table: &impl ReadableTable<LogKey, Row>,
    body: &impl ReadableTable<BodyKey, Row>,
    topic: TopicNo,
    after: Lsn,
    entries_max: usize,
    bytes_max: usize,
) -> Result<Vec<(Lsn, WireEntry)>, Cause> {
    let Some(first) = after.get().checked_add(1) else {
        return Ok(Vec::new());
    };
    let from = key::log(topic, Lsn::new(first));
    let to = key::log(topic, Lsn::new(u64::MAX));
    let (mut entries, mut bytes) = (Vec::new(), 0);
    for row in log_table.range::<&[u8; 12]>(&from..=&to)?.take(entries_max) {
        let (key, row) = row?;
        let lsn = key::lsn_of_log(key.value());
        let entry = log::decode(row.value(), &|item| log::body_item(body, topic, lsn, item))?;
        bytes += entry.size();
        entries.push((lsn, entry));
        if bytes >= bytes_max {
            break;
        }
    }
    Ok(entries)
}

fn log_end(table: &impl ReadableTable<TopicKey, Point>, topic: TopicNo) -> Result<LogEnd, Cause> {
    let point = point::read(table, topic)?;
    Ok(LogEnd {
        last: point.last,
        entries: point.set.count(),
        pruned: point.pruned,
    })
}
