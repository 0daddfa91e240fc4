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

/// Hashes that a session remembers to send or to receive: 64 MiB. At half of it no further range
/// frame is sent until some have gone; heads that would bring more are not counted to the end, and
/// ranges are used.
pub const PLANNED_HASHES_MAX: usize = 2 * 1024 * 1024;

/// Heads and holes that a marker carries itself.
pub const MARKER_HEADS_MAX: usize = 64;

/// Holes that travel before a marker. A provider with more cannot prove a history closed, and its
/// client's outcome is `Cut`.
pub const HOLES_MAX: usize = 65_536;

/// Entries that a provider looks through to find how far its client has got since its token: what
/// a client gossiped with before it was cut off. Over it: another mode finds the difference.
pub const RESUME_SCAN_MAX: u64 = 16 * 1024;

/// Bytes of a resume token. Over it: refused as unserviceable.
pub const TOKEN_BYTES_MAX: usize = 256;

/// Entries that a session holds back because they are not authentic yet (rule V). A hostile
/// author can make a longer run of badly signed entries under a good one, so nobody is blamed.
/// Over it: the oldest are forgotten, the session ends as `Cut`, and each session after it brings
/// this many more, from the top of the run down.
pub const UNAUTHENTIC_MAX: usize = 1024;

/// Bytes of the same, so that large bodies cannot fill memory. Over it: as above.
pub const UNAUTHENTIC_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Parts that the first range frame splits a set into: 144 cost some 3 KiB, and leave 20 places
/// that differ mostly alone in their parts. Smaller sets are split into fewer.
pub const RANGE_BUCKETS: u32 = 144;

/// Heads are worth their bytes when they fit this many, whatever the difference (two round trips
/// of a small window).
pub const HEADS_CHEAP_BYTES: u64 = 16 * 1024;

/// Bytes of one head in a frontier exchange.
pub const HEAD_BYTES: u64 = 72;

/// Wire versions in a `Hello`. Over it: refused as incompatible.
pub const VERSIONS_MAX: usize = 8;

/// Entries of a chain that are looked up at a time.
pub const CHAIN_PAGE: usize = 1024;

/// Planned hashes up to which a plan is put into log order, one lookup each. Larger plans go chain
/// by chain.
pub const PLAN_SORT_MAX: usize = 16_384;

/// Bytes that a driver must be ready to hold unwritten for one session while it still reads. Two
/// sides that both stopped reading for less could wait for each other for ever: the largest bulk
/// message, a range frame and the `Want`s of one reply may wait at once.
pub const OUTBOX_BYTES_MIN: usize = 2 * FRAME_BYTES_MAX;

/// A parked marker waits this long after the last entry for what it counts, in milliseconds; then
/// what can be named is asked for, once. Streams keep order, so nothing is on its way by then.
pub const MARKER_PARKED_MS: u64 = 1000;

/// Batches that a session has handed to the disk and not seen durable.
/// At it the session stops reading its stream, so the other end waits.
pub const INGEST_BATCHES_IN_FLIGHT_MAX: usize = 64;

/// Bytes of entries in them: what a session may hold in memory for a slow disk, and enough that a
/// fast one never waits. At it the session stops reading; one batch may go over.
pub const INGEST_BYTES_IN_FLIGHT_MAX: usize = 16 * 1024 * 1024;

/// Bytes of entries that a client gathers before it judges them together. By rule V a batch costs
/// one signature an author: with a thousand authors in turn, 4 MiB of small entries are some nine
/// of each, and cost a fifth of what 256 KiB batches do. At it they are judged.
pub const GATHER_BYTES: usize = 4 * 1024 * 1024;

/// Entries of the same. At it they are judged.
pub const GATHER_ENTRIES: usize = 16 * 1024;

/// How long entries are gathered, in milliseconds: nobody notices it, and a slow stream is stored
/// as it comes. What completes the announced number, and what precedes a marker or the end of the
/// stream, does not wait.
pub const GATHER_MS: u64 = 20;

/// A side that has nothing to say for this long says `Alive`, in milliseconds.
pub const ALIVE_EVERY_MS: u64 = 1000;

