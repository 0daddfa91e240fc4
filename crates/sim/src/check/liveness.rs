//! Liveness: once the faults have stopped, a core of honest nodes that can reach each other comes
//! to hold the same, and every one of them says so, within a stated time.

use osier_core::Role;
use osier_engine::TopicPhase;

use super::agreement;
use crate::{
    clock::{SEC, Time},
    event::NodeIndex,
    world::World,
};

/// Within this much virtual time after the faults stop (and the last write): the longest wait
/// between two tries (a minute), with jitter, for each of two hops; and a margin.
pub(crate) const CONVERGED_WITHIN: Time = 600 * SEC;

/// The nodes that must converge, and in which topic.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) nodes: Vec<NodeIndex>,
    pub(crate) topic: usize,
}

impl World {
    /// Why the core has not converged; none when it has.
    pub(crate) fn unconverged(&self, core: &Core) -> Option<String> {
        let members = core
            .nodes
            .iter()
            .filter(|n| self.nodes[**n].spec.topics.contains(&core.topic));
        let members: Vec<NodeIndex> = members.copied().collect();
        if let Some(what) = agreement::differ(self, &members, core.topic) {
            return Some(what);
        }
        members
            .iter()
            .find_map(|node| self.unsynced(*node, core.topic))
    }

    fn unsynced(&self, node: NodeIndex, topic: usize) -> Option<String> {
        let Some(state) = self.state(node, topic) else {
            return Some(format!("n{node} does not run"));
        };
        if state.phase == TopicPhase::Synced || !self.can_be_synced(node) {
            return None;
        }
        let providers = state.providers.iter().map(|provider| {
            format!(
                "{} {} {}",
                provider.node.short(),
                provider.outcome,
                provider.detail
            )
        });
        let providers: Vec<String> = providers.collect();
        Some(format!("n{node} is {:?} with {providers:?}", state.phase))
    }

    /// Everyone trusts the owner, and that is enough if it keeps everything. The owner itself needs
    /// to be an archive that knows of nobody else, or to trust someone of the core who keeps
    /// everything.
    fn can_be_synced(&self, node: NodeIndex) -> bool {
        let spec = &self.nodes[node].spec;
        let deep =
            |(peer, _, role): &(NodeIndex, _, Role)| self.is_up(*peer) && *role != Role::Replay;
        // Whom it grants, a hostile author too, it knows as a provider (`POL-12`).
        let knows_nobody = spec.trust.is_empty() && self.knobs.granted == 0;
        let sole = spec.role == Role::Archive && knows_nobody;
        node != 0 || sole || spec.trust.iter().any(deep)
    }

    /// Whether some command has no answer yet.
    pub(crate) fn is_answering(&self, core: &[NodeIndex]) -> bool {
        core.iter().any(|node| self.checks.unanswered(*node) > 0)
    }

    /// What is wrong at the end of a run, however well it has converged.
    pub(crate) fn loose_ends(&self, core: &Core) -> Option<String> {
        core.nodes.iter().find_map(|node| {
            if let Some(hash) = self.checks.acknowledged_lost(*node) {
                return Some(format!("n{node} has lost acknowledged {hash:?}"));
            }
            let unanswered = self.checks.unanswered(*node);
            if unanswered > 0 {
                return Some(format!(
                    "n{node} left {unanswered} commands without an answer"
                ));
            }
            self.untold(*node, core.topic)
        })
    }

    /// An application must have been shown everything, and no session may be open for ever.
    fn untold(&self, node: NodeIndex, topic: usize) -> Option<String> {
        let watch = self.checks.watches.get(&(node, self.topic(topic)))?;
        let state = self.state(node, topic)?;
        if watch.shown() < state.upto {
            return Some(format!(
                "n{node} has shown {:?} of {:?}",
                watch.shown(),
                state.upto
            ));
        }
        let up = self.nodes[node].up.as_ref()?;
        let clients = up
            .sessions
            .values()
            .filter(|live| live.machine.is_client())
            .count();
        if watch.open_sessions() > clients {
            return Some(format!(
                "n{node}: {} sessions have begun and not ended, {clients} are under way",
                watch.open_sessions()
            ));
        }
        None
    }
}
