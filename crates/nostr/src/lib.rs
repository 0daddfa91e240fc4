//! What a Nostr relay decides, and nothing else: no socket, no disk, no clock, no randomness.
//!
//! ```text
//!  text frame -> message -> Connection -> Verify, Append, Scan, Count, NegOpen ...  (the driver's)
//!                               ^                          |
//!                               '---- Input (results) -----'---> frames
//!  event -> effects (what it does to others) -> visible (the one rule) -> Fanout -> Input::Live
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | `event` | the event: parsed, canonical, had only verified |
//! | `key`, `kind`, `tag`, `time` | its parts |
//! | `filter` | what clients ask for, and the one predicate |
//! | `json`, `escape` | reading and writing JSON, bounded and strict |
//! | `message` | every message between clients and relays |
//! | `reason` | why something was refused: prefix and sentence |
//! | `subscription` | ids, connections, generations |
//! | [`nip`] | one file a NIP |
//! | `effect` | what events do to others: facts that only grow |
//! | `visible` | the one rule of visibility |
//! | `sketch` | `HyperLogLog`, and the questions for which one is kept |
//! | `fanout` | whom a new event concerns; `matcher` is its slow twin |
//! | `connection` | the machine of one connection |
//! | `outgoing` | this node as a client: how a request to a relay ends |
//! | `mapping` | events and the entries that carry them; routes to topics |
//! | [`limit`] | every bound with unit, reason and consequence |
//! | `testing` | (feature `testing`) keys, events, and a slow relay in memory |
//!
//! Deliberately absent: serde (a frame is read in one pass into what it must be), hash maps,
//! recursion on a client's depth. Text of a client can be refused; it cannot make this panic,
//! grow beyond a small multiple of its own length, or be acknowledged before it is durable.
//!
//! Rules are numbered in `specs/07-nostr.md`, choices are explained in `docs/reference/nips.md`.

mod connection;
mod coverage;
mod effect;
mod escape;
mod event;
mod fanout;
mod filter;
mod json;
mod key;
mod kind;
pub mod limit;
mod mapping;
mod matcher;
mod message;
pub mod nip;
mod outgoing;
mod reason;
mod sketch;
mod subscription;
mod tag;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod time;
mod visible;

// The relay counts by these, and depends on nothing below.
pub use connection::{
    Commit, Connection, Frame, Input, Now, Output, Page, Published, Purpose, Quotas, Reach,
    ScanEnd, Settings, Verdict,
};
pub use coverage::{Coverage, Span};
pub use effect::{Effect, Effects, Ledger, effects};
pub use event::{Event, EventDraft, EventForged, EventKey, EventMalformed, UnverifiedEvent};
pub use fanout::Fanout;
pub use filter::{Filter, FilterInvalid, TagCondition};
pub use json::{Fault, Malformed};
pub use key::{EventId, PublicKey, Signature};
pub use kind::{Class, EventKind};
pub use mapping::{ENTRY_KIND, ItemInvalid, Routes, bodies, read_ephemeral_item, read_item};
pub use matcher::Matcher;
pub use message::{ClientMessage, CountAnswer, Refusal, RelayMessage, RelayMessageInvalid, Target};
pub use osier_core::{Bucket, Rate};
pub use outgoing::{Asking, Ending, Step};
pub use reason::{Prefix, Reason};
pub use sketch::{CanonicalQuestion, REGISTERS, Sketch};
pub use subscription::{ConnectionId, Generation, RequestKey, SubscriptionId};
pub use tag::{Address, Letter, Tag};
pub use time::Seconds;
pub use visible::{Hidden, hidden, hidden_from_all};
