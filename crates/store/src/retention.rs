//! Rings: how much history a topic keeps, and what is removed (`STO-12`, `STO-13`).
//!
//! The floor is a place in the range order. At or above it everything that was ever stored is
//! held; below it only the authors' tips are, so that the state hash of a ring and of an archive
//! that agree are the same. A tip below the floor goes, too, when a later entry of its author is
//! held, who is not known to have forked: a ring that was away has not seen what leads from one to
//! the other. The floor never goes down: to keep more again, leave the topic and
//! join it anew.
//!
//! A floor is the start of a millisecond. Entries of one millisecond stand in the order of their
//! hashes, so a floor between them would keep an arbitrary piece of each chain.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use osier_core::{EntryHash, OrderKey, Timestamp, TopicId};
use osier_proto::{Lsn, Summary};
use osier_reconcile::Bound;
use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use crate::{
    author::Author,
    commit::write_frontier,
    control,
    drop::drop_entries,
    error::{Cause, StoreError},
    key::{self, TopicNo},
    log,
    lookup::lsn_of,
    order_index::{self, OrderIndex},
    point,
    row::Point,
    schema::Tables,
    store::{Store, Writing},
    topic,
    unheard::{UNHEARD_STRETCH_MAX, Unheard},
};

/// Entries dated more than this many milliseconds after the present do not count towards a number
/// of entries to keep: an author with a wrong clock must not push honest entries out.
pub const FUTURE_SLACK_MS: u64 = 10 * 60 * 1000;

/// Entries removed in one transaction, and what is left of their last millisecond: a prune of a
/// long history must not hold up the entries that wait for the writer for more than a moment. Over
/// it: more transactions follow.
const PRUNE_STEP_ENTRIES: usize = 16_384;

/// Entries of the oldest millisecond are all kept while that makes a ring at most this many times
/// as long as it should be, and all dropped otherwise: a burst must not fill the disk of a ring.
const NEWEST_STRETCH_MAX: u64 = 2;

/// How much history a topic keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Retention {
    /// Everything.
    All,
    /// The newest entries in range order.
    Newest {
        /// How many; tips below the floor and entries from the future come on top, and those of
        /// the oldest millisecond, up to twice the number.
        entries: u64,
    },
    /// Entries not older than this by their authors' clocks.
    Within {
        /// Milliseconds.
        ms: u64,
    },
}

/// What a prune did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneReport {
    /// Entries removed.
    pub removed: u64,
    /// The floor after it; none while nothing has ever been removed.
    pub floor: Option<OrderKey>,
    /// The topic after it.
    pub summary: Summary,
}

impl Store {
    /// Removes what the topic's retention does not keep; what is unheard is kept as well, within
    /// bounds (`STO-18`). Snapshots taken before are not touched.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn prune(
        &self,
        topic: TopicId,
        now_ms: u64,
        unheard: Option<Unheard>,
    ) -> Result<PruneReport, StoreError> {
        let mut removed = 0;
        loop {
            let step = self.write("prune", |writing| {
                prune_step(writing, topic, now_ms, unheard)
            })?;
            removed += step.removed;
            if step.done {
                let Point { floor, .. } = step.point;
                return Ok(PruneReport {
                    removed,
                    floor,
                    summary: step.point.summary(),
                });
            }
        }
    }
}

struct Step {
    removed: u64,
    done: bool,
    point: Point,
}

