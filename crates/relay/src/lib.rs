//! The relay for Nostr clients, over a node and its event index: it carries; what is decided is
//! decided in `osier_nostr`.
//!
//! ```text
//!  accept -> http (NIP-11, upgrade) -> connection: socket <-> osier_nostr::Connection
//!                                        |    ^ mail
//!             verifiers, appender <- ingest  scan -> readers -> event index (snapshots)
//!                   |                    |    ^
//!                   v                    hub: who is subscribed to what
//!                 node: log and index in one transaction -> topics -> feed -> hub
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | `server` | [`Bridge`], [`Server`]: starting, accepting, ending |
//! | `http`, `door` | before the upgrade: NIP-11, who may come in |
//! | `connection`, `socket`, `gather` | one client: a task, a WebSocket, its writes |
//! | `peer`, `hub` | inboxes with bounds; the live fan-out |
//! | `ingest` | published events: verified, judged, appended in batches |
//! | `ephemeral` | events of the moment, from clients and from other nodes |
//! | `quota`, `rates` | how often each of many may do something |
//! | `import` | events that come from files |
//! | `scan`, `gathered` | stored events, counts, comparisons, a bounded turn at a time |
//! | `purge` | expired events leave the index |
//! | `target` | [`Target`]: which events go to which topic |
//! | `topics`, `feed` | how complete the topics are; what has come into them |
//! | `mirror` | this node as a client of other relays |
//! | `workers`, `turns` | threads with a queue in which clients take turns |
//! | `figures`, `tally` | [`Figures`]: what it is doing now, and has done |
//! | `relay`, `settings`, `clock` | what all share |
//! | [`limit`] | every bound with unit, reason and consequence |
//!
//! Deliberately absent: a timer or a buffer for each connection, and any answer that is made before
//! what it speaks of is durable.

mod clock;
mod connection;
mod door;
mod ephemeral;
mod error;
mod feed;
mod figures;
mod gather;
mod gathered;
mod http;
mod hub;
mod import;
mod ingest;
pub mod limit;
mod mirror;
mod peer;
mod purge;
mod quota;
mod rates;
mod relay;
mod scan;
mod server;
mod settings;
mod socket;
mod tally;
mod target;
mod topics;
mod turns;
mod workers;

pub use error::RelayError;
pub use figures::{Figures, Refusals};
pub use import::{Imported, Importer, is_event};
pub use mirror::{Answer, Counted, Direction, Mirror, MirrorError, Mirrored, Order, count};
pub use osier_nostr::{
    EventKey, Filter, PublicKey, Quotas, Settings as NostrSettings,
    nip::{
        nip11::Identity,
        nip17::Gate,
        nip42::{RelayUrl, RelayUrls},
        nip45::HllRule,
    },
};
pub use server::{Attached, Bridge, Server};
pub use settings::Settings;
pub use target::Target;
