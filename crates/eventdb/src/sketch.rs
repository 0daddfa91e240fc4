//! Kept counts and sketches (`NOS-106`): how many events have a facet, or answer one of NIP-45's
//! questions, and who signed them, where counting would take long.
//!
//! A row is made when many events match, not before: most notes have a handful of reactions, and a
//! row for each would cost more than it saves. The count of a row is exact. A register can only be
//! raised; when too many of its events have gone, the row is made again from the facet rows.

use std::collections::BTreeMap;

use osier_nostr::{CanonicalQuestion, Event, EventKind, Filter, Letter, Sketch};
use redb::ReadableTable;

use crate::{
    facet,
    key::{self, Facet, FacetKey},
    limit,
    row::{FACET_BYTES, FacetRow, SKETCH_BYTES, SketchRow},
    schema::Tables,
    settings::Settings,
};

/// Rows after which a walk stops if few of them answer the question: it would not become cheaper.
const WALK_ROWS_MAX: u64 = 16_384;
/// How many of them must.
const WALK_HITS_MIN: u64 = 128;

/// What a batch changes in the kept sketches.
#[derive(Debug, Default)]
pub(crate) struct SketchChanges(BTreeMap<[u8; 17], Change>);

#[derive(Debug)]
struct Change {
    /// None for all events with the facet.
    question: Option<CanonicalQuestion>,
    facet: Facet,
    come: Vec<(u8, u8)>,
    gone: Vec<(u8, u8)>,
    /// Whether to see if a row is due.
    look: bool,
}

/// The number of a question in keys.
const fn number(question: Option<CanonicalQuestion>) -> u8 {
    match question {
        None => 0,
        Some(CanonicalQuestion::Reactions) => 1,
        Some(CanonicalQuestion::Reposts) => 2,
        Some(CanonicalQuestion::Quotes) => 3,
        Some(CanonicalQuestion::Replies) => 4,
        Some(CanonicalQuestion::Comments) => 5,
        Some(CanonicalQuestion::Followers) => 6,
    }
}

/// The number of a question, and the facet, of a key.
pub(crate) fn of_key(key: &[u8; 17]) -> (u8, Facet) {
    let mut facet = [0; 16];
    facet.copy_from_slice(&key[1..]);
    (key[0], facet)
}

/// Whether the question with a number is about a kind.
pub(crate) fn is_about(question: u8, kind: EventKind) -> bool {
    let mut all = std::iter::once(None).chain(CanonicalQuestion::ALL.into_iter().map(Some));
    let asked = all.find(|asked| number(*asked) == question);
    let kinds = asked.map(kinds_of);
    kinds.is_some_and(|kinds| kinds.is_none_or(|kinds| kinds.contains(&kind)))
}

/// The kinds that a question is about; none is all.
const fn kinds_of(question: Option<CanonicalQuestion>) -> Option<&'static [EventKind]> {
    match question {
        None => None,
        Some(question) => Some(question.shape().1),
    }
}

/// The facet that a question of a value walks.
pub(crate) fn facet_of(question: CanonicalQuestion, value: &str) -> Option<Facet> {
    let (letter, _) = question.shape();
    let letter = Letter::new(letter)?;
    facet::can_be_asked(letter, value).then(|| key::tag(letter, value))
}

/// The facet that is all that a filter asks for.
pub(crate) fn only_facet(filter: &Filter) -> Option<Facet> {
    let is_free = filter.ids().is_none()
        && filter.since().is_none()
        && filter.until().is_none()
        && filter.limit().is_none();
    if !is_free {
        return None;
    }
    match (filter.authors(), filter.kinds(), filter.tags()) {
        (Some([author]), None, []) => Some(key::author(author)),
        (None, Some([kind]), []) => Some(key::kind(*kind)),
        (None, None, [tag]) => match tag.values() {
            [value] => Some(key::tag(tag.letter(), value)),
            _ => None,
        },
        _ => None,
    }
}

impl SketchChanges {
    /// An event comes, with these facets.
    pub(crate) fn come(
        &mut self,
        settings: &Settings,
        event: &Event,
        facets: &[(Facet, FacetRow)],
    ) {
        let one_in = settings.kept_events_min / u64::from(limit::KEPT_LOOKS_MIN);
        let look = u64::from(event.id().as_bytes()[31])
            .is_multiple_of(one_in.clamp(1, limit::KEPT_LOOK_ONE_IN_MAX));
        self.each(settings, event, facets, |change, part| {
            change.come.push(part);
            change.look |= look;
        });
    }

    /// An event goes, with these facets.
    pub(crate) fn go(&mut self, settings: &Settings, event: &Event, facets: &[(Facet, FacetRow)]) {
        self.each(settings, event, facets, |change, part| {
            change.gone.push(part);
        });
    }

