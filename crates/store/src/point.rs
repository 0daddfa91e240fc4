//! The `point` row: what a summary needs, in one read.

use redb::ReadableTable;

use crate::{
    error::Cause,
    key::{self, TopicNo},
    row::Point,
    schema::{POINT_BYTES, Tables},
};

/// The row of a topic; that of an empty one if there is none.
pub(crate) fn read(
    table: &impl ReadableTable<&'static [u8; 4], &'static [u8; POINT_BYTES]>,
    no: TopicNo,
) -> Result<Point, Cause> {
    table
        .get(&key::topic(no))?
        .map_or(Ok(Point::empty()), |row| Point::decode(row.value()))
}

/// Writes the row.
pub(crate) fn write(tables: &mut Tables<'_>, no: TopicNo, point: &Point) -> Result<(), Cause> {
    tables.point.insert(&key::topic(no), &point.encode())?;
    Ok(())
}
