//! The local HTTP API: topics, entries, events, status, health, metrics, and the dashboard.
//!
//! One listener on loopback. A request carries the bearer token of the data directory, but for
//! health, the description and the dashboard's own files; a request from a page of another origin,
//! or for another host, is refused.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `server` | binding, serving, ending |
//! | `auth`, `door` | token, `Origin` and `Host`; one-time links |
//! | `api` | one file a group of paths |
//! | `shape` | what is answered, one type a shape |
//! | `word` | why a topic is not complete, in sentences |
//! | `openapi`, `metric` | the description; the figures |
//! | `page/` | the dashboard: HTML, CSS and scripts as they are served |
//! | `json` | how events read as JSON |
//! | `limit` | every bound with unit, reason and consequence |
//! | `error` | `{ "error", "hint" }` |

mod api;
mod auth;
mod door;
mod error;
pub mod json;
pub mod limit;
mod metric;
mod openapi;
mod server;
mod shape;
mod word;

pub use server::{Console, ConsoleError, Nostr, RelayFigures, Settings};
pub use shape::{Refused, RelayNumbers};
