//! The swarm of a crowd: a random overlay as HyParView keeps it, and broadcasts as PlumTree sends
//! them. Messages go whole along a tree and by name along all other links; a link that brings what
//! is known is taken off the tree, and a node that hears a name and not the message puts the link
//! that named it on.

use std::collections::BTreeMap;

use bytes::Bytes;
use osier_core::KeyCache;
use osier_engine::Input;
use osier_proto::{Gossip, decode_gossip, limit::GOSSIP_PAYLOAD_BYTES_MAX};

use super::{Crowd, Event};
use crate::{
    clock::{MS, Time},
    event::NodeIndex,
    gossip::NEIGHBORS_MAX,
};

/// Links that a newcomer asks for.
const LINKS_NEW: usize = 4;

/// Links below which a member looks for another.
const LINKS_MIN: usize = 3;

/// How long a node waits for a message that it has heard named; iroh-gossip's.
const GRAFT_AFTER: Time = 80 * MS;

/// Bytes of the library around a message.
pub(super) const HEADER_BYTES: u64 = 39;

/// Bytes of a message's name, a graft or a prune: 32 of a hash and some framing.
pub(super) const CONTROL_BYTES: u64 = 40;

/// What a message says, for the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Watermark,
    Role,
    Entry,
}

/// One hop of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    message: u64,
    from: NodeIndex,
    to: NodeIndex,
    depth: u32,
    /// Whether the message itself arrives; otherwise its name did, some time ago.
    whole: bool,
}

#[derive(Debug)]
struct Rumour {
    bytes: Bytes,
    sort: Sort,
    seen: Vec<u64>,
    /// Hops under way: at none the message is forgotten.
    under_way: u64,
}

#[derive(Debug, Default)]
struct Place {
    up: bool,
    /// Neighbours, and whether messages go to them whole.
    links: Vec<(NodeIndex, bool)>,
}

/// All members and messages.
#[derive(Debug, Default)]
pub(super) struct Swarm {
    places: Vec<Place>,
    members: Vec<NodeIndex>,
    rumours: BTreeMap<u64, Rumour>,
}

impl Swarm {
    pub(super) fn add(&mut self) {
        self.places.push(Place::default());
    }

    fn linked(&self, one: NodeIndex, other: NodeIndex) -> bool {
        let mut links = self.places[one].links.iter();
        links.any(|(peer, _)| *peer == other)
    }

    fn unlink(&mut self, one: NodeIndex, other: NodeIndex) {
        for (a, b) in [(one, other), (other, one)] {
            self.places[a].links.retain(|(peer, _)| *peer != b);
        }
    }

    fn set_eager(&mut self, one: NodeIndex, other: NodeIndex, eager: bool) {
        for (a, b) in [(one, other), (other, one)] {
            let mut links = self.places[a].links.iter_mut();
            if let Some((_, is)) = links.find(|(peer, _)| *peer == b) {
                *is = eager;
            }
        }
    }

    /// A member goes; gives who has lost it.
    pub(super) fn leave(&mut self, node: NodeIndex) -> Vec<(NodeIndex, NodeIndex)> {
        self.places[node].up = false;
        self.members.retain(|member| *member != node);
        let links = std::mem::take(&mut self.places[node].links);
        for (peer, _) in &links {
            self.places[*peer].links.retain(|(other, _)| *other != node);
        }
        links.into_iter().map(|(peer, _)| (peer, node)).collect()
    }
}

impl Rumour {
    /// Notes that a node has it; false if it had it before.
    fn see(&mut self, node: NodeIndex) -> bool {
        let (word, bit) = (node / 64, 1 << (node % 64));
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }

    fn has(&self, node: NodeIndex) -> bool {
        self.seen[node / 64] & (1 << (node % 64)) != 0
    }
}

impl Crowd {
    /// A node takes part, once in a life; what more it learns of the others is not needed here.
    pub(super) fn join(&mut self, node: NodeIndex) {
        if !self.spec.swarm || self.swarm.places[node].up {
            return;
        }
        self.swarm.places[node].up = true;
        for _ in 0..LINKS_NEW {
            self.link_someone(node);
        }
        self.swarm.members.push(node);
    }

    /// Makes a node the neighbour of a random member.
    fn link_someone(&mut self, node: NodeIndex) {
        for _ in 0..8 {
            let members = self.swarm.members.len() as u64;
            let at = usize::try_from(self.dice.below(members)).expect("a place in a list");
            let Some(peer) = self.swarm.members.get(at).copied() else {
                return;
            };
            if peer != node && !self.swarm.linked(node, peer) {
                return self.link(node, peer);
            }
        }
    }

