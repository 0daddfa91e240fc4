//! One file a NIP: what it asks of a relay, as functions of events, filters and time.
//!
//! What we chose where a NIP leaves a choice is listed in `docs/reference/nips.md`.

pub mod nip01;
pub mod nip09;
pub mod nip11;
pub mod nip13;
pub mod nip17;
pub mod nip40;
pub mod nip42;
pub mod nip45;
pub mod nip62;
pub mod nip67;
pub mod nip70;
pub mod nip77;
