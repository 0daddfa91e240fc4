//! The golden vectors of the vocabulary: `{control,entry,envelope,ticket,frontier}.json` of
//! `specs/vectors`.
//!
//! The inputs are made here, the outcomes are what the code says of them; both are compared with
//! the file. With `OSIER_BLESS=1` the file is written instead.

mod control;
mod crafted;
mod entry;
mod envelope;
mod frontier;
mod support;
mod ticket;
