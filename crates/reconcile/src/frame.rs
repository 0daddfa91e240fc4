//! Decoding: what a frame says, or what is wrong with it.
//!
//! ```text
//! frame   = version byte, range*
//! range   = bound, mode (varint), payload
//! bound   = time (varint: 0 is infinity, else 1 + distance from the bound before),
//!           prefix length (varint, 0 to 32), prefix
//! payload = nothing (mode 0, skip) | 16 bytes (mode 1, fingerprint)
//!         | count (varint), count * 32 bytes (mode 2, id list)
//! ```
//!
//! Ranges are adjacent and ascend: each begins where the one before it ended. What follows the
//! last one counts as skipped.

use std::fmt;

use crate::{Bound, Fingerprint, Id, VERSION, varint};

/// A frame whose every byte has been checked. It borrows the bytes and allocates nothing.
///
/// The length of a frame is the transport's to bound: decoding takes time in proportion to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Checks a whole frame. Rules REC-1 to REC-4.
    ///
    /// # Errors
    ///
    /// When the bytes are not a frame of version 1; the error says what is wrong and where.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.first() {
            None => return Err(Malformed::Empty),
            Some(&VERSION) => {}
            Some(&byte @ 0x60..=0x6f) => return Err(Malformed::OtherVersion { byte }),
            Some(&byte) => return Err(Malformed::NotAVersion { byte }),
        }
        let frame = Self { bytes };
        let mut ranges = frame.ranges();
        while ranges.next_range()?.is_some() {}
        Ok(frame)
    }

    /// The frame as it came.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Walks the ranges from the first.
    pub const fn ranges(&self) -> Ranges<'a> {
        Ranges {
            bytes: self.bytes,
            at: 1,
            last: Bound::ZERO,
            after_infinity: false,
        }
    }
}

/// One range of a frame. Its lower bound is the upper bound of the range before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range<'a> {
    /// Where it ends, exclusive.
    pub upper: Bound,
    /// What its sender says of it.
    pub payload: Payload<'a>,
}

/// What the sender of a frame says of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Nothing more to do here.
    Skip,
    /// The digest of all that the sender holds here.
    Fingerprint(Fingerprint),
    /// The ids of all that the sender holds here.
    Ids(&'a [Id]),
}

/// A walk over the ranges of a frame.
#[derive(Debug, Clone)]
pub struct Ranges<'a> {
    bytes: &'a [u8],
    at: usize,
    last: Bound,
    after_infinity: bool,
}

impl<'a> Ranges<'a> {
    /// The next range, or none at the end of the frame.
    ///
    /// # Errors
    ///
    /// Never for a [`Frame`]: [`Frame::decode`] has walked the same bytes.
    pub fn next_range(&mut self) -> Result<Option<Range<'a>>, Malformed> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        let upper = self.bound()?;
        let mode_at = self.at;
        let payload = match self.varint(Part::Mode)? {
            0 => Payload::Skip,
            1 => Payload::Fingerprint(self.fingerprint()?),
            2 => Payload::Ids(self.ids()?),
            mode => return Err(Malformed::UnknownMode { mode, at: mode_at }),
        };
        self.check_end(start, &upper, &payload)?;
        self.last = upper;
        Ok(Some(Range { upper, payload }))
    }

    /// Behind infinity there is room for nothing, but an encoder that cuts a frame just after its
    /// last range says so with the fingerprint of the empty rest: one such range is let pass.
    fn check_end(
        &mut self,
        start: usize,
        upper: &Bound,
        payload: &Payload<'_>,
    ) -> Result<(), Malformed> {
        if self.last.is_infinity() {
            if self.after_infinity || !matches!(payload, Payload::Fingerprint(_)) {
                return Err(Malformed::AfterInfinity { at: start });
            }
            self.after_infinity = true;
        }
        if *upper < self.last {
            return Err(Malformed::BoundBackwards { at: start });
        }
        Ok(())
    }

    fn bound(&mut self) -> Result<Bound, Malformed> {
        let at = self.at;
        let time = match self.varint(Part::Time)? {
            0 => u64::MAX,
            more => {
                let time = self.last.time().checked_add(more - 1);
                time.filter(|time| *time < u64::MAX)
                    .ok_or(Malformed::TimeOverflow { at })?
            }
        };
        let at = self.at;
        let bytes = self.varint(Part::PrefixLength)?;
        let too_long = Malformed::PrefixTooLong { bytes, at };
        if bytes > 32 {
            return Err(too_long);
        }
        if bytes > 0 && time == u64::MAX {
            return Err(Malformed::PrefixAtInfinity { at });
        }
        let length = usize::try_from(bytes).map_err(|_| too_long)?;
        let prefix = self.take(length, Part::Prefix)?;
        Bound::with_prefix(time, prefix).map_err(|_| too_long)
    }

    fn fingerprint(&mut self) -> Result<Fingerprint, Malformed> {
        let at = self.at;
        let bytes = self.take(16, Part::Fingerprint)?;
        let part = Part::Fingerprint;
        bytes
            .try_into()
            .map_err(|_| Malformed::Truncated { part, at })
    }

    fn ids(&mut self) -> Result<&'a [Id], Malformed> {
        let at = self.at;
        let ids = self.varint(Part::IdCount)?;
        // The count is the peer's word: it buys nothing before the bytes are seen to be there.
        let (room, _) = self.rest().as_chunks::<32>();
        let listed = usize::try_from(ids).ok().and_then(|ids| room.get(..ids));
        let too_long = Malformed::ListTooLong {
            ids,
            room: room.len(),
            at,
        };
        let listed = listed.ok_or(too_long)?;
        self.at += listed.as_flattened().len();
        Ok(listed)
    }

    fn varint(&mut self, part: Part) -> Result<u64, Malformed> {
        let at = self.at;
        let (value, length) = varint::read(self.rest()).map_err(|fault| match fault {
            varint::Fault::Truncated => Malformed::Truncated { part, at },
            varint::Fault::Overflow => Malformed::VarintOverflow { part, at },
            varint::Fault::Padded => Malformed::VarintPadded { part, at },
        })?;
        self.at += length;
        Ok(value)
    }

    fn take(&mut self, length: usize, part: Part) -> Result<&'a [u8], Malformed> {
        let at = self.at;
        let taken = self.rest().get(..length);
        self.at += length;
        taken.ok_or(Malformed::Truncated { part, at })
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
}

