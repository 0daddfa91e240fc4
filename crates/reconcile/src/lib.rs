//! Range-based set reconciliation: find what two sorted sets do not share.
//!
//! This crate speaks the negentropy protocol, version 1, byte for byte, over sets of
//! `(time, id)` pairs. It knows nothing of entries, events, peers or disks: frames come in as
//! bytes, frames and ids go out, and the set is read through [`Storage`].
//!
//! ```text
//!  Initiator                         Responder
//!  start() ------- frame ----------> answer()      ranges with fingerprints or id lists
//!  reconcile() <-- frame ----------                narrower ranges, or the ids themselves
//!     | next frame, have, need
//!     `----------- frame ----------> answer()      ... until there is no next frame
//! ```
//!
//! The initiator learns both sides of the difference: `have` (it holds them, the responder does
//! not) and `need` (the reverse). The responder learns nothing and keeps no state but a count.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `item` | [`Item`], its order, and [`Bound`], a place between two items |
//! | `summary` | [`Sum`] and [`Summary`]: what a fingerprint is made of; add and take away |
//! | `storage` | [`Storage`]: the five questions that the exchange asks of a set, by rank |
//! | `subrange` | [`SubRange`]: a window of a storage, as a storage |
//! | `vector` | [`VectorStorage`]: a sorted vector, the slow and obvious oracle |
//! | `varint` | the integers of the wire |
//! | `frame` | [`Frame`]: bounded decoding; [`Malformed`]: what is wrong with the bytes |
//! | `writer` | [`FrameWriter`]: the encoder |
//! | `pass` | one walk over one frame: compare, split, cut; shared by both ends |
//! | `exchange` | [`Initiator`] and [`Responder`], our own engine |
//! | `progress` | what ends an exchange that a faulty peer would keep alive; double reports |
//! | `memory` | [`MemoryInitiator`] and [`MemoryResponder`]: the `negentropy` crate, driven |
//! | `limit` | every bound, with unit and reason |
//! | `error` | [`ReconcileError`]: who is at fault |
//! | `testing` | (feature `testing`) the conformance suite that every storage passes |
//!
//! Deliberately absent: clocks, randomness, I/O, threads, hash maps, recursion. Frames from a
//! peer can make an exchange end with an error, never panic, and never allocate more than a
//! small multiple of the frame plus what the local set itself puts in the answer.
//!
//! Rules are numbered in `specs/08-reconcile.md`; the vectors are `specs/vectors/reconcile.json`.

mod error;
mod exchange;
mod frame;
mod item;
mod limit;
mod memory;
mod pass;
mod progress;
mod storage;
mod subrange;
mod summary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod varint;
mod vector;
mod writer;

pub use error::{Misbehaved, ReconcileError};
pub use exchange::{Initiator, Opening, Responder};
pub use frame::{Frame, Malformed, Part, Payload, Range, Ranges};
pub use item::{Bound, Id, Item, PrefixTooLong};
pub use limit::{
    BUCKETS, BUCKETS_MAX, FRAME_LIMIT_BYTES_MIN, FRAME_RESERVE_BYTES, FrameLimit,
    FrameLimitTooSmall, LIST_BELOW, ROUNDS_MAX, STALL_ROUNDS_MAX, Split, VERSION, rounds_enough,
};
pub use memory::{MemoryInitiator, MemoryResponder};
pub use progress::Progress;
pub use storage::Storage;
pub use subrange::SubRange;
pub use summary::{Fingerprint, Sum, Summary};
pub use vector::VectorStorage;
pub use writer::FrameWriter;
