//! Is it whole: every derived table is computed again from the log and compared, and every entry
//! is judged again by rule V (`STO-14`).
//!
//! Reads one snapshot; memory grows with authors and holes, not with entries.

mod author;
mod hole;
mod log;
mod writer;

use std::collections::BTreeMap;

use osier_core::{Control, EntryHash, NodeId, SignedEntry, TopicId};
use osier_proto::{Lsn, View};
use osier_reconcile::Summary;
use redb::{ReadTransaction, ReadableTable};

use crate::{
    control,
    error::{Cause, StoreError},
    key::{self, TopicNo},
    open::guarded,
    order_index::{self, OrderIndex},
    point,
    row::Point,
    schema::ReadTables,
    snapshot::Snapshot,
    store::Store,
    topic,
};

/// Findings that a report lists: enough to see what is wrong. More are counted.
pub const FINDINGS_MAX: usize = 1000;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Topics looked at.
    pub topics: u64,
    /// Entries looked at.
    pub entries: u64,
    /// What is wrong, at most [`FINDINGS_MAX`].
    pub findings: Vec<Finding>,
    /// Findings that are not listed.
    pub more: u64,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub topic: TopicId,
    /// What.
    pub what: String,
    /// What to do about it.
    pub advice: &'static str,
}

/// For what the log itself cannot prove.
pub(crate) const LOST: &str =
    "restore the store from a backup, or remove the topic and sync it again from peers";
/// For what follows from the log.
pub(crate) const DERIVED: &str = "the entries themselves are whole, an index is not; \
     remove the topic and sync it again, or restore a backup; report it: osier or the disk erred";

impl Store {
    /// Checks the whole store. `progress` is told how many entries are done, and of how many.
    ///
    /// # Errors
    /// When a table cannot be read at all; what can be read and is wrong is a finding.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<CheckReport, StoreError> {
        self.read("check", |txn| guarded(|| check(self, txn, progress)))
    }
}

fn check(
    store: &Store,
    txn: &ReadTransaction,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport, Cause> {
    let tables = ReadTables::open(txn)?;
    let topics = topic::numbers(&tables.topic_number)?;
    let mut total = 0;
    for (_, no) in &topics {
        total += point::read(&tables.point, *no)?.set.count();
    }
    let mut report = CheckReport::default();
    for (topic, no) in topics {
        let mut checking = Checking {
            tables: &tables,
            view: Snapshot::take(store, txn, topic)?,
            topic,
            no,
            point: point::read(&tables.point, no)?,
            found: Found::default(),
            report: &mut report,
            total,
            progress,
        };
        checking.run()?;
        report.topics += 1;
    }
    progress(total, total);
    Ok(report)
}

/// What the log of a topic adds up to.
#[derive(Debug, Default)]
struct Found {
    entries: u64,
    set: osier_core::SetSum,
    body_rows: u64,
    /// Who names a hash that is not held, from where, and whether by `prev`.
    missing: BTreeMap<EntryHash, Vec<(Lsn, Option<NodeId>)>>,
}

/// One topic under check.
struct Checking<'a> {
    tables: &'a ReadTables,
    view: Snapshot,
    topic: TopicId,
    no: TopicNo,
    point: Point,
    found: Found,
    report: &'a mut CheckReport,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Checking<'_> {
    fn run(&mut self) -> Result<(), Cause> {
        self.check_log()?;
        self.check_counts()?;
        self.check_order()?;
        self.check_authors()?;
        self.check_holes()?;
        self.check_point();
        self.check_control()?;
        self.check_writers()?;
        topic::record(&self.tables.topic, self.no)?;
        Ok(())
    }

    fn find(&mut self, advice: &'static str, what: String) {
        if self.report.findings.len() < FINDINGS_MAX {
            self.report.findings.push(Finding {
                topic: self.topic,
                what,
                advice,
            });
        } else {
            self.report.more += 1;
        }
    }

    fn expect<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, stored: &T, computed: &T) {
        if stored != computed {
            self.find(
                DERIVED,
                format!("{what}: {stored:?} is stored, {computed:?} is right"),
            );
        }
    }

    /// Each index has a row for each entry (see `check_log`), and no more.
    fn check_counts(&mut self) -> Result<(), Cause> {
        let entries = self.found.entries;
        let tables = self.tables;
        self.expect(
            "rows of by_hash",
            &count(&tables.by_hash, self.no)?,
            &entries,
        );
        self.expect("rows of chain", &count(&tables.chain, self.no)?, &entries);
        self.expect("rows of order", &count(&tables.order, self.no)?, &entries);
        let body_rows = self.found.body_rows;
        self.expect("rows of body", &count(&tables.body, self.no)?, &body_rows);
        Ok(())
    }

    fn check_order(&mut self) -> Result<(), Cause> {
        let index = OrderIndex::load(&self.tables.chunk, self.no)?;
        let chunks: Vec<_> = index.chunks().copied().collect();
        let (from, to) = (order_index::lowest(self.no), order_index::highest(self.no));
        let mut sums = vec![Summary::EMPTY; chunks.len()];
        let mut stray = 0_u64;
        for row in self.tables.order.range::<&[u8; 44]>(&from..=&to)? {
            let item = order_index::item_of(row?.0.value());
            let at = chunks
                .partition_point(|chunk| chunk.low <= item)
                .saturating_sub(1);
            match sums.get_mut(at) {
                Some(sum) => sum.insert(&item.id),
                None => stray += 1,
            }
        }
        self.expect("entries without a chunk", &stray, &0);
        for (chunk, sum) in chunks.iter().zip(&sums) {
            self.expect("sum of a chunk", &chunk.sum, sum);
            if sum.count > order_index::CHUNK_MAX {
                self.find(DERIVED, format!("a chunk has {} entries", sum.count));
            }
        }
        Ok(())
    }

    /// What the owner said is kept as it was said, wherever the entry is still held.
    fn check_control(&mut self) -> Result<(), Cause> {
        for row in control::rows(&self.tables.control, self.no)? {
            let held = self.view.entry(&row.hash).map_err(Cause::damaged)?;
            let held = held.and_then(|wire| SignedEntry::parse(wire).ok());
            let said = held.and_then(|entry| Control::of(&entry.trust_stored()));
            let kept = Control::parse(&row.bytes).ok();
            let differs = said.is_some() && said != kept;
            if differs || kept.is_none() {
                self.find(DERIVED, format!("{:?} said something else", row.hash));
            }
        }
        Ok(())
    }

    fn check_point(&mut self) {
        let (point, set) = (self.point, self.found.set);
        self.expect("set of entries", &point.set, &set);
    }
}

/// Rows of a topic in a table.
fn count<const N: usize, V: redb::Value + 'static>(
    table: &impl ReadableTable<&'static [u8; N], V>,
    no: TopicNo,
) -> Result<u64, Cause> {
    let (mut from, mut to) = ([0; N], [0xff; N]);
    from[..4].copy_from_slice(&key::topic(no));
    to[..4].copy_from_slice(&key::topic(no));
    let mut rows = 0;
    for row in table.range::<&[u8; N]>(&from..=&to)? {
        row?;
        rows += 1;
    }
    Ok(rows)
}