/// Silence of a peer after which a session is given up by its other end, in milliseconds: three
/// missed `Alive`s and a margin, far under QUIC's 30 s.
pub const PEER_SILENT_MS: u64 = 10_000;

/// A session in which nothing but `Alive` happens for this long is given up, in milliseconds: signs
/// of life alone must not hold a session for ever. Long enough for a slow disk or a large compare.
pub const PEER_STALLED_MS: u64 = 120_000;

/// Bytes that must have moved before they count as progress: one that drips a byte now and then is
/// not streaming. A link of 1 KiB a second passes.
pub const PROGRESS_BYTES_MIN: usize = 512;

/// Progress other than entries is told at most once in so many milliseconds: well within the half
/// second after which a provider is slow (`POL-19`).
pub const PROGRESS_EVERY_MS: u64 = 100;

/// A provider that compares says so this often, in milliseconds: twice in the half second after
/// which it would be slow.
pub const WORKING_EVERY_MS: u64 = 200;

/// How long a provider's word that it compares counts as progress, in milliseconds. Over it: it is
/// slow, and then silent; a provider that only says that it works must not hold a topic up.
pub const WORKING_MAX_MS: u64 = 60_000;

/// Entries or authors that one slice of comparing heads looks at: some 5 ms of reading, 50 in a
/// build without optimisation.
pub const WORK_SLICE: usize = 1024;

/// Entries of a session that are remembered as withheld, since their authors may not write in a
/// granted topic. Over it: the session is cut whatever the owner says in it; the next one goes on.
pub const WITHHELD_MAX: usize = 16 * 1024;

/// Bytes of one gossip message: the swarm's 4,096 less its own 39 of framing. Over it: the message
/// is not sent, and the caller is told; `Live` becomes `Announce`.
pub const GOSSIP_PAYLOAD_BYTES_MAX: usize = 4096 - 39;

/// Bytes of an ephemeral item: what fits a gossip message, less its envelope of some 150. Over it:
/// the item is not passed on, and the caller is told; a message with a longer one is dropped.
pub const EPHEMERAL_BYTES_MAX: usize = 3840;

const _: () = assert!(FRAME_BYTES_MAX > osier_core::limit::ENTRY_WIRE_BYTES_MAX + 4096);
const _: () = assert!(RANGE_FRAME_BYTES_MAX < FRAME_BYTES_MAX);
const _: () = assert!(WANT_HASHES_MAX * 32 < FRAME_BYTES_MAX);
const _: () = assert!(
    BATCH_BYTES_TARGET
        + osier_core::limit::ENTRY_WIRE_BYTES_MAX
        + 2 * RANGE_FRAME_BYTES_MAX
        + WANT_HASHES_MAX * 32
        < OUTBOX_BYTES_MIN
);
const _: () = assert!(HEADS_MAX * 128 < FRAME_BYTES_MAX);
const _: () =
    assert!(BATCH_BYTES_TARGET + osier_core::limit::ENTRY_WIRE_BYTES_MAX + 4096 < FRAME_BYTES_MAX);
const _: () = assert!(GATHER_BYTES < INGEST_BYTES_IN_FLIGHT_MAX);
const _: () = assert!(GATHER_MS < MARKER_PARKED_MS);
const _: () = assert!(EPHEMERAL_BYTES_MAX + 200 <= GOSSIP_PAYLOAD_BYTES_MAX);
const _: () = assert!(MARKER_PARKED_MS < PEER_SILENT_MS);
const _: () = assert!(PEER_SILENT_MS < PEER_STALLED_MS);
const _: () = assert!(ALIVE_EVERY_MS * 3 < PEER_SILENT_MS);
const _: () = assert!(WORKING_EVERY_MS < ALIVE_EVERY_MS);
const _: () = assert!(WORKING_MAX_MS < PEER_STALLED_MS);
// Heads, holes and token of a marker fit its envelope.
const _: () = assert!(
    MARKER_HEADS_MAX * 128 + MARKER_HEADS_MAX * 32 + TOKEN_BYTES_MAX + 1024
        < osier_core::limit::ENVELOPE_PAYLOAD_BYTES_MAX
);
