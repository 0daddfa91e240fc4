//! An archive: its session machines, its store, and its lie, if it has one. It has no engine: it
//! grants what is asked, and asks nothing itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use osier_core::{EntryHash, Instant, NodeId, NodeSecret, Role, SessionId, testing};
use osier_proto::{
    Hello, Message, ProviderConfig, ProviderSession, SessionOutput, TokenSeal,
    testing::MemorySource,
};

use super::{CLIENT_KEY, Cast, Setup, key_of, line::Item};
use crate::{
    dice::{Dice, Purpose},
    lean::pump,
    liar::{Lie, Memory, Said, Telling},
    node::Machine,
};

/// What streams are bound to: the same at both ends, and no two connections are told apart here.
pub(super) const BINDING: [u8; 32] = [5; 32];

/// An archive.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) id: NodeId,
    pub(super) up: bool,
    secret: NodeSecret,
    source: Arc<MemorySource>,
    lie: Option<Lie>,
    memory: Memory,
    dice: Dice,
    sessions: BTreeMap<u64, (Machine, Option<Telling>)>,
    next: u64,
    /// What its snapshot held when it granted a session.
    pub(super) vouched: BTreeMap<SessionId, BTreeSet<EntryHash>>,
    /// Said and not yet on its way, by session.
    said: Vec<(u64, Item)>,
}

impl Server {
    pub(super) fn new(server: usize, setup: &Setup, cast: &Cast) -> Self {
        let secret = testing::secret(key_of(server));
        let number = u8::try_from(server).expect("two archives");
        let source = MemorySource::with(10 + number, cast.chosen(setup.holds[1 + server]));
        let lie = setup.liar.filter(|(liar, _)| *liar == server);
        Self {
            id: secret.node_id(),
            up: true,
            secret,
            source,
            lie: lie.map(|(_, lie)| lie),
            memory: Memory::default(),
            dice: Dice::new(server as u64, Purpose::Liar),
            sessions: BTreeMap::new(),
            next: 0,
            vouched: BTreeMap::new(),
            said: Vec::new(),
        }
    }

    /// Grants a session, or says why not.
    #[expect(
        clippy::result_large_err,
        reason = "a refusal is a message like others"
    )]
    pub(super) fn accept(&mut self, hello: Hello, cast: &Cast, now: Instant) -> Result<u64, Item> {
        self.next += 1;
        let mut name = [0; 16];
        name[0] = self.next.to_le_bytes()[0];
        name[1..9].copy_from_slice(&self.id.as_bytes()[..8]);
        let config = ProviderConfig {
            me: self.secret.clone(),
            client: testing::secret(CLIENT_KEY).node_id(),
            topic: cast.ticket.topic(),
            keys: cast.ticket.keys(),
            binding: BINDING,
            session: SessionId::from_bytes(name),
            role: Role::Archive,
            source: self.source.clone(),
            seal: TokenSeal::new(&self.secret),
        };
        let (session, key) = (config.session, self.next);
        match ProviderSession::accept(config, hello, now) {
            Ok(machine) => {
                let held = self.source.hashes(cast.ticket.topic());
                self.vouched.insert(session, held);
                let telling = self.lie.map(|lie| Telling::new(lie, self.secret.clone()));
                self.sessions
                    .insert(key, (Machine::Provider(machine), telling));
                self.drive(key, now, |_| {});
                Ok(key)
            }
            Err(refuse) => Err(Item::Message(Message::Refuse(refuse))),
        }
    }

    /// Something has come for a session.
    pub(super) fn hear(&mut self, session: u64, item: Item, now: Instant) {
        self.drive(session, now, |machine| match item {
            Item::Message(message) => machine.session().handle(message, now),
            Item::Fin => machine.session().stream_closed(now),
        });
    }

    /// Gets one more entry.
    pub(super) fn write(&self, entry: &osier_core::Verified<osier_core::Entry>) {
        self.source.insert(entry);
    }

    /// Dies: only what is stored stays.
    pub(super) fn crash(&mut self) {
        self.up = false;
        self.sessions.clear();
        self.said.clear();
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let machines = self.sessions.values();
        machines.filter_map(|(machine, _)| machine.deadline()).min()
    }

    pub(super) fn on_time(&mut self, now: Instant) {
        let keys: Vec<u64> = self.sessions.keys().copied().collect();
        for key in keys {
            self.drive(key, now, |machine| machine.session().on_time(now));
        }
    }

    /// What it has said since the last call: by session, in order.
    pub(super) fn take_said(&mut self) -> Vec<(u64, Item)> {
        std::mem::take(&mut self.said)
    }

    fn drive(&mut self, key: u64, now: Instant, act: impl FnOnce(&mut Machine)) {
        let Some((mut machine, mut telling)) = self.sessions.remove(&key) else {
            return;
        };
        act(&mut machine);
        loop {
            let outputs = pump(&mut machine, now);
            if outputs.is_empty() {
                break;
            }
            for output in outputs {
                match output {
                    SessionOutput::Send(message) => self.say(key, message, telling.as_mut()),
                    SessionOutput::Ingest(ingest) => {
                        ingest
                            .entries
                            .iter()
                            .for_each(|entry| self.source.insert(entry));
                        machine.session().durable(ingest.batch, true, now);
                    }
                    _ => {}
                }
            }
        }
        if machine.session().is_over() {
            self.said.push((key, Item::Fin));
        } else {
            self.sessions.insert(key, (machine, telling));
        }
    }

    fn say(&mut self, key: u64, message: Message, telling: Option<&mut Telling>) {
        let Some(telling) = telling else {
            return self.said.push((key, Item::Message(message)));
        };
        for said in telling.say(message, &mut self.memory, &mut self.dice) {
            match said {
                // When it comes is the search's choice.
                Said::Message(message) | Said::Later(message, _) => {
                    self.said.push((key, Item::Message(message)));
                }
                // What cannot be read ends the stream.
                Said::Raw(_) => self.said.push((key, Item::Fin)),
            }
        }
    }
}
