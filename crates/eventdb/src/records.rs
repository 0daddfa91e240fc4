//! What a NIP-77 session compares (`NOS-80`, `NOS-105`).

use std::{collections::BTreeSet, ops::Range};

use osier_nostr::{Filter, Seconds, nip::nip17::Viewer};
use osier_store::{Bound, Item, RangeSet, Storage, Summary, VectorStorage, ViewError};

use crate::{
    cursor::{Candidate, Window},
    error::Cause,
    key,
    merge::Merge,
    plan::{self, Plan, Way},
    row::{damaged, unreadable},
    scan::is_shown,
    sets,
    view::{EventView, Inner},
};

/// A set of (time, id) as of one snapshot; it owns what it needs, and can be sent between threads.
///
/// Of everything, and of the filters in [`crate::Settings::compared`], it is read from an order
/// index at a cost that does not grow with the set. Of other filters it is gathered from index
/// rows: 40 bytes an event.
#[derive(Debug)]
pub struct Records(Kind);

#[derive(Debug)]
enum Kind {
    Gathered(VectorStorage),
    Indexed(Box<Overlay>),
    /// More than may be gathered.
    TooMany(u64),
}

impl Records {
    pub(crate) fn of(
        view: &EventView,
        filter: &Filter,
        viewer: &Viewer,
        now: Seconds,
        cap: u64,
    ) -> Result<Self, Cause> {
        let inner = view.inner();
        let set = sets::asked(inner.db.settings(), filter);
        if filter.matches_nothing() || filter.limit() == Some(0) {
            return Ok(Self(Kind::Gathered(VectorStorage::default())));
        }
        if let (Some(set), None) = (set, filter.limit()) {
            let plus = gated(inner, filter, viewer, now, cap)?;
            if plus.len() as u64 > cap {
                return Ok(Self(Kind::TooMany(plus.len() as u64)));
            }
            let base = inner.set(set)?;
            let minus = expired(inner, &base, plan::window(filter), now)?;
            let overlay = Overlay::new(base, plan::window(filter), &minus, plus);
            return Ok(Self(Kind::Indexed(Box::new(
                overlay.map_err(|error| unreadable(&error))?,
            ))));
        }
        let most = filter
            .limit()
            .unwrap_or(u64::MAX)
            .min(cap.saturating_add(1));
        let items = gather(inner, filter, viewer, now, most)?;
        if items.len() as u64 > cap {
            return Ok(Self(Kind::TooMany(items.len() as u64)));
        }
        Ok(Self(Kind::Gathered(VectorStorage::new(items))))
    }

    /// How many items are held in memory: those that were gathered, and what an order index is
    /// without and with. None if there are more than may be gathered, and nothing is held.
    pub fn gathered(&self) -> Option<u64> {
        match &self.0 {
            Kind::Gathered(items) => Some(infallible(items.len())),
            Kind::Indexed(items) => Some((items.minus.len() + items.plus.len()) as u64),
            Kind::TooMany(_) => None,
        }
    }
}

/// The newest so many of what a filter matches.
fn gather(
    inner: &Inner,
    filter: &Filter,
    viewer: &Viewer,
    now: Seconds,
    most: u64,
) -> Result<Vec<Item>, Cause> {
    let mut plan = Plan::of(inner, filter, viewer)?;
    let mut items = Vec::new();
    // Without a limit of the client's the order does not matter: whole ranges can be read.
    if filter.limit().is_none() {
        let (walked, rest) = plan.open.into_iter().partition(Way::is_whole);
        plan.open = rest;
        for way in walked {
            walk(inner, &way, now, most, &mut items)?;
        }
    }
    let mut merge = Merge::new(plan.cursors(inner)?);
    let mut read = 0;
    while (items.len() as u64) < most {
        let Some(candidate) = merge.next(inner, &mut 0)? else {
            break;
        };
        read += u64::from(!candidate.is_certain);
        if read > inner.db.settings().read_events_max {
            return Err(Cause::TooMuch);
        }
        if is_in(inner, filter, viewer, now, &candidate)? {
            items.push(key::item(
                candidate.version.created_at,
                &candidate.version.id,
            ));
        }
    }
    // Nearly sorted, the other way round.
    items.reverse();
    Ok(items)
}

