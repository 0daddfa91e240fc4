//! The golden vectors of the vocabulary: `specs/vectors/{entry,envelope,ticket,frontier}.json`.
//!
//! The inputs are made here, the outcomes are what the code says of them; both are compared with
//! the file. With `OSIER_BLESS=1` the file is written instead.

mod crafted;
mod entry;
mod envelope;
mod frontier;
mod support;
mod ticket;
