//! Reading history in pages: in order of arrival, by the authors' clocks, or causally.

use std::{fmt, str::FromStr};

use osier_core::{Entry, EntryHash, NodeId, Seq, SignedEntry, TopicId, Verified, WireEntry};
use osier_proto::{Source, View};
use osier_store::Store;

use crate::{
    causal::{self, CausalMark},
    error::{Error, Result},
    position::Position,
};

/// Bytes of entries in one page, beyond the first entry: bounds memory whatever their sizes.
pub(crate) const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// An entry with its place.
pub(crate) type Placed = (Position, Verified<Entry>);

/// In which order to read, and after what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As entries came to this node.
    Arrival {
        /// The last place that was read.
        after: Position,
    },
    /// By the authors' clocks, then by hash: the same on every node that holds the same.
    Time {
        /// The last place that was read.
        after: TimeMark,
    },
    /// Each entry after everything that it names and this node holds, otherwise as they came.
    Causal {
        /// The last place that was read.
        after: CausalMark,
    },
}

/// Entries in order.
#[derive(Debug)]
pub struct Page {
    /// The entries, with their positions in order of arrival.
    pub entries: Vec<(Option<Position>, Verified<Entry>)>,
    /// Reads what follows.
    pub next: Order,
    /// Whether nothing follows now.
    pub done: bool,
}

/// A place in the order of the authors' clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeMark {
    time_ms: u64,
    hash: EntryHash,
}

/// A text that is not such a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a place in order of time; use the one that the page before gave")]
pub struct TimeMarkTextInvalid(String);

impl TimeMark {
    /// Before every entry.
    pub const START: Self = Self {
        time_ms: 0,
        hash: EntryHash::MIN,
    };
}

impl fmt::Display for TimeMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.time_ms, self.hash)
    }
}

impl FromStr for TimeMark {
    type Err = TimeMarkTextInvalid;

    fn from_str(text: &str) -> std::result::Result<Self, TimeMarkTextInvalid> {
        let invalid = || TimeMarkTextInvalid(text.chars().take(100).collect());
        let (time, hash) = text.split_once('-').ok_or_else(invalid)?;
        Ok(Self {
            time_ms: time.parse().map_err(|_| invalid())?,
            hash: hash.parse().map_err(|_| invalid())?,
        })
    }
}

/// A page in order of arrival.
pub(crate) struct Arrival {
    pub(crate) entries: Vec<Placed>,
    pub(crate) done: bool,
}

/// Reads what came after a place.
pub(crate) fn arrival(
    store: &Store,
    topic: TopicId,
    after: Position,
    entries_max: usize,
) -> Result<Arrival> {
    let view = store
        .view(topic)
        .map_err(|error| Error::Read(error.to_string()))?;
    let page = view.log(after.lsn(), entries_max, PAGE_BYTES_MAX);
    let page = page.map_err(|error| Error::Read(error.to_string()))?;
    let entries = page
        .entries
        .into_iter()
        .map(|(lsn, wire)| Ok((Position::new(lsn), stored(wire)?)));
    Ok(Arrival {
        entries: entries.collect::<Result<_>>()?,
        done: page.done,
    })
}

/// Reads a page.
pub(crate) fn read(store: &Store, topic: TopicId, order: Order, limit: usize) -> Result<Page> {
    let after = match order {
        Order::Time { after } => return by_time(store, topic, after, limit),
        Order::Causal { after } => {
            let view = store.view(topic);
            let view = view.map_err(|error| Error::Read(error.to_string()))?;
            return causal::page(&*view, after, limit);
        }
        Order::Arrival { after } => after,
    };
    let page = arrival(store, topic, after, limit)?;
    let after = page.entries.last().map_or(after, |(position, _)| *position);
    Ok(Page {
        entries: page
            .entries
            .into_iter()
            .map(|(at, entry)| (Some(at), entry))
            .collect(),
        next: Order::Arrival { after },
        done: page.done,
    })
}

fn by_time(store: &Store, topic: TopicId, after: TimeMark, limit: usize) -> Result<Page> {
    let failed = |error: &dyn fmt::Display| Error::Read(error.to_string());
    let view = store.view(topic).map_err(|error| failed(&error))?;
    let total = view.order().len().map_err(|error| failed(&error))?;
    let first = rank_after(&*view, after, total)?;
    let last = total.min(first.saturating_add(limit as u64));
    let mut marks = Vec::new();
    let mut take = |time_ms, id| {
        let hash = EntryHash::from_bytes(id);
        marks.push(TimeMark { time_ms, hash });
    };
    let items = view
        .order()
        .items(first..last, &mut |item| take(item.time, item.id));
    items.map_err(|error| failed(&error))?;
    let (mut entries, mut next, mut bytes) = (Vec::new(), after, 0);
    for mark in marks {
        let found = view.entry(&mark.hash).map_err(|error| failed(&error))?;
        let wire = found.ok_or_else(|| failed(&"the order names an entry that is not held"))?;
        bytes += wire.size();
        if bytes > PAGE_BYTES_MAX && !entries.is_empty() {
            break;
        }
        entries.push((None, stored(wire)?));
        next = mark;
    }
    let done = first + entries.len() as u64 >= total;
    Ok(Page {
        entries,
        next: Order::Time { after: next },
        done,
    })
}

/// The rank of the first entry behind a mark, by halving.
fn rank_after(view: &dyn View, after: TimeMark, total: u64) -> Result<u64> {
    let mark = (after.time_ms, *after.hash.as_bytes());
    let (mut low, mut high) = (0, total);
    while low < high {
        let middle = low + (high - low) / 2;
        let item = view
            .order()
            .at(middle)
            .map_err(|error| Error::Read(error.to_string()))?;
        if (item.time, item.id) <= mark {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// The last place in an author's chain; 0 for none.
pub(crate) fn last_seq(view: &dyn View, author: NodeId) -> Result<u64> {
    Ok(last_of(view, author)?.map_or(0, |(seq, _)| seq.get()))
}

/// The last entry of an author. Asks for the heads after the author just below.
pub(crate) fn last_of(view: &dyn View, author: NodeId) -> Result<Option<(Seq, EntryHash)>> {
    let heads = view.heads(below(author), 1);
    let heads = heads.map_err(|error| Error::Read(error.to_string()))?;
    let own = heads.iter().filter(|head| head.author == author);
    Ok(own.map(|head| (head.seq, head.hash)).max())
}

/// The greatest id below this one; none for the smallest.
fn below(node: NodeId) -> Option<NodeId> {
    let mut bytes = *node.as_bytes();
    for byte in bytes.iter_mut().rev() {
        let (less, borrow) = byte.overflowing_sub(1);
        *byte = less;
        if !borrow {
            return Some(NodeId::from_bytes(bytes));
        }
    }
    None
}

/// Our own store's rows were verified before they were stored.
fn stored(wire: WireEntry) -> Result<Verified<Entry>> {
    let parsed = SignedEntry::parse(wire).map_err(|error| Error::Read(error.to_string()))?;
    Ok(parsed.trust_stored())
}

/// Runs what reads the disk beside other work.
pub(crate) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| Error::Stopped)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_returns_as_text() {
        let mark = TimeMark {
            time_ms: 12,
            hash: EntryHash::from_bytes([3; 32]),
        };
        assert_eq!(mark.to_string().parse(), Ok(mark));
        assert!("12".parse::<TimeMark>().is_err());
        assert!("x-y".parse::<TimeMark>().is_err());
    }
}
