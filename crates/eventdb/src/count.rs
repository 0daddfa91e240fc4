//! Counts (`NOS-67`, `NOS-110`): from index rows, and from kept rows where there are any.

use std::cell::Cell;

use osier_nostr::{
    CanonicalQuestion, CountAnswer, Event, EventId, Filter, PublicKey, Seconds, Sketch,
    nip::{nip01::Version, nip17::Viewer, nip45::Offset},
};
use osier_store::{Bound, Storage};

use crate::{
    cursor::{Candidate, Window},
    error::Cause,
    key::{self, Facet},
    merge::Merge,
    plan::{self, Facets, Plan, Way},
    row::{EventRow, SketchRow, unreadable},
    scan::is_shown,
    sets, sketch,
    view::Inner,
};

/// Counts the union of what filters match.
pub(crate) fn run(
    inner: &Inner,
    filters: &[Filter],
    viewer: &Viewer,
    now: Seconds,
) -> Result<CountAnswer, Cause> {
    let read = Cell::new(0);
    let asker = Asker {
        inner,
        viewer,
        now,
        read,
    };
    let mut answer = match filters {
        [filter] if filter.limit().is_none() => asker.one(filter)?,
        filters => CountAnswer::exact(asker.union(filters)?),
    };
    answer.approximate |= !inner.is_whole;
    Ok(answer)
}

/// Who asks, and of what.
struct Asker<'a> {
    inner: &'a Inner,
    viewer: &'a Viewer,
    now: Seconds,
    /// Events that have been read.
    read: Cell<u64>,
}

/// What is counted of one filter.
struct Tally {
    count: u64,
    sketch: Option<(Offset, Sketch)>,
}

