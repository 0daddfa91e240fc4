//! A crowd: thousands of light nodes of one topic, a network that delays and loses nothing, and a
//! swarm.
//!
//! [`World`](crate::World) asks whether all is well when things go wrong, with a dozen nodes. A
//! crowd asks what things cost when there are many: how often a provider is asked, how many
//! sessions it serves at once, how long the last one waits, how many bytes a node hears. Nodes are
//! engines and machines that ship (`lean`); disks write at once.

mod carry;
mod cost;
mod figure;
mod light;
mod swarm;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    sync::Arc,
};

use osier_core::{Entry, NodeId, Role, Ticket, TopicSecret, Verified, testing};
use osier_engine::{OpenSession, Rank, Rule, SessionKey};
use osier_proto::{Lsn, Message, testing::MemorySource};

use self::swarm::{Hop, Swarm};
pub use self::{
    cost::{ARCHIVES, Cost, Engines, measure},
    figure::{Bytes, Figures},
    light::model,
};
use crate::{
    check::Watch,
    clock::{MS, SEC, Time},
    dice::{Dice, Purpose},
    event::NodeIndex,
    lean::{Lean, LeanSpec, instant},
};

/// Delay of a message, one way: from this to twice this.
const DELAY: Time = 20 * MS;

/// Time for a dial; as in the node.
const DIAL_WITHIN: Time = 5 * SEC;

/// Time between two tries of one dial.
const DIAL_STEP: Time = 500 * MS;

/// Lateness of a word that is no fault: nothing here takes time but messages.
const SLACK: Time = SEC;

/// What a crowd is made of.
#[derive(Debug, Clone)]
pub struct CrowdSpec {
    /// All draws follow from it.
    pub seed: u64,
    /// Archives; the first owns the topic. Everybody trusts them all.
    pub archives: usize,
    /// Nodes that are none.
    pub clients: usize,
    /// Entries that archives hold at first.
    pub entries: usize,
    /// Whether the clients hold them, too.
    pub equal: bool,
    /// Whether there is a swarm; without one only sessions bring anything.
    pub swarm: bool,
}

/// One thing that will happen.
#[derive(Debug)]
enum Event {
    /// A node wants to be called.
    Wake(NodeIndex, u32),
    /// A dial has come to its end, this long after it began.
    Dialed(NodeIndex, u32, Box<OpenSession>, Time),
    /// A message of a stream arrives at one of its ends.
    Arrive(u64, usize, Box<Message>),
    /// A stream ends for one of its ends.
    Fin(u64, usize),
    /// A node learns that the connection with another is gone.
    Lost(NodeIndex, NodeIndex),
    /// Gossip goes one hop.
    Hop(Hop),
    /// A node starts.
    Start(NodeIndex),
}

/// An event in the queue: by time, then by the order in which it was put in.
#[derive(Debug)]
struct Planned(Time, u64, Event);

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}

impl Eq for Planned {}

impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Planned {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

/// One end of a stream: whose, in which of its lives, and the session when there is one.
#[derive(Debug, Clone, Copy)]
struct Seat {
    node: NodeIndex,
    life: u32,
    key: Option<SessionKey>,
    /// When the last message to it arrives: streams keep their order.
    last: Time,
}

/// One node and what the crowd knows of it.
#[derive(Debug)]
struct Member {
    spec: LeanSpec,
    source: Arc<MemorySource>,
    /// None until its first start.
    lean: Option<Lean>,
    up: bool,
    life: u32,
    /// When its next wake-up is planned.
    wake: Option<Time>,
    watch: Watch,
    /// When its application was last told that it is synced.
    synced: Option<Time>,
    /// Sessions begun as client in this life.
    begun: u64,
    connected: BTreeSet<NodeIndex>,
    dials: BTreeSet<SessionKey>,
    streams: BTreeMap<SessionKey, (u64, usize)>,
}

/// A crowd.
#[derive(Debug)]
pub struct Crowd {
    spec: CrowdSpec,
    now: Time,
    looked: Time,
    queue: BinaryHeap<Reverse<Planned>>,
    next: u64,
    members: Vec<Member>,
    index: BTreeMap<NodeId, NodeIndex>,
    streams: BTreeMap<u64, [Seat; 2]>,
    swarm: Swarm,
    dice: Dice,
    ticket: Ticket,
    history: Vec<Verified<Entry>>,
    figures: Figures,
}

impl Crowd {
    /// A crowd in which nobody runs yet.
    ///
    /// # Panics
    /// Without an archive.
    pub fn new(spec: CrowdSpec) -> Self {
        assert!(spec.archives > 0, "somebody owns the topic");
        let secret = TopicSecret::from_bytes([4; 32]);
        let owner = testing::secret(1).node_id();
        let ticket = Ticket::new(owner, secret, "crowd").expect("a short name");
        let mut writer = testing::Chain::in_topic(1 << 40, ticket.topic());
        let history = (0..spec.entries).map(|_| writer.next(b"history")).collect();
        let mut crowd = Self {
            dice: Dice::new(spec.seed, Purpose::Network),
            now: 0,
            looked: 0,
            queue: BinaryHeap::new(),
            next: 0,
            members: Vec::new(),
            index: BTreeMap::new(),
            streams: BTreeMap::new(),
            swarm: Swarm::default(),
            ticket,
            history,
            figures: Figures::default(),
            spec,
        };
        for _ in 0..crowd.spec.archives {
            crowd.add(Role::Archive, true);
        }
        for _ in 0..crowd.spec.clients {
            crowd.add(Role::Peer, crowd.spec.equal);
        }
        crowd
    }

    /// Adds a node that does not run yet.
    pub fn add_client(&mut self) -> NodeIndex {
        self.add(Role::Peer, false)
    }

    fn add(&mut self, role: Role, holds: bool) -> NodeIndex {
        let index = self.members.len();
        let secret = testing::secret(index as u64 + 1);
        let id = secret.node_id();
        let archives = (0..self.spec.archives).filter(|archive| *archive != index);
        let spec = LeanSpec {
            secret,
            ticket: self.ticket.clone(),
            role,
            rule: Rule::StorageFirst,
            trust: archives
                .map(|archive| {
                    let id = testing::secret(archive as u64 + 1).node_id();
                    (id, Rank::DEFAULT, Role::Archive)
                })
                .collect(),
        };
        let history = self.history.iter().filter(|_| holds);
        let number = index.to_le_bytes()[0];
        self.members.push(Member {
            source: MemorySource::with(number, history),
            spec,
            lean: None,
            up: false,
            life: 0,
            wake: None,
            watch: Watch::default(),
            synced: None,
            begun: 0,
            connected: BTreeSet::new(),
            dials: BTreeSet::new(),
            streams: BTreeMap::new(),
        });
        self.index.insert(id, index);
        self.swarm.add();
        index
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What was counted so far.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Begins to count afresh.
    pub fn count_afresh(&mut self) {
        self.figures.forget();
    }

    /// When a node was last told that it is synced, if that still stands.
    pub fn synced_at(&self, node: NodeIndex) -> Option<Time> {
        self.members[node].synced
    }

    /// Sessions that a node has begun as client in its present life.
    pub fn sessions_of(&self, node: NodeIndex) -> u64 {
        self.members[node].begun
    }

    /// How many nodes run and are not synced.
    pub fn unsynced(&self) -> usize {
        let running = self.members.iter().filter(|member| member.up);
        running.filter(|member| member.synced.is_none()).count()
    }

    /// Nodes, archives first.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Plans the start of a node.
    pub fn start_at(&mut self, node: NodeIndex, at: Time) {
        self.plan(at, Event::Start(node));
    }

    fn start(&mut self, node: NodeIndex) {
        let (seed, now) = (self.dice.bytes(), instant(self.now));
        let member = &mut self.members[node];
        assert!(!member.up, "a node runs once");
        member.up = true;
        member.life += 1;
        member.begun = 0;
        member.watch = Watch::opened(self.now, SLACK, Lsn::new(u64::MAX));
        if let Some(lean) = &mut member.lean {
            lean.restart(seed, now);
        } else {
            let (spec, source) = (member.spec.clone(), Arc::clone(&member.source));
            member.lean = Some(Lean::new(spec, source, seed, now));
        }
        self.carry(node);
    }

    /// Stops a node in order: its peers learn within a round trip that its connections are gone.
    pub fn stop(&mut self, node: NodeIndex) {
        let member = &mut self.members[node];
        member.up = false;
        member.wake = None;
        member.synced = None;
        member.dials.clear();
        let streams = std::mem::take(&mut member.streams);
        let peers = std::mem::take(&mut member.connected);
        for (stream, end) in streams.into_values() {
            let at = self.now + self.delay();
            self.plan(at, Event::Fin(stream, 1 - end));
        }
        for peer in peers {
            let at = self.now + self.delay();
            self.plan(at, Event::Lost(peer, node));
        }
        for (one, other) in self.swarm.leave(node) {
            self.tell_neighbor(one, other, false);
        }
    }

    /// A node writes an entry of so many bytes.
    pub fn publish(&mut self, node: NodeIndex, bytes: usize) {
        let input = osier_engine::Input::Publish {
            command: osier_engine::CommandId(self.next),
            topic: self.ticket.topic(),
            kind: osier_core::Kind::APPLICATION,
            entries: vec![vec![vec![7; bytes].into()]],
        };
        self.next += 1;
        self.tell(node, input);
    }

    /// Lets time pass.
    ///
    /// # Panics
    /// If an application waits past its deadline without a word, or a session has not its one end.
    pub fn run_until(&mut self, until: Time) {
        while self.queue.peek().is_some_and(|next| next.0.0 <= until) {
            let Some(Reverse(Planned(at, _, event))) = self.queue.pop() else {
                break;
            };
            if at >= self.looked + SEC {
                self.look(at);
            }
            self.now = at;
            self.happen(event);
        }
        self.now = self.now.max(until);
        self.look(until);
    }

    /// Nobody waits past its deadline (`POL-17`).
    fn look(&mut self, at: Time) {
        self.looked = at;
        let late = self.members.iter().position(|member| {
            let due = member.watch.due().filter(|_| member.up);
            due.is_some_and(|due| due < at)
        });
        assert!(
            late.is_none(),
            "at {} ms: node {late:?} waits past its deadline without a word",
            at / MS
        );
    }

    /// Lets so much time pass.
    pub fn run_for(&mut self, span: Time) {
        self.run_until(self.now + span);
    }

    fn plan(&mut self, at: Time, event: Event) {
        self.next += 1;
        let planned = Planned(at.max(self.now), self.next, event);
        self.queue.push(Reverse(planned));
    }

    fn delay(&mut self) -> Time {
        DELAY + self.dice.below(DELAY)
    }
}
