//! Every bound of the engine: unit, reason, and what happens when it is reached.

use osier_core::Rate;

/// Sessions that this node serves at once, all peers together: each holds a snapshot and a stream
/// window. Over it: refused as overloaded with a time to ask again.
pub const SESSIONS_SERVED_MAX: usize = 64;

/// Sessions that this node serves one peer at once. Over it: refused as overloaded.
pub const SESSIONS_PER_PEER_MAX: usize = 16;

/// Sessions that this node has open as client for one topic. The best-ranked provider carries the
/// bulk; more verify or hedge. At it the next provider waits.
pub const SESSIONS_ASKED_PER_TOPIC_MAX: usize = 3;

/// What an overloaded provider tells its clients, in milliseconds.
pub const OVERLOADED_RETRY_MS: u64 = 2_000;

/// Publish commands that wait for the disk in one topic. At it: refused as overloaded.
pub const PUBLISHES_WAITING_MAX: usize = 1024;

/// Entries put into one commit of own writes: a second's work of signing at most.
pub const PUBLISH_COMMIT_ENTRIES_MAX: usize = 8192;

/// How long what a watermark says waits for the end of a session that brings just that: some round
/// trips of a slow link. What stands after that is a reason to be behind.
pub const CLAIM_WAITS_MS: u64 = 5_000;

/// Gossiped entries that wait for a successor to vouch for them (rule V), all authors together;
/// each author has a sixteenth. Above it the oldest is dropped, and an author's newcomer above its
/// share: when a successor comes it names a hole, and a session fetches it.
pub const GOSSIP_UNAUTHENTIC_MAX: usize = 256;

/// The share of one author in [`GOSSIP_UNAUTHENTIC_MAX`].
pub const GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX: usize = GOSSIP_UNAUTHENTIC_MAX / 16;

/// Peers remembered in a topic, connected or not. At it the one unheard of for longest that is not
/// trusted is forgotten.
pub const PEERS_PER_TOPIC_MAX: usize = 512;

/// Authors whose last entry is offered as a dependency of the next own entry.
pub const DEPS_TRACKED_MAX: usize = osier_core::limit::ENTRY_DEPS_MAX;

/// How far after the present a stamp may lie and still count for the newest of a ring, in
/// milliseconds; as in the store. A ring stamps its own entries no later than that.
pub const FUTURE_SLACK_MS: u64 = 10 * 60 * 1000;

/// Time without any trusted provider after which a topic is failed as "no provider", in
/// milliseconds; the same as a provider's silence at the start of a session.
pub const NO_PROVIDER_AFTER_MS: u64 = 5_000;

/// Time between a reason to be behind and the session that catches up, in milliseconds: lets a
/// burst of gossip arrive by itself. Jitter of as much again is added.
pub const BEHIND_SETTLE_MS: u64 = 200;

/// A topic that falls behind within so many milliseconds after it has caught up has relapsed: the
/// time to settle doubles. A burst that gossip cannot carry is then caught up on by some sessions
/// and not by hundreds, and watchers are told as often.
pub const RELAPSE_WITHIN_MS: u64 = 10_000;

/// Relapses that double the time to settle. With jitter it then stays under 3.2 s, and so under the
/// 5 s after which a topic that waits must be told something.
pub const RELAPSES_COUNTED_MAX: u32 = 3;
const _: () = assert!((BEHIND_SETTLE_MS << RELAPSES_COUNTED_MAX) * 2 < NO_PROVIDER_AFTER_MS);

/// Shortest time between two audits of a topic, in milliseconds, less jitter of up to a half: so
/// long can gossip that has fallen apart keep a change from a node.
pub const AUDIT_MIN_MS: u64 = 60_000;

/// Longest time between two audits of a topic, in milliseconds, after some in which all agreed. An
/// idle topic whose archive is not heard in the swarm costs a round trip in so long.
pub const AUDIT_MAX_MS: u64 = 8 * 60_000;

/// How long a member whose watermark shows less than this node holds is left to come along, in
/// milliseconds, with jitter of as much again: it hears our watermark within a second and asks
/// within another.
pub const LAGGARD_AFTER_MS: u64 = 5_000;

/// Shortest time between two sessions that this node opens because one member stays behind, in
/// milliseconds: a member that only says so costs a session a minute.
pub const LAGGARD_AGAIN_MS: u64 = 60_000;

/// Age of a session, in milliseconds, from which its pace is looked at: a slow link has brought the
/// first batch by then.
pub const CRAWLING_AFTER_MS: u64 = 30_000;

/// A stream that would need longer than this for what it has announced, in milliseconds, is slow,
/// however steadily it moves: an hour. A provider that makes entries up, or sends one now and then,
/// keeps nobody from the next one for longer.
pub const STREAM_MAX_MS: u64 = 60 * 60_000;

/// How long a disagreement of drained providers stands before they are asked once more, in
/// milliseconds, with jitter of as much again: what was written meanwhile has reached them.
pub const DISPUTE_AFTER_MS: u64 = 1_000;

/// Shortest time between two sessions with one provider about a disagreement, in milliseconds:
/// where people go on writing, providers differ by what they wrote last.
pub const DISPUTE_AGAIN_MS: u64 = 10_000;

/// When a provider that failed is looked at again while another brings history, in milliseconds.
pub const CARRIED_RETRY_MS: u64 = 1_000;

/// Progress events of one session, at most one in so many milliseconds.
pub const PROGRESS_EVERY_MS: u64 = 100;

/// Payload room of a gossip message in bytes: iroh-gossip's 4,096 less its 39-byte header.
pub const GOSSIP_PAYLOAD_BYTES_MAX: usize = 4096 - 39;

/// Ephemeral items that this node passes on in one topic, a second and at once: the swarm's own
/// ring holds 256 messages, and what overflows it costs a session. Over it: the caller is told, and
/// nobody beyond this node gets the item.
pub const EPHEMERAL_SENT: Rate = Rate::per_second(200, 100);

/// Ephemeral items that are taken from one signer in one topic: twice what an honest one sends,
/// since gossip bunches. Over it: dropped, before anything is done about the item.
pub const EPHEMERAL_TAKEN: Rate = Rate::per_second(400, 200);

/// How long an archive leaves it to a stranger that turned up to ask first, in milliseconds, with
/// jitter of as much again: a joiner asks within some round trips, and one that does not ask still
/// gives up soon what it wrote alone.
pub const STRANGER_ASKS_FIRST_MS: u64 = 2_000;

/// When to ask again for a session that gave way to the other side's, in milliseconds: long enough
/// for a near-equal one to end.
pub const SUPERSEDED_RETRY_MS: u64 = 500;

/// The longest such wait that is granted, in milliseconds: nothing is told while a session gives
/// way, so a provider must not name the time. A longer one is taken for this.
pub const SUPERSEDED_RETRY_MAX_MS: u64 = 2_000;

const _: () = assert!(EPHEMERAL_SENT.count < EPHEMERAL_TAKEN.count);
const _: () = assert!(EPHEMERAL_SENT.burst < EPHEMERAL_TAKEN.burst);
const _: () = assert!(SUPERSEDED_RETRY_MS <= SUPERSEDED_RETRY_MAX_MS);
const _: () = assert!(SUPERSEDED_RETRY_MAX_MS < NO_PROVIDER_AFTER_MS);
