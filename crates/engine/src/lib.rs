//! The node's brain: which sessions to open and grant, when history is complete, what to gossip.
//!
//! Pure: the engine is fed with [`Input`]s and the time, and gives [`Output`]s; the driver (or the
//! simulator) carries them out. It never waits for a disk: a write leaves as [`Output::Commit`]
//! and comes back as [`Input::Durable`], so nothing can be acknowledged before it is there.
//!
//! | module | what it decides |
//! | --- | --- |
//! | `engine` | dispatch: one input in, outputs out |
//! | `input`, `output`, `event` | the contract with the driver and with applications |
//! | `open` | taking part in a topic, leaving it |
//! | `topic`, `peer` | what is known of each |
//! | `asking`, `serving`, `session_table`, `pace`, `end` | sessions and what their ends mean |
//! | `own_chain`, `publish` | the node's own writes |
//! | `ingest`, `owner` | entries on their way to disk, and what the owner says in them |
//! | `gossip`, `trickle`, `unauthentic` | hints out and in |
//! | `audit`, `laggard` | asking again when nothing hints at it; rousing those who stay behind |
//! | `completion`, `dispute`, `catch_up`, `proof` | facts, verdict, what watchers are told |
//! | `ephemeral` | what is passed on and never stored |
//! | `status`, `word` | a topic at one moment; reasons for people |
//! | `schedule` | every timer |
//! | `limit` | every bound |

mod asking;
mod audit;
mod catch_up;
mod claim;
mod completion;
mod dispute;
mod end;
mod engine;
mod ephemeral;
mod event;
mod gossip;
mod ingest;
mod input;
mod laggard;
pub mod limit;
mod open;
mod output;
mod own_chain;
mod owner;
mod pace;
mod peer;
mod proof;
mod publish;
mod relapse;
mod schedule;
mod serving;
mod session_table;
mod status;
mod topic;
mod trickle;
mod unauthentic;
mod unheard;
mod word;

pub use engine::{Engine, EngineConfig, Now};
pub use event::{
    BehindCause, BehindState, Convergence, DegradedReason, EntryPhase, ProviderState, SyncEvent,
    Synced, TopicPhase, TopicState,
};
pub use input::{
    AskId, BatchId, CommandId, DiskError, Input, SessionEvent, SessionKey, TopicReport, TopicSetup,
};
// The driver and the application's library name these without depending on the policy.
pub use osier_policy::{OwnerWords, Rank, Rule, RuleTextInvalid};
pub use output::{
    CommandError, Commit, GrantSession, NotGranted, NotGrantedBecause, OpenSession, Output,
    OwnerWord, PassedOn, Reply,
};
pub use trickle::Trickle;
