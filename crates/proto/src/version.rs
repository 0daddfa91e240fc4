//! Wire versions (`SES-4`).

/// The version spoken here. A change that an older node would misread makes a new one.
pub const WIRE_VERSION: u16 = 1;

/// When a client may ask again after a store error, in milliseconds: long enough for an operator's
/// restart, short enough to be forgotten.
pub(crate) const STORE_RETRY_AFTER_MS: u64 = 10_000;

/// Which of the client's versions to speak, in its order of liking; none in common: none.
pub(crate) fn choose(offered: &[u16]) -> Option<u16> {
    offered.contains(&WIRE_VERSION).then_some(WIRE_VERSION)
}
