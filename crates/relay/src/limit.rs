//! Every bound of the server: unit, reason, and what happens when it is reached. Those of messages,
//! subscriptions and pages are in [`osier_nostr::limit`].

use std::time::Duration;

use osier_nostr::Rate;

/// Connections open at once. Each costs a file descriptor and some KiB.
/// Over it: HTTP 503 before the upgrade.
pub const CONNECTIONS_MAX: usize = 20_000;

/// Connections of one IP address (of IPv6, one network of 64 bits); many people may share one
/// behind a router. Loopback is a reverse
/// proxy, or the operator, and has no bound of its own. Over it: HTTP 429 before the upgrade.
pub const CONNECTIONS_PER_IP_MAX: usize = 256;

/// Time from the TCP connection to the whole request head. Over it: the connection is closed, so
/// that a client that sends a byte a minute holds nothing.
pub const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Bytes of a request's head. Over it: HTTP 431.
pub const REQUEST_HEAD_BYTES_MAX: usize = 16 * 1024;

/// Bytes read from a socket at once, and all that an idle connection holds for reading: a few
/// events a system call. A larger frame takes several reads.
pub const READ_BYTES: usize = 2 * 1024;

/// Bytes gathered for one write to a socket. Over it: they are written before more is taken.
pub const WRITE_BYTES: usize = 64 * 1024;

/// Bytes that wait to be written to one client. Over it: nothing more is read from the client, no
/// live event is taken, and no stored event is looked up for it, until it reads.
pub const OUT_BYTES_HIGH: usize = 512 * 1024;

/// Bytes that wait to be written at which a paused answer goes on.
pub const OUT_BYTES_LOW: usize = 128 * 1024;

/// Bytes of live events that wait for a client which does not read. Over it: the connection is
/// closed with 1013 and the reason; never a gap.
pub const LIVE_BYTES_WAITING_MAX: usize = 8 * 1024 * 1024;

/// Events, and bytes of events, that a scan gives at once: what one client's turn on a reader
/// thread costs the others.
pub const SCAN_EVENTS: usize = 128;

/// As [`SCAN_EVENTS`].
pub const SCAN_BYTES: usize = 128 * 1024;

/// Reads of one client that wait or run: counts, comparisons, and turns of its answers. Enough for
/// what a client asks as it opens. At it nothing more is read from the client until one is done,
/// so that what it asks for and takes back again costs it, and not the others.
pub const READS_MAX: usize = 16;

/// Records that all negentropy sessions hold in memory, 40 bytes each; those that are read from an
/// order index cost none. What is being gathered on a reader thread comes on top of it.
/// Over it: `NEG-ERR rate-limited:`.
pub const NEG_ITEMS_HELD_MAX: u64 = 4_000_000;

/// Threads that read the index, beyond one for each core: they wait for the disk.
pub const READERS_EXTRA: usize = 1;

/// Events that a verifier takes at once: few enough that all cores get some.
pub const VERIFY_EVENTS: usize = 16;

/// Bytes of events that wait to be verified or appended, all clients together. Over it: nothing is
/// read from clients that publish.
pub const INGEST_BYTES_WAITING_MAX: usize = 64 * 1024 * 1024;

/// Events of one durable batch. More wait for the next.
pub const APPEND_EVENTS_MAX: usize = 8_192;

/// Bytes of one durable batch. As for [`APPEND_EVENTS_MAX`].
pub const APPEND_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Events that one address which is not this machine may publish in a minute: those of a busy
/// household, or of a bot that behaves. Over it: `OK false rate-limited:`, unchecked.
pub const EVENTS_PER_ADDRESS: u32 = 12_000;

/// Keys, and addresses, whose use of their quota is remembered. Over it the one unheard of for
/// longest starts anew.
pub const QUOTA_HOLDERS_MAX: usize = 65_536;

/// Ephemeral events of one signer, a second and at once, from wherever they come. Over it: a client
/// is told `OK false rate-limited:`; what another node passes on goes to nobody.
pub const EPHEMERAL_PER_SIGNER: Rate = Rate::per_second(50, 100);

/// Signers whose use of it is remembered. Over it the one unheard of for longest starts anew.
pub const EPHEMERAL_SIGNERS_MAX: usize = 16_384;

/// Ids of ephemeral events that are remembered, so that each is handed out once, whatever way it
/// comes. At it the oldest half is forgotten: at full use of several nodes, after a minute.
pub const EPHEMERAL_SEEN_MAX: usize = 65_536;

/// Silence after which a client is asked for a sign of life.
pub const PING_AFTER: Duration = Duration::from_secs(30);

/// Silence after which a client is gone: two pings without an answer. A quiet client answers.
pub const GONE_AFTER: Duration = Duration::from_secs(90);

/// Time for a client to take a byte of what waits for it. Over it: the connection is closed.
pub const STALLED_AFTER: Duration = Duration::from_mins(1);

/// How often connections are looked at for silence: the precision of the three above.
pub const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How often expired events are taken out of the index: until then they are hidden and cost counts
/// their rows.
pub const PURGE_EVERY: Duration = Duration::from_secs(10);

/// Time for a client to read the reason why its connection is closed.
pub const CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// Bytes that are read and dropped while a connection is closed, so that the reason arrives.
pub const CLOSE_BYTES_MAX: usize = 4 * 1024 * 1024;

const _: () = assert!(OUT_BYTES_LOW + SCAN_BYTES <= OUT_BYTES_HIGH);
const _: () = assert!(osier_nostr::limit::NEG_ITEMS_MAX <= NEG_ITEMS_HELD_MAX);
const _: () = assert!(WRITE_BYTES <= OUT_BYTES_LOW);
const _: () = assert!(APPEND_BYTES_MAX <= INGEST_BYTES_WAITING_MAX);

/// Refused lines of an import whose reason is told. The others are counted.
pub const IMPORT_REASONS_MAX: usize = 20;

/// Time to connect to another relay, TLS and handshake included.
pub const MIRROR_CONNECT_WITHIN: Duration = Duration::from_secs(15);

/// Time for another relay to say something about what it was asked. Over it: an error that says so.
pub const MIRROR_PATIENCE: Duration = Duration::from_secs(30);

/// How often the time is looked at while another relay says nothing.
pub const MIRROR_TICK: Duration = Duration::from_secs(1);

/// Events asked for in one page of another relay: what most give at once.
pub const MIRROR_PAGE: u64 = 500;

/// Seconds before the present whose events may still come to a relay: clocks are off, and phones
/// send late. They are read again by the next pull.
pub const MIRROR_SETTLES_S: u64 = 3_600;

/// Kinds of a filter for each of which it is noted what was read. Over it: for the filter as it is.
pub const MIRROR_KINDS_MAX: usize = 64;

/// First wait before events are sent again to a relay that takes no more of them for now; doubles,
/// so that all of them together are two minutes.
pub const MIRROR_SLOWER: Duration = Duration::from_secs(1);

/// Times that they are sent again without any being taken. After that: not taken there.
pub const MIRROR_SLOWER_MAX: u32 = 7;

/// Ids asked for at once.
pub const MIRROR_IDS: usize = 200;

/// Events sent to another relay and not answered.
pub const MIRROR_SENDING: usize = 200;

/// Time in which live events of another relay are gathered into one batch.
pub const MIRROR_GATHER: Duration = Duration::from_millis(50);

/// Silence after which a relay that is followed is asked for a sign of life.
pub const MIRROR_PING: Duration = Duration::from_secs(30);
