//! What a swarm pays for knowing that it is complete, and what a joiner waits for.

#![expect(clippy::cast_precision_loss, reason = "figures have three digits")]

use super::{Crowd, CrowdSpec};
use crate::clock::{MS, SEC, Time};

/// Archives of the measured swarm.
pub const ARCHIVES: usize = 3;

/// Bytes of an entry's body.
const BODY_BYTES: usize = 200;

/// How long all nodes take to start.
const START: Time = 200 * MS;

/// Time until all are synced and intervals have grown.
pub(super) const SETTLE: Time = 15 * 60 * SEC;

/// Time without entries.
pub(super) const QUIET: Time = 10 * 60 * SEC;

/// Entries written after that, each by another node.
pub(super) const WRITES: u64 = 5;

/// Time between two of them.
pub(super) const EVERY: Time = 30 * SEC;

/// The figures of one swarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Nodes.
    pub nodes: usize,
    /// Bytes of watermarks and roles that a node receives in a minute in which nothing is written.
    pub quiet: f64,
    /// The same while an entry is written each half minute.
    pub busy: f64,
    /// Watermarks sent to the swarm for each entry written.
    pub watermarks: f64,
    /// Hops of a message to the node farthest away.
    pub hops_max: u32,
    /// Hops of a message to a node, on average.
    pub hops_mean: f64,
    /// What only engines show; none of a model.
    pub engines: Option<Engines>,
}

/// What only a swarm of engines shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Engines {
    /// Bytes of sessions that a node sends in a minute in which nothing is written: audits.
    pub audits: f64,
    /// Milliseconds from a joiner's start until it is synced.
    pub join_ms: f64,
    /// The joiner's sessions till then.
    pub join_sessions: u64,
}

/// Measures a swarm of so many nodes, all of them engines that ship.
pub fn measure(nodes: usize, seed: u64) -> Cost {
    let mut crowd = Crowd::new(CrowdSpec {
        seed,
        archives: ARCHIVES,
        clients: nodes - ARCHIVES,
        entries: 3,
        equal: true,
        swarm: true,
    });
    for node in 0..nodes {
        let at = if node < ARCHIVES { 0 } else { START };
        crowd.start_at(node, at * node as Time / nodes as Time);
    }
    crowd.run_until(SETTLE);
    assert_eq!(crowd.unsynced(), 0, "everybody is synced");
    crowd.count_afresh();
    crowd.run_for(QUIET);
    let quiet = crowd.figures().bytes;
    crowd.count_afresh();
    for write in 0..WRITES {
        crowd.publish(writer(write, nodes), BODY_BYTES);
        crowd.run_for(EVERY);
    }
    let figures = crowd.figures().clone();
    let (join_ms, join_sessions) = join(&mut crowd);
    Cost {
        nodes,
        quiet: per_minute(quiet.watermarks + quiet.roles, nodes, QUIET),
        busy: per_minute(
            figures.bytes.watermarks + figures.bytes.roles,
            nodes,
            WRITES * EVERY,
        ),
        watermarks: figures.watermarks as f64 / WRITES as f64,
        hops_max: figures.hops_max,
        hops_mean: figures.hops_mean(),
        engines: Some(Engines {
            audits: per_minute(quiet.sessions, nodes, QUIET),
            join_ms,
            join_sessions,
        }),
    }
}

/// Who writes which entry: none of the archives.
pub(super) fn writer(write: u64, nodes: usize) -> usize {
    let write = usize::try_from(write).expect("few writes");
    ARCHIVES + (7919 * (write + 1)) % (nodes - ARCHIVES)
}

pub(super) fn per_minute(bytes: u64, nodes: usize, span: Time) -> f64 {
    let minutes = span as f64 / (60 * SEC) as f64;
    bytes as f64 / nodes as f64 / minutes
}

/// A node that holds nothing joins.
fn join(crowd: &mut Crowd) -> (f64, u64) {
    let joiner = crowd.add_client();
    let begun = crowd.now();
    crowd.start_at(joiner, begun);
    while crowd.synced_at(joiner).is_none() {
        let waited = crowd.now() - begun;
        assert!(waited < 60 * SEC, "a joiner is synced within a minute");
        crowd.run_for(MS);
    }
    let took = (crowd.now() - begun) as f64 / MS as f64;
    (took, crowd.sessions_of(joiner))
}
