//! Pages in causal order: an entry after everything of the topic that it names and this node holds.
//!
//! Entries are walked in order of arrival. One that names an entry of a later place waits for it
//! and follows it. A listing is of one moment: what arrives while it goes on comes after it, so no
//! entry is left out or shown twice. A mark says how far the walk has come and where the first
//! entry is that still waits; from there the walk is repeated for the next page.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use osier_core::{Entry, SignedEntry, Verified, WireEntry};
use osier_proto::{LogPage, Lsn, StorePoint, View};

use crate::{
    error::{Error, Result},
    page::{PAGE_BYTES_MAX, Page},
};

/// Entries read from the log at once.
const READ_ENTRIES: usize = 256;

/// Entries that may wait for later ones: some 100 bytes each. Over it the listing is refused, and
/// order of arrival is left.
const WAITING_MAX: usize = 500_000;

/// A place in causal order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CausalMark {
    /// Everything that was shown on arrival of this place or before has been shown.
    shown: Lsn,
    /// Of what is shown at the next place, so many have been.
    skip: u64,
    /// Nothing up to this place still waits.
    settled: Lsn,
    /// The end of the listing.
    end: Lsn,
    /// What retention had removed when the listing began.
    pruned: u64,
}

/// A text that is not such a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a place in causal order; use the one that the page before gave")]
pub struct CausalMarkTextInvalid(String);

impl CausalMark {
    /// Before every entry.
    pub const START: Self = Self {
        shown: Lsn::START,
        skip: 0,
        settled: Lsn::START,
        end: Lsn::START,
        pruned: 0,
    };

    /// The same, or the start of the next listing if this one is over.
    fn going_on(self, now: StorePoint) -> Result<Self> {
        if self.shown >= self.end {
            return Ok(Self {
                skip: 0,
                settled: self.shown,
                end: now.last,
                pruned: now.pruned,
                ..self
            });
        }
        let waits = self.settled < self.shown || self.skip > 0;
        if waits && self.pruned != now.pruned {
            let why = "history was pruned while it was listed; begin the listing again";
            return Err(Error::Causal(why));
        }
        Ok(self)
    }
}

impl fmt::Display for CausalMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, settled, end) = (self.shown.get(), self.settled.get(), self.end.get());
        write!(f, "{shown}-{}-{settled}-{end}-{}", self.skip, self.pruned)
    }
}

impl FromStr for CausalMark {
    type Err = CausalMarkTextInvalid;

    fn from_str(text: &str) -> std::result::Result<Self, CausalMarkTextInvalid> {
        let invalid = || CausalMarkTextInvalid(text.chars().take(100).collect());
        let numbers: std::result::Result<Vec<u64>, _> = text.split('-').map(str::parse).collect();
        let [shown, skip, settled, end, pruned] = numbers.map_err(|_| invalid())?[..] else {
            return Err(invalid());
        };
        let mark = Self {
            shown: Lsn::new(shown),
            skip,
            settled: Lsn::new(settled),
            end: Lsn::new(end),
            pruned,
        };
        let in_order = mark.settled <= mark.shown && mark.shown <= mark.end;
        in_order.then_some(mark).ok_or_else(invalid)
    }
}

/// Reads a page of at most `limit` entries behind `after`.
pub(crate) fn page(view: &dyn View, after: CausalMark, limit: usize) -> Result<Page> {
    let mut mark = after.going_on(view.point())?;
    let mut walk = Walk::default();
    let mut found = Found::new(limit);
    let mut at = mark.settled;
    while at < mark.end {
        let read: LogPage = view
            .log(at, READ_ENTRIES, PAGE_BYTES_MAX)
            .map_err(|error| Error::Read(error.to_string()))?;
        for (place, wire) in read.entries {
            if place > mark.end {
                break;
            }
            let ready = walk.arrive(view, place, &wire, mark.end)?;
            at = place;
            if place <= mark.shown {
                continue;
            }
            let taken = found.take(view, &ready, mark.skip)?;
            if taken < ready.len() {
                // What waited for this place is found again from where nothing waited before it.
                mark.skip = taken as u64;
                return Ok(found.into_page(mark, false));
            }
            (mark.shown, mark.skip) = (place, 0);
            mark.settled = before(walk.first_waiting(Lsn::new(place.get() + 1)));
            if found.is_full() {
                let done = mark.shown >= view.point().last;
                return Ok(found.into_page(mark, done));
            }
        }
        if read.done {
            break;
        }
    }
    // The places up to the end that were not met have been pruned.
    (mark.shown, mark.settled) = (mark.end, mark.end);
    let done = mark.end >= view.point().last;
    Ok(found.into_page(mark, done))
}