/// A part of a range, as it is named in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The time of a bound.
    Time,
    /// The length of a bound's id prefix.
    PrefixLength,
    /// A bound's id prefix.
    Prefix,
    /// The mode of a range.
    Mode,
    /// A fingerprint.
    Fingerprint,
    /// The length of an id list.
    IdCount,
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Time => "bound time",
            Self::PrefixLength => "prefix length",
            Self::Prefix => "id prefix",
            Self::Mode => "mode",
            Self::Fingerprint => "fingerprint",
            Self::IdCount => "id count",
        })
    }
}

/// What is wrong with the bytes of a frame. `at` is the offset of the faulty part in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// There are no bytes, so no version either.
    #[error("empty frame")]
    Empty,
    /// The first byte is outside 0x60 to 0x6f.
    #[error("first byte {byte:#04x} is not a negentropy version")]
    NotAVersion {
        /// The first byte.
        byte: u8,
    },
    /// The first byte names another version than 1.
    #[error("negentropy version byte {byte:#04x} is not spoken here")]
    OtherVersion {
        /// The first byte.
        byte: u8,
    },
    /// The frame ends too soon.
    #[error("frame ends inside the {part} at byte {at}")]
    Truncated {
        /// What was being read.
        part: Part,
        /// Where it begins.
        at: usize,
    },
    /// A number that needs more than 64 bits.
    #[error("{part} at byte {at} is over 64 bits")]
    VarintOverflow {
        /// What was being read.
        part: Part,
        /// Where it begins.
        at: usize,
    },
    /// A number with a leading zero digit: there is one encoding of each number.
    #[error("{part} at byte {at} has a leading zero digit")]
    VarintPadded {
        /// What was being read.
        part: Part,
        /// Where it begins.
        at: usize,
    },
    /// A time that reaches infinity by distance, not by its own code.
    #[error("bound time at byte {at} is out of range")]
    TimeOverflow {
        /// Where the time begins.
        at: usize,
    },
    /// An id prefix longer than an id.
    #[error("id prefix of {bytes} bytes at byte {at} is longer than an id")]
    PrefixTooLong {
        /// The claimed length in bytes.
        bytes: u64,
        /// Where the length begins.
        at: usize,
    },
    /// A bound beyond the end of everything.
    #[error("infinite bound with an id prefix at byte {at}")]
    PrefixAtInfinity {
        /// Where the length of the prefix begins.
        at: usize,
    },
    /// A range that ends before it begins.
    #[error("bound at byte {at} lies before the one it follows")]
    BoundBackwards {
        /// Where the range begins.
        at: usize,
    },
    /// More bytes behind the range that ended at infinity.
    #[error("trailing bytes at byte {at}, after the range that ends at infinity")]
    AfterInfinity {
        /// Where they begin.
        at: usize,
    },
    /// A mode that version 1 does not have.
    #[error("unknown range mode {mode} at byte {at}")]
    UnknownMode {
        /// The mode.
        mode: u64,
        /// Where it begins.
        at: usize,
    },
    /// A list that claims more ids than the frame has room for.
    #[error("list of {ids} ids at byte {at}, in a frame with room for {room}")]
    ListTooLong {
        /// The claimed number of ids.
        ids: u64,
        /// How many whole ids the rest of the frame could hold.
        room: usize,
        /// Where the count begins.
        at: usize,
    },
}

impl Malformed {
    /// A short fixed name of the fault, as the vectors spell it.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NotAVersion { .. } => "not-a-version",
            Self::OtherVersion { .. } => "other-version",
            Self::Truncated { .. } => "truncated",
            Self::VarintOverflow { .. } => "varint-overflow",
            Self::VarintPadded { .. } => "varint-padded",
            Self::TimeOverflow { .. } => "time-overflow",
            Self::PrefixTooLong { .. } => "prefix-too-long",
            Self::PrefixAtInfinity { .. } => "prefix-at-infinity",
            Self::BoundBackwards { .. } => "bound-backwards",
            Self::AfterInfinity { .. } => "after-infinity",
            Self::UnknownMode { .. } => "unknown-mode",
            Self::ListTooLong { .. } => "list-too-long",
        }
    }
}
