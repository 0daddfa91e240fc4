//! The local HTTP API: topics, entries, events, status, health, metrics.
//!
//! One listener on loopback. Every request but `/healthz` and `/readyz` carries the bearer token of
//! the data directory; a request from a page of another origin, or for another host, is refused.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `server` | binding, serving, ending |
//! | `auth` | token, `Origin` and `Host` |
//! | `api` | one file a group of paths |
//! | `json` | how entries and events read as JSON |
//! | `limit` | every bound with unit, reason and consequence |
//! | `error` | `{ "error", "hint" }` |

mod api;
mod auth;
mod error;
pub mod json;
pub mod limit;
mod server;

pub use server::{Console, ConsoleError, Settings};
