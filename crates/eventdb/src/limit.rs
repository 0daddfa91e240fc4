//! Every bound of the index: unit, reason, and what happens when it is reached.

/// Events that are vouched for and have not come yet. A relay's batch has some thousands.
/// Over it: the half vouched for longest is forgotten, and verified when it comes.
pub const VOUCHED_EVENTS_MAX: usize = 32_768;

/// Entries whose fresh events are kept in memory for [`crate::EventIndex::fresh`].
/// Over it: the oldest are read from the disk when asked for.
pub const FRESH_ENTRIES_MAX: usize = 64;

/// Rows that a cursor reads at once when it goes on; it starts with few, since most pages end
/// soon. More would be read in vain, fewer would search the tree more often.
pub(crate) const CURSOR_ROWS_MAX: usize = 256;

/// Rows that a cursor reads first.
pub(crate) const CURSOR_ROWS_MIN: usize = 8;

/// Rows of one value that are counted to see how selective it is: some 20 us.
/// Reached: the kept count tells, or the value counts as one of middling size.
pub(crate) const PROBE_ROWS_MAX: usize = 128;

/// Values of a list that are probed; the others are taken to be like them.
pub(crate) const PROBE_VALUES_MAX: usize = 8;

/// Addresses (author and replaceable kind) that are looked up one by one.
/// Over it: the index of authors is walked instead.
pub(crate) const ADDRESSES_MAX: usize = 8_192;

/// Events with one facet, or that answer one question, from which on their count is kept: counting
/// fewer takes under a millisecond. Below it no row is spent. A default of [`crate::Settings`].
pub const KEPT_EVENTS_MIN: u64 = 2_048;

/// How often, about, it is looked whether a count is due before it is.
pub(crate) const KEPT_LOOKS_MIN: u8 = 32;

/// One new event in at most so many makes the index look.
pub(crate) const KEPT_LOOK_ONE_IN_MAX: u64 = 64;

/// A kept sketch is made again when this part of its events has gone since: 1 / 16 is less than
/// the error of a sketch.
pub(crate) const SKETCH_STALE_PART: u64 = 16;

/// Events that are purged in one transaction: entries wait for it.
pub(crate) const PURGE_STEP_EVENTS: usize = 1_024;

/// Entries of one step when the index is built from the log.
pub(crate) const CATCH_UP_ENTRIES: usize = 2_048;

/// Bytes of entries of one such step: what it holds in memory, several times.
pub(crate) const CATCH_UP_BYTES: usize = 4 * 1024 * 1024;

/// Items from which on signatures are checked on all cores.
pub(crate) const PARALLEL_ITEMS_MIN: usize = 32;

/// Events that are read to answer one count, or to gather the records of one session, where index
/// rows do not tell whether they match: a second or two of a thread.
/// Over it: the question is refused. A default of [`crate::Settings`].
pub const READ_EVENTS_MAX: u64 = 250_000;

/// Findings that a check lists. More are counted.
pub const FINDINGS_MAX: usize = 1_000;

/// Expirations later than this, in seconds of the Unix epoch (the year 36812), are taken for none.
pub(crate) const EXPIRATION_MAX: u64 = (1 << 40) - 2;

const _: () = assert!(CURSOR_ROWS_MIN <= CURSOR_ROWS_MAX);
const _: () = assert!(
    osier_core::limit::ENTRY_ITEMS_MAX <= 256,
    "items have numbers of a byte"
);

/// Stretches of time that are remembered of what was read of another relay, for one filter. Over it
/// the shortest is forgotten, and read again.
pub(crate) const COVERED_SPANS_MAX: usize = 256;

/// Items whose bytes leave the log in one transaction: what a write of others waits for.
pub(crate) const DROP_STEP_ITEMS: usize = 512;
