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
//! | module | what it holds |
//! | --- | --- |
//! | `message` | the wire enum and nothing else |
//! | `frame` | length-prefixed canonical frames |
//! | `view` | the reads that a session needs of a store snapshot |
//! | `marker` | the signed end of a session |
//! | `token` | resume tokens: sealed, opaque to the client |
//! | `limit` | every bound of the wire |

mod frame;
pub mod limit;
mod marker;
mod message;
mod token;
mod view;

pub use frame::{FrameDecoder, FrameError, encode_frame};
pub use marker::{FailureReason, HistorySyncComplete, HistorySyncFailed, Streamed, Vouched};
pub use message::{
    Alive, Entries, Expect, Heads, Hello, HelloAck, Message, Mode, Phase, RangeFrame, Received,
    Refuse, RefuseReason, Summary, Verdict, Want,
};
pub use token::{ResumePoint, Token, TokenSeal};
pub use view::{LogPage, Lsn, Source, StoreId, StorePoint, View, ViewError};
