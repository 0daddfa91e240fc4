//! The rows of new entries: each table in key order, long runs through a cursor, so that pages are
//! filled once and not split.

use std::ops::Bound;

use osier_core::Item;
use osier_proto::Lsn;
use redb::{CursorError, Table};

use crate::{commit::Work, error::Cause, key, log, schema::Tables};

/// Writes `log`, `body`, `by_hash`, `chain` and `order`.
pub(crate) fn entries(work: &Work<'_>, tables: &mut Tables<'_>) -> Result<(), Cause> {
    let no = work.no;
    log_rows(work, tables)?;
    let mut by_hash = Vec::new();
    let mut chain = Vec::new();
    let mut order = Vec::new();
    for (lsn, entry) in work.stored() {
        let header = entry.header();
        let author = work.authors[&header.author()].row.number;
        by_hash.push(key::by_hash(no, &entry.hash(), lsn));
        chain.push(key::chain(no, author, header.seq().get(), lsn));
        order.push(key::order(no, &entry.order_key()));
    }
    by_hash.sort_unstable();
    chain.sort_unstable();
    order.sort_unstable();
    for key in &by_hash {
        tables.by_hash.insert(key, ())?;
    }
    for key in &chain {
        tables.chain.insert(key, ())?;
    }
    insert_runs(&mut tables.order, &order)
}

fn log_rows(work: &Work<'_>, tables: &mut Tables<'_>) -> Result<(), Cause> {
    let no = work.no;
    let mut row = Vec::new();
    let mut apart = Vec::new();
    let Some((first, _)) = work.stored().next() else {
        return Ok(());
    };
    let mut cursor = tables
        .log
        .lower_bound_mut(Bound::Included(&key::log(no, first)))?;
    for (lsn, entry) in work.stored() {
        if log::encode(entry, &mut row) {
            apart.push((lsn, entry));
        }
        let key = key::log(no, lsn);
        cursor.insert_before(&key, row.as_slice())?;
    }
    cursor.close()?;
    for (lsn, entry) in apart {
        body_rows(tables, no, lsn, entry.items())?;
    }
    Ok(())
}

/// Writes the held items of an entry whose body stands apart.
pub(crate) fn body_rows(
    tables: &mut Tables<'_>,
    no: key::TopicNo,
    lsn: Lsn,
    items: &[Item],
) -> Result<(), Cause> {
    for (number, item) in items.iter().enumerate() {
        if let Some(bytes) = item.bytes() {
            let number = u16::try_from(number).expect("at most 256 items");
            tables
                .body
                .insert(&key::body(no, lsn, number), bytes.as_ref())?;
        }
    }
    Ok(())
}

/// Inserts sorted keys; runs that fall into one gap of the table go through one cursor.
pub(crate) fn insert_runs<const N: usize>(
    table: &mut Table<'_, &'static [u8; N], ()>,
    keys: &[[u8; N]],
) -> Result<(), Cause> {
    let mut rest = keys;
    while let Some(first) = rest.first() {
        let mut cursor = table.lower_bound_mut(Bound::Included(first))?;
        let mut done = 0;
        for key in rest {
            match cursor.insert_before(key, ()) {
                Ok(()) => done += 1,
                Err(CursorError::UnorderedKey) if done > 0 => break,
                Err(error) => return Err(error.into()),
            }
        }
        cursor.close()?;
        rest = &rest[done..];
    }
    Ok(())
}