/// What a page holds so far.
struct Found {
    entries: Vec<Verified<Entry>>,
    bytes: usize,
    limit: usize,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self {
            entries: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= self.limit || self.bytes >= PAGE_BYTES_MAX
    }

    /// Takes entries in order, those before `skip` left out, until the page is full; returns how
    /// many of `ready` are dealt with.
    fn take(&mut self, view: &dyn View, ready: &[Lsn], skip: u64) -> Result<usize> {
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        for (index, place) in ready.iter().enumerate().skip(skip) {
            if self.is_full() {
                return Ok(index);
            }
            let read = view
                .log(before(*place), 1, 1)
                .map_err(|error| Error::Read(error.to_string()))?;
            for (_, wire) in read.entries {
                self.bytes += wire.size();
                self.entries.push(parse(wire)?.trust_stored());
            }
        }
        Ok(ready.len())
    }

    fn into_page(self, mark: CausalMark, done: bool) -> Page {
        let entries = self.entries.into_iter().map(|entry| (None, entry));
        Page {
            entries: entries.collect(),
            next: crate::page::Order::Causal { after: mark },
            done,
        }
    }
}

/// Who waits for whom, by place in the log.
#[derive(Debug, Default)]
struct Walk {
    waiting: BTreeMap<Lsn, BTreeSet<Lsn>>,
    waited_for: BTreeMap<Lsn, Vec<Lsn>>,
}

impl Walk {
    /// Takes the entry at the next place; returns the places that can be shown now, in order.
    fn arrive(
        &mut self,
        view: &dyn View,
        place: Lsn,
        wire: &WireEntry,
        end: Lsn,
    ) -> Result<Vec<Lsn>> {
        let entry = parse(wire.clone())?.trust_stored();
        let mut missing = BTreeSet::new();
        for link in entry.header().links() {
            let held = view
                .place(&link)
                .map_err(|error| Error::Read(error.to_string()))?;
            let later = |held: &Lsn| *held <= end && (*held > place || self.waits(*held));
            missing.extend(held.filter(later));
        }
        if missing.is_empty() {
            return Ok(self.release(place));
        }
        for link in &missing {
            self.waited_for.entry(*link).or_default().push(place);
        }
        self.waiting.insert(place, missing);
        if self.waiting.len() > WAITING_MAX {
            let why = "too many entries came before what they name; read in order of arrival";
            return Err(Error::Causal(why));
        }
        Ok(Vec::new())
    }

    fn waits(&self, place: Lsn) -> bool {
        self.waiting.contains_key(&place)
    }

    /// A place, and all that waited for it and for nothing else any more.
    fn release(&mut self, place: Lsn) -> Vec<Lsn> {
        let mut ready = vec![place];
        let mut next = 0;
        while let Some(shown) = ready.get(next).copied() {
            next += 1;
            for waiter in self.waited_for.remove(&shown).unwrap_or_default() {
                let Some(missing) = self.waiting.get_mut(&waiter) else {
                    continue;
                };
                missing.remove(&shown);
                if missing.is_empty() {
                    self.waiting.remove(&waiter);
                    ready.push(waiter);
                }
            }
        }
        ready
    }

    /// The first place that waits; `none` if there is none.
    fn first_waiting(&self, none: Lsn) -> Lsn {
        self.waiting.keys().next().map_or(none, |place| *place)
    }
}

const fn before(place: Lsn) -> Lsn {
    Lsn::new(place.get().saturating_sub(1))
}

fn parse(wire: WireEntry) -> Result<SignedEntry> {
    SignedEntry::parse(wire).map_err(|error| Error::Read(error.to_string()))
}

#[cfg(test)]
mod tests;