    fn link(&mut self, node: NodeIndex, peer: NodeIndex) {
        for (a, b) in [(node, peer), (peer, node)] {
            self.swarm.places[a].links.push((b, true));
            self.tell_neighbor(a, b, true);
        }
        for (a, keep) in [(node, peer), (peer, node)] {
            if self.swarm.places[a].links.len() > NEIGHBORS_MAX {
                let others = self.swarm.places[a].links.len() as u64 - 1;
                let at = usize::try_from(self.dice.below(others)).expect("a place in a list");
                let links = self.swarm.places[a].links.iter();
                let mut others = links.filter(|(other, _)| *other != keep);
                if let Some((gone, _)) = others.nth(at).copied() {
                    self.swarm.unlink(a, gone);
                    self.tell_neighbor(a, gone, false);
                    self.tell_neighbor(gone, a, false);
                    if self.swarm.places[gone].links.len() < LINKS_MIN {
                        self.link_someone(gone);
                    }
                }
            }
        }
    }

    pub(super) fn tell_neighbor(&mut self, node: NodeIndex, peer: NodeIndex, up: bool) {
        let topic = self.ticket.topic();
        let peer = self.id(peer);
        self.tell(node, Input::Neighbor { topic, peer, up });
    }

    /// A node sends to the swarm.
    pub(super) fn broadcast(&mut self, node: NodeIndex, bytes: Bytes) {
        let message = decode_gossip(&bytes, GOSSIP_PAYLOAD_BYTES_MAX, &mut KeyCache::new());
        let sort = match message.expect("own gossip decodes").into_inner().body {
            Gossip::Watermark(_) => Sort::Watermark,
            Gossip::Provider { .. } => Sort::Role,
            Gossip::Live(_) | Gossip::Announce { .. } | Gossip::Ephemeral { .. } => Sort::Entry,
        };
        self.figures.broadcast(sort);
        if !self.swarm.places[node].up {
            return;
        }
        self.next += 1;
        let name = self.next;
        let mut rumour = Rumour {
            bytes,
            sort,
            seen: vec![0; self.members.len() / 64 + 1],
            under_way: 0,
        };
        rumour.see(node);
        self.swarm.rumours.insert(name, rumour);
        self.pass_on(name, node, node, 0);
    }

    /// A node passes a message on to all but the one that it had it from.
    fn pass_on(&mut self, message: u64, node: NodeIndex, from: NodeIndex, depth: u32) {
        let links = self.swarm.places[node].links.clone();
        for (to, eager) in links.into_iter().filter(|(to, _)| *to != from) {
            self.send_hop(message, node, to, depth + 1, eager);
        }
        self.forget(message);
    }

    fn send_hop(&mut self, message: u64, from: NodeIndex, to: NodeIndex, depth: u32, whole: bool) {
        let delay = self.delay();
        let Some(rumour) = self.swarm.rumours.get_mut(&message) else {
            return;
        };
        if whole {
            let bytes = rumour.bytes.len() as u64 + HEADER_BYTES;
            self.figures.gossip_bytes(rumour.sort, to, bytes);
        } else {
            self.figures.control_bytes(rumour.sort, to, CONTROL_BYTES);
            if rumour.has(to) {
                return;
            }
        }
        rumour.under_way += 1;
        let wait = if whole { delay } else { delay + GRAFT_AFTER };
        let hop = Hop {
            message,
            from,
            to,
            depth,
            whole,
        };
        self.plan(self.now + wait, Event::Hop(hop));
    }

    /// A message, or the end of the wait after its name, has come to a node.
    pub(super) fn hop(&mut self, hop: &Hop) {
        let linked = self.swarm.linked(hop.from, hop.to);
        let is_up = self.swarm.places[hop.to].up;
        let Some(rumour) = self.swarm.rumours.get_mut(&hop.message) else {
            return;
        };
        rumour.under_way -= 1;
        let (sort, known) = (rumour.sort, rumour.has(hop.to));
        if hop.whole && !known && is_up {
            rumour.see(hop.to);
            let bytes = rumour.bytes.clone();
            self.figures.hops(hop.depth);
            let topic = self.ticket.topic();
            self.tell(hop.to, Input::Gossip { topic, bytes });
            return self.pass_on(hop.message, hop.to, hop.from, hop.depth);
        }
        if hop.whole && known && linked {
            self.figures.control_bytes(sort, hop.from, CONTROL_BYTES);
            self.swarm.set_eager(hop.from, hop.to, false);
        } else if !hop.whole && !known && linked {
            self.figures.control_bytes(sort, hop.from, CONTROL_BYTES);
            self.swarm.set_eager(hop.from, hop.to, true);
            self.send_hop(hop.message, hop.from, hop.to, hop.depth, true);
        }
        self.forget(hop.message);
    }

    fn forget(&mut self, message: u64) {
        let rumour = self.swarm.rumours.get(&message);
        if rumour.is_some_and(|rumour| rumour.under_way == 0) {
            self.swarm.rumours.remove(&message);
        }
    }
}
