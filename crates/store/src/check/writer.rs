//! Granted topics: nothing in the log that does not count, from the owner's words.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{Control, Cut, EntryHash, Leave, NodeId};
use osier_proto::Lsn;
use redb::ReadableTable;

use super::{Checking, DERIVED, count};
use crate::{control, error::Cause, key, log, lookup::lsn_of, row::HeadRow, waiting, writer};

/// The last word on a node.
type Last = ((u64, EntryHash), Leave);

impl Checking<'_> {
    /// `ENT-41` to `ENT-43`.
    pub(super) fn check_writers(&mut self) -> Result<(), Cause> {
        let tables = self.tables;
        let owner = writer::owner(&tables.topic, self.no)?;
        let Some(owner) = owner else {
            let rows = count(&tables.writer, self.no)? + count(&tables.waiting, self.no)?;
            self.expect("rows of a granted topic", &rows, &0);
            return Ok(());
        };
        let words = self.last_words()?;
        self.expect(
            "rows of writer",
            &count(&tables.writer, self.no)?,
            &(words.len() as u64),
        );
        for (node, (word, leave)) in &words {
            let kept = writer::read(&tables.writer, self.no, node)?;
            let granted = kept.map(|kept| (kept.word, kept.cut.is_none()));
            let right = Some((*word, *leave == Leave::All));
            self.expect(
                &format!("the last word on {}", node.short()),
                &granted,
                &right,
            );
        }
        let from = key::node(self.no, &NodeId::NOBODY);
        let to = key::node(self.no, &NodeId::from_bytes([0xff; 32]));
        for row in tables.head.range::<&[u8; 36]>(&from..=&to)? {
            let (key, row) = row?;
            let author = key::node_of(key.value());
            let row = HeadRow::decode(row.value())?;
            match words.get(&author).map(|(_, leave)| *leave) {
                _ if author == owner => {}
                Some(Leave::All) => {}
                Some(Leave::UpTo(last)) => self.check_cut(&author, &row, Cut::new(last))?,
                None => {
                    let who = author.short();
                    self.find(DERIVED, format!("{who} has entries and no grant"));
                }
            }
        }
        self.check_waiting()
    }

    fn last_words(&self) -> Result<BTreeMap<NodeId, Last>, Cause> {
        let mut words: BTreeMap<NodeId, Last> = BTreeMap::new();
        // In order of seq and hash: the later replaces the earlier.
        for row in control::rows(&self.tables.control, self.no)? {
            let said = Control::parse(&row.bytes).ok();
            if let Some((node, leave)) = said.and_then(|control| control.leave()) {
                words.insert(node, ((row.seq.get(), row.hash), leave));
            }
        }
        Ok(words)
    }

    fn check_cut(&mut self, author: &NodeId, row: &HeadRow, mut cut: Cut) -> Result<(), Cause> {
        let tables = self.tables;
        let mut part = BTreeSet::new();
        loop {
            let (_, hash) = cut.next();
            let Some(lsn) = lsn_of(&tables.by_hash, &tables.log, self.no, &hash)? else {
                break;
            };
            let row = ReadableTable::get(&tables.log, &key::log(self.no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
            let (header, hash) = log::decode_head(row.value())?;
            if !cut.follow(*author, hash, &header) {
                break;
            }
            part.insert(hash);
        }
        let who = author.short();
        let kept = writer::read(&tables.writer, self.no, author)?.and_then(|kept| kept.cut);
        if self.point.floor.is_none() {
            self.expect(&format!("what is left to {who}"), &kept, &Some(cut));
        }
        let from = key::chain(self.no, row.number, cut.next().0, Lsn::START);
        let to = key::chain(self.no, row.number, u64::MAX, Lsn::new(u64::MAX));
        for key in tables.chain.range::<&[u8; 24]>(&from..=&to)? {
            let (_, lsn) = key::seq_lsn_of_chain(key?.0.value());
            let row = ReadableTable::get(&tables.log, &key::log(self.no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            let hash = log::hash(row.value())?;
            // A ring may have dropped what leads from the end of the chain to this.
            if self.point.floor.is_none() && !part.contains(&hash) {
                self.find(DERIVED, format!("{hash:?} is cut off and still held"));
            }
        }
        Ok(())
    }

    fn check_waiting(&mut self) -> Result<(), Cause> {
        let tables = self.tables;
        let all = waiting::share(&tables.waiting_share, self.no, &NodeId::NOBODY)?;
        let rows = count(&tables.waiting, self.no)?;
        self.expect("rows of waiting", &u64::from(all.entries), &rows);
        Ok(())
    }
}
