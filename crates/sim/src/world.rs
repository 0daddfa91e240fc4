//! The world: nodes, network, gossip, disks and clocks under one queue of events.
//!
//! Each node is the production engine, store and session machines; the world is their driver. One
//! event is taken at a time, and what it sets off at once is done before the next; nothing else
//! moves. So a run is a function of its seed.

mod carry;
mod disk;
mod engine;
mod fault;
mod life;
mod link;
mod meter;
mod probe;
mod receive;
mod relay;
mod session;
mod swarm;
mod wire;

use std::collections::VecDeque;

use bytes::Bytes;
use osier_core::{EntryHash, Ticket, TopicId, TopicSecret, Writing};
use osier_engine::{Input, SessionKey};
use osier_proto::FailureReason;

use crate::{
    author::Author,
    check::{Checks, Violation},
    clock::Time,
    dice::{Dice, Purpose},
    disk::Temper,
    event::{Event, NodeIndex, Queue},
    gossip::Overlay,
    network::Network,
    node::{Node, NodeSpec},
    relay::Events,
    swarm::Knobs,
    trace::{Trace, TraceMode},
};

/// Things set off by an event, done before the next event.
#[derive(Debug)]
pub(crate) enum Work {
    /// The engine is told.
    Tell(NodeIndex, Box<Input>),
    /// A session may go on: it has room, input or time.
    Drive(NodeIndex, SessionKey),
    /// A batch of a session is durable, or is not.
    Durable(NodeIndex, SessionKey, u64, bool, Vec<EntryHash>),
    /// A session is to end.
    Cancel(NodeIndex, SessionKey, FailureReason),
}

/// Events in one run at most for each of its nodes, of which some count: a run that needs more
/// spins.
const EVENTS_MAX: u64 = 40_000;

/// Nodes that count at least.
const NODES_MIN: u64 = 5;

/// Draws for what is not in a module of its own.
#[derive(Debug)]
pub(crate) struct AllDice {
    pub(crate) node: Dice,
    pub(crate) disk: Dice,
    pub(crate) liar: Dice,
    pub(crate) fault: Dice,
}

/// A simulated world.
#[derive(Debug)]
pub struct World {
    pub(crate) knobs: Knobs,
    pub(crate) seed: u64,
    pub(crate) now: Time,
    pub(crate) queue: Queue,
    pub(crate) work: VecDeque<Work>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) topics: Vec<Ticket>,
    pub(crate) network: Network,
    pub(crate) overlay: Overlay,
    pub(crate) tempers: Vec<Temper>,
    pub(crate) dice: AllDice,
    pub(crate) trace: Trace,
    pub(crate) checks: Checks,
    pub(crate) gossip_deaf: Vec<bool>,
    pub(crate) authors: Vec<Author>,
    pub(crate) meter: meter::Meter,
    /// Ephemeral items that nodes have heard, in order.
    pub(crate) passed: Vec<(NodeIndex, Bytes)>,
    /// What users have published, where nodes are relays.
    pub(crate) events_published: Option<Events>,
    /// Whether faults are over.
    pub(crate) calm: bool,
    pub(crate) next_command: u64,
    events: u64,
}

impl World {
    /// An empty world with these parameters; everything random in it follows from the seed.
    pub fn new(seed: u64, knobs: Knobs, mode: TraceMode) -> Self {
        let dice = |purpose| Dice::new(seed, purpose);
        Self {
            network: Network::new(&knobs, dice(Purpose::Network)),
            checks: Checks::new(&knobs),
            events_published: (knobs.relays == 1).then(|| Events::new(seed)),
            knobs,
            seed,
            now: 0,
            queue: Queue::default(),
            work: VecDeque::new(),
            nodes: Vec::new(),
            topics: Vec::new(),
            overlay: Overlay::default(),
            passed: Vec::new(),
            tempers: Vec::new(),
            dice: AllDice {
                node: dice(Purpose::Node),
                disk: dice(Purpose::Disk),
                liar: dice(Purpose::Liar),
                fault: dice(Purpose::Fault),
            },
            trace: Trace::new(mode),
            gossip_deaf: Vec::new(),
            authors: Vec::new(),
            meter: meter::Meter::default(),
            calm: false,
            next_command: 0,
            events: 0,
        }
    }

    /// Adds a node that is not running yet. Node 0 owns every topic.
    pub fn add_node(&mut self, spec: NodeSpec) -> NodeIndex {
        let index = self.nodes.len();
        let is_relay = self.events_published.is_some();
        let node = Node::new(index, spec, is_relay, &mut self.dice.node);
        self.checks.add_node(node.spec.lie, node.spec.outsider);
        self.nodes.push(node);
        self.network.add_node();
        self.tempers.push(Temper::default());
        self.gossip_deaf.push(false);
        index
    }