fn prune_step(
    writing: &mut Writing<'_>,
    topic: TopicId,
    now_ms: u64,
    unheard: Option<Unheard>,
) -> Result<Step, Cause> {
    let mut tables = Tables::open(writing.txn)?;
    let none = |point| {
        Ok(Step {
            removed: 0,
            done: true,
            point,
        })
    };
    let Some(no) = topic::number(&tables.topic_number, &topic)? else {
        return none(Point::empty());
    };
    let mut point = point::read(&tables.point, no)?;
    let index = match writing.store.index(no, point.version) {
        Some(index) => index,
        None => OrderIndex::load(&tables.chunk, no)?.into(),
    };
    let record = topic::record(&tables.topic, no)?;
    let retention = record.map_or(Retention::All, |record| record.retention);
    let Some(wanted) = wanted_floor(retention, &tables, no, &index, now_ms)? else {
        return none(point);
    };
    let wanted = match unheard {
        Some(unheard) => {
            let floor = point.floor.unwrap_or(OrderKey::MIN);
            below_unheard(unheard, (floor, wanted), &tables, no, &index)?
        }
        None => wanted,
    };
    if point.floor.is_some_and(|floor| wanted <= floor) {
        return none(point);
    }
    let mut authors = BTreeMap::new();
    let sweep = sweep(&mut tables, no, point.floor, &wanted, &mut authors)?;
    if sweep.places.is_empty() && sweep.next.is_none() {
        return none(point);
    }
    // Whole up to the first millisecond that this step has not looked at.
    point.floor = Some(sweep.next.unwrap_or(wanted));
    let index = drop_entries(
        writing,
        &mut tables,
        topic,
        no,
        &mut point,
        &mut authors,
        &index,
        &sweep.places,
    )?;
    for author in authors.values_mut() {
        for (seq, hash) in author.earlier_tips() {
            author.remove_tip(no, &mut tables.tip, &hash, Some(seq))?;
        }
    }
    write_frontier(&mut tables, no, &mut point, &authors)?;
    for (who, author) in authors.iter().filter(|(_, author)| author.is_changed()) {
        tables
            .head
            .insert(&key::node(no, who), author.row.encode().as_slice())?;
    }
    point.version += 1;
    point::write(&mut tables, no, &point)?;
    if index.total().count != point.set.count() {
        return Err(Cause::damaged("the order of entries"));
    }
    writing
        .indexes
        .insert(no, (point.version, Some(index.into())));
    let removed = sweep.places.len() as u64;
    Ok(Step {
        removed,
        done: sweep.next.is_none(),
        point,
    })
}

/// Where the floor should be; none for "as it is".
fn wanted_floor(
    retention: Retention,
    tables: &Tables<'_>,
    no: TopicNo,
    index: &OrderIndex,
    now_ms: u64,
) -> Result<Option<OrderKey>, Cause> {
    match retention {
        Retention::All => Ok(None),
        Retention::Within { ms } => Ok(Some(start_of(now_ms.saturating_sub(ms)))),
        Retention::Newest { entries } => {
            let end = now_ms.saturating_add(FUTURE_SLACK_MS).saturating_add(1);
            let countable = rank_of(tables, no, index, &Bound::at_time(end))?;
            match countable.checked_sub(entries) {
                None | Some(0) => Ok(None),
                Some(rank) if rank == index.total().count => Ok(Some(after_last(tables, no)?)),
                Some(rank) => {
                    let oldest = place_at(tables, no, index, rank)?.time.as_millis();
                    let before = rank_of(tables, no, index, &Bound::at_time(oldest))?;
                    let stretched = countable.saturating_sub(before);
                    let fits = stretched <= entries.saturating_mul(NEWEST_STRETCH_MAX);
                    Ok(Some(start_of(oldest.saturating_add(u64::from(!fits)))))
                }
            }
        }
    }
}

/// A floor that takes no unheard entry away, if the ring does not grow beyond bounds by it.
fn below_unheard(
    unheard: Unheard,
    (floor, wanted): (OrderKey, OrderKey),
    tables: &Tables<'_>,
    no: TopicNo,
    index: &OrderIndex,
) -> Result<OrderKey, Cause> {
    let Some(lowest) = unheard.lowest(tables, no, floor)? else {
        return Ok(wanted);
    };
    let floor = start_of(lowest.time.as_millis());
    if floor >= wanted {
        return Ok(wanted);
    }
    let rank = |floor: OrderKey| {
        let bound = Bound::at_time(floor.time.as_millis());
        rank_of(tables, no, index, &bound)
    };
    let stretch = rank(wanted)?.saturating_sub(rank(floor)?);
    Ok(if stretch <= UNHEARD_STRETCH_MAX {
        floor
    } else {
        wanted
    })
}

