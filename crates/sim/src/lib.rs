//! Deterministic simulator: many engines and stores, a faulty network, liars, checkers.
//!
//! Everything that decides is the code that ships: engines, session machines, stores, policy. The
//! simulator only drives them, as the node does, over a network, disks and clocks of its own. All
//! that happens in a run follows from one number, the seed, so a failure is replayed by it.
//!
//! ```text
//! Knobs::draw(seed) -> World -> faults for a while -> faults stop -> must converge
//!                        |  every step: safety, deadlines, honest nodes are not blamed
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | `world` | nodes, network, gossip, disks under one queue of events |
//! | `event` | that queue |
//! | `node` | one node: engine, sessions, what a crash leaves |
//! | `clock` | virtual time; each node's own monotonic and wall clock |
//! | `network` | links, connections, streams |
//! | `gossip` | the overlay under broadcasts |
//! | `disk` | group commit, durability, failure |
//! | `swarm`, `dice` | parameters and draws, all from the seed |
//! | `workload`, `author` | who writes what when, honest or hostile; which fault when |
//! | `liar` | byzantine providers |
//! | `relay` | nodes that are Nostr relays: events, and the index over each disk |
//! | `check` | safety at every step; liveness and agreement at the end |
//! | `run` | one run of one seed |
//! | `crowd` | thousands of light nodes: what things cost when there are many |
//! | `lean` | a light node: engine, machines and a store in memory |
//! | `model` | a small world in which every path is tried |
//! | `replay`, `shrink` | a seed run twice; a failing seed made smaller |
//! | `trace` | one line a transition |
//!
//! Deliberately absent: threads, wall clocks, maps in random order, anything not drawn from the
//! seed.

mod author;
mod check;
mod clock;
pub mod crowd;
mod dice;
mod disk;
mod event;
mod gossip;
mod lean;
mod liar;
pub mod model;
mod network;
mod node;
mod owner;
mod relay;
mod replay;
mod run;
mod shrink;
mod swarm;
mod trace;
mod workload;
mod world;

pub use check::{Checks, Violation};
pub use clock::{Clock, MS, SEC, Time};
pub use dice::{Dice, Purpose};
pub use event::NodeIndex;
pub use liar::{ALL_LIES, LIES, Lie};
pub use node::NodeSpec;
pub use owner::Word;
pub use replay::run_twice;
pub use run::{Outcome, run_knobs, run_seed};
pub use shrink::{Shrunk, command, shrink};
pub use swarm::Knobs;
pub use trace::TraceMode;
pub use workload::Action;
pub use world::World;
