//! Every bound of the wire: unit, reason, and what happens when it is reached.

/// Bytes of one frame: an entry of the largest size with room for its batch's fields.
/// Over it: the peer is at fault, the session ends.
pub const FRAME_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes of entries that a batch aims at: large enough that a batch costs few wake-ups, small
/// enough to leave a stream window free. A single larger entry makes a batch of one.
pub const BATCH_BYTES_TARGET: usize = 256 * 1024;

/// Entries of one batch. Over it: the peer is at fault.
pub const BATCH_ENTRIES_MAX: usize = 4096;

/// Heads in a frontier exchange. With more authors on either side, ranges are used.
/// Over it: the peer is at fault.
pub const HEADS_MAX: usize = 4096;

/// Bytes of a range frame: 64 KiB frames cost five times the round trips at 1,000 differences.
/// The sender cuts its frame there and goes on in the next.
pub const RANGE_FRAME_BYTES_MAX: usize = 512 * 1024;

/// Round trips of ranges in one session: ten times what 10 million entries with every entry
/// different in 512 KiB frames would need. Over it: the peer makes no progress, the session fails.
pub const RANGE_ROUNDS_MAX: u32 = 4096;

/// Hashes in one `Want`. More are asked for in further ones.
pub const WANT_HASHES_MAX: usize = 8192;

/// Hashes that a session remembers to send or to receive: 64 MiB. Over it: the session ends as
/// `Cut` and the next one goes on from what was stored.
pub const PLANNED_HASHES_MAX: usize = 2 * 1024 * 1024;

/// Heads and holes that a marker carries itself.
pub const MARKER_HEADS_MAX: usize = 64;

/// Holes that travel before a marker. A provider with more cannot prove a history closed, and its
/// client's outcome is `Cut`.
pub const HOLES_MAX: usize = 65_536;

/// Bytes of a resume token. Over it: refused as unserviceable.
pub const TOKEN_BYTES_MAX: usize = 256;

/// Entries that a client session holds back because they are not authentic yet (rule V).
/// Over it: the provider serves what nobody signed, and is at fault.
pub const UNAUTHENTIC_MAX: usize = 1024;

/// Entries that a client session has handed to the disk and not seen durable: 64 batches.
/// At it the session stops reading its stream, so the provider waits.
pub const INGEST_BATCHES_IN_FLIGHT_MAX: usize = 64;

/// A provider that has nothing to say for this long says `Alive`, in milliseconds.
pub const ALIVE_EVERY_MS: u64 = 1000;

/// Silence of a peer after which a session is given up by its other end, in milliseconds: three
/// missed `Alive`s and a margin, far under QUIC's 30 s.
pub const PEER_SILENT_MS: u64 = 10_000;

const _: () = assert!(FRAME_BYTES_MAX > osier_core::limit::ENTRY_WIRE_BYTES_MAX + 4096);
const _: () = assert!(RANGE_FRAME_BYTES_MAX < FRAME_BYTES_MAX);
const _: () = assert!(WANT_HASHES_MAX * 32 < FRAME_BYTES_MAX);
