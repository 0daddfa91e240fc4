//! A client and a provider session, driven against each other without a network.

use std::{collections::VecDeque, sync::Arc};

use osier_core::{
    Duration, Instant, NodeId, RequestId, Role, SessionId, TopicId, TopicKeys, TopicSecret,
    testing::secret,
};

use super::MemorySource;
use crate::{
    client::{ClientConfig, ClientSession, Evidence},
    frame::encode_frame,
    message::{Hello, Message, Refuse},
    output::{ClientEnd, Ingest, ProviderEnd, SessionOutput, Started},
    provider::{ProviderConfig, ProviderSession},
    session::Session,
    token::{Token, TokenSeal},
};

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    ToProvider,
    /// From the provider.
    ToClient,
}

/// What becomes of a message on its way.
#[derive(Debug)]
pub enum Transit {
    /// These arrive in its place: itself, nothing, or others.
    Deliver(Vec<Message>),
    /// The connection breaks here: what went before arrives, nothing after it does.
    Cut,
}

type Tamper = Box<dyn FnMut(Direction, Message) -> Transit>;

/// Who meets whom. Test node 1 is the client, test node 2 the provider.
#[derive(Debug, Clone)]
pub struct PairConfig {
    /// The client's store.
    pub client: Arc<MemorySource>,
    /// The provider's store.
    pub provider: Arc<MemorySource>,
    /// Which topic's entries are exchanged.
    pub topic: TopicKeys,
    /// What the provider holds instead, when it is not a member.
    pub provider_topic: Option<TopicKeys>,
    /// The token that the client shows.
    pub token: Option<Token>,
    /// Names request and session; another pair takes another.
    pub nonce: u8,
    /// Who the provider is: its key signs.
    pub provider_node: u64,
}

impl PairConfig {
    /// The keys of the topic of most tests.
    pub fn keys() -> TopicKeys {
        TopicKeys::derive(NodeId::NOBODY, &TopicSecret::from_bytes([3; 32]), "pair")
    }

    /// That topic.
    pub fn topic() -> TopicId {
        Self::keys().topic()
    }

    /// Two stores, no token.
    pub fn new(client: &Arc<MemorySource>, provider: &Arc<MemorySource>) -> Self {
        Self {
            client: Arc::clone(client),
            provider: Arc::clone(provider),
            topic: Self::keys(),
            provider_topic: None,
            token: None,
            nonce: 1,
            provider_node: 2,
        }
    }

    /// The client shows this token.
    #[must_use]
    pub fn with_token(mut self, token: &Token) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Another request and session.
    #[must_use]
    pub fn with_nonce(mut self, nonce: u8) -> Self {
        self.nonce = nonce;
        self
    }

    /// What the client is made of.
    pub fn client_config(&self) -> ClientConfig {
        ClientConfig {
            me: secret(1).node_id(),
            provider: secret(2).node_id(),
            topic: self.topic.topic(),
            keys: self.topic.clone(),
            binding: [5; 32],
            request: RequestId::from_bytes([self.nonce; 16]),
            role: Role::Peer,
            token: self.token.clone(),
            source: self.client.clone(),
        }
    }

    /// What the provider is made of.
    pub fn provider_config(&self) -> ProviderConfig {
        let me = secret(self.provider_node);
        let keys = self.provider_topic.as_ref().unwrap_or(&self.topic);
        ProviderConfig {
            seal: TokenSeal::new(&me),
            me,
            client: secret(1).node_id(),
            topic: keys.topic(),
            keys: keys.clone(),
            binding: [5; 32],
            session: SessionId::from_bytes([self.nonce ^ 0x80; 16]),
            role: Role::Archive,
            source: self.provider.clone(),
        }
    }
}

/// Two sessions and the queues between them.
pub struct Pair {
    config: PairConfig,
    /// The asking machine.
    pub client: ClientSession,
    /// The serving machine, once it has granted.
    pub provider: Option<ProviderSession>,
    to_provider: VecDeque<Message>,
    to_client: VecDeque<Message>,
    tamper: Tamper,
    cut: bool,
    told: (bool, bool),
    /// The present.
    pub now: Instant,
    /// Round trips until the client's end.
    pub round_trips: u32,
    /// Bytes both ways.
    pub bytes: u64,
    /// Names of the messages sent, in order.
    pub sent: Vec<(Direction, &'static str)>,
    /// Every end of the client: one when all is well.
    pub client_ends: Vec<ClientEnd>,
    /// Every end of the provider.
    pub provider_ends: Vec<ProviderEnd>,
    /// How the client's session was granted.
    pub started: Vec<Started>,
    /// The client's progress, in order.
    pub progress: Vec<(u64, Option<u64>)>,
    /// Entries that the client stored.
    pub stored: u64,
    /// The newest token that came with entries.
    pub token: Option<Token>,
    /// Whether the client's disk answers at once; if not, batches wait for
    /// [`Pair::store_waiting`].
    pub disks_answer: bool,
    /// How long a slice of either machine's work takes, in milliseconds.
    pub work_takes_ms: u64,
    waiting: VecDeque<Ingest>,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pair({:?}, {:?})", self.client, self.provider)
    }
}