    fn each(
        &mut self,
        settings: &Settings,
        event: &Event,
        facets: &[(Facet, FacetRow)],
        mut change: impl FnMut(&mut Change, (u8, u8)),
    ) {
        if facet::is_gated(settings, event) {
            return;
        }
        let asked =
            CanonicalQuestion::of_event(event)
                .into_iter()
                .filter_map(|(question, value)| {
                    let facet = facet_of(question, &value)?;
                    let at = facets.binary_search_by_key(&facet, |(of, _)| *of).ok()?;
                    Some((Some(question), facets[at]))
                });
        for (question, (facet, row)) in facets.iter().map(|it| (None, *it)).chain(asked) {
            let empty = || Change {
                question,
                facet,
                come: Vec::new(),
                gone: Vec::new(),
                look: false,
            };
            let key = key::sketch(number(question), &facet);
            change(
                self.0.entry(key).or_insert_with(empty),
                (row.register, row.rank),
            );
        }
    }

    /// Writes them, once the facet rows are as they will be.
    pub(crate) fn write(
        self,
        tables: &mut Tables<'_>,
        settings: &Settings,
    ) -> Result<(), redb::Error> {
        let events_min = settings.kept_events_min;
        for (key, change) in self.0 {
            let row = tables
                .sketch
                .get(&key)?
                .map(|row| SketchRow::decode(row.value()));
            let row = match row {
                Some(row) => change.apply(row, events_min),
                None if change.look => After::Make { least: events_min },
                None => continue,
            };
            let row = match row {
                After::Row(row) => Some(row),
                After::Nothing => None,
                After::Make { least } => {
                    let kinds = kinds_of(change.question);
                    make(&tables.facet, &change.facet, kinds, least)?
                }
            };
            match row {
                Some(row) => tables.sketch.insert(&key, &row.encode())?.map(drop),
                None => tables.sketch.remove(&key)?.map(drop),
            };
        }
        Ok(())
    }
}

/// What becomes of a row.
enum After {
    Row(SketchRow),
    /// Few match by now.
    Nothing,
    /// It has to be made from the facet rows, if so many match.
    Make {
        least: u64,
    },
}

impl Change {
    fn apply(&self, mut row: SketchRow, events_min: u64) -> After {
        let registers = *row.sketch.registers();
        let top =
            |(register, rank): &&(u8, u8)| *rank > 0 && registers[usize::from(*register)] == *rank;
        row.lowered += self.gone.iter().filter(top).count() as u64;
        row.count += self.come.len() as u64;
        row.count = row.count.saturating_sub(self.gone.len() as u64);
        for (register, rank) in &self.come {
            row.sketch.raise(*register, *rank);
        }
        // Half of what makes a row, so that none comes and goes with each event.
        let least = events_min / 2;
        if row.count < least {
            After::Nothing
        } else if row.lowered * limit::SKETCH_STALE_PART > row.count {
            After::Make { least }
        } else {
            After::Row(row)
        }
    }
}

/// Counts and sketches from the facet rows; none if few match.
fn make(
    table: &impl ReadableTable<&'static FacetKey, &'static [u8; FACET_BYTES]>,
    facet: &Facet,
    kinds: Option<&[EventKind]>,
    least: u64,
) -> Result<Option<SketchRow>, redb::Error> {
    let mut made = SketchRow {
        count: 0,
        lowered: 0,
        sketch: Sketch::empty(),
    };
    let (from, to) = all_of(facet);
    let mut rows = 0;
    for row in table.range::<&FacetKey>(&from..=&to)? {
        let row = FacetRow::decode(row?.1.value());
        rows += 1;
        if kinds.is_none_or(|kinds| kinds.contains(&row.kind)) {
            made.count += 1;
            made.sketch.raise(row.register, row.rank);
        }
        if rows == WALK_ROWS_MAX && made.count < WALK_HITS_MIN {
            return Ok(None);
        }
    }
    Ok((made.count >= least).then_some(made))
}

/// All rows of a facet.
pub(crate) fn all_of(facet: &Facet) -> (FacetKey, FacetKey) {
    let (mut from, mut to) = ([0; 56], [0xff; 56]);
    from[..16].copy_from_slice(facet);
    to[..16].copy_from_slice(facet);
    (from, to)
}

/// The row of a question, if one is kept.
pub(crate) fn kept(
    table: &impl ReadableTable<&'static [u8; 17], &'static [u8; SKETCH_BYTES]>,
    question: Option<CanonicalQuestion>,
    facet: &Facet,
) -> Result<Option<SketchRow>, redb::Error> {
    let row = table.get(&key::sketch(number(question), facet))?;
    Ok(row.map(|row| SketchRow::decode(row.value())))
}
