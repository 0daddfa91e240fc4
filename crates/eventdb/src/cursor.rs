//! One ordered stream of candidates: the newest first, in one second the lowest id (`NOS-16`).
//!
//! A cursor keeps no page of the disk between calls, only the rows that it has read ahead, so that
//! thousands of them cost little.

use std::{collections::VecDeque, sync::Arc};

use osier_nostr::{EventId, EventKind, Seconds, nip::nip01::Version};
use osier_store::{Item, RangeSet};

use crate::{
    key::{self, Facet, FacetKey},
    limit,
    row::{EventRow, FacetRow, damaged},
    view::Inner,
};

/// An event that may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) version: Version,
    /// What its row says; none where there is no row but the id.
    pub(crate) row: Option<FacetRow>,
    /// Whether all conditions of the filter are known to hold, and the viewer to see it.
    pub(crate) is_certain: bool,
}

/// The seconds that are asked for, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) since: Seconds,
    pub(crate) until: Seconds,
}

impl Window {
    pub(crate) fn holds(&self, time: Seconds) -> bool {
        self.since <= time && time <= self.until
    }

    /// The keys of a facet within it: first, last.
    pub(crate) fn keys(&self, facet: &Facet) -> (FacetKey, FacetKey) {
        let from = key::facet(facet, self.until, &[0; 32]);
        (from, key::facet(facet, self.since, &[0xff; 32]))
    }
}

/// Kinds that are let through; none lets all.
pub(crate) type Kinds = Option<Arc<[EventKind]>>;

/// One stream.
#[derive(Debug)]
pub(crate) enum Cursor {
    /// Events with a facet.
    Facet(FacetCursor),
    /// A set, without rows.
    Set(Box<SetCursor>),
    /// What has been looked up, the last first.
    List(Vec<Candidate>),
}

impl Cursor {
    /// A list, in whatever order.
    pub(crate) fn list(mut candidates: Vec<Candidate>) -> Self {
        candidates.sort_unstable_by_key(|candidate| std::cmp::Reverse(candidate.version));
        Self::List(candidates)
    }

    /// The next one; adds to `cost` the rows that were read.
    pub(crate) fn next(
        &mut self,
        inner: &Inner,
        cost: &mut usize,
    ) -> Result<Option<Candidate>, redb::Error> {
        match self {
            Self::Facet(cursor) => cursor.next(inner, cost),
            Self::Set(cursor) => cursor.next(cost),
            Self::List(list) => Ok(list.pop()),
        }
    }
}

/// Events with a facet.
#[derive(Debug)]
pub(crate) struct FacetCursor {
    from: FacetKey,
    to: FacetKey,
    kinds: Kinds,
    is_certain: bool,
    ahead: VecDeque<Candidate>,
    step: usize,
    is_done: bool,
}

impl FacetCursor {
    pub(crate) fn new(facet: &Facet, window: Window, kinds: Kinds, is_certain: bool) -> Self {
        let (from, to) = window.keys(facet);
        Self {
            from,
            to,
            kinds,
            is_certain,
            ahead: VecDeque::new(),
            step: limit::CURSOR_ROWS_MIN,
            is_done: from > to,
        }
    }

    fn next(&mut self, inner: &Inner, cost: &mut usize) -> Result<Option<Candidate>, redb::Error> {
        while self.ahead.is_empty() && !self.is_done {
            self.read(inner, cost)?;
        }
        Ok(self.ahead.pop_front())
    }

    fn read(&mut self, inner: &Inner, cost: &mut usize) -> Result<(), redb::Error> {
        let mut rows = 0;
        let mut last = self.from;
        for row in inner
            .tables
            .facet
            .range::<&FacetKey>(&self.from..=&self.to)?
            .take(self.step)
        {
            let (key, row) = row?;
            let row = FacetRow::decode(row.value());
            last = *key.value();
            rows += 1;
            if self
                .kinds
                .as_ref()
                .is_some_and(|kinds| kinds.binary_search(&row.kind).is_err())
            {
                continue;
            }
            let (created_at, id) = key::of_facet(&last).ok_or_else(|| damaged("a facet row"))?;
            self.ahead.push_back(Candidate {
                version: Version { created_at, id },
                row: Some(row),
                is_certain: self.is_certain,
            });
        }
        *cost += rows;
        self.is_done = rows < self.step || !increment(&mut last);
        self.from = last;
        self.step = (2 * self.step).min(limit::CURSOR_ROWS_MAX);
        Ok(())
    }
}

