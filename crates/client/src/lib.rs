//! A peer-to-peer node for apps that show a topic's history.
//!
//! An app gets one stream: entries, then exactly one truthful word on whether history is complete,
//! then entries as they come.
//!
//! ```
//! # async fn example() -> osier::Result<()> {
//! use osier::{Event, Osier, Position, SyncEvent};
//!
//! let dir = tempfile::tempdir().expect("a directory");
//! let node = Osier::builder().data_dir(dir.path()).open().await?;
//! let topic = node.create_topic("lobby").await?;
//! topic.publish("hello").await?;
//!
//! let mut watch = topic.watch(Position::START).await?;
//! while let Some(event) = watch.next().await {
//!     match event {
//!         Event::Entry { entry, .. } => {
//!             assert_eq!(entry.items()[0].bytes().map(|it| &it[..]), Some(&b"hello"[..]));
//!             break;
//!         }
//!         Event::Sync(SyncEvent::State(state)) => println!("{:?}", state.phase),
//!         Event::Sync(SyncEvent::HistorySynced(synced)) => println!("{:?}", synced.coverage),
//!         other => println!("{other:?}"),
//!     }
//! }
//! node.shutdown().await;
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | `builder` | [`Builder`]: how a node is opened |
//! | `node` | [`Osier`]: an open node |
//! | `topic` | [`Topic`]: write, read, follow, trust |
//! | `owner` | what a topic's owner says: [`Topic::grant`], [`Topic::revoke`] |
//! | `space` | [`Space`]: several topics as one |
//! | `stream` | [`Watch`]: the stream |
//! | `event`, `position` | [`Event`], [`Position`] |
//! | `page`, `causal` | [`Page`]: reading history in pages |
//! | `home`, `upkeep` | [`Home`]: the data directory, and what is done to it while no node runs |
//! | `error` | [`Error`] |

mod builder;
mod causal;
mod error;
mod event;
mod home;
mod node;
mod owner;
mod page;
mod position;
mod record;
mod space;
mod stream;
mod topic;
mod upkeep;

pub use osier_core::{
    Coverage, DropReason, Duration, Entry, EntryHash, EntryHeader, IdTextInvalid, Instant, Item,
    Kind, NodeId, Role, SessionId, StateHash, Ticket, TicketInvalid, TopicId, Verified, Writing,
};
pub use osier_engine::{
    BehindCause, BehindState, Convergence, DegradedReason, EntryPhase, PassedOn, ProviderState,
    SyncEvent, Synced, TopicPhase, TopicState,
};
pub use osier_node::{EphemeralStream, EventStream, random_bytes};
pub use osier_policy::{
    Rank, Rule, RuleTextInvalid, SpaceVerdict, TopicState as SpaceStanding, WithdrawReason,
};
pub use osier_proto::{Lsn, Mode};
pub use osier_store::{Compacted, Projection, Restored, Store};

pub use self::{
    builder::Builder,
    causal::{CausalMark, CausalMarkTextInvalid},
    error::{Error, Fault, Result},
    event::Event,
    home::{Home, RunFile},
    node::{CheckReport, Osier},
    page::{Order, Page, TimeMark, TimeMarkTextInvalid},
    position::{Position, PositionTextInvalid},
    space::{Space, SpaceEvent, SpaceMember, SpaceState, SpaceWatch},
    stream::Watch,
    topic::{Topic, TopicInfo, Trusted},
};
