//! What a batch does to one author: tips, forks, the greatest seq.
//!
//! Tips are a function of the set (`STO-10`): an author's entries that no entry of the author
//! names as `prev`. The smallest `AUTHOR_TIPS_MAX` of them stand in the `head` row and make the
//! author's leaf of the state hash; more of them, which only a forked or gapped author has, stand
//! in `tip`.

use osier_core::{EntryHash, NodeId, Seq, frontier_leaf, limit::AUTHOR_TIPS_MAX};
use redb::{ReadableTable, Table};

use crate::{
    error::Cause,
    frontier_tree::Leaf,
    key::{self, AuthorNo, TopicNo},
    row::HeadRow,
};

type TipTable<'txn> = Table<'txn, &'static [u8; 48], ()>;

/// An author's row in a transaction.
#[derive(Debug)]
pub(crate) struct Author {
    pub(crate) row: HeadRow,
    /// Whether the author is not in the `head` table yet.
    pub(crate) new: bool,
    tips_changed: bool,
    changed: bool,
}

impl Author {
    /// Reads the author's row, or makes the row of an author without entries.
    pub(crate) fn load(
        table: &impl ReadableTable<&'static [u8; 36], &'static [u8]>,
        no: TopicNo,
        author: &NodeId,
    ) -> Result<Self, Cause> {
        let row = table.get(&key::node(no, author))?;
        let new = row.is_none();
        let row = match row {
            Some(row) => HeadRow::decode(row.value())?,
            None => HeadRow {
                number: AuthorNo(0),
                max_seq: 0,
                dropped_seq: 0,
                overflow: 0,
                fork: None,
                tips: Vec::new(),
            },
        };
        Ok(Self {
            row,
            new,
            tips_changed: false,
            changed: false,
        })
    }

    /// Adds a tip.
    pub(crate) fn add_tip(
        &mut self,
        no: TopicNo,
        table: &mut TipTable<'_>,
        tip: (Seq, EntryHash),
    ) -> Result<(), Cause> {
        self.changed = true;
        let Err(at) = self.row.tips.binary_search(&tip) else {
            return Ok(());
        };
        if at == self.row.tips.len() && self.row.overflow > 0 {
            return self.spill(no, table, tip);
        }
        self.row.tips.insert(at, tip);
        self.tips_changed = true;
        if self.row.tips.len() > AUTHOR_TIPS_MAX {
            let greatest = self
                .row
                .tips
                .pop()
                .expect("there are more than AUTHOR_TIPS_MAX");
            self.spill(no, table, greatest)?;
        }
        Ok(())
    }

    fn spill(
        &mut self,
        no: TopicNo,
        table: &mut TipTable<'_>,
        (seq, hash): (Seq, EntryHash),
    ) -> Result<(), Cause> {
        let new = table
            .insert(&key::tip(no, self.row.number, seq, &hash), ())?
            .is_none();
        self.row.overflow += u64::from(new);
        Ok(())
    }

    /// Takes a tip away that has got a successor; its seq if it was one.
    pub(crate) fn remove_tip(
        &mut self,
        no: TopicNo,
        table: &mut TipTable<'_>,
        hash: &EntryHash,
        seq: Option<Seq>,
    ) -> Result<Option<Seq>, Cause> {
        if let Some(at) = self.row.tips.iter().position(|(_, tip)| tip == hash) {
            let (seq, _) = self.row.tips.remove(at);
            (self.changed, self.tips_changed) = (true, true);
            self.refill(no, table)?;
            return Ok(Some(seq));
        }
        if self.row.overflow == 0 {
            return Ok(None);
        }
        let Some(seq) = seq else {
            return Ok(None);
        };
        let gone = table
            .remove(&key::tip(no, self.row.number, seq, hash))?
            .is_some();
        self.row.overflow -= u64::from(gone);
        self.changed |= gone;
        Ok(gone.then_some(seq))
    }

    /// The smallest tip of the `tip` table moves up.
    fn refill(&mut self, no: TopicNo, table: &mut TipTable<'_>) -> Result<(), Cause> {
        if self.row.overflow == 0 {
            return Ok(());
        }
        let (from, to) = tip_bounds(no, self.row.number);
        let first = table.range::<&[u8; 48]>(&from..=&to)?.next();
        let key = *first
            .ok_or(Cause::damaged("a tip row that is missing"))??
            .0
            .value();
        table.remove(&key)?;
        let (seq, hash) = key::tip_of(&key);
        let seq = Seq::new(seq).ok_or(Cause::damaged("tip row"))?;
        self.row.tips.push((seq, hash));
        self.row.overflow -= 1;
        Ok(())
    }

    /// Whether an entry is one of the tips.
    pub(crate) fn has_tip(
        &self,
        no: TopicNo,
        table: &impl ReadableTable<&'static [u8; 48], ()>,
        seq: Seq,
        hash: &EntryHash,
    ) -> Result<bool, Cause> {
        Ok(self.row.tips.contains(&(seq, *hash))
            || (self.row.overflow > 0
                && table
                    .get(&key::tip(no, self.row.number, seq, hash))?
                    .is_some()))
    }

    /// Tips that are not the latest, while the author is not known to have forked: what leads from
    /// them to the latest is not held. Such a tip a ring does not keep below its floor (`STO-12`).
    pub(crate) fn earlier_tips(&self) -> Vec<(Seq, EntryHash)> {
        let latest = self.row.tips.last().filter(|_| self.row.fork.is_none());
        let Some((latest, _)) = latest else {
            return Vec::new();
        };
        let tips = self.row.tips.iter().copied();
        tips.filter(|(seq, _)| seq < latest).collect()
    }

    /// Notes an entry's seq.
    pub(crate) fn saw(&mut self, seq: Seq) {
        self.changed |= seq.get() > self.row.max_seq;
        self.row.max_seq = self.row.max_seq.max(seq.get());
    }

    /// Notes that an entry below the floor is not held.
    pub(crate) fn dropped(&mut self, seq: Seq) {
        self.changed |= seq.get() > self.row.dropped_seq;
        self.row.dropped_seq = self.row.dropped_seq.max(seq.get());
    }

    /// Puts another row in its place, with the same number.
    pub(crate) fn replace(&mut self, row: HeadRow) {
        assert_eq!(row.number, self.row.number, "an author keeps its number");
        self.row = row;
        (self.changed, self.tips_changed) = (true, true);
    }

    /// Notes a fork.
    pub(crate) fn forked(&mut self, fork: crate::row::Fork) {
        self.changed = true;
        self.row.fork = Some(fork);
    }

    /// Whether the row must be written.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// The author's new leaf of the frontier, if it has one.
    pub(crate) fn leaf(&self, author: NodeId) -> Option<Leaf> {
        self.tips_changed.then(|| Leaf {
            author,
            hash: frontier_leaf(&author, &self.row.tips),
            new: self.new,
        })
    }
}

/// All keys of an author in `tip`.
pub(crate) fn tip_bounds(no: TopicNo, author: AuthorNo) -> ([u8; 48], [u8; 48]) {
    let last = Seq::new(u64::MAX).expect("not zero");
    (
        key::tip(no, author, Seq::FIRST, &EntryHash::MIN),
        key::tip(no, author, last, &EntryHash::MAX),
    )
}