/// The next key; false if there is none.
fn increment(key: &mut FacetKey) -> bool {
    for byte in key.iter_mut().rev() {
        let (next, over) = byte.overflowing_add(1);
        *byte = next;
        if !over {
            return true;
        }
    }
    false
}

/// A set, which is ordered the other way round: read from its end, second by second.
#[derive(Debug)]
pub(crate) struct SetCursor {
    set: RangeSet,
    since: Seconds,
    is_certain: bool,
    /// What lies before it has not been read.
    before: Item,
    /// Where to go on in a second that has more items than are read at once.
    within: Option<Item>,
    ahead: VecDeque<Item>,
    step: usize,
    is_done: bool,
}

impl SetCursor {
    pub(crate) fn new(set: RangeSet, window: Window, is_certain: bool) -> Self {
        Self {
            set,
            since: window.since,
            is_certain,
            before: Item::new(window.until.get() + 1, [0; 32]),
            within: None,
            ahead: VecDeque::new(),
            step: limit::CURSOR_ROWS_MIN,
            is_done: window.since > window.until,
        }
    }

    fn next(&mut self, cost: &mut usize) -> Result<Option<Candidate>, redb::Error> {
        while self.ahead.is_empty() && !self.is_done {
            match self.within {
                Some(from) => self.read_within(from, cost)?,
                None => self.read_before(cost)?,
            }
        }
        let Some(item) = self.ahead.pop_front() else {
            return Ok(None);
        };
        let time = Seconds::new(item.time).ok_or_else(|| damaged("an item's time"))?;
        if time < self.since {
            self.is_done = true;
            self.ahead.clear();
            return Ok(None);
        }
        let id = EventId::from_bytes(item.id);
        Ok(Some(Candidate {
            version: Version {
                created_at: time,
                id,
            },
            row: None,
            is_certain: self.is_certain,
        }))
    }

    /// Reads on towards the past; a second that may not be whole is left for the next time.
    fn read_before(&mut self, cost: &mut usize) -> Result<(), redb::Error> {
        let mut items = self.set.before(&self.before, self.step)?;
        *cost += items.len();
        let is_all = items.len() < self.step;
        let oldest = items.last().map_or(0, |item| item.time);
        if is_all {
            self.is_done = true;
        } else if items.first().is_some_and(|item| item.time == oldest) {
            self.within = Some(Item::new(oldest, [0; 32]));
            return Ok(());
        } else {
            items.retain(|item| item.time > oldest);
            self.before = Item::new(oldest + 1, [0; 32]);
        }
        for second in items.chunk_by(|one, two| one.time == two.time) {
            self.ahead.extend(second.iter().rev());
        }
        self.step = (2 * self.step).min(limit::CURSOR_ROWS_MAX);
        Ok(())
    }

    /// Reads on in a second.
    fn read_within(&mut self, from: Item, cost: &mut usize) -> Result<(), redb::Error> {
        let items = self.set.from(&from, self.step)?;
        *cost += items.len();
        let same = items.iter().take_while(|item| item.time == from.time);
        self.ahead.extend(same);
        let last = items
            .last()
            .filter(|last| last.time == from.time && items.len() == self.step);
        self.within = last.and_then(successor);
        if self.within.is_none() {
            self.before = Item::new(from.time, [0; 32]);
        }
        Ok(())
    }
}

/// The next item of the same second; none after the last.
fn successor(item: &Item) -> Option<Item> {
    let mut next = *item;
    for byte in next.id.iter_mut().rev() {
        let (up, over) = byte.overflowing_add(1);
        *byte = up;
        if !over {
            return Some(next);
        }
    }
    None
}

/// A candidate that has been looked up by its id.
pub(crate) fn looked_up(id: EventId, row: &EventRow, is_certain: bool) -> Candidate {
    Candidate {
        version: Version {
            created_at: row.time,
            id,
        },
        row: Some(FacetRow {
            kind: row.kind,
            expires: row.expires,
            register: 0,
            rank: 0,
        }),
        is_certain,
    }
}
