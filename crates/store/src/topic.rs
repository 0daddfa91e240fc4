//! Topics: their short numbers, and what the node was told of each.

use osier_core::{Role, TopicId, decode_canonical, encode_canonical};
use osier_proto::Lsn;
use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Cause, StoreError},
    item,
    key::{self, TopicNo},
    projection::LogChange,
    retention::Retention,
    schema::{ReadTables, Tables},
    store::{Store, Writing},
};

/// Bytes of a topic record: a ticket of 4 KiB and settings. Over it: refused as misuse.
pub const TOPIC_RECORD_BYTES_MAX: usize = 64 * 1024;

/// The name of the next topic number in `meta`.
const NEXT: &str = "next topic";

/// Entries of a topic that is forgotten that a projection is told of at once.
const FORGET_STEP_ENTRIES: usize = 4096;

/// Bytes of them: what they take in memory.
const FORGET_STEP_BYTES: usize = 8 * 1024 * 1024;

/// The only version of the record so far.
const VERSION: u8 = 1;

/// What the node was told of a topic it takes part in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicRecord {
    /// The ticket in its text form; holds the topic's secret. It says whether the topic is granted,
    /// and whose words count there (`ENT-40`).
    pub ticket: Vec<u8>,
    /// In which capacity this node takes part.
    pub role: Role,
    /// How much history it keeps.
    pub retention: Retention,
    /// The completion policy and other settings, encoded and versioned by their owner.
    pub policy: Vec<u8>,
}

impl Store {
    /// Keeps what the node was told of a topic; replaces an earlier record. Retention takes effect
    /// at the next [`Store::prune`].
    ///
    /// # Errors
    /// Our disk is at fault, or the record is larger than [`TOPIC_RECORD_BYTES_MAX`].
    pub fn set_topic(&self, topic: TopicId, record: &TopicRecord) -> Result<(), StoreError> {
        let bytes = encode_canonical(&(VERSION, record));
        self.write("keep a topic in", |writing| {
            check_size("the topic's record", bytes.len(), TOPIC_RECORD_BYTES_MAX)?;
            let mut tables = Tables::open(writing.txn)?;
            let no = number_or_make(&mut tables, &topic)?;
            tables.topic.insert(&key::topic(no), bytes.as_slice())?;
            Ok(())
        })
    }

    /// What the node was told of a topic.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn topic(&self, topic: TopicId) -> Result<Option<TopicRecord>, StoreError> {
        self.read("read a topic of", |txn| {
            let tables = ReadTables::open(txn)?;
            match number(&tables.topic_number, &topic)? {
                Some(no) => record(&tables.topic, no),
                None => Ok(None),
            }
        })
    }

    /// All topics that the node was told of, by id.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn topics(&self) -> Result<Vec<(TopicId, TopicRecord)>, StoreError> {
        self.read("list the topics of", |txn| {
            let tables = ReadTables::open(txn)?;
            let mut topics = Vec::new();
            for (topic, no) in numbers(&tables.topic_number)? {
                topics.extend(record(&tables.topic, no)?.map(|record| (topic, record)));
            }
            Ok(topics)
        })
    }

    /// Forgets a topic with its whole history; whether there was one. Snapshots that were taken
    /// before keep it. The projections are told of its entries as dropped.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn remove_topic(&self, topic: TopicId) -> Result<bool, StoreError> {
        self.write("remove a topic from", |writing| {
            let mut tables = Tables::open(writing.txn)?;
            let Some(no) = number(&tables.topic_number, &topic)? else {
                return Ok(false);
            };
            tell_projections(writing, &tables, topic, no)?;
            remove_rows(&mut tables, no)?;
            tables.topic_number.remove(topic.as_bytes())?;
            writing.indexes.insert(no, (0, None));
            Ok(true)
        })
    }
}

pub(crate) fn check_size(what: &str, bytes: usize, limit: usize) -> Result<(), Cause> {
    if bytes <= limit {
        return Ok(());
    }
    let text = format!("{what} has {bytes} bytes, the limit is {limit}");
    Err(crate::error::StoreFault::Misuse(text).into())
}

/// The number of a topic; none if the store has never heard of it.
pub(crate) fn number(
    table: &impl ReadableTable<&'static [u8; 32], &'static [u8; 4]>,
    topic: &TopicId,
) -> Result<Option<TopicNo>, Cause> {
    let row = table.get(topic.as_bytes())?;
    Ok(row.map(|row| TopicNo(u32::from_be_bytes(*row.value()))))
}