/// The place before every entry of a millisecond.
const fn start_of(millisecond: u64) -> OrderKey {
    OrderKey {
        time: Timestamp::from_millis(millisecond),
        hash: EntryHash::MIN,
    }
}

fn rank_of(
    tables: &Tables<'_>,
    no: TopicNo,
    index: &OrderIndex,
    bound: &Bound,
) -> Result<u64, Cause> {
    let Some(found) = index.find(&bound.floor()) else {
        return Ok(0);
    };
    let items = order_index::items_of(&tables.order, no, &found)?;
    let inside = items.partition_point(|item| item.is_below(bound)) as u64;
    Ok(found.before.count + inside)
}

fn place_at(
    tables: &Tables<'_>,
    no: TopicNo,
    index: &OrderIndex,
    rank: u64,
) -> Result<OrderKey, Cause> {
    const WHAT: &str = "a rank of the order";
    let found = index.at_rank(rank).ok_or(Cause::damaged(WHAT))?;
    let items = order_index::items_of(&tables.order, no, &found)?;
    let inside = usize::try_from(rank - found.before.count).unwrap_or(usize::MAX);
    let item = items.get(inside).ok_or(Cause::damaged(WHAT))?;
    Ok(OrderKey {
        time: Timestamp::from_millis(item.time),
        hash: EntryHash::from_bytes(item.id),
    })
}

/// Keep no entry at all: the floor lies above the last.
fn after_last(tables: &Tables<'_>, no: TopicNo) -> Result<OrderKey, Cause> {
    let (from, to) = (order_index::lowest(no), order_index::highest(no));
    let last = tables
        .order
        .range::<&[u8; 44]>(&from..=&to)?
        .next_back()
        .transpose()?;
    let last = last.map_or(OrderKey::MIN, |(key, _)| key::order_of(key.value()));
    Ok(start_of(last.time.as_millis().saturating_add(1)))
}

/// What one step removes.
struct Sweep {
    places: Vec<Lsn>,
    /// The first millisecond not looked at; none when all below the wanted floor were.
    next: Option<OrderKey>,
}

/// Entries from the old floor to the wanted one that are not tips, or that their author has gone on
/// from; about a step's worth. Those below the old floor are tips: the commit path removes them
/// when they no longer are.
fn sweep(
    tables: &mut Tables<'_>,
    no: TopicNo,
    floor: Option<OrderKey>,
    wanted: &OrderKey,
    authors: &mut BTreeMap<osier_core::NodeId, Author>,
) -> Result<Sweep, Cause> {
    let words: BTreeSet<EntryHash> = control::kept(&tables.control, no)?.into_iter().collect();
    let from = floor.map_or(order_index::lowest(no), |floor| key::order(no, &floor));
    let to = key::order(no, wanted);
    let mut places = Vec::new();
    let mut at = None;
    for row in tables.order.range::<&[u8; 44]>(&from..&to)? {
        let place = key::order_of(row?.0.value());
        if places.len() >= PRUNE_STEP_ENTRIES && at != Some(place.time) {
            return Ok(Sweep {
                places,
                next: Some(start_of(place.time.as_millis())),
            });
        }
        at = Some(place.time);
        let lsn = lsn_of(&tables.by_hash, &tables.log, no, &place.hash)?;
        let lsn = lsn.ok_or(Cause::damaged("an entry that the order names"))?;
        let row = tables.log.get(&key::log(no, lsn))?;
        let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
        let (header, hash) = log::decode_head(row.value())?;
        let who = header.author();
        if let Entry::Vacant(row) = authors.entry(who) {
            row.insert(Author::load(&tables.head, no, &who)?);
        }
        let author = authors.get_mut(&who).expect("just loaded");
        if words.contains(&hash) {
            continue;
        }
        if author.earlier_tips().contains(&(header.seq(), hash)) {
            author.remove_tip(no, &mut tables.tip, &hash, Some(header.seq()))?;
        }
        if !author.has_tip(no, &tables.tip, header.seq(), &hash)? {
            places.push(lsn);
        }
    }
    Ok(Sweep { places, next: None })
}
