//! What a crowd costs, counted.

#![expect(clippy::cast_precision_loss, reason = "figures have three digits")]

use std::collections::BTreeMap;

use osier_proto::Mode;

use super::swarm::Sort;
use crate::{
    clock::{SEC, Time},
    event::NodeIndex,
};

/// Bytes that nodes have received, all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Watermarks, with what the swarm adds to them.
    pub watermarks: u64,
    /// Words on roles, likewise.
    pub roles: u64,
    /// Entries and their names, likewise: content, not completion.
    pub entries: u64,
    /// Sessions, both ways: audits, and what follows a hint.
    pub sessions: u64,
}

impl Bytes {
    /// What completion costs: all but content.
    pub const fn completion(&self) -> u64 {
        self.watermarks + self.roles + self.sessions
    }
}

/// Everything that is counted, since the last time that it was forgotten.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Bytes received, by what they say.
    pub bytes: Bytes,
    /// Watermarks sent, each to the whole swarm.
    pub watermarks: u64,
    /// Requests for sessions that were refused.
    pub refused: u64,
    /// Sessions of clients that began, by how the difference was found and whether they resumed.
    pub sessions: BTreeMap<(&'static str, bool), u64>,
    /// Most hops that a message took to a node, and the sum and number of all.
    pub hops_max: u32,
    hops_sum: u64,
    hops_count: u64,
    asked: BTreeMap<NodeIndex, BTreeMap<Time, u64>>,
    served: BTreeMap<NodeIndex, usize>,
}

impl Figures {
    /// Requests for sessions that a provider got, all together.
    pub fn asked_in_all(&self, provider: NodeIndex) -> u64 {
        let seconds = self.asked.get(&provider);
        seconds.map_or(0, |seconds| seconds.values().sum())
    }

    /// The most requests that a provider got in any span of so many whole seconds.
    pub fn asked_within(&self, provider: NodeIndex, seconds: u64) -> u64 {
        let Some(asked) = self.asked.get(&provider) else {
            return 0;
        };
        let spans = asked.keys().map(|from| {
            let span = asked.range(from..&(from + seconds));
            span.map(|(_, count)| count).sum()
        });
        spans.max().unwrap_or(0)
    }

    /// The most sessions that a provider served at once.
    pub fn served_at_once(&self, provider: NodeIndex) -> usize {
        self.served.get(&provider).copied().unwrap_or(0)
    }

    /// Hops that a message took to a node, on average.
    pub fn hops_mean(&self) -> f64 {
        self.hops_sum as f64 / self.hops_count.max(1) as f64
    }

    pub(super) fn asked(&mut self, provider: NodeIndex, now: Time) {
        let seconds = self.asked.entry(provider).or_default();
        *seconds.entry(now / SEC).or_default() += 1;
    }

    pub(super) fn serves(&mut self, provider: NodeIndex, sessions: usize) {
        let most = self.served.entry(provider).or_default();
        *most = (*most).max(sessions);
    }

    pub(super) fn started(&mut self, mode: Mode, resumed: bool) {
        let mode = match mode {
            Mode::Equal => "equal",
            Mode::Resume => "resume",
            Mode::Empty => "empty",
            Mode::Heads => "heads",
            Mode::Ranges => "ranges",
        };
        *self.sessions.entry((mode, resumed)).or_default() += 1;
    }

    pub(super) fn session_bytes(&mut self, _from: NodeIndex, _to: NodeIndex, bytes: u64) {
        self.bytes.sessions += bytes;
    }

    pub(super) fn broadcast(&mut self, sort: Sort) {
        self.watermarks += u64::from(sort == Sort::Watermark);
    }

    pub(super) fn gossip_bytes(&mut self, sort: Sort, _to: NodeIndex, bytes: u64) {
        match sort {
            Sort::Watermark => self.bytes.watermarks += bytes,
            Sort::Role => self.bytes.roles += bytes,
            Sort::Entry => self.bytes.entries += bytes,
        }
    }

    pub(super) fn control_bytes(&mut self, sort: Sort, to: NodeIndex, bytes: u64) {
        self.gossip_bytes(sort, to, bytes);
    }

    pub(super) fn hops(&mut self, depth: u32) {
        self.hops_max = self.hops_max.max(depth);
        self.hops_sum += u64::from(depth);
        self.hops_count += 1;
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
