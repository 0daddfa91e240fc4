//! The sync wire: messages, frames, the two session machines, markers and watermarks.
//!
//! Pure: a session is a state machine fed with messages and time. One QUIC stream carries one
//! session of one topic (`specs/03-session.md`):
//!
//! ```text
//! client                                   provider
//!   | Hello: proof, request, summary, token    |  takes a snapshot
//!   |----------------------------------------->|
//!   |      HelloAck: session, proof, summary,  |
//!   |                coverage, mode            |
//!   |<-----------------------------------------|
//!   |      Heads | Range frames, both ways     |  only in these modes
//!   |<---------------------------------------->|
//!   |      Expect, Entries ... (pulled)        |
//!   |<-----------------------------------------|
//!   |      Entries ... that the provider lacks |
//!   |----------------------------------------->|
//!   |      Complete or Failed (signed)         |
//!   |<-----------------------------------------|
//!   | Received: the client's verdict           |
//!   |----------------------------------------->|
//! ```
//!
//! The client's end comes once its marker is judged; its uploads go on, so a driver goes by
//! [`Session::is_over`] and not by the end.
//!
//! Both machines are [`Session`]s: inputs and the present time in, outputs out. Control messages
//! are pushed through [`Session::poll`], bulk is pulled with [`Session::poll_bulk`] when the
//! stream has room.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `message` | the wire enum and nothing else |
//! | `version` | which wire versions are spoken |
//! | `frame` | length-prefixed canonical frames |
//! | `view` | the reads that a session needs of a store snapshot |
//! | `session` | what both machines have in common for a driver |
//! | `client` | the machine that asks, receives and judges; [`Evidence`] |
//! | `provider` | the machine that serves one snapshot and signs for it |
//! | `output` | what the machines ask of their driver; every end |
//! | `proof` | who holds a topic's secret |
//! | `heads` | what follows from two frontiers |
//! | `window` | the part of the order that a ring takes part in |
//! | `transfer` | sending entries in batches made on demand |
//! | `intake` | receiving entries: form, topic, rule V |
//! | `timer` | signs of life |
//! | `marker` | the signed end of a session |
//! | `token` | resume tokens: sealed, opaque to the client |
//! | `announce` | signed gossip: hints that fit their swarm |
//! | `watermark` | what a node says that it holds |
//! | `fault` | who is at fault; close codes |
//! | `limit` | every bound of the wire |
//! | `testing` | (feature `testing`) a store in memory; a pair of sessions, driven |
//!
//! Deliberately absent: clocks, randomness, sockets, disks, threads. Names of sessions and
//! requests come in; stores are read through [`View`] and written by whoever drives.

mod announce;
mod client;
mod fault;
mod frame;
mod heads;
mod intake;
pub mod limit;
mod marker;
mod message;
mod output;
mod proof;
mod provider;
mod session;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod timer;
mod token;
mod transfer;
mod version;
mod view;
mod watermark;
mod window;

pub use announce::{Gossip, GossipMessage, decode_gossip, encode_gossip};
pub use client::{ClientConfig, ClientSession, Evidence};
pub use fault::{CloseCode, Fault, Incompatible, MalformedBytes, Rule};
pub use frame::{FrameDecoder, FrameError, encode_frame};
pub use marker::{FailureReason, HistorySyncComplete, HistorySyncFailed, Streamed, Vouched};
pub use message::{
    Alive, Entries, Expect, Heads, Hello, HelloAck, Message, Mode, Phase, RangeFrame, Received,
    Refuse, RefuseReason, Summary, Verdict, Want, Window,
};
pub use output::{ClientEnd, CutReason, Ingest, ProviderEnd, SessionOutput, Started};
pub use proof::find_topic;
pub use provider::{ProviderConfig, ProviderSession};
pub use session::Session;
pub use timer::Moved;
pub use token::{ResumePoint, Token, TokenSeal};
pub use version::WIRE_VERSION;
pub use view::{LogPage, Lsn, Source, StoreId, StorePoint, View, ViewError, range_item};
pub use watermark::Watermark;
