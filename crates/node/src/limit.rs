//! Every bound of the driver: unit, reason, and what happens when it is reached.

use std::time::Duration;

/// Commands that wait for the driver. At it the caller waits.
pub(crate) const COMMANDS_WAITING_MAX: usize = 256;

/// What sessions and connections have told the driver and it has not taken yet. At it a session
/// stops reading its stream, so the peer waits.
pub(crate) const ARRIVALS_WAITING_MAX: usize = 1024;

/// Gossip that the driver has not taken yet, all topics together. At it a topic's reader pauses,
/// iroh-gossip's own ring of 256 overflows and the topic is reported as lagged, never silently.
pub(crate) const GOSSIP_WAITING_MAX: usize = 1024;

/// Answers of the disk that the driver has not taken yet. At it the disk thread waits; the driver
/// never waits for the disk, so this cannot lock.
pub(crate) const DISK_ANSWERS_WAITING_MAX: usize = 256;

/// Commits that wait for the disk. At it the driver takes nothing more from sessions and gossip
/// until the disk has caught up; what one arrival still asks for is let in.
pub(crate) const COMMITS_WAITING_MAX: usize = 1024;

/// Bytes of entries that wait for the disk. At it: as for [`COMMITS_WAITING_MAX`].
pub(crate) const COMMIT_BYTES_WAITING_MAX: usize = 64 * 1024 * 1024;

/// Entries merged into one store transaction. More wait for the next; a lone larger commit is
/// taken whole.
pub(crate) const MERGE_ENTRIES_MAX: usize = 16_384;

/// Bytes merged into one store transaction. As for [`MERGE_ENTRIES_MAX`].
pub(crate) const MERGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// New entries of a ring after which it is pruned, in entries: often enough that it stays near its
/// size, seldom enough that pruning costs little.
pub(crate) const PRUNE_EVERY_ENTRIES: usize = 1024;

/// Entries of one commit that are counted as opening holes; more are not counted. Whether any do
/// is what matters.
pub(crate) const HOLES_COUNTED_MAX: usize = 16;

/// Orders of the driver that a session has not taken yet: one for each batch in flight, and a
/// cancellation. At it the session does not do as told and is ended.
pub(crate) const SESSION_ORDERS_MAX: usize = osier_proto::limit::INGEST_BATCHES_IN_FLIGHT_MAX * 2;

/// Events that wait for one watcher. At it further ones are counted, and once it has caught up it
/// is told `Lagged` and the present state.
pub const WATCHER_EVENTS_MAX: usize = 256;

/// Watchers of one topic. At it a new one is refused.
pub(crate) const WATCHERS_PER_TOPIC_MAX: usize = 1024;

/// Ephemeral items that wait for one listener of a topic. At it the oldest are dropped and counted,
/// and the listener goes on with the others: nothing is promised of them.
pub(crate) const EPHEMERAL_WAITING_MAX: usize = 1024;

/// Connections accepted from one IP address: many nodes may share one behind a router, or on one
/// machine. Over it: refused before the handshake.
pub(crate) const CONNECTIONS_PER_ADDRESS_MAX: usize = 256;

/// Connections accepted in all. Over it: refused before the handshake.
pub(crate) const CONNECTIONS_ACCEPTED_MAX: usize = 4096;

/// Session connections kept to one peer: the newest, and older ones whose sessions still run.
/// Over it the oldest is closed.
pub(crate) const CONNECTIONS_PER_PEER_MAX: usize = 4;

/// Streams that peers have opened and not said hello on, or that wait for the engine's word, in
/// all. Over it: the stream is reset as overloaded.
pub(crate) const ASKS_WAITING_MAX: usize = 1024;

/// Sessions that one peer may have open on one connection: a stream each.
/// Over it the peer waits for one to end.
pub(crate) const STREAMS_PER_CONNECTION_MAX: u32 = 64;

/// Gossip opens a stream for each topic that two nodes share, and stalls when it cannot.
pub(crate) const GOSSIP_STREAMS_PER_CONNECTION_MAX: u32 = 1024;

/// Unread bytes that one connection may hold, in bytes: six streams at full window.
/// At it the peer waits.
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 8 * 1024 * 1024;

/// Bytes that a session takes from its stream at once: enough for few wake-ups, and well under
/// one stream window.
pub(crate) const READ_BYTES: usize = 256 * 1024;

/// Bytes that a session holds for a peer that does not read them. At it the session stops reading,
/// so that a peer that asks without reading costs no more. With less, two honest sides could wait
/// for each other.
pub(crate) const OUTBOX_BYTES_MAX: usize = osier_proto::limit::OUTBOX_BYTES_MIN;

/// Peers whose addresses are remembered. At it the one unheard of for longest is forgotten.
pub(crate) const PEERS_REMEMBERED_MAX: usize = 4096;

/// Addresses remembered of one peer: the last ones that it was seen at.
pub(crate) const ADDRESSES_PER_PEER_MAX: usize = 8;

/// Orders that wait for one topic's gossip task. At it a broadcast is counted as dropped and
/// logged; the swarm learns of what it held by watermark.
pub(crate) const SWARM_ORDERS_MAX: usize = 1024;

/// Nodes remembered to join one topic's swarm through. At it the oldest is forgotten.
pub(crate) const SWARM_PEERS_MAX: usize = 64;

/// Bytes of every gossip message that are not payload.
pub(crate) const GOSSIP_HEADER_BYTES: usize = 39;

/// Time for a connection's handshake, and for a peer's hello on a stream that it has opened.
pub(crate) const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// Time for a dial: QUIC by itself would go on for the idle timeout.
pub(crate) const DIAL_WITHIN: Duration = Duration::from_secs(5);

/// Time for a session's last bytes to be taken by the peer.
pub(crate) const FLUSH_WITHIN: Duration = Duration::from_secs(5);

/// Silence after which a connection is dead; iroh's 30 s shows a vanished peer too late.
pub(crate) const CONNECTION_IDLE: Duration = Duration::from_secs(10);

/// A connection with nothing to say is kept alive this often.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Time for a connection that a newer one has replaced to show that its other end still lives.
pub(crate) const PROBE_WITHIN: Duration = Duration::from_secs(1);

/// Time for gossip to take an order, and between looks at whether its actor still turns. A healthy
/// actor needs microseconds; one slow neighbour can stop it for good.
pub(crate) const GOSSIP_STALL: Duration = Duration::from_secs(5);

/// First wait before a topic without neighbours joins again; doubles up to [`REJOIN_WAIT_MAX`].
pub(crate) const REJOIN_WAIT_MIN: Duration = Duration::from_secs(1);

/// Longest wait before a topic without neighbours joins again.
pub(crate) const REJOIN_WAIT_MAX: Duration = Duration::from_secs(16);

/// Wait between the first join of a neighbour that has connected anew and the second; doubles.
pub(crate) const RETURNED_WAIT_MIN: Duration = Duration::from_secs(1);

/// Joins of a neighbour that has connected anew and is not heard: the last after 7 s.
pub(crate) const RETURNED_JOINS_MAX: u32 = 4;

/// Peers that have connected anew and that a topic has not looked at. At it a topic looks at all of
/// its neighbours.
pub(crate) const RETURNED_WAITING_MAX: usize = 64;

/// Time for sessions to say goodbye at shutdown, and again for gossip and connections.
pub(crate) const GOODBYE_WITHIN: Duration = Duration::from_secs(2);

const _: () = assert!(READ_BYTES < CONNECTION_WINDOW_BYTES as usize);
const _: () = assert!(KEEP_ALIVE.as_secs() * 2 <= CONNECTION_IDLE.as_secs());
