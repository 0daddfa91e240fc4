//! Values: what a row says, byte by byte (`STO-3`). Numbers are big-endian.

use osier_core::{EntryHash, OrderKey, Seq, SetSum, StateHash, Timestamp};
use osier_proto::{Lsn, Summary};
use osier_reconcile::{Sum, Summary as RangeSummary};

use crate::{error::Cause, key::AuthorNo, schema::POINT_BYTES};

/// Walks over the bytes of a row.
pub(crate) struct Cut<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Cut<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { rest: bytes, what }
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Cause> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(Cause::damaged(self.what))?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Cause> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Cause::damaged(self.what))?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Cause> {
        Ok(self.fixed::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Cause> {
        Ok(u16::from_be_bytes(self.fixed()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Cause> {
        Ok(u32::from_be_bytes(self.fixed()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Cause> {
        Ok(u64::from_be_bytes(self.fixed()?))
    }

    pub(crate) fn hash(&mut self) -> Result<EntryHash, Cause> {
        Ok(EntryHash::from_bytes(self.fixed()?))
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Result<(), Cause> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Cause::damaged(self.what))
        }
    }
}

/// Sums over one topic, updated in every transaction that touches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    /// The last place given out.
    pub(crate) last: Lsn,
    /// Entries held.
    pub(crate) set: SetSum,
    pub(crate) state: StateHash,
    /// Authors with tips; also how many author numbers were given out.
    pub(crate) authors: u32,
    /// Rows of `hole` that count as holes.
    pub(crate) holes: u64,
    /// Rows of `hole` in all.
    pub(crate) hole_rows: u64,
    /// Entries that retention has removed.
    pub(crate) pruned: u64,
    /// Transactions that touched the topic's entries: names a version of the order index.
    pub(crate) version: u64,
    /// Below it only tips are held; none while nothing has been dropped.
    pub(crate) floor: Option<OrderKey>,
}

impl Point {
    pub(crate) fn empty() -> Self {
        Self {
            last: Lsn::START,
            set: SetSum::EMPTY,
            state: StateHash::empty(),
            authors: 0,
            holes: 0,
            hole_rows: 0,
            pruned: 0,
            version: 0,
            floor: None,
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            set: self.set,
            state: self.state,
            authors: u64::from(self.authors),
            coverage: self.floor.map_or(osier_core::Coverage::Complete, |floor| {
                osier_core::Coverage::From { floor }
            }),
        }
    }

    pub(crate) fn encode(&self) -> [u8; POINT_BYTES] {
        let floor = self.floor.unwrap_or(OrderKey::MIN);
        let mut out = Vec::with_capacity(POINT_BYTES);
        out.extend_from_slice(&self.last.get().to_be_bytes());
        out.extend_from_slice(&self.set.count().to_be_bytes());
        out.extend_from_slice(self.set.sum());
        out.extend_from_slice(self.state.as_bytes());
        out.extend_from_slice(&self.authors.to_be_bytes());
        out.extend_from_slice(&self.holes.to_be_bytes());
        out.extend_from_slice(&self.hole_rows.to_be_bytes());
        out.extend_from_slice(&self.pruned.to_be_bytes());
        out.extend_from_slice(&self.version.to_be_bytes());
        out.push(u8::from(self.floor.is_some()));
        out.extend_from_slice(&floor.time.as_millis().to_be_bytes());
        out.extend_from_slice(floor.hash.as_bytes());
        out.try_into().expect("the fields fill the row")
    }

    pub(crate) fn decode(bytes: &[u8; POINT_BYTES]) -> Result<Self, Cause> {
        let mut cut = Cut::new("point row", bytes);
        let last = Lsn::new(cut.u64()?);
        let set = SetSum::from_parts(cut.u64()?, cut.fixed()?);
        let state = StateHash::from_bytes(cut.fixed()?);
        let (authors, holes, hole_rows) = (cut.u32()?, cut.u64()?, cut.u64()?);
        let (pruned, version) = (cut.u64()?, cut.u64()?);
        let has_floor = cut.byte()?;
        let floor = OrderKey {
            time: Timestamp::from_millis(cut.u64()?),
            hash: cut.hash()?,
        };
        cut.end()?;
        let floor = (has_floor == 1).then_some(floor);
        let point = Self {
            last,
            set,
            state,
            authors,
            holes,
            hole_rows,
            pruned,
            version,
            floor,
        };
        let sane = has_floor <= 1 && holes <= hole_rows && set.count() <= last.get();
        if sane {
            Ok(point)
        } else {
            Err(Cause::damaged("point row"))
        }
    }
}

/// Proof that an author forked: two entries at one seq.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fork {
    pub(crate) seq: Seq,
    pub(crate) first: EntryHash,
    pub(crate) second: EntryHash,
}

/// What a topic remembers of one author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadRow {
    pub(crate) number: AuthorNo,
    /// The greatest seq ever held.
    pub(crate) max_seq: u64,
    /// The greatest seq of an entry that was dropped below the floor; 0 for none.
    pub(crate) dropped_seq: u64,
    /// Tips in the `tip` table, all greater than those here.
    pub(crate) overflow: u64,
    pub(crate) fork: Option<Fork>,
    /// The smallest tips, sorted, at most `AUTHOR_TIPS_MAX`: the author's part in the state hash.
    pub(crate) tips: Vec<(Seq, EntryHash)>,
}

impl HeadRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(30 + 40 * self.tips.len());
        out.extend_from_slice(&self.number.0.to_be_bytes());
        out.extend_from_slice(&self.max_seq.to_be_bytes());
        out.extend_from_slice(&self.dropped_seq.to_be_bytes());
        out.extend_from_slice(&self.overflow.to_be_bytes());
        out.push(u8::from(self.fork.is_some()));
        if let Some(fork) = &self.fork {
            out.extend_from_slice(&fork.seq.get().to_be_bytes());
            out.extend_from_slice(fork.first.as_bytes());
            out.extend_from_slice(fork.second.as_bytes());
        }
        out.push(u8::try_from(self.tips.len()).expect("at most AUTHOR_TIPS_MAX tips"));
        for (seq, hash) in &self.tips {
            out.extend_from_slice(&seq.get().to_be_bytes());
            out.extend_from_slice(hash.as_bytes());
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Cause> {
        const WHAT: &str = "head row";
        let mut cut = Cut::new(WHAT, bytes);
        let number = AuthorNo(cut.u32()?);
        let (max_seq, dropped_seq, overflow) = (cut.u64()?, cut.u64()?, cut.u64()?);
        let fork = match cut.byte()? {
            0 => None,
            1 => Some(Fork {
                seq: seq(&mut cut)?,
                first: cut.hash()?,
                second: cut.hash()?,
            }),
            _ => return Err(Cause::damaged(WHAT)),
        };
        let count = usize::from(cut.byte()?);
        let mut tips = Vec::with_capacity(count);
        for _ in 0..count {
            tips.push((seq(&mut cut)?, cut.hash()?));
        }
        cut.end()?;
        let sound = !tips.is_empty() && tips.is_sorted_by(|a, b| a < b);
        if !sound {
            return Err(Cause::damaged(WHAT));
        }
        Ok(Self {
            number,
            max_seq,
            dropped_seq,
            overflow,
            fork,
            tips,
        })
    }
}

fn seq(cut: &mut Cut<'_>) -> Result<Seq, Cause> {
    Seq::new(cut.u64()?).ok_or(Cause::damaged("seq of a row"))
}

/// A hash that held entries name and that is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HoleRow {
    /// How many held entries with a place of at least `since` name it.
    pub(crate) refs: u64,
    /// Place of the first entry that found it missing. Entries before found it held, so they are
    /// not counted: it was dropped between.
    pub(crate) since: Lsn,
    /// It is known to lie below the floor: not a hole.
    pub(crate) boundary: bool,
}

impl HoleRow {
    pub(crate) fn encode(&self) -> [u8; 17] {
        let mut out = [0; 17];
        out[..8].copy_from_slice(&self.refs.to_be_bytes());
        out[8..16].copy_from_slice(&self.since.get().to_be_bytes());
        out[16] = u8::from(self.boundary);
        out
    }

    pub(crate) fn decode(bytes: &[u8; 17]) -> Result<Self, Cause> {
        let mut cut = Cut::new("hole row", bytes);
        let (refs, since, boundary) = (cut.u64()?, Lsn::new(cut.u64()?), cut.byte()?);
        cut.end()?;
        if refs == 0 || boundary > 1 {
            return Err(Cause::damaged("hole row"));
        }
        Ok(Self {
            refs,
            since,
            boundary: boundary == 1,
        })
    }
}

/// Count and sum of a chunk of the order.
pub(crate) fn encode_chunk(summary: &RangeSummary) -> [u8; 36] {
    let mut out = [0; 36];
    let count = u32::try_from(summary.count).expect("a chunk has at most CHUNK_MAX entries");
    out[..4].copy_from_slice(&count.to_be_bytes());
    out[4..].copy_from_slice(&summary.sum.to_le_bytes());
    out
}

pub(crate) fn decode_chunk(bytes: &[u8; 36]) -> Result<RangeSummary, Cause> {
    let mut cut = Cut::new("chunk row", bytes);
    let count = u64::from(cut.u32()?);
    let sum = Sum::from_le_bytes(&cut.fixed()?);
    cut.end()?;
    if count == 0 {
        Err(Cause::damaged("chunk row"))
    } else {
        Ok(RangeSummary { count, sum })
    }
}
