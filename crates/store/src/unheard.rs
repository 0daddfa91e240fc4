//! Own entries that nobody else is known to have: a ring does not drop them yet (`STO-18`).

use osier_core::{NodeId, OrderKey, Seq};
use osier_proto::Lsn;
use redb::ReadableTable;

use crate::{
    author::Author,
    error::Cause,
    key::{self, TopicNo},
    log,
    schema::Tables,
};

/// The latest so many of a node's own entries are kept though nobody is known to have them: a ring
/// that never meets anybody who keeps everything must not fill its disk. Over it: the earlier ones
/// are dropped as if they had been heard.
pub const UNHEARD_KEPT_MAX: usize = 4_096;

/// Entries of all that a ring may keep beyond its number for the sake of unheard ones, which may be
/// far below the newest of a busy topic. Over it: nothing is kept for their sake.
pub const UNHEARD_STRETCH_MAX: u64 = 65_536;

/// Which entries nobody else is known to have: those of this author from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unheard {
    /// The node itself.
    pub author: NodeId,
    /// The first of them.
    pub from: Seq,
}

impl Unheard {
    /// The lowest of them at or above the floor; none if there are none. A tip below the floor is
    /// held whatever the floor is.
    pub(crate) fn lowest(
        &self,
        tables: &Tables<'_>,
        no: TopicNo,
        floor: OrderKey,
    ) -> Result<Option<OrderKey>, Cause> {
        let author = Author::load(&tables.head, no, &self.author)?;
        if author.new {
            return Ok(None);
        }
        let number = author.row.number;
        let from = key::chain(no, number, self.from.get(), Lsn::START);
        let to = key::chain(no, number, u64::MAX, Lsn::new(u64::MAX));
        let mut lowest: Option<OrderKey> = None;
        let chain = tables.chain.range::<&[u8; 24]>(&from..=&to)?;
        for row in chain.rev().take(UNHEARD_KEPT_MAX) {
            let (_, lsn) = key::seq_lsn_of_chain(row?.0.value());
            let row = tables.log.get(&key::log(no, lsn))?;
            let row = row.ok_or(Cause::damaged("a log row that the chain names"))?;
            let (header, hash) = log::decode_head(row.value())?;
            let time = header.time();
            let place = OrderKey { time, hash };
            if place >= floor {
                lowest = Some(lowest.map_or(place, |lowest| lowest.min(place)));
            }
        }
        Ok(lowest)
    }
}