impl Pair {
    /// A pair on a network that keeps everything as it is.
    ///
    /// # Panics
    /// When the client's store is broken.
    pub fn new(config: PairConfig) -> Self {
        Self::with_tamper(
            config,
            Box::new(|_, message| Transit::Deliver(vec![message])),
        )
    }

    /// A pair on a network that does this with every message.
    ///
    /// # Panics
    /// When the client's store is broken.
    pub fn with_tamper(config: PairConfig, tamper: Tamper) -> Self {
        let now = Instant::START;
        let client =
            ClientSession::new(config.client_config(), now).expect("the client's store is whole");
        Self {
            config,
            client,
            provider: None,
            to_provider: VecDeque::new(),
            to_client: VecDeque::new(),
            tamper,
            cut: false,
            told: (false, false),
            now,
            round_trips: 0,
            bytes: 0,
            sent: Vec::new(),
            client_ends: Vec::new(),
            provider_ends: Vec::new(),
            started: Vec::new(),
            progress: Vec::new(),
            stored: 0,
            token: None,
            disks_answer: true,
            work_takes_ms: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Runs to the end of both sides, letting time pass when nothing else moves.
    ///
    /// # Panics
    /// When a session does not end: that is a bug of a machine.
    pub fn run(&mut self) -> &mut Self {
        for _ in 0..100_000 {
            if self.is_over() {
                return self;
            }
            if !self.step() && !self.pass_time() {
                return self;
            }
        }
        panic!("a session does not end: {self:?}");
    }

    /// One round trip: what the client has to say, then what the provider answers. False when
    /// nothing moved.
    pub fn step(&mut self) -> bool {
        if self.client_ends.is_empty() {
            self.round_trips += 1;
        }
        let before = self.sent.len();
        self.pump_client();
        while let Some(message) = self.to_provider.pop_front() {
            self.give_provider(message);
            self.pump_provider();
        }
        self.pump_provider();
        while let Some(message) = self.to_client.pop_front() {
            self.client.handle(message, self.now);
            self.pump_client();
        }
        self.pump_client();
        self.tell_closed() || self.sent.len() > before
    }

    /// Jumps to the next deadline; false when there is none.
    pub fn pass_time(&mut self) -> bool {
        if self.client_ends.is_empty() {
            self.round_trips = self.round_trips.saturating_sub(1);
        }
        let provider = self.provider.as_ref().and_then(Session::deadline);
        let Some(next) = self.client.deadline().into_iter().chain(provider).min() else {
            return false;
        };
        self.now = self.now.max(next).after(Duration::from_nanos(1));
        self.client.on_time(self.now);
        if let Some(provider) = &mut self.provider {
            provider.on_time(self.now);
        }
        self.pump_client();
        self.pump_provider();
        true
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now.after(Duration::from_millis(ms));
    }

    /// The client's disk stores what it was given.
    pub fn store_waiting(&mut self) {
        while let Some(ingest) = self.waiting.pop_front() {
            self.stored += ingest.entries.len() as u64;
            for entry in &ingest.entries {
                self.config.client.insert(entry);
            }
            self.token = ingest.token.or(self.token.take());
            self.client.durable(ingest.batch, true, self.now);
        }
    }

    /// Breaks the connection.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// Whether both sides are done.
    pub fn is_over(&self) -> bool {
        let provider = self.provider.as_ref().is_none_or(Session::is_over);
        self.client.is_over() && provider && self.to_provider.is_empty()
    }

    /// The evidence of a drained client.
    ///
    /// # Panics
    /// When the client had another end, or more than one.
    pub fn evidence(&self) -> &Evidence {
        match self.client_ends.as_slice() {
            [ClientEnd::Drained(evidence)] => evidence,
            other => panic!("not drained: {other:?}"),
        }
    }

    /// The client's one end.
    ///
    /// # Panics
    /// When it had none or several.
    pub fn client_end(&self) -> &ClientEnd {
        match self.client_ends.as_slice() {
            [end] => end,
            other => panic!("not one end: {other:?}"),
        }
    }

    fn give_provider(&mut self, message: Message) {
        match (&mut self.provider, message) {
            (None, Message::Hello(hello)) => self.accept(hello),
            (None, _) => {}
            (Some(provider), message) => provider.handle(message, self.now),
        }
    }

    fn accept(&mut self, hello: Hello) {
        match ProviderSession::accept(self.config.provider_config(), hello, self.now) {
            Ok(provider) => self.provider = Some(provider),
            Err(refuse) => self.refuse(refuse),
        }
    }

    fn refuse(&mut self, refuse: Refuse) {
        self.transit(Direction::ToClient, Message::Refuse(refuse));
    }

    fn transit(&mut self, direction: Direction, message: Message) {
        if self.cut {
            return;
        }
        self.sent.push((direction, message.name()));
        self.bytes += encode_frame(&message).len() as u64;
        match (self.tamper)(direction, message) {
            Transit::Deliver(messages) => match direction {
                Direction::ToProvider => self.to_provider.extend(messages),
                Direction::ToClient => self.to_client.extend(messages),
            },
            Transit::Cut => self.cut = true,
        }
    }

    fn pump_client(&mut self) {
        loop {
            if let Some(output) = self.client.poll() {
                self.client_output(output);
                continue;
            }
            let bulk = self.client.poll_bulk(self.now);
            if bulk.is_none() && !self.client.has_output() {
                if !self.client.has_work() {
                    return;
                }
                self.pass(self.work_takes_ms);
                self.client.work(self.now);
            }
            if let Some(message) = bulk {
                self.transit(Direction::ToProvider, message);
            }
        }
    }

    fn client_output(&mut self, output: SessionOutput) {
        match output {
            SessionOutput::Send(message) => self.transit(Direction::ToProvider, message),
            SessionOutput::Started(started) => self.started.push(started),
            SessionOutput::Progress { received, expected } => {
                self.progress.push((received, expected));
            }
            SessionOutput::Ingest(ingest) => {
                self.waiting.push_back(ingest);
                if self.disks_answer {
                    self.store_waiting();
                }
            }
            SessionOutput::ClientEnded(end) => self.client_ends.push(end),
            SessionOutput::ProviderEnded(end) => panic!("a client's end: {end:?}"),
        }
    }

    fn pump_provider(&mut self) {
        loop {
            let Some(provider) = &mut self.provider else {
                return;
            };
            if let Some(output) = provider.poll() {
                self.provider_output(output);
                continue;
            }
            let bulk = provider.poll_bulk(self.now);
            if bulk.is_none() && !provider.has_output() {
                if !provider.has_work() {
                    return;
                }
                self.now = self.now.after(Duration::from_millis(self.work_takes_ms));
                provider.work(self.now);
            }
            if let Some(message) = bulk {
                self.transit(Direction::ToClient, message);
            }
        }
    }

    fn provider_output(&mut self, output: SessionOutput) {
        match output {
            SessionOutput::Send(message) => self.transit(Direction::ToClient, message),
            SessionOutput::Started(_) | SessionOutput::Progress { .. } => {}
            SessionOutput::Ingest(ingest) => {
                ingest
                    .entries
                    .iter()
                    .for_each(|entry| self.config.provider.insert(entry));
                if let Some(provider) = &mut self.provider {
                    provider.durable(ingest.batch, true, self.now);
                }
            }
            SessionOutput::ProviderEnded(end) => self.provider_ends.push(end),
            SessionOutput::ClientEnded(end) => panic!("a provider's end: {end:?}"),
        }
    }

    /// Tells each side once that the other will say nothing more; true if somebody was told.
    fn tell_closed(&mut self) -> bool {
        let provider_gone = self.provider.as_ref().is_some_and(Session::is_over);
        let mut moved = false;
        if (self.cut || (provider_gone && self.to_client.is_empty())) && !self.told.0 {
            self.told.0 = true;
            moved = true;
            self.client.stream_closed(self.now);
            self.pump_client();
        }
        let client_gone = self.client.is_over() && self.to_provider.is_empty();
        if (self.cut || client_gone) && !self.told.1 {
            self.told.1 = true;
            if let Some(provider) = &mut self.provider {
                moved = true;
                provider.stream_closed(self.now);
                self.pump_provider();
            }
        }
        moved
    }
}
