//! Time as an argument: instants since a node's start, durations, wall-clock stamps.
//!
//! There is no `now()` here: the I/O crates and the simulator hand time in.

use serde::{Deserialize, Serialize};

/// A span of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A span of `ms` milliseconds; saturates.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds; saturates.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Whole milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span `factor` times as long; saturates.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

/// A point on a node's own monotonic clock: nanoseconds since the node started.
/// Two nodes' instants are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The node's start.
    pub const START: Self = Self(0);

    /// The instant `ns` nanoseconds after start.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds after start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This instant moved later; saturates.
    #[must_use]
    pub const fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Time from `earlier` to this instant; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// Wall-clock time in milliseconds of the Unix epoch: a hint for people and for range order.
/// It never decides validity, order of truth, or trust (`ENT-9`).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The stamp of `ms` milliseconds after 1970; a clock before 1970 is stamped 0.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds after 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}
