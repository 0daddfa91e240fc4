//! A light node: the engine and the session machines that ship, on a store in memory. It has no
//! disk, no wire and no clock: whoever drives it carries its messages and decides what becomes of
//! its writes. So it is small enough for thousands in one process, and for a search that makes the
//! same node anew for every path.

mod pump;
mod store;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use osier_core::{Duration, Instant, NodeId, NodeSecret, Role, Ticket, Timestamp};
use osier_engine::{
    AskId, Commit, Engine, EngineConfig, Input, Now, OpenSession, Output, OwnerWords, Rank, Rule,
    SessionEvent, SessionKey, SyncEvent, TopicSetup,
};
use osier_proto::{
    ClientEnd, ClientSession, Fault, Hello, Lsn, Message, ProviderConfig, ProviderEnd,
    ProviderSession, Refuse, SessionOutput, Token, TokenSeal, testing::MemorySource,
};

pub(crate) use self::pump::pump;
use crate::node::Machine;

/// The wall clock of every light node at the beginning, in milliseconds of the Unix epoch.
const WALL_START_MS: u64 = 1_700_000_000_000;

/// Who a light node is.
#[derive(Debug, Clone)]
pub(crate) struct LeanSpec {
    pub(crate) secret: NodeSecret,
    pub(crate) ticket: Ticket,
    pub(crate) role: Role,
    pub(crate) rule: Rule,
    pub(crate) trust: Vec<(NodeId, Rank, Role)>,
}

/// What a light node wants of whoever drives it.
#[derive(Debug)]
pub(crate) enum Act {
    /// Write these: [`Lean::stored`] says what came of it.
    Commit(Commit),
    /// Reach a provider: [`Lean::connected`] or [`Lean::unreachable`].
    Dial(Box<OpenSession>),
    /// The dial is not wanted any more.
    Undial(SessionKey),
    /// A peer's request is granted, as this session.
    Grant(AskId, SessionKey),
    /// It is not.
    Refuse(AskId, Refuse),
    /// Send this to the other end of a session.
    Say(SessionKey, Message),
    /// The machine of a session is done: its stream ends here.
    Over(SessionKey),
    /// Be a member of the swarm, with more neighbours than now.
    Join,
    /// Send to the swarm.
    Broadcast(Bytes),
    /// The application is told, after entries up to here.
    Told(Lsn, SyncEvent),
}

/// A bug on purpose, for tests that a search finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canary {
    /// Writes that fail are reported as done.
    ForgetfulDisk,
    /// Nobody wakes the engine at its deadlines.
    Deaf,
    /// The engine never learns that its sessions ended.
    LostEnd,
}

/// A request that the engine has been asked about.
#[derive(Debug)]
struct Asked {
    peer: NodeId,
    binding: [u8; 32],
    hello: Hello,
}

/// A light node.
#[derive(Debug)]
pub(crate) struct Lean {
    pub(crate) id: NodeId,
    pub(crate) source: Arc<MemorySource>,
    spec: LeanSpec,
    tokens: BTreeMap<NodeId, Token>,
    engine: Engine,
    sessions: BTreeMap<SessionKey, Machine>,
    asks: BTreeMap<AskId, Asked>,
    /// What the engine is told next.
    inputs: VecDeque<Input>,
    acts: VecDeque<Act>,
    canary: Option<Canary>,
}

impl Lean {
    /// A node that starts now on what its store holds.
    pub(crate) fn new(
        spec: LeanSpec,
        source: Arc<MemorySource>,
        seed: [u8; 32],
        now: Instant,
    ) -> Self {
        let mut node = Self {
            id: spec.secret.node_id(),
            engine: engine(&spec, seed, now),
            source,
            spec,
            tokens: BTreeMap::new(),
            sessions: BTreeMap::new(),
            asks: BTreeMap::new(),
            inputs: VecDeque::new(),
            acts: VecDeque::new(),
            canary: None,
        };
        node.open(now);
        node
    }

    /// The same with a bug.
    pub(crate) fn set_canary(&mut self, canary: Option<Canary>) {
        self.canary = canary;
    }

    /// A new life on the same store, tokens with it: sessions and all else in memory are gone.
    pub(crate) fn restart(&mut self, seed: [u8; 32], now: Instant) {
        self.engine = engine(&self.spec, seed, now);
        self.sessions.clear();
        self.asks.clear();
        self.inputs.clear();
        self.acts.clear();
        self.open(now);
    }

