//! The log itself: bytes, signatures by rule V, and that every index knows each entry.

use std::cell::Cell;

use osier_core::{Entry, KeyCache, SignedEntry, Verified, authenticate};
use osier_proto::{Lsn, View};
use redb::ReadableTable;

use super::{Checking, DERIVED, LOST};
use crate::{author::Author, control, error::Cause, hole, key, log, lookup::lsn_of};

/// Entries judged together: in each such stretch one signature an author is verified, and the hash
/// links of the rest.
const STRETCH: usize = 4096;

impl Checking<'_> {
    pub(super) fn check_log(&mut self) -> Result<(), Cause> {
        let tables = self.tables;
        let from = key::log(self.no, Lsn::START);
        let to = key::log(self.no, Lsn::new(u64::MAX));
        let mut keys = KeyCache::new();
        let mut stretch = Vec::new();
        for row in tables.log.range::<&[u8; 12]>(&from..=&to)? {
            let (key, row) = row?;
            let lsn = key::lsn_of_log(key.value());
            if let Some(signed) = self.read_row(lsn, row.value()) {
                self.check_indexes(lsn, &signed.clone().trust_stored())?;
                stretch.push(signed);
            }
            if stretch.len() >= STRETCH {
                self.judge(std::mem::take(&mut stretch), &mut keys)?;
            }
        }
        self.judge(stretch, &mut keys)
    }

    fn read_row(&mut self, lsn: Lsn, row: &[u8]) -> Option<SignedEntry> {
        self.found.entries += 1;
        let (tables, no) = (self.tables, self.no);
        let apart = Cell::new(0);
        let wire = log::decode(row, &|item| {
            apart.set(apart.get() + 1);
            log::body_item(&tables.body, no, lsn, item)
        });
        self.found.body_rows += apart.get();
        let parsed = wire
            .map_err(|cause| cause.into_fault().to_string())
            .and_then(|wire| SignedEntry::parse(wire).map_err(|error| error.to_string()));
        match parsed {
            Ok(signed) => Some(signed),
            Err(why) => {
                self.find(
                    LOST,
                    format!("the entry at {} is damaged: {why}", lsn.get()),
                );
                None
            }
        }
    }

    fn check_indexes(&mut self, lsn: Lsn, entry: &Verified<Entry>) -> Result<(), Cause> {
        let (tables, no) = (self.tables, self.no);
        let (header, hash) = (entry.header(), entry.hash());
        self.found.set.insert(&hash);
        let author = Author::load(&tables.head, no, &header.author())?;
        let order = key::order(no, &entry.order_key());
        let chain = key::chain(no, author.row.number, header.seq().get(), lsn);
        let there = [
            ("author", !author.new),
            (
                "by_hash",
                ReadableTable::get(&tables.by_hash, &key::by_hash(no, &hash, lsn))?.is_some(),
            ),
            (
                "order",
                ReadableTable::get(&tables.order, &order)?.is_some(),
            ),
            (
                "chain",
                ReadableTable::get(&tables.chain, &chain)?.is_some(),
            ),
        ];
        for (table, _) in there.into_iter().filter(|(_, there)| !there) {
            self.find(DERIVED, format!("{hash:?} is missing in {table}"));
        }
        if header.topic() != self.topic {
            self.find(LOST, format!("{hash:?} belongs to another topic"));
        }
        if lsn > self.point.last || lsn == Lsn::START {
            self.find(
                DERIVED,
                format!("{hash:?} stands at {}, past the end", lsn.get()),
            );
        }
        let place = key::place(&entry.order_key());
        if self.point.floor.is_some_and(|floor| place < floor)
            && !author.has_tip(no, &tables.tip, header.seq(), &hash)?
            && !control::is_word(&tables.control, no, header.seq(), &hash)?
        {
            self.find(
                DERIVED,
                format!("{hash:?} is held below the floor and is no tip and no word"),
            );
        }
        self.note_missing(lsn, entry)
    }

    fn note_missing(&mut self, lsn: Lsn, entry: &Verified<Entry>) -> Result<(), Cause> {
        let header = entry.header();
        for hash in hole::links(header) {
            if lsn_of(&self.tables.by_hash, &self.tables.log, self.no, &hash)?.is_none() {
                let awaited = (header.prev() == Some(hash)).then(|| header.author());
                self.found
                    .missing
                    .entry(hash)
                    .or_default()
                    .push((lsn, awaited));
            }
        }
        Ok(())
    }

    /// Rule V: by its own signature, or by a held entry of the author that links to it.
    fn judge(&mut self, stretch: Vec<SignedEntry>, keys: &mut KeyCache) -> Result<(), Cause> {
        self.report.entries += stretch.len() as u64;
        for waiting in authenticate(stretch, keys, &|_, _| false).waiting {
            let (author, hash) = (waiting.claimed_author(), waiting.hash());
            let linked = self.view.links(&author, &hash);
            if !linked.map_err(|error| Cause::damaged(error.cause))? {
                self.find(
                    LOST,
                    format!("{hash:?} is not authentic: nobody's signature is on it"),
                );
            }
        }
        (self.progress)(self.report.entries, self.total);
        Ok(())
    }
}
