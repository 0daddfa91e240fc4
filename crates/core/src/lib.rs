//! The vocabulary of Osier: what an entry is, who signed it, and what a topic's history adds up to.
//!
//! Pure: nothing here reads a clock, draws randomness or touches the world.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `id` | topic, entry, node, session and request ids |
//! | `domain` | every hash and signature context, in one table |
//! | `codec` | canonical postcard: bounded decode, refuse what does not re-encode equal |
//! | `entry` | header, items, body, hash |
//! | `envelope` | `Signed<T>`, `Verified<T>` and the keys that make and check them |
//! | `authentic` | rule V: which entries of a batch are authentic |
//! | `frontier` | heads, tips and the state hash |
//! | `set` | the additive fingerprint of a set of entries, and the range order |
//! | `control` | what a topic's owner says: grants, revocations, the manifest of a space |
//! | `coverage` | what a provider's history reaches back to |
//! | `rate` | how often something may happen |
//! | `ticket` | what joins a node to a topic |
//! | `writing` | who may write in a topic, and what of a revoked node's chain still counts |
//! | `time` | instants, durations, wall-clock stamps; no `now()` |
//! | `limit` | every bound of the vocabulary with unit, reason and consequence |

mod authentic;
mod codec;
mod control;
mod coverage;
mod domain;
mod entry;
mod envelope;
mod frontier;
mod id;
pub mod limit;
mod rate;
mod set;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod ticket;
mod time;
mod writing;

pub use authentic::{Authenticity, authenticate};
pub use codec::{Malformed, decode_canonical, encode_canonical};
pub use control::{Control, Manifest, SpaceTopic};
pub use coverage::{Coverage, Role};
pub use domain::{Domain, keyed_hash};
pub use entry::{
    DropReason, Entry, EntryDraft, EntryError, EntryHeader, Item, Kind, Seq, SignedEntry, WireEntry,
};
pub use envelope::{
    EnvelopeError, KeyCache, NodeSecret, Payload, SignatureInvalid, Signed, Verified,
};
pub use frontier::{AuthorTips, Head, frontier_branch, frontier_leaf, frontier_root, state_hash};
pub use id::{
    BodyHash, EntryHash, IdTextInvalid, ItemHash, NodeId, RequestId, SessionId, StateHash, TopicId,
};
pub use rate::{Bucket, Rate};
pub use set::{OrderKey, SetSum};
pub use ticket::{Ticket, TicketInvalid, TopicKeys, TopicSecret};
pub use time::{Duration, Instant, Timestamp};
pub use writing::{Cut, Leave, Writing};
