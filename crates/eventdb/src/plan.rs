//! From a filter to the cursors that find what may match (`NOS-109`).
//!
//! | asked for | read |
//! | --- | --- |
//! | ids | their rows |
//! | authors and replaceable kinds | the newest version of each address |
//! | several of authors, tags, kinds | the one with the fewest events, by a short look |
//! | one of them | its facet rows |
//! | nothing but times | the set of everything |
//! | gated kinds, some or no kinds | besides, what those involve who have authenticated |
//!
//! A condition that the rows do not show (one of two tags, say) is judged by the event itself, with
//! the one predicate (`NOS-10`).

use std::sync::Arc;

use osier_nostr::{
    Address, Class, EventId, EventKind, Filter, Letter, PublicKey, Seconds, nip::nip17::Viewer,
};

use crate::{
    cursor::{Candidate, Cursor, FacetCursor, Kinds, SetCursor, Window, looked_up},
    error::Cause,
    facet,
    key::{self, Facet, FacetKey},
    limit,
    row::{FacetRow, decode_version},
    sets, sketch,
    view::Inner,
};

/// How a filter is answered.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// What is not gated.
    pub(crate) open: Vec<Way>,
    /// What is gated and involves the viewer; never certain.
    pub(crate) gated: Vec<Cursor>,
}

/// One way to find candidates.
#[derive(Debug)]
pub(crate) enum Way {
    /// What has been looked up.
    List(Vec<Candidate>),
    /// Events with any of these facets.
    Facets(Facets),
    /// A whole set.
    Set(u32, Window),
}

/// Events with any of some facets.
#[derive(Debug)]
pub(crate) struct Facets {
    pub(crate) any: Vec<Facet>,
    pub(crate) window: Window,
    pub(crate) kinds: Kinds,
    /// Whether all conditions of the filter are known to hold.
    pub(crate) is_certain: bool,
    /// Whether no event has two of them.
    pub(crate) is_disjoint: bool,
    /// Whether the rows hold the parts of the filter's sketch.
    pub(crate) has_sketch: bool,
}

impl Way {
    /// Whether all its rows together are the answer, each event once.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Self::Facets(facets) if facets.is_certain && facets.is_disjoint)
    }
}

