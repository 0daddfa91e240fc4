//! Gossip as the node drives it: joining, meeting, spreading, losing neighbours.

use osier_core::{NodeId, TopicId};
use osier_engine::Input;

use super::{Work, World};
use crate::{
    clock::{MS, Time},
    event::{Event, Life, NodeIndex},
    gossip::{NEIGHBORS_MAX, REJOIN_WAIT_MAX, REJOIN_WAIT_MIN, Rumour},
};

impl World {
    pub(super) fn join_swarm(&mut self, index: NodeIndex, topic: TopicId, through: &[NodeId]) {
        let life = self.nodes[index].life;
        let peers: Vec<NodeIndex> = through.iter().filter_map(|id| self.index_of(*id)).collect();
        self.overlay.join(topic, index, life, peers.iter().copied());
        for with in peers {
            self.try_meet(index, topic, with);
        }
        self.plan_lonely(index, topic);
    }

    fn try_meet(&mut self, index: NodeIndex, topic: TopicId, with: NodeIndex) {
        let life = self.nodes[index].life;
        let at = self.now + 2 * self.network.draw_delay() + MS;
        let event = Event::Meet {
            node: index,
            life,
            topic,
            with,
        };
        self.queue.put(at, event);
    }

    /// A member without neighbours joins again after a while.
    fn plan_lonely(&mut self, index: NodeIndex, topic: TopicId) {
        let life = self.nodes[index].life;
        let Some(member) = self.overlay.member(topic, index) else {
            return;
        };
        if !member.lonely {
            member.lonely = true;
            let event = Event::Lonely {
                node: index,
                life,
                topic,
                wait: REJOIN_WAIT_MIN,
            };
            self.queue.put(self.now + REJOIN_WAIT_MIN, event);
        }
    }

    pub(super) fn lonely(&mut self, index: NodeIndex, life: Life, topic: TopicId, wait: Time) {
        let Some(member) = self.overlay.member(topic, index).filter(|m| m.life == life) else {
            return;
        };
        if !member.neighbors.is_empty() {
            member.lonely = false;
            return;
        }
        let remembered: Vec<NodeIndex> = member.remembered.iter().copied().collect();
        for with in remembered {
            self.try_meet(index, topic, with);
        }
        let event = Event::Lonely {
            node: index,
            life,
            topic,
            wait: (wait * 2).min(REJOIN_WAIT_MAX),
        };
        self.queue.put(self.now + wait, event);
    }

    pub(super) fn meet(&mut self, index: NodeIndex, life: Life, topic: TopicId, with: NodeIndex) {
        if self.nodes[index].life != life || !self.network.connects(index, with) {
            return;
        }
        if !self.overlay.befriend(topic, index, with) {
            return;
        }
        self.trace.note(
            self.now,
            index,
            format_args!("neighbour of n{with} in {topic:?}"),
        );
        self.tell_neighbor(index, topic, with, true);
        self.tell_neighbor(with, topic, index, true);
        for node in [index, with] {
            self.drop_crowd(node, topic, &[index, with]);
        }
        // A newcomer is passed on to neighbours of whom it met.
        let met = self
            .overlay
            .member(topic, with)
            .map(|m| m.neighbors.clone());
        let few = self
            .overlay
            .member(topic, index)
            .is_some_and(|m| m.neighbors.len() < 3);
        let others: Vec<NodeIndex> = met
            .unwrap_or_default()
            .into_iter()
            .filter(|other| *other != index)
            .collect();
        if few && !others.is_empty() {
            let next = *self.network.dice.pick(&others);
            self.try_meet(index, topic, next);
        }
    }

    /// A member with too many neighbours parts with one, but not with one that just came.
    fn drop_crowd(&mut self, index: NodeIndex, topic: TopicId, keep: &[NodeIndex]) {
        let Some(member) = self.overlay.member(topic, index) else {
            return;
        };
        if member.neighbors.len() <= NEIGHBORS_MAX {
            return;
        }
        let may: Vec<NodeIndex> = member
            .neighbors
            .iter()
            .copied()
            .filter(|n| !keep.contains(n))
            .collect();
        let gone = *self.network.dice.pick(&may);
        self.unlink(topic, index, gone);
    }

    fn unlink(&mut self, topic: TopicId, one: NodeIndex, other: NodeIndex) {
        for (a, b) in [(one, other), (other, one)] {
            let member = self.overlay.member(topic, a);
            if member.is_some_and(|member| member.neighbors.remove(&b)) {
                self.tell_neighbor(a, topic, b, false);
                self.after_loss(a, topic, b);
            }
        }
    }

    /// A lost neighbour is replaced by one who is remembered, if few are left.
    fn after_loss(&mut self, index: NodeIndex, topic: TopicId, lost: NodeIndex) {
        self.plan_lonely(index, topic);
        let Some(member) = self
            .overlay
            .member(topic, index)
            .filter(|m| m.neighbors.len() < 2)
        else {
            return;
        };
        let others: Vec<NodeIndex> = member
            .remembered
            .iter()
            .copied()
            .filter(|other| *other != lost && !member.neighbors.contains(other))
            .collect();
        if !others.is_empty() {
            let next = *self.network.dice.pick(&others);
            self.try_meet(index, topic, next);
        }
    }

