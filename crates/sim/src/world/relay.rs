//! What the relays of a run must agree on.

use osier_core::TopicId;

use super::World;
use crate::{event::NodeIndex, relay};

impl World {
    /// A node starts: whatever its last life left, its event index must be that of its log.
    pub(super) fn check_index(&mut self, node: NodeIndex) {
        let Some(index) = &self.nodes[node].vault.index else {
            return;
        };
        if self.dice.disk.chance(30) {
            relay::purge(index);
        }
        if let Some(what) = relay::wrong(index) {
            self.checks.fail(self.now, format!("n{node}: {what}"));
        }
    }

    /// How relays differ in what they show, or from what their logs say; none if they do not. A
    /// ring does not hold all that deletes and replaces, so it is held against its own log alone.
    pub fn shows_unlike(&self, core: &[NodeIndex]) -> Option<String> {
        let events = self.events_published.as_ref()?;
        let mut first = None;
        for node in core {
            let vault = &self.nodes[*node].vault;
            let index = vault.index.as_ref().expect("every node is a relay");
            if let Some(what) = relay::wrong(index) {
                return Some(format!("n{node}: {what}"));
            }
            let topics = self.nodes[*node].spec.topics.iter();
            let topics: Vec<TopicId> = topics.map(|topic| self.topic(*topic)).collect();
            if topics
                .iter()
                .any(|it| self.checks.floor(*node, *it).is_some())
            {
                continue;
            }
            let shown = relay::shown(index);
            let right = relay::should_show(events, &vault.store, &topics);
            if shown != right {
                let (has, should) = (shown.len(), right.len());
                return Some(format!("n{node} shows {has} events, and should {should}"));
            }
            let (other, theirs) = first.get_or_insert_with(|| (*node, shown.clone()));
            if *theirs != shown {
                return Some(format!("n{other} and n{node} show other events"));
            }
        }
        None
    }
}
