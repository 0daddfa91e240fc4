//! Taking entries out again: for retention, and for tips below the floor that have got a
//! successor.

use std::collections::{BTreeMap, btree_map::Entry};

use osier_core::{NodeId, OrderKey, TopicId};
use osier_proto::Lsn;
use redb::ReadableTable;

use crate::{
    author::Author,
    error::Cause,
    hole,
    key::{self, TopicNo},
    log,
    order_index::OrderIndex,
    projection::LogChange,
    row::Point,
    schema::Tables,
    store::Writing,
};

/// Removes entries, which are no tips, with all their rows; the index without them. The caller
/// writes `point` and the changed authors.
#[expect(
    clippy::too_many_arguments,
    reason = "one transaction's state, of two callers"
)]
pub(crate) fn drop_entries(
    writing: &Writing<'_>,
    tables: &mut Tables<'_>,
    topic: TopicId,
    no: TopicNo,
    point: &mut Point,
    authors: &mut BTreeMap<NodeId, Author>,
    index: &OrderIndex,
    places: &[Lsn],
) -> Result<OrderIndex, Cause> {
    let projections = writing.store.projections();
    let mut dropped = Vec::new();
    let mut items = Vec::new();
    for &lsn in places {
        let row = tables
            .log
            .get(&key::log(no, lsn))?
            .map(|row| row.value().to_vec());
        let row = row.ok_or(Cause::damaged("a log row that an index names"))?;
        let (header, hash) = log::decode_head(&row)?;
        if !projections.is_empty() {
            let body = |item| log::body_item(&tables.body, no, lsn, item);
            dropped.push((lsn, log::decode(&row, &body)?));
        }
        let who = header.author();
        if let Entry::Vacant(row) = authors.entry(who) {
            row.insert(Author::load(&tables.head, no, &who)?);
        }
        let author = authors.get_mut(&who).expect("just loaded");
        if author.new {
            return Err(Cause::damaged("the row of an author with entries"));
        }
        author.dropped(header.seq());
        let place = OrderKey {
            time: header.time(),
            hash,
        };
        tables.order.remove(&key::order(no, &place))?;
        tables.by_hash.remove(&key::by_hash(no, &hash, lsn))?;
        tables
            .chain
            .remove(&key::chain(no, author.row.number, header.seq().get(), lsn))?;
        tables.log.remove(&key::log(no, lsn))?;
        let (from, to) = (key::body(no, lsn, 0), key::body(no, lsn, u16::MAX));
        tables
            .body
            .retain_in::<&[u8; 14], _>(&from..=&to, |_, _| false)?;
        hole::unlink(tables, no, point, &header, lsn)?;
        point.set.remove(&hash);
        point.pruned += 1;
        items.push(osier_proto::range_item(&place));
    }
    let change = LogChange::of(writing.txn, tables, topic, no);
    for projection in projections {
        projection.dropped(&change, &dropped)?;
    }
    items.sort_unstable();
    index.edit(&mut tables.chunk, &tables.order, no, &[], &items)
}