impl Asker<'_> {
    /// One filter without a limit.
    fn one(&self, filter: &Filter) -> Result<CountAnswer, Cause> {
        let rule = self.inner.db.settings().hll_rule;
        let offset = rule.offset(filter).filter(|_| !filter.tags().is_empty());
        let mut tally = Tally {
            count: 0,
            sketch: offset.map(|offset| (offset, Sketch::empty())),
        };
        if !filter.matches_nothing() && !self.take_from_kept(filter, &mut tally)? {
            let plan = Plan::of(self.inner, filter, self.viewer)?;
            self.take_from_plan(filter, plan, &mut tally)?;
        }
        Ok(CountAnswer {
            sketch: tally.sketch.map(|(_, sketch)| sketch),
            ..CountAnswer::exact(tally.count)
        })
    }

    /// From rows that are kept for it; false if there are none.
    fn take_from_kept(&self, filter: &Filter, tally: &mut Tally) -> Result<bool, Cause> {
        let kept = match kept_for(filter) {
            Some((question, facet)) => {
                sketch::kept(&self.inner.tables.sketch, question, &facet)?.map(|row| (row, facet))
            }
            None => None,
        };
        if let Some((row, facet)) = kept {
            self.take_kept(filter, row, &facet, tally)?;
        } else if let Some(set) = sets::asked(self.inner.db.settings(), filter)
            && tally.sketch.is_none()
        {
            tally.count = self.of_set(set, plan::window(filter))?;
        } else {
            return Ok(false);
        }
        let gated = Plan {
            open: Vec::new(),
            ..Plan::of(self.inner, filter, self.viewer)?
        };
        self.take_from_plan(filter, gated, tally)?;
        Ok(true)
    }

    fn take_kept(
        &self,
        filter: &Filter,
        row: SketchRow,
        facet: &Facet,
        tally: &mut Tally,
    ) -> Result<(), Cause> {
        // What has expired and has not been purged is still in the row.
        let mut expired = 0;
        for (id, event) in self.inner.expired(self.now)? {
            let key = key::facet(facet, event.time, id.as_bytes());
            let is_in = filter.reaches(event.kind);
            expired += u64::from(is_in && self.inner.tables.facet.get(&key)?.is_some());
        }
        tally.count = row.count.saturating_sub(expired);
        if let Some((_, sketch)) = &mut tally.sketch {
            *sketch = row.sketch;
        }
        Ok(())
    }

    /// The size of a part of a set, by ranks.
    fn of_set(&self, set: u32, window: Window) -> Result<u64, Cause> {
        if window.since > window.until {
            return Ok(0);
        }
        let items = self.inner.set(set)?;
        let rank = |second: u64| {
            items
                .rank(&Bound::at_time(second))
                .map_err(|error| unreadable(&error))
        };
        let (start, end) = (rank(window.since.get())?, rank(window.until.get() + 1)?);
        let mut expired = 0;
        for (id, event) in self.inner.expired(self.now)? {
            let item = key::item(event.time, &id);
            let is_in = window.holds(event.time);
            expired += u64::from(is_in && items.from(&item, 1)?.first() == Some(&item));
        }
        Ok((end - start).saturating_sub(expired))
    }

    /// From what a plan finds.
    fn take_from_plan(
        &self,
        filter: &Filter,
        mut plan: Plan,
        tally: &mut Tally,
    ) -> Result<(), Cause> {
        let is_quick = |way: &Way| match way {
            Way::Facets(facets) => way.is_whole() && (tally.sketch.is_none() || facets.has_sketch),
            Way::List(_) | Way::Set(..) => false,
        };
        let (quick, slow): (Vec<Way>, Vec<Way>) = plan.open.drain(..).partition(is_quick);
        for way in quick {
            if let Way::Facets(facets) = way {
                self.walk(&facets, tally)?;
            }
        }
        // What is left has other kinds: nothing is counted twice.
        plan.open = slow;
        let has_sketch = plan.open.iter().all(|way| match way {
            Way::Facets(facets) => facets.has_sketch && facets.is_disjoint,
            Way::List(_) | Way::Set(..) => false,
        });
        let mut merge = Merge::new(plan.cursors(self.inner)?);
        while let Some(candidate) = merge.next(self.inner, &mut 0)? {
            self.count_one(filter, &candidate, has_sketch, tally)?;
        }
        Ok(())
    }

    /// Counts rows that are certain.
    fn walk(&self, facets: &Facets, tally: &mut Tally) -> Result<(), Cause> {
        facets.each(self.inner, &mut |_, row| {
            if !row.expires.is_over(self.now) {
                tally.count += 1;
                if let Some((_, sketch)) = &mut tally.sketch {
                    sketch.raise(row.register, row.rank);
                }
            }
            Ok(true)
        })
    }

    fn count_one(
        &self,
        filter: &Filter,
        candidate: &Candidate,
        has_sketch: bool,
        tally: &mut Tally,
    ) -> Result<(), Cause> {
        let id = &candidate.version.id;
        let row = candidate.row.filter(|row| has_sketch && row.rank > 0);
        let needs_signer = tally.sketch.is_some() && row.is_none();
        let Some(signer) = self.counts(filter, candidate, needs_signer)? else {
            return Ok(());
        };
        tally.count += 1;
        if let Some((offset, sketch)) = &mut tally.sketch {
            match (row, signer) {
                (Some(row), _) => sketch.raise(row.register, row.rank),
                (None, Some(signer)) => {
                    self.inner
                        .db
                        .settings()
                        .hll_rule
                        .add(sketch, *offset, &signer);
                }
                (None, None) => {
                    let signer = self.load(id)?.pubkey();
                    self.inner
                        .db
                        .settings()
                        .hll_rule
                        .add(sketch, *offset, &signer);
                }
            }
        }
        Ok(())
    }

    /// Whether a candidate counts; with its signer, where the event was read for that.
    #[expect(
        clippy::option_option,
        reason = "it counts or not; its signer is known or not"
    )]
    fn counts(
        &self,
        filter: &Filter,
        candidate: &Candidate,
        needs_signer: bool,
    ) -> Result<Option<Option<PublicKey>>, Cause> {
        let id = &candidate.version.id;
        if candidate
            .row
            .is_some_and(|row| row.expires.is_over(self.now))
        {
            return Ok(None);
        }
        if candidate.is_certain && !needs_signer {
            let is_over = candidate.row.is_none() && self.has_expired(id)?;
            return Ok((!is_over).then_some(None));
        }
        let event = self.load(id)?;
        let shown = is_shown(filter, self.viewer, &event, self.now);
        Ok(shown.then(|| Some(event.pubkey())))
    }

    /// Reads an event, of not too many.
    fn load(&self, id: &EventId) -> Result<Event, Cause> {
        self.read.set(self.read.get() + 1);
        if self.read.get() > self.inner.db.settings().read_events_max {
            return Err(Cause::TooMuch);
        }
        Ok(self.inner.load(id)?)
    }

    fn has_expired(&self, id: &EventId) -> Result<bool, Cause> {
        let row: Option<EventRow> = self.inner.row(id)?;
        Ok(row.is_some_and(|row| row.expires.is_over(self.now)))
    }

    /// The union of several filters, each within its own limit.
    fn union(&self, filters: &[Filter]) -> Result<u64, Cause> {
        let mut streams = Vec::new();
        for filter in filters.iter().filter(|filter| filter.limit() != Some(0)) {
            let plan = Plan::of(self.inner, filter, self.viewer)?;
            streams.push(Stream {
                filter,
                merge: Merge::new(plan.cursors(self.inner)?),
                left: filter.limit().unwrap_or(u64::MAX),
                head: None,
            });
        }
        let mut count = 0;
        for stream in &mut streams {
            stream.advance(self)?;
        }
        while let Some(first) = streams.iter().filter_map(|stream| stream.head).min() {
            count += 1;
            for stream in streams
                .iter_mut()
                .filter(|stream| stream.head == Some(first))
            {
                stream.advance(self)?;
            }
        }
        Ok(count)
    }
}

/// The events of one filter of several, in order.
struct Stream<'f> {
    filter: &'f Filter,
    merge: Merge,
    left: u64,
    head: Option<Version>,
}

impl Stream<'_> {
    fn advance(&mut self, asker: &Asker<'_>) -> Result<(), Cause> {
        self.head = None;
        while self.left > 0 {
            let Some(candidate) = self.merge.next(asker.inner, &mut 0)? else {
                break;
            };
            if asker.counts(self.filter, &candidate, false)?.is_some() {
                self.left -= 1;
                self.head = Some(candidate.version);
                break;
            }
        }
        Ok(())
    }
}

/// For which question, and which facet, a row may be kept that answers a filter.
fn kept_for(filter: &Filter) -> Option<(Option<CanonicalQuestion>, Facet)> {
    if let Some((question, value)) = CanonicalQuestion::of_filter(filter) {
        return sketch::facet_of(question, value).map(|facet| (Some(question), facet));
    }
    sketch::only_facet(filter).map(|facet| (None, facet))
}