impl Facets {
    /// Reads the rows of its kinds, range by range, until `each` says that it has enough.
    pub(crate) fn each(
        &self,
        inner: &Inner,
        each: &mut dyn FnMut(&FacetKey, &FacetRow) -> Result<bool, Cause>,
    ) -> Result<(), Cause> {
        for facet in &self.any {
            let (from, to) = self.window.keys(facet);
            if from > to {
                continue;
            }
            for row in inner.tables.facet.range::<&FacetKey>(&from..=&to)? {
                let (key, row) = row?;
                let row = FacetRow::decode(row.value());
                let kinds = self.kinds.as_ref();
                let is_kind = kinds.is_none_or(|kinds| kinds.binary_search(&row.kind).is_ok());
                if is_kind && !each(key.value(), &row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// A condition that an index exists for.
struct Dimension {
    facets: Vec<Facet>,
    is_disjoint: bool,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Authors,
    Tag(Letter),
    Kinds,
}

/// The seconds that a filter asks for.
pub(crate) fn window(filter: &Filter) -> Window {
    Window {
        since: filter.since().unwrap_or(Seconds::ZERO),
        until: filter.until().unwrap_or(Seconds::MAX),
    }
}

impl Plan {
    /// Works out how to answer a filter. Reads a few rows.
    pub(crate) fn of(inner: &Inner, filter: &Filter, viewer: &Viewer) -> Result<Self, redb::Error> {
        if filter.matches_nothing() {
            return Ok(Self::default());
        }
        if let Some(ids) = filter.ids() {
            return by_id(inner, filter, ids, viewer);
        }
        Ok(Self {
            open: open(inner, filter)?,
            gated: gated(inner, filter, viewer),
        })
    }

    /// Its cursors.
    pub(crate) fn cursors(self, inner: &Inner) -> Result<Vec<Cursor>, redb::Error> {
        let mut cursors = self.gated;
        for way in self.open {
            match way {
                Way::List(list) => cursors.push(Cursor::list(list)),
                Way::Set(set, window) => {
                    let cursor = SetCursor::new(inner.set(set)?, window, true);
                    cursors.push(Cursor::Set(Box::new(cursor)));
                }
                Way::Facets(own) => cursors.extend(own.any.iter().map(|facet| {
                    let kinds = own.kinds.clone();
                    Cursor::Facet(FacetCursor::new(facet, own.window, kinds, own.is_certain))
                })),
            }
        }
        Ok(cursors)
    }
}

/// Cursors over what is gated and involves who asks.
fn gated(inner: &Inner, filter: &Filter, viewer: &Viewer) -> Vec<Cursor> {
    let gate = &inner.db.settings().gate;
    let kinds: Arc<[EventKind]> = gate.kinds().filter(|kind| filter.reaches(*kind)).collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    let window = window(filter);
    let cursor = |key: &PublicKey| {
        let kinds = Some(Arc::clone(&kinds));
        Cursor::Facet(FacetCursor::new(&key::involved(key), window, kinds, false))
    };
    viewer.keys().iter().map(cursor).collect()
}

fn open(inner: &Inner, filter: &Filter) -> Result<Vec<Way>, redb::Error> {
    let gate = &inner.db.settings().gate;
    let kinds: Option<Vec<EventKind>> = filter.kinds().map(|kinds| {
        kinds
            .iter()
            .copied()
            .filter(|kind| !gate.covers(*kind))
            .collect()
    });
    let mut ways = Vec::new();
    let rest = match (filter.authors(), kinds) {
        (Some(authors), Some(kinds)) => {
            let (single, rest): (Vec<_>, Vec<_>) = kinds
                .iter()
                .partition(|kind| kind.class() == Class::Replaceable);
            if single.len().saturating_mul(authors.len()) > limit::ADDRESSES_MAX {
                Some(kinds)
            } else {
                ways.push(by_address(inner, filter, authors, &single)?);
                Some(rest)
            }
        }
        (_, kinds) => kinds,
    };
    if rest.as_ref().is_none_or(|kinds| !kinds.is_empty()) {
        ways.push(by_facet(inner, filter, rest)?);
    }
    Ok(ways)
}

/// The events with some ids: what is gated is looked at one by one.
fn by_id(
    inner: &Inner,
    filter: &Filter,
    ids: &[EventId],
    viewer: &Viewer,
) -> Result<Plan, redb::Error> {
    let gate = &inner.db.settings().gate;
    let is_certain = filter.authors().is_none() && filter.tags().is_empty();
    let (mut open, mut gated) = (Vec::new(), Vec::new());
    for id in ids {
        let Some(row) = inner.row(id)? else { continue };
        if !window(filter).holds(row.time) || !filter.reaches(row.kind) {
            continue;
        }
        if !gate.covers(row.kind) {
            open.push(looked_up(*id, &row, is_certain));
        } else if !viewer.keys().is_empty() {
            gated.push(looked_up(*id, &row, false));
        }
    }
    Ok(Plan {
        open: vec![Way::List(open)],
        gated: vec![Cursor::list(gated)],
    })
}

/// The newest versions of replaceable events. Where one is hidden there is none (`NOS-22`).
fn by_address(
    inner: &Inner,
    filter: &Filter,
    authors: &[PublicKey],
    kinds: &[EventKind],
) -> Result<Way, redb::Error> {
    let is_certain = filter.tags().is_empty();
    let mut found = Vec::new();
    for pubkey in authors {
        for kind in kinds {
            let address = Address {
                kind: *kind,
                pubkey: *pubkey,
                d: "".into(),
            };
            let Some(newest) = inner.tables.newest.get(&key::address(&address))? else {
                continue;
            };
            let version = decode_version(newest.value());
            if let Some(row) = inner.row(&version.id)?
                && window(filter).holds(row.time)
            {
                found.push(looked_up(version.id, &row, is_certain));
            }
        }
    }
    Ok(Way::List(found))
}

fn by_facet(
    inner: &Inner,
    filter: &Filter,
    kinds: Option<Vec<EventKind>>,
) -> Result<Way, redb::Error> {
    let window = window(filter);
    let mut dimensions = dimensions(filter);
    let conditions = dimensions.len();
    if let Some(kinds) = &kinds {
        let facets = kinds.iter().map(|kind| key::kind(*kind)).collect();
        dimensions.push(Dimension {
            facets,
            is_disjoint: true,
            what: What::Kinds,
        });
    }
    let Some(chosen) = choose(inner, dimensions, window)? else {
        return Ok(Way::Set(sets::ALL, window));
    };
    let open_conditions = conditions - usize::from(chosen.what != What::Kinds);
    let first = filter.tags().first().filter(|tag| tag.values().len() == 1);
    Ok(Way::Facets(Facets {
        any: chosen.facets,
        window,
        kinds: kinds.filter(|_| chosen.what != What::Kinds).map(Into::into),
        is_certain: open_conditions == 0,
        is_disjoint: chosen.is_disjoint,
        has_sketch: first.is_some_and(|tag| chosen.what == What::Tag(tag.letter())),
    }))
}

/// The conditions on authors and tags.
fn dimensions(filter: &Filter) -> Vec<Dimension> {
    let authors = filter.authors().map(|authors| Dimension {
        facets: authors.iter().map(key::author).collect(),
        is_disjoint: true,
        what: What::Authors,
    });
    let tags = filter.tags().iter().map(|condition| {
        let letter = condition.letter();
        let values = condition
            .values()
            .iter()
            .filter(|value| facet::can_be_asked(letter, value));
        Dimension {
            facets: values.map(|value| key::tag(letter, value)).collect(),
            is_disjoint: condition.values().len() == 1,
            what: What::Tag(letter),
        }
    });
    authors.into_iter().chain(tags).collect()
}

/// The condition that the fewest events meet, as far as a short look tells.
fn choose(
    inner: &Inner,
    mut dimensions: Vec<Dimension>,
    window: Window,
) -> Result<Option<Dimension>, redb::Error> {
    if dimensions.len() < 2 {
        return Ok(dimensions.pop());
    }
    let mut best: Option<(u64, Dimension)> = None;
    for dimension in dimensions {
        // Rows of authors and tags show the kind; rows of a kind show nothing else, so that each
        // of its events has to be read.
        let weight = if dimension.what == What::Kinds { 16 } else { 1 };
        let events = probe(inner, &dimension.facets, window)?.saturating_mul(weight);
        if best.as_ref().is_none_or(|(fewest, _)| events < *fewest) {
            best = Some((events, dimension));
        }
    }
    Ok(best.map(|(_, dimension)| dimension))
}

/// About how many events have one of these facets.
fn probe(inner: &Inner, facets: &[Facet], window: Window) -> Result<u64, redb::Error> {
    let looked_at = facets.len().min(limit::PROBE_VALUES_MAX);
    let mut events = 0;
    for facet in facets.iter().take(looked_at) {
        events += probe_one(inner, facet, window)?;
    }
    let values = facets.len().div_ceil(looked_at.max(1));
    Ok(events.saturating_mul(values as u64))
}

/// About how many events have a facet: what is few is counted, of what is many the count is kept.
fn probe_one(inner: &Inner, facet: &Facet, window: Window) -> Result<u64, redb::Error> {
    let (from, to) = window.keys(facet);
    if from > to {
        return Ok(0);
    }
    let mut rows = 0;
    for row in inner
        .tables
        .facet
        .range::<&FacetKey>(&from..=&to)?
        .take(limit::PROBE_ROWS_MAX)
    {
        row?;
        rows += 1;
    }
    if rows < limit::PROBE_ROWS_MAX {
        return Ok(rows as u64);
    }
    let kept = sketch::kept(&inner.tables.sketch, None, facet)?;
    Ok(kept.map_or(limit::KEPT_EVENTS_MIN / 2, |row| row.count))
}
