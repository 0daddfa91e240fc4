//! What sessions have moved, for those who count it.

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{EntryHash, TopicId};
use osier_proto::Entries;

use super::World;
use crate::event::NodeIndex;

/// Bytes and entries by who sent them and to whom they went.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    bytes: BTreeMap<(NodeIndex, NodeIndex), u64>,
    entries: BTreeMap<(NodeIndex, NodeIndex), u64>,
    came: BTreeSet<(NodeIndex, TopicId, EntryHash)>,
    doubles: BTreeMap<NodeIndex, u64>,
}

impl Meter {
    /// So many bytes have been put on a stream.
    pub(crate) fn wrote(&mut self, from: NodeIndex, to: NodeIndex, bytes: usize) {
        *self.bytes.entry((from, to)).or_default() += bytes as u64;
    }

    /// A session has read a batch.
    pub(crate) fn read(
        &mut self,
        (from, to): (NodeIndex, NodeIndex),
        topic: TopicId,
        batch: &Entries,
    ) {
        *self.entries.entry((from, to)).or_default() += batch.entries.len() as u64;
        for entry in &batch.entries {
            if !self.came.insert((to, topic, entry.hash())) {
                *self.doubles.entry(to).or_default() += 1;
            }
        }
    }
}

impl World {
    /// Bytes that one node has put on its streams towards another.
    pub fn bytes_sent(&self, from: NodeIndex, to: NodeIndex) -> u64 {
        self.meter.bytes.get(&(from, to)).copied().unwrap_or(0)
    }

    /// Entries that a node has read of another in sessions.
    pub fn entries_sent(&self, from: NodeIndex, to: NodeIndex) -> u64 {
        self.meter.entries.get(&(from, to)).copied().unwrap_or(0)
    }

    /// Entries that sessions have brought to a node that an earlier one had brought already.
    pub fn came_twice(&self, node: NodeIndex) -> u64 {
        self.meter.doubles.get(&node).copied().unwrap_or(0)
    }
}
