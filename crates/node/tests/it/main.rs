//! Nodes over real sockets on loopback and real stores.
//!
//! Nothing sleeps to let something happen: every wait is for an event, within a time limit.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

mod gossip;
mod hostile;
mod restart;
mod shutdown;
mod support;
mod sync;
