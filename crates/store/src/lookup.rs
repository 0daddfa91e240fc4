//! Finding an entry by its hash: `by_hash` keys carry the first 8 bytes, the log tells the rest
//! (`STO-4`). Whoever mines equal prefixes costs one log read for each.

use osier_core::EntryHash;
use osier_proto::Lsn;
use redb::ReadableTable;

use crate::{
    error::Cause,
    key::{self, TopicNo},
    log,
};

/// Where an entry stands in the log; none if it is not held.
pub(crate) fn lsn_of(
    by_hash: &impl ReadableTable<&'static [u8; 20], ()>,
    log_table: &impl ReadableTable<&'static [u8; 12], &'static [u8]>,
    no: TopicNo,
    hash: &EntryHash,
) -> Result<Option<Lsn>, Cause> {
    let from = key::by_hash(no, hash, Lsn::START);
    let to = key::by_hash(no, hash, Lsn::new(u64::MAX));
    for row in by_hash.range::<&[u8; 20]>(&from..=&to)? {
        let lsn = key::lsn_of_by_hash(row?.0.value());
        let entry = log_table.get(&key::log(no, lsn))?;
        let entry = entry.ok_or(Cause::damaged("a log row that an index names"))?;
        if log::hash(entry.value())? == *hash {
            return Ok(Some(lsn));
        }
    }
    Ok(None)
}