/// All topics with their numbers, by id.
pub(crate) fn numbers(
    table: &impl ReadableTable<&'static [u8; 32], &'static [u8; 4]>,
) -> Result<Vec<(TopicId, TopicNo)>, Cause> {
    let mut numbers = Vec::new();
    for row in table.iter()? {
        let (topic, no) = row?;
        let no = TopicNo(u32::from_be_bytes(*no.value()));
        numbers.push((TopicId::from_bytes(*topic.value()), no));
    }
    Ok(numbers)
}

/// The number of a topic; gives out the next one to a new topic. Numbers are never used again, so
/// that an old snapshot and a new topic cannot meet.
pub(crate) fn number_or_make(tables: &mut Tables<'_>, topic: &TopicId) -> Result<TopicNo, Cause> {
    if let Some(no) = number(&tables.topic_number, topic)? {
        return Ok(no);
    }
    let next = match tables.meta.get(NEXT)? {
        Some(row) => u32::from_be_bytes(
            row.value()
                .try_into()
                .map_err(|_| Cause::damaged("the next topic number"))?,
        ),
        None => 1,
    };
    let after = next
        .checked_add(1)
        .ok_or(Cause::damaged("the next topic number"))?;
    tables.meta.insert(NEXT, after.to_be_bytes().as_slice())?;
    tables
        .topic_number
        .insert(topic.as_bytes(), &next.to_be_bytes())?;
    Ok(TopicNo(next))
}

/// The record of a topic; none for a topic of which only entries came.
pub(crate) fn record(
    table: &impl ReadableTable<&'static [u8; 4], &'static [u8]>,
    no: TopicNo,
) -> Result<Option<TopicRecord>, Cause> {
    let Some(row) = table.get(&key::topic(no))? else {
        return Ok(None);
    };
    let read = decode_canonical("topic record", row.value(), TOPIC_RECORD_BYTES_MAX);
    let (version, record): (u8, TopicRecord) = read.map_err(Cause::damaged)?;
    if version == VERSION {
        Ok(Some(record))
    } else {
        Err(Cause::damaged("topic record"))
    }
}

/// Hands all entries of a topic to the projections, before they go.
fn tell_projections(
    writing: &Writing<'_>,
    tables: &Tables<'_>,
    topic: TopicId,
    no: TopicNo,
) -> Result<(), Cause> {
    if writing.store.projections().is_empty() {
        return Ok(());
    }
    let change = LogChange::of(writing.txn, tables, topic, no);
    let mut after = Lsn::START;
    loop {
        let page = item::entries(
            &tables.log,
            &tables.body,
            no,
            after,
            FORGET_STEP_ENTRIES,
            FORGET_STEP_BYTES,
        )?;
        let Some((last, _)) = page.last() else {
            return Ok(());
        };
        after = *last;
        for projection in writing.store.projections() {
            projection.dropped(&change, &page)?;
        }
    }
}

/// Removes every row whose key starts with the topic's number.
fn remove_rows(tables: &mut Tables<'_>, no: TopicNo) -> Result<(), Cause> {
    fn clear<const N: usize, V: redb::Value + 'static>(
        table: &mut redb::Table<'_, &'static [u8; N], V>,
        no: TopicNo,
    ) -> Result<(), Cause> {
        let (mut from, mut to) = ([0; N], [0xff; N]);
        from[..4].copy_from_slice(&key::topic(no));
        to[..4].copy_from_slice(&key::topic(no));
        Ok(table.retain_in::<&[u8; N], _>(&from..=&to, |_, _| false)?)
    }
    clear(&mut tables.topic, no)?;
    clear(&mut tables.point, no)?;
    clear(&mut tables.log, no)?;
    clear(&mut tables.body, no)?;
    clear(&mut tables.by_hash, no)?;
    clear(&mut tables.chain, no)?;
    clear(&mut tables.order, no)?;
    clear(&mut tables.chunk, no)?;
    clear(&mut tables.head, no)?;
    clear(&mut tables.tip, no)?;
    clear(&mut tables.frontier, no)?;
    clear(&mut tables.hole, no)?;
    clear(&mut tables.awaited, no)?;
    clear(&mut tables.token, no)?;
    clear(&mut tables.trust, no)?;
    clear(&mut tables.control, no)?;
    clear(&mut tables.writer, no)?;
    clear(&mut tables.waiting, no)?;
    clear(&mut tables.waiting_share, no)?;
    clear(&mut tables.spare, no)?;
    Ok(())
}