    /// Adds a topic owned by node 0, whose ticket names nodes to join through.
    pub fn add_topic(&mut self, bootstrap: &[NodeIndex]) -> usize {
        let index = self.topics.len();
        let secret = TopicSecret::from_bytes(self.dice.node.bytes());
        let name = format!("topic {index}");
        let (writing, owner) = match self.knobs.granted {
            0 => (Writing::Open, self.nodes[0].id),
            _ => (Writing::Granted, self.nodes[0].id),
        };
        let mut ticket = Ticket::of(writing, owner, secret, &name).expect("a short name");
        for node in bootstrap {
            let address = format!("sim:{node}");
            ticket = ticket.with_address(self.nodes[*node].id, &address);
        }
        if writing == Writing::Granted {
            self.checks.grants_in(ticket.topic(), owner);
        }
        self.topics.push(ticket);
        index
    }

    /// The id of a topic by its place.
    pub fn topic(&self, index: usize) -> TopicId {
        self.topics[index].topic()
    }

    /// The node with an id.
    pub(crate) fn index_of(&self, id: osier_core::NodeId) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What has gone wrong so far; a run stops at the first.
    pub fn violation(&self) -> Option<&Violation> {
        self.checks.violation()
    }

    /// Number of lines of the trace, and the hash over them.
    pub fn digest(&self) -> (u64, [u8; 32]) {
        self.trace.digest()
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Lets time pass up to an instant, or to the first violation.
    pub fn run_until(&mut self, until: Time) {
        self.settle();
        while self.checks.violation().is_none() {
            let Some((at, event)) = self.queue.take(until) else {
                break;
            };
            assert!(at >= self.now, "time does not go backwards");
            self.now = at;
            self.events += 1;
            let most = EVENTS_MAX * (self.nodes.len() as u64).max(NODES_MIN);
            if self.events > most {
                self.checks
                    .fail(self.now, format!("{most} events: the run spins"));
            }
            self.happen(event);
            self.settle();
            self.probe();
        }
        self.now = self.now.max(until);
        self.probe();
    }

    /// Lets so much time pass.
    pub fn run_for(&mut self, span: Time) {
        self.run_until(self.now + span);
    }

    /// Lets time pass until something holds; false if it does not within the span.
    pub fn run_while(&mut self, span: Time, mut goes_on: impl FnMut(&mut Self) -> bool) -> bool {
        let until = self.now + span;
        while self.now < until && self.checks.violation().is_none() {
            if !goes_on(self) {
                return true;
            }
            let step = (self.now + 20 * crate::clock::MS).min(until);
            self.run_until(step);
        }
        !goes_on(self)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake { node, life } => self.wake(node, life),
            Event::SessionWake { node, life, key } => self.session_wake(node, life, key),
            Event::Arrive { stream, end } => self.arrive(stream, end),
            Event::Dialed {
                node,
                life,
                open,
                tries,
            } => self.dialed(node, life, open, tries),
            Event::IdleOut { connection } => self.idle_out(connection),
            Event::DiskDone { node, life } => self.disk_done(node, life),
            Event::Reported {
                node,
                life,
                results,
            } => self.reported(node, life, results),
            Event::Hop {
                from,
                to,
                life,
                rumour,
            } => self.hop(from, to, life, &rumour),
            Event::Meet {
                node,
                life,
                topic,
                with,
            } => self.meet(node, life, topic, with),
            Event::Lonely {
                node,
                life,
                topic,
                wait,
            } => self.lonely(node, life, topic, wait),
            Event::PartWays { topic, one, other } => self.part_ways(topic, one, other),
            Event::Act(action) => self.act(&action),
        }
    }

    /// Does all that has been set off.
    pub(crate) fn settle(&mut self) {
        let mut steps = 0_u32;
        while let Some(work) = self.work.pop_front() {
            steps += 1;
            assert!(steps < 1_000_000, "work that sets off itself for ever");
            match work {
                Work::Tell(node, input) => self.tell(node, *input),
                Work::Drive(node, key) => self.drive(node, key),
                Work::Durable(node, key, batch, ok, withheld) => {
                    self.session_durable(node, key, batch, ok, withheld);
                }
                Work::Cancel(node, key, reason) => self.cancel(node, key, reason),
            }
        }
    }
}
