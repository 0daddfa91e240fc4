//! A swarm too large for engines: each node is its timer, the engine's own, and the number of
//! entries that it has heard of. Messages go along one spanning tree of a random overlay, by name
//! along its other links. What it leaves out is sessions, membership and loss; what it says of
//! watermarks must agree with what engines do where both can be run (`tests/swarm.rs`).

#![expect(clippy::cast_precision_loss, reason = "figures have three digits")]

use std::{cmp::Reverse, collections::BinaryHeap};

use osier_core::{EntryHash, Role, TopicId, testing};
use osier_engine::Trickle;
use osier_proto::{Gossip, GossipMessage, Lsn, Summary, Watermark, encode_gossip};

use super::{
    ARCHIVES, Cost, DELAY,
    cost::{EVERY, QUIET, SETTLE, WRITES, per_minute, writer},
    swarm::{CONTROL_BYTES, HEADER_BYTES},
};
use crate::{
    clock::Time,
    dice::{Dice, Purpose},
    lean::instant,
};

/// Copies of a message that reach a node, in quarters: paths that differ from sender to sender put
/// links on the tree and off again. As engines show at 1,000 nodes; iroh-gossip's own, measured at
/// 50 nodes, are 1.45 to 1.7.
const COPIES_QUARTERS: u64 = 5;

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    /// There is one entry more.
    Entry,
    /// So many entries are held, says an archive or another.
    Held { entries: u32, by_archive: bool },
}

/// One thing that will happen to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Timer,
    Hears(Word),
}

#[derive(Debug)]
struct Node {
    timer: Trickle,
    /// When it is woken; earlier plans are void.
    wake: Time,
    entries: u32,
    /// What it and another held when they last differed: only news are a reason to speak.
    differed: (u32, u32),
    /// Neighbours on the tree.
    tree: Vec<u32>,
}

struct Light {
    nodes: Vec<Node>,
    /// Links that are not on the tree.
    lazy: u64,
    queue: BinaryHeap<Reverse<(Time, u32, Event)>>,
    now: Time,
    dice: Dice,
    message_bytes: u64,
    /// Bytes received by all, and watermarks sent.
    bytes: u64,
    watermarks: u64,
    hops_max: u32,
    hops_sum: u64,
    hops_count: u64,
}

/// The figures of a swarm of so many nodes by the model.
pub fn model(nodes: usize, seed: u64) -> Cost {
    let mut light = Light::new(nodes, seed);
    light.run_until(SETTLE);
    light.forget();
    light.run_until(SETTLE + QUIET);
    let quiet = per_minute(light.bytes, nodes, QUIET);
    light.forget();
    for write in 0..WRITES {
        light.publish(u32::try_from(writer(write, nodes)).expect("few nodes"));
        light.run_until(SETTLE + QUIET + (write + 1) * EVERY);
    }
    Cost {
        nodes,
        quiet,
        busy: per_minute(light.bytes, nodes, WRITES * EVERY),
        watermarks: light.watermarks as f64 / WRITES as f64,
        hops_max: light.hops_max,
        hops_mean: light.hops_sum as f64 / light.hops_count.max(1) as f64,
        engines: None,
    }
}

impl Light {
    fn new(count: usize, seed: u64) -> Self {
        let mut dice = Dice::new(seed, Purpose::Network);
        let (tree, lazy) = overlay(count, &mut dice);
        let nodes = (tree.into_iter().enumerate()).map(|(index, tree)| {
            let timer = Trickle::new(instant(0), index < ARCHIVES, dice.bits());
            Node {
                wake: timer.deadline().as_nanos(),
                timer,
                entries: 0,
                differed: (0, 0),
                tree,
            }
        });
        let nodes: Vec<Node> = nodes.collect();
        let wakes = nodes.iter().zip(0..);
        let queue = wakes.map(|(node, index)| Reverse((node.wake, index, Event::Timer)));
        Self {
            queue: queue.collect(),
            nodes,
            lazy,
            now: 0,
            dice,
            message_bytes: message_bytes(),
            bytes: 0,
            watermarks: 0,
            hops_max: 0,
            hops_sum: 0,
            hops_count: 0,
        }
    }

    fn forget(&mut self) {
        (self.bytes, self.watermarks) = (0, 0);
        (self.hops_max, self.hops_sum, self.hops_count) = (0, 0, 0);
    }

    fn run_until(&mut self, until: Time) {
        while self.queue.peek().is_some_and(|next| next.0.0 <= until) {
            let Some(Reverse((at, node, event))) = self.queue.pop() else {
                break;
            };
            self.now = at;
            match event {
                Event::Timer if self.nodes[node as usize].wake == at => self.timer(node),
                Event::Timer => {}
                Event::Hears(word) => self.hears(node, word),
            }
        }
        self.now = until;
    }