    fn open(&mut self, now: Instant) {
        let (newest, own_tip) = store::newest(&self.source, self.topic(), self.id);
        let view = self.source.snapshot(self.topic());
        let setup = TopicSetup {
            ticket: self.spec.ticket.clone(),
            role: self.spec.role,
            rule: self.spec.rule,
            trust: (self.spec.trust.iter())
                .map(|(node, rank, role)| (*node, Some((*rank, *role))))
                .collect(),
            tokens: self.tokens.clone().into_iter().collect(),
            words: OwnerWords::default(),
            summary: osier_proto::View::summary(&view),
            point: osier_proto::View::point(&view),
            newest,
            own_tip,
        };
        self.tell(Input::Open(Box::new(setup)), now);
    }

    /// The topic that it takes part in.
    pub(crate) fn topic(&self) -> osier_core::TopicId {
        self.spec.ticket.topic()
    }

    /// The next thing that it wants.
    pub(crate) fn poll(&mut self) -> Option<Act> {
        self.acts.pop_front()
    }

    /// When it wants to be woken.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let deaf = self.canary == Some(Canary::Deaf);
        let engine = self.engine.deadline().filter(|_| !deaf);
        let sessions = self.sessions.values().filter_map(Machine::deadline);
        sessions.chain(engine).min()
    }

    /// How many sessions it serves.
    pub(crate) fn serving(&self) -> usize {
        let machines = self.sessions.values();
        machines.filter(|machine| !machine.is_client()).count()
    }

    /// Time has passed.
    pub(crate) fn on_time(&mut self, now: Instant) {
        let due = |machine: &Machine| machine.deadline().is_some_and(|at| at <= now);
        let keys: Vec<SessionKey> = (self.sessions.iter())
            .filter(|(_, machine)| due(machine))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            self.drive(key, now, |machine| machine.session().on_time(now));
        }
        let deaf = self.canary == Some(Canary::Deaf);
        if self.engine.deadline().is_some_and(|at| at <= now && !deaf) {
            self.tell(Input::Tick, now);
        }
    }

    /// The engine is told, and what it wants of machines is done.
    pub(crate) fn tell(&mut self, input: Input, now: Instant) {
        self.inputs.push_back(input);
        self.settle(now);
    }

    fn settle(&mut self, now: Instant) {
        while let Some(input) = self.inputs.pop_front() {
            self.engine.handle(at(now), input);
            while let Some(output) = self.engine.poll() {
                self.carry_out(output, now);
            }
        }
    }

    fn carry_out(&mut self, output: Output, now: Instant) {
        let act = match output {
            Output::Commit(commit) => Act::Commit(commit),
            Output::OpenSession(open) => Act::Dial(Box::new(open)),
            Output::GrantSession(grant) => return self.grant(&grant, now),
            Output::RefuseSession { ask, refuse } => {
                self.asks.remove(&ask);
                Act::Refuse(ask, refuse)
            }
            Output::SessionDurable { key, batch, ok, .. } => {
                return self.drive_machine(key, now, |machine| {
                    machine.session().durable(batch, ok, now);
                });
            }
            Output::CancelSession { key, reason } if self.sessions.contains_key(&key) => {
                return self.drive_machine(key, now, |machine| {
                    machine.session().cancel(reason, now);
                });
            }
            Output::CancelSession { key, reason } => {
                let end = SessionEvent::ClientEnded(ClientEnd::Failed(reason));
                self.say_of(key, end);
                Act::Undial(key)
            }
            Output::JoinGossip { .. } | Output::JoinPeers { .. } => Act::Join,
            Output::Broadcast { bytes, .. } => Act::Broadcast(bytes),
            Output::Emit { upto, event, .. } => Act::Told(upto, event),
            Output::LeaveGossip { .. } | Output::Reply { .. } | Output::Ephemeral { .. } => return,
        };
        self.acts.push_back(act);
    }

    /// A provider is reached: asks it for the session.
    pub(crate) fn connected(&mut self, open: OpenSession, binding: [u8; 32], now: Instant) {
        let key = open.key;
        let config = open.into_config(self.id, binding, self.source.clone());
        match ClientSession::new(config, now) {
            Ok(machine) => {
                self.sessions.insert(key, Machine::Client(machine));
                self.drive(key, now, |_| {});
            }
            Err(error) => {
                let end = ClientEnd::Fault(Fault::Local(error));
                self.say_of(key, SessionEvent::ClientEnded(end));
                self.settle(now);
            }
        }
    }

    /// It is not.
    pub(crate) fn unreachable(&mut self, key: SessionKey, now: Instant) {
        let cause = "the dial came to nothing".to_owned();
        self.say_of(key, SessionEvent::Unreachable { cause });
        self.settle(now);
    }

    /// A peer asks for a session.
    pub(crate) fn asked(
        &mut self,
        ask: AskId,
        peer: NodeId,
        binding: [u8; 32],
        hello: Hello,
        now: Instant,
    ) {
        let input = Input::SessionAsked {
            ask,
            peer,
            binding,
            hello: Box::new(hello.clone()),
        };
        let asked = Asked {
            peer,
            binding,
            hello,
        };
        self.asks.insert(ask, asked);
        self.tell(input, now);
    }

    fn grant(&mut self, grant: &osier_engine::GrantSession, now: Instant) {
        let asked = self
            .asks
            .remove(&grant.ask)
            .expect("an ask is decided once");
        let config = ProviderConfig {
            me: self.spec.secret.clone(),
            client: asked.peer,
            topic: grant.topic,
            keys: grant.keys.clone(),
            binding: asked.binding,
            session: grant.session,
            role: grant.role,
            source: self.source.clone(),
            seal: TokenSeal::new(&self.spec.secret),
        };
        match ProviderSession::accept(config, asked.hello, now) {
            Ok(machine) => {
                self.acts.push_back(Act::Grant(grant.ask, grant.key));
                self.sessions.insert(grant.key, Machine::Provider(machine));
                self.drive_machine(grant.key, now, |_| {});
            }
            Err(refuse) => {
                self.acts.push_back(Act::Refuse(grant.ask, refuse));
                self.say_of(grant.key, SessionEvent::ProviderEnded(ProviderEnd::Lost));
            }
        }
    }

    /// A message has come for a session.
    pub(crate) fn hear(&mut self, key: SessionKey, message: Message, now: Instant) {
        self.drive(key, now, |machine| machine.session().handle(message, now));
    }

    /// The stream of a session will bring nothing more.
    pub(crate) fn closed(&mut self, key: SessionKey, now: Instant) {
        self.drive(key, now, |machine| machine.session().stream_closed(now));
    }

    /// A commit is on disk, or is not.
    pub(crate) fn stored(&mut self, commit: &Commit, ok: bool, now: Instant) {
        let result = if ok {
            if let Some((provider, token)) = &commit.token {
                self.tokens.insert(*provider, token.clone());
            }
            Ok(vec![store::write(&self.source, commit)])
        } else {
            Err(osier_engine::DiskError("the disk is full".to_owned()))
        };
        let batch = commit.batch;
        self.tell(Input::Durable { batch, result }, now);
    }

    fn drive(&mut self, key: SessionKey, now: Instant, act: impl FnOnce(&mut Machine)) {
        self.drive_machine(key, now, act);
        self.settle(now);
    }

    /// Does something with a machine, and hands on what comes of it.
    fn drive_machine(&mut self, key: SessionKey, now: Instant, act: impl FnOnce(&mut Machine)) {
        let Some(mut machine) = self.sessions.remove(&key) else {
            return;
        };
        act(&mut machine);
        for output in pump(&mut machine, now) {
            self.take(key, output);
        }
        if machine.session().is_over() {
            self.acts.push_back(Act::Over(key));
        } else {
            self.sessions.insert(key, machine);
        }
    }

    fn take(&mut self, key: SessionKey, output: SessionOutput) {
        let event = match output {
            SessionOutput::Send(message) => return self.acts.push_back(Act::Say(key, message)),
            SessionOutput::Started(started) => SessionEvent::Started {
                session: started.session,
                mode: started.mode,
                summary: started.summary,
                role: started.role,
                token_unserviceable: started.token_unserviceable,
            },
            SessionOutput::Ingest(ingest) => SessionEvent::Ingest {
                batch: ingest.batch,
                entries: ingest.entries,
                token: ingest.token,
            },
            SessionOutput::Progress { received, expected } => {
                SessionEvent::Progress { received, expected }
            }
            SessionOutput::ClientEnded(_) if self.canary == Some(Canary::LostEnd) => return,
            SessionOutput::ClientEnded(end) => SessionEvent::ClientEnded(end),
            SessionOutput::ProviderEnded(end) => SessionEvent::ProviderEnded(end),
        };
        self.say_of(key, event);
    }

    fn say_of(&mut self, key: SessionKey, event: SessionEvent) {
        self.inputs.push_back(Input::Session { key, event });
    }
}

fn engine(spec: &LeanSpec, seed: [u8; 32], now: Instant) -> Engine {
    let secret = spec.secret.clone();
    Engine::new(EngineConfig { secret, seed }, at(now))
}

/// Both clocks of every light node: nothing here is about clocks that differ.
fn at(now: Instant) -> Now {
    let ms = now.since(Instant::START).as_millis();
    Now {
        at: now,
        wall: Timestamp::from_millis(WALL_START_MS + ms),
    }
}

/// A moment of virtual time on those clocks.
pub(crate) fn instant(time: crate::clock::Time) -> Instant {
    Instant::START.after(Duration::from_nanos(time))
}