    /// The swarm falls into two, each whole: everybody is everybody's neighbour on either side, and
    /// nobody remembers the other side. Sessions go on as they were.
    pub fn split_swarm(&mut self, topic: usize, some: &[NodeIndex], others: &[NodeIndex]) {
        let topic = self.topic(topic);
        let pairs = |from: &[NodeIndex], to: &[NodeIndex]| -> Vec<(NodeIndex, NodeIndex)> {
            let each = from
                .iter()
                .flat_map(|one| to.iter().map(move |other| (*one, *other)));
            each.collect()
        };
        for (one, other) in [pairs(some, some), pairs(others, others)].concat() {
            if self.overlay.befriend(topic, one, other) {
                self.tell_neighbor(one, topic, other, true);
                self.tell_neighbor(other, topic, one, true);
            }
        }
        for (one, other) in [pairs(some, others), pairs(others, some)].concat() {
            let Some(member) = self.overlay.member(topic, one) else {
                continue;
            };
            member.remembered.remove(&other);
            if member.neighbors.remove(&other) {
                self.tell_neighbor(one, topic, other, false);
            }
        }
        self.settle();
    }

    fn tell_neighbor(&mut self, index: NodeIndex, topic: TopicId, peer: NodeIndex, up: bool) {
        let peer = self.id(peer);
        let input = Input::Neighbor { topic, peer, up };
        self.work.push_back(Work::Tell(index, Box::new(input)));
    }

    /// Neighbours who cannot hear each other any more notice it.
    pub(super) fn part_ways(&mut self, topic: TopicId, one: NodeIndex, other: NodeIndex) {
        let present = |world: &mut Self, node: NodeIndex, with: NodeIndex| {
            let up = world.nodes[node].up.is_some();
            let member = world.overlay.member(topic, node);
            up && member.is_some_and(|member| member.neighbors.contains(&with))
        };
        let both = present(self, one, other) && present(self, other, one);
        if !both || self.cut_for_long(one, other) {
            self.unlink(topic, one, other);
        }
    }

    pub(super) fn leave_swarm(&mut self, index: NodeIndex, topic: TopicId) {
        if self.overlay.leave(topic, index).is_some() {
            for other in self.overlay.neighbors_of(topic, index) {
                let event = Event::PartWays {
                    topic,
                    one: index,
                    other,
                };
                self.queue.put(self.now + crate::gossip::GOODBYE, event);
            }
        }
    }

    /// A member sends to its neighbours what they have not sent to it.
    pub(crate) fn spread(&mut self, index: NodeIndex, rumour: &Rumour) {
        let Some(member) = self.overlay.member(rumour.topic, index) else {
            return;
        };
        member.seen.insert(rumour.name);
        let neighbors: Vec<NodeIndex> = member.neighbors.iter().copied().collect();
        for to in neighbors {
            self.send_hop(index, to, rumour);
        }
    }

    pub(crate) fn send_hop(&mut self, from: NodeIndex, to: NodeIndex, rumour: &Rumour) {
        let dice = &mut self.network.dice;
        let lost = dice.chance(self.knobs.gossip_loss_pct);
        let copies = if dice.chance(self.knobs.gossip_double_pct) {
            2
        } else {
            1
        };
        if lost || !self.network.passes(from, to) {
            return;
        }
        let life = self.nodes[to].life;
        for _ in 0..copies {
            let extra = self.network.dice.range(0, self.knobs.gossip_jitter_ms) * MS;
            let clogged = self.network.link(from, to).clogged_until;
            let at = (self.now + self.network.draw_delay() + extra).max(clogged);
            let rumour = rumour.clone();
            self.queue.put(
                at,
                Event::Hop {
                    from,
                    to,
                    life,
                    rumour,
                },
            );
        }
    }

    pub(super) fn hop(&mut self, from: NodeIndex, to: NodeIndex, life: Life, rumour: &Rumour) {
        if self.nodes[to].life != life {
            return;
        }
        let Some(member) = self.overlay.member(rumour.topic, to) else {
            return;
        };
        let new = member.seen.insert(rumour.name);
        let double = !new && self.network.dice.chance(self.knobs.gossip_double_pct);
        if (new || double) && !self.gossip_deaf[to] {
            let input = Input::Gossip {
                topic: rumour.topic,
                bytes: rumour.bytes.clone(),
            };
            self.work.push_back(Work::Tell(to, Box::new(input)));
        }
        if new {
            let next = self
                .overlay
                .member(rumour.topic, to)
                .map(|m| m.neighbors.clone());
            for other in next.unwrap_or_default() {
                if other != from {
                    self.send_hop(to, other, rumour);
                }
            }
        }
    }
}