/// Reads ranges of rows of which each is certain, and no two the same event's.
fn walk(
    inner: &Inner,
    way: &Way,
    now: Seconds,
    most: u64,
    items: &mut Vec<Item>,
) -> Result<(), Cause> {
    let Way::Facets(facets) = way else {
        return Ok(());
    };
    facets.each(inner, &mut |key, row| {
        if !row.expires.is_over(now) {
            let (time, id) = key::of_facet(key).ok_or_else(|| damaged("a facet row"))?;
            items.push(key::item(time, &id));
        }
        Ok((items.len() as u64) < most)
    })
}

fn is_in(
    inner: &Inner,
    filter: &Filter,
    viewer: &Viewer,
    now: Seconds,
    candidate: &Candidate,
) -> Result<bool, Cause> {
    let id = &candidate.version.id;
    if let (true, Some(row)) = (candidate.is_certain, candidate.row) {
        return Ok(!row.expires.is_over(now));
    }
    if candidate.is_certain {
        return Ok(inner.row(id)?.is_some_and(|row| !row.expires.is_over(now)));
    }
    Ok(is_shown(filter, viewer, &inner.load(id)?, now))
}

/// What is gated and shown to who asks; not many more than `cap`.
fn gated(
    inner: &Inner,
    filter: &Filter,
    viewer: &Viewer,
    now: Seconds,
    cap: u64,
) -> Result<BTreeSet<Item>, Cause> {
    let plan = Plan {
        open: Vec::new(),
        ..Plan::of(inner, filter, viewer)?
    };
    let mut merge = Merge::new(plan.cursors(inner)?);
    let mut items = BTreeSet::new();
    while let Some(candidate) = merge.next(inner, &mut 0)? {
        if is_in(inner, filter, viewer, now, &candidate)? {
            items.insert(key::item(
                candidate.version.created_at,
                &candidate.version.id,
            ));
            if items.len() as u64 > cap {
                break;
            }
        }
    }
    Ok(items)
}

/// What is in a set and has expired.
fn expired(
    inner: &Inner,
    base: &RangeSet,
    window: Window,
    now: Seconds,
) -> Result<BTreeSet<Item>, Cause> {
    let mut items = BTreeSet::new();
    for (id, row) in inner.expired(now)? {
        let item = key::item(row.time, &id);
        if window.holds(row.time) && base.from(&item, 1)?.first() == Some(&item) {
            items.insert(item);
        }
    }
    Ok(items)
}

/// A part of a set, without a few of its items and with a few others.
#[derive(Debug)]
struct Overlay {
    base: RangeSet,
    /// Ranks of the base.
    window: Range<u64>,
    /// Items that are left out, with their ranks in the window, and the sum of those before.
    minus: Vec<(u64, Item, Summary)>,
    /// Items that are put in, with their ranks in the result, and the sum of those before.
    plus: Vec<(u64, Item, Summary)>,
}

/// A place in the result: how many items of each list lie before it.
struct Cut {
    base: u64,
    minus: usize,
    plus: usize,
}

impl Overlay {
    /// `minus` is in the window of the base; `plus` is not in the base.
    fn new(
        base: RangeSet,
        window: Window,
        minus: &BTreeSet<Item>,
        plus: BTreeSet<Item>,
    ) -> Result<Self, ViewError> {
        let start = base.rank(&Bound::at_time(window.since.get()))?;
        let end = base
            .rank(&Bound::at_time(window.until.get() + 1))?
            .max(start);
        let mut overlay = Self {
            base,
            window: start..end,
            minus: Vec::new(),
            plus: Vec::new(),
        };
        let mut before = Summary::EMPTY;
        for item in minus {
            let rank = overlay.base.rank(&Bound::at_item(item))? - start;
            overlay.minus.push((rank, *item, before));
            before.insert(&item.id);
        }
        let mut before = Summary::EMPTY;
        let mut ranked = Vec::new();
        for (item, added) in plus.into_iter().zip(0_u64..) {
            let rank = overlay.rank(&Bound::at_item(&item))?;
            ranked.push((rank + added, item, before));
            before.insert(&item.id);
        }
        overlay.plus = ranked;
        Ok(overlay)
    }

    fn cut(&self, rank: u64) -> Cut {
        let plus = self.plus.partition_point(|(own, ..)| *own < rank);
        let kept = rank - plus as u64;
        let is_before = |(at, (own, ..)): (usize, &(u64, Item, Summary))| own - (at as u64) < kept;
        // Ranks among what is kept never go down, so this is a prefix.
        let minus = self
            .minus
            .iter()
            .enumerate()
            .take_while(|it| is_before(*it))
            .count();
        Cut {
            base: kept + minus as u64,
            minus,
            plus,
        }
    }

