//! Every bound of the exchange.

/// The version byte of negentropy version 1.
pub const VERSION: u8 = 0x61;

/// Into how many parts a range is split. Every implementation of version 1 uses 16; another
/// number would be legal on the wire.
pub const BUCKETS: u32 = 16;

/// The most parts that a first frame may be split into. Every part costs 19 to 60 bytes and one
/// summary before anything is known to differ; more than this saves no round trip on any set
/// that fits a disk.
pub const BUCKETS_MAX: u32 = 4096;

/// A range with fewer items than this is sent as a list of ids instead of being split: two ids a
/// part, below which fingerprints (16 bytes and a bound) save nothing. From the reference
/// implementation.
pub const LIST_BELOW: u64 = 32;

/// How a range whose fingerprints differ goes on. Both ends may choose for themselves: the wire is
/// the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Into how many parts: 2 to [`BUCKETS`]. Fewer cost less for each place that differs, and more
    /// rounds.
    pub parts: u32,
    /// A range with fewer items is listed: 2 to [`LIST_BELOW`].
    pub list_below: u64,
}

impl Split {
    /// As every other implementation does.
    pub const REFERENCE: Self = Self {
        parts: BUCKETS,
        list_below: LIST_BELOW,
    };

    /// What an initiator with few places that differ sends least with: a list of its own is
    /// answered with another, so it lists next to nothing.
    pub const FRUGAL_INITIATOR: Self = Self {
        parts: 8,
        list_below: 4,
    };

    /// What a responder with few places that differ sends least with: its list ends the matter.
    pub const FRUGAL_RESPONDER: Self = Self {
        parts: 8,
        list_below: 16,
    };

    /// The parts of a range of so many items, which is not to be listed. A part costs 22 bytes and
    /// an id 32, so a range that will be listed next goes into about as many parts as the root of
    /// 1.5 times its items, unless it is to be as in the reference.
    pub(crate) fn parts_of(self, count: u64) -> u64 {
        let parts = u64::from(self.parts.clamp(2, BUCKETS));
        if self == Self::REFERENCE {
            return parts;
        }
        let last = (count.saturating_mul(3) / 2).isqrt() + 1;
        parts.min(last).min(count)
    }

    /// Whether a range of so many items is listed.
    pub(crate) fn lists(self, count: u64) -> bool {
        count < self.list_below.clamp(2, LIST_BELOW)
    }
}

/// The smallest frame limit, in bytes: the largest single range of either kind must fit below
/// the cut, or a frame could make no progress. From the reference implementation.
pub const FRAME_LIMIT_BYTES_MIN: usize = 4096;

/// How far below its limit a frame is cut, in bytes: room for the bound, the mode and the
/// fingerprint of the rest, and for the skip before an id list. From the reference
/// implementation.
pub const FRAME_RESERVE_BYTES: usize = 200;

/// The most encoded bytes of a bound with mode and fingerprint, or with mode and id count.
pub(crate) const RANGE_HEAD_BYTES_MAX: usize = 10 + 1 + 32 + 1 + 16;

/// How many rounds in a row may pass without the left edge of the open part moving right.
///
/// Each round of two honest ends divides the leftmost open range by 16 on both sides, so it is
/// settled in 16 rounds even when either end holds 2^64 items; an end that splits in two needs
/// 64. When the limit is passed the exchange ends as [`crate::Misbehaved::Stalled`].
pub const STALL_ROUNDS_MAX: u32 = 64;

/// How many rounds an exchange may take at most, when the caller gives no number: 4 GiB each way
/// in the smallest frames. When it is passed the exchange ends as
/// [`crate::Misbehaved::TooManyRounds`].
///
/// Who knows both sizes should give [`rounds_enough`] instead.
pub const ROUNDS_MAX: u32 = 1 << 20;

// A first range of a frame, whatever it holds, is never cut away: 16 parts, or a full list, and
// the skip before either.
const _: () = {
    let cut = FRAME_LIMIT_BYTES_MIN - FRAME_RESERVE_BYTES;
    assert!(17 * RANGE_HEAD_BYTES_MAX < cut);
    assert!(2 * RANGE_HEAD_BYTES_MAX + 32 * 32 < cut);
};

/// A number of rounds that two honest ends never need, for sets of these sizes: what a caller
/// that knows both sizes allows ([`crate::Opening::rounds_max`]).
///
/// Without a limit it is the depth of a split, times two. With one, each pass down to the items
/// settles at least an eighth of a frame of ids.
pub fn rounds_enough(own: u64, theirs: u64, limit: FrameLimit) -> u32 {
    const DEPTH: u64 = 32;
    let passes = match limit.bytes() {
        None => 1,
        Some(bytes) => {
            let ids = u64::try_from(bytes / (8 * 32)).unwrap_or(u64::MAX);
            own.saturating_add(theirs).div_ceil(ids).saturating_add(1)
        }
    };
    u32::try_from(passes.saturating_mul(DEPTH)).map_or(ROUNDS_MAX, |rounds| rounds.min(ROUNDS_MAX))
}

/// How many bytes a frame may have.
///
/// With a limit every frame that this end writes stays within it; the difference is then found in
/// more rounds. Against strangers always set one: without it a request of five bytes is answered
/// with the ids of the whole set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimit(Option<usize>);

/// A frame limit that is neither 0 nor at least [`FRAME_LIMIT_BYTES_MIN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame limit is 0 or at least {FRAME_LIMIT_BYTES_MIN} bytes, not {bytes}")]
pub struct FrameLimitTooSmall {
    /// The limit that was asked for.
    pub bytes: usize,
}

impl FrameLimit {
    /// Frames of any length.
    pub const NONE: Self = Self(None);

    /// The smallest limit there is.
    pub const SMALLEST: Self = Self(Some(FRAME_LIMIT_BYTES_MIN));

    /// A limit in bytes; 0 is none.
    ///
    /// # Errors
    ///
    /// When it is too small to make progress in.
    pub const fn new(bytes: usize) -> Result<Self, FrameLimitTooSmall> {
        match bytes {
            0 => Ok(Self::NONE),
            1..FRAME_LIMIT_BYTES_MIN => Err(FrameLimitTooSmall { bytes }),
            _ => Ok(Self(Some(bytes))),
        }
    }

    /// The limit in bytes, or none.
    pub const fn bytes(self) -> Option<usize> {
        self.0
    }

    /// The length up to which a frame is written before it is cut.
    pub(crate) const fn cut_bytes(self) -> usize {
        match self.0 {
            None => usize::MAX,
            Some(bytes) => bytes - FRAME_RESERVE_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_too_small_are_refused() {
        assert_eq!(FrameLimit::new(0), Ok(FrameLimit::NONE));
        assert_eq!(FrameLimit::new(4096), Ok(FrameLimit::SMALLEST));
        for bytes in [1, 200, 4095] {
            assert_eq!(FrameLimit::new(bytes), Err(FrameLimitTooSmall { bytes }));
        }
    }

    #[test]
    fn enough_rounds_are_never_more_than_the_maximum() {
        assert_eq!(rounds_enough(u64::MAX, u64::MAX, FrameLimit::NONE), 32);
        let huge = rounds_enough(u64::MAX, u64::MAX, FrameLimit::SMALLEST);
        assert_eq!(huge, ROUNDS_MAX);
        assert_eq!(rounds_enough(0, 0, FrameLimit::SMALLEST), 32);
    }
}
