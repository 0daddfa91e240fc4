//! Unix time in seconds, as events carry it.

/// Seconds of the Unix epoch, 0 to [`Seconds::MAX`].
///
/// NIP-01 gives no range. This one fits every database column in use; what lies outside is
/// refused in events, and matches nothing in filters (`NOS-4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seconds(u64);

impl Seconds {
    /// The start of 1970.
    pub const ZERO: Self = Self(0);
    /// 2^63 - 1.
    pub const MAX: Self = Self(u64::MAX >> 1);

    /// So many seconds after 1970; none beyond [`Self::MAX`].
    pub const fn new(seconds: u64) -> Option<Self> {
        if seconds > Self::MAX.0 {
            None
        } else {
            Some(Self(seconds))
        }
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Later by so many seconds; saturates.
    #[must_use]
    pub const fn after(self, seconds: u64) -> Self {
        let later = self.0.saturating_add(seconds);
        if later > Self::MAX.0 {
            Self::MAX
        } else {
            Self(later)
        }
    }

    /// Earlier by so many seconds; saturates.
    #[must_use]
    pub const fn before(self, seconds: u64) -> Self {
        Self(self.0.saturating_sub(seconds))
    }

    /// Seconds between the two, whichever is earlier.
    pub const fn distance(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
}