    fn before(&self, rank: u64) -> Result<Summary, ViewError> {
        let cut = self.cut(rank);
        let start = self.window.start;
        let base = self
            .base
            .summary(start..(start + cut.base).min(self.window.end))?;
        Ok(base - sum(&self.minus, cut.minus) + sum(&self.plus, cut.plus))
    }
}

/// The sum of the first items of a list.
fn sum(list: &[(u64, Item, Summary)], count: usize) -> Summary {
    let Some((_, item, before)) = count.checked_sub(1).and_then(|last| list.get(last)) else {
        return Summary::EMPTY;
    };
    let mut sum = *before;
    sum.insert(&item.id);
    sum
}

impl Storage for Overlay {
    type Error = ViewError;

    fn len(&self) -> Result<u64, ViewError> {
        let base = self.window.end - self.window.start;
        Ok(base - self.minus.len() as u64 + self.plus.len() as u64)
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, ViewError> {
        Ok(self.before(ranks.end)? - self.before(ranks.start)?)
    }

    fn at(&self, rank: u64) -> Result<Item, ViewError> {
        let cut = self.cut(rank);
        if let Some((_, item, _)) = self.plus.get(cut.plus).filter(|(own, ..)| *own == rank) {
            return Ok(*item);
        }
        let mut base = cut.base;
        for (own, ..) in self.minus.iter().skip(cut.minus) {
            if *own != base {
                break;
            }
            base += 1;
        }
        self.base.at(self.window.start + base)
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), ViewError> {
        let (from, to) = (self.cut(ranks.start), self.cut(ranks.end));
        let start = self.window.start;
        let mut plus = self.plus[from.plus..to.plus]
            .iter()
            .map(|(_, item, _)| *item)
            .peekable();
        let mut minus = self
            .minus
            .iter()
            .skip(from.minus)
            .map(|(rank, ..)| *rank)
            .peekable();
        let mut rank = from.base;
        self.base
            .items(start + from.base..start + to.base, &mut |item| {
                let left_out = minus.next_if_eq(&rank).is_some();
                rank += 1;
                if !left_out {
                    while let Some(other) = plus.next_if(|other| *other < item) {
                        each(other);
                    }
                    each(item);
                }
            })?;
        plus.for_each(each);
        Ok(())
    }

    fn rank(&self, bound: &Bound) -> Result<u64, ViewError> {
        let Range { start, end } = self.window;
        let base = self.base.rank(bound)?.clamp(start, end) - start;
        let below = |list: &[(u64, Item, Summary)]| {
            list.partition_point(|(_, item, _)| item.is_below(bound)) as u64
        };
        Ok(base - below(&self.minus) + below(&self.plus))
    }
}

impl Storage for Records {
    type Error = ViewError;

    fn len(&self) -> Result<u64, ViewError> {
        match &self.0 {
            Kind::Gathered(items) => Ok(infallible(items.len())),
            Kind::Indexed(items) => items.len(),
            Kind::TooMany(items) => Ok(*items),
        }
    }

    fn summary(&self, ranks: Range<u64>) -> Result<Summary, ViewError> {
        match &self.0 {
            Kind::Gathered(items) => Ok(infallible(items.summary(ranks))),
            Kind::Indexed(items) => items.summary(ranks),
            Kind::TooMany(_) => Err(too_many()),
        }
    }

    fn at(&self, rank: u64) -> Result<Item, ViewError> {
        match &self.0 {
            Kind::Gathered(items) => Ok(infallible(items.at(rank))),
            Kind::Indexed(items) => items.at(rank),
            Kind::TooMany(_) => Err(too_many()),
        }
    }

    fn items(&self, ranks: Range<u64>, each: &mut dyn FnMut(Item)) -> Result<(), ViewError> {
        match &self.0 {
            Kind::Gathered(items) => {
                let Ok(()) = items.items(ranks, each);
                Ok(())
            }
            Kind::Indexed(items) => items.items(ranks, each),
            Kind::TooMany(_) => Err(too_many()),
        }
    }

    fn rank(&self, bound: &Bound) -> Result<u64, ViewError> {
        match &self.0 {
            Kind::Gathered(items) => Ok(infallible(items.rank(bound))),
            Kind::Indexed(items) => items.rank(bound),
            Kind::TooMany(_) => Err(too_many()),
        }
    }
}

fn infallible<T>(outcome: Result<T, std::convert::Infallible>) -> T {
    let Ok(done) = outcome;
    done
}

fn too_many() -> ViewError {
    ViewError {
        doing: "reconciling",
        cause: "the set has more records than a session may have".to_owned(),
    }
}