    fn timer(&mut self, index: u32) {
        let random = self.dice.bits();
        let node = &mut self.nodes[index as usize];
        let speaks = node.timer.on_time(instant(self.now), random);
        let (entries, by_archive) = (node.entries, (index as usize) < ARCHIVES);
        self.plan_wake(index);
        if speaks {
            self.watermarks += 1;
            let nodes = self.nodes.len() as u64;
            self.bytes += (nodes - 1) * self.message_bytes * COPIES_QUARTERS / 4;
            // A watermark and a role: two names on each other link, either way, and a graft and a
            // prune for each superfluous copy.
            let superfluous = (nodes - 1) * 2 * (COPIES_QUARTERS - 4) / 4;
            self.bytes += (self.lazy * 2 * 2 + superfluous * 2) * CONTROL_BYTES;
            self.spread(
                index,
                Word::Held {
                    entries,
                    by_archive,
                },
            );
        }
    }

    fn plan_wake(&mut self, index: u32) {
        let node = &mut self.nodes[index as usize];
        let at = node.timer.deadline().as_nanos().max(self.now + 1);
        if node.wake != at {
            node.wake = at;
            self.queue.push(Reverse((at, index, Event::Timer)));
        }
    }

    fn hears(&mut self, index: u32, word: Word) {
        let (random, now) = (self.dice.bits(), instant(self.now));
        let is_archive = (index as usize) < ARCHIVES;
        let node = &mut self.nodes[index as usize];
        match word {
            Word::Entry => {
                node.entries += 1;
                node.timer.reset(now, random);
            }
            Word::Held { entries, .. } if entries != node.entries => {
                let differed = (entries, node.entries);
                if std::mem::replace(&mut node.differed, differed) != differed {
                    node.timer.reset(now, random);
                }
            }
            Word::Held { by_archive, .. } => match (is_archive, by_archive) {
                (true, true) | (false, false) => node.timer.hear_consistent(),
                (false, true) => node.timer.hear_enough(),
                (true, false) => {}
            },
        }
        self.plan_wake(index);
    }

    fn publish(&mut self, index: u32) {
        self.hears(index, Word::Entry);
        self.spread(index, Word::Entry);
    }

    /// Plans when each node hears it: along the tree, each hop with its own delay.
    fn spread(&mut self, from: u32, word: Word) {
        let mut next = vec![(from, from, self.now, 0_u32)];
        while let Some((index, before, at, depth)) = next.pop() {
            if depth > 0 {
                self.queue.push(Reverse((at, index, Event::Hears(word))));
                self.hops_max = self.hops_max.max(depth);
                self.hops_sum += u64::from(depth);
                self.hops_count += 1;
            }
            for peer in &self.nodes[index as usize].tree {
                if *peer != before {
                    let arrives = at + DELAY + self.dice.below(DELAY);
                    next.push((*peer, index, arrives, depth + 1));
                }
            }
        }
    }
}

/// A random overlay: neighbours on a spanning tree, found as the first message finds it, and the
/// number of other links.
fn overlay(count: usize, dice: &mut Dice) -> (Vec<Vec<u32>>, u64) {
    let mut links: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut number = 0_u64;
    for node in 1..count {
        // Two and a half each: five neighbours.
        for _ in 0..2 + node % 2 {
            let peer = dice.index(node);
            let (one, other) = (small(node), small(peer));
            if !links[node].contains(&other) {
                links[node].push(other);
                links[peer].push(one);
                number += 1;
            }
        }
    }
    let mut tree: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut reached = vec![false; count];
    let mut first: BinaryHeap<Reverse<(Time, usize, usize)>> = BinaryHeap::new();
    first.push(Reverse((0, 0, 0)));
    while let Some(Reverse((at, node, from))) = first.pop() {
        if std::mem::replace(&mut reached[node], true) {
            continue;
        }
        if node != from {
            tree[node].push(small(from));
            tree[from].push(small(node));
        }
        for peer in &links[node] {
            let arrives = at + DELAY + dice.below(DELAY);
            first.push(Reverse((arrives, *peer as usize, node)));
        }
    }
    (tree, number - (count as u64 - 1))
}

fn small(node: usize) -> u32 {
    u32::try_from(node).expect("few nodes")
}

/// Bytes of a watermark and of the role that goes with it, with what the swarm adds to each.
fn message_bytes() -> u64 {
    let mut summary = Summary::empty();
    summary.set.insert(&EntryHash::from_bytes([7; 32]));
    let watermark = Watermark {
        summary,
        last: Lsn::new(9),
    };
    let role = Role::Peer;
    let bodies = [Gossip::Watermark(watermark), Gossip::Provider { role }];
    let sizes = bodies.into_iter().map(|body| {
        let message = GossipMessage {
            topic: TopicId::from_bytes([1; 32]),
            sequence: u64::MAX >> 1,
            body,
        };
        let bytes = encode_gossip(&testing::secret(1), &message, usize::MAX);
        bytes.expect("there is room").len() as u64 + HEADER_BYTES
    });
    sizes.sum()
}
