//! Sessions: opened, granted, driven, ended.

use std::sync::Arc;

use osier_core::{EntryHash, NodeId, TopicId};
use osier_engine::{GrantSession, Input, OpenSession, SessionEvent, SessionKey};
use osier_proto::{
    ClientEnd, ClientSession, FailureReason, Fault, FrameDecoder, Message, ProviderConfig,
    ProviderEnd, ProviderSession, SessionOutput, Source, StoreId, TokenSeal,
};

use super::{Work, World};
use crate::{
    clock::MS,
    event::{Event, Life, NodeIndex},
    liar::{Lie, Telling, shown},
    network::{Connection, Reader},
    node::{Heard, Live, Machine},
};

impl World {
    /// The provider is connected: opens a stream and asks.
    pub(super) fn ask(
        &mut self,
        index: NodeIndex,
        peer: NodeIndex,
        link: &Connection,
        open: OpenSession,
    ) {
        let node = &self.nodes[index];
        let now = node.clock.read(self.now).at;
        let (key, topic, heard) = (open.key, open.topic, Self::heard_of(&open));
        let config = open.into_config(node.id, link.binding, node.vault.source());
        match ClientSession::new(config, now) {
            Ok(machine) => {
                let stream = self.network.open(link, index, key);
                let machine = Machine::Client(machine);
                self.begin(index, key, (topic, stream, 0, peer), machine, heard);
            }
            Err(error) => {
                let end = ClientEnd::Fault(Fault::Local(error));
                self.tell_session(index, key, SessionEvent::ClientEnded(end));
            }
        }
    }

    /// The engine grants what a peer has asked for.
    pub(super) fn grant_session(&mut self, index: NodeIndex, grant: GrantSession) {
        let node = &mut self.nodes[index];
        let now = node.clock.read(self.now).at;
        let up = node.up.as_mut().expect("a running engine grants");
        let asked = up.asks.remove(&grant.ask).expect("an ask is decided once");
        let omits = node.spec.lie.is_some_and(Lie::omits);
        let config = ProviderConfig {
            me: node.secret.clone(),
            client: self.nodes[asked.peer].id,
            topic: grant.topic,
            keys: grant.keys,
            binding: asked.binding,
            session: grant.session,
            role: grant.role,
            source: self.shown(index, grant.topic, asked.peer),
            seal: TokenSeal::new(&self.nodes[index].secret),
        };
        self.trace.note(
            self.now,
            index,
            format_args!("-> grant {:?} {:?}", grant.key, grant.session),
        );
        match ProviderSession::accept(config, asked.hello, now) {
            Ok(machine) => {
                if !omits {
                    self.checks.granted(index, grant.topic, grant.session);
                }
                let machine = Machine::Provider(machine);
                let place = (grant.topic, asked.stream, 1, asked.peer);
                self.begin(index, grant.key, place, machine, Heard::default());
            }
            Err(refuse) => {
                self.write_message(asked.stream, 0, &Message::Refuse(refuse));
                self.close_end(asked.stream, 1);
                let end = SessionEvent::ProviderEnded(ProviderEnd::Lost);
                self.tell_session(index, grant.key, end);
            }
        }
    }

    /// Where a client's snapshot comes from: the store, or what a liar makes of it.
    fn shown(&mut self, index: NodeIndex, topic: TopicId, client: NodeIndex) -> Arc<dyn Source> {
        let node = &self.nodes[index];
        match node.spec.lie.filter(|lie| lie.omits()) {
            None => node.vault.source(),
            Some(lie) => {
                let id = StoreId::from_bytes(self.dice.liar.bytes());
                let client = self.nodes[client].id;
                shown(lie, &node.vault.store, topic, client, id)
            }
        }
    }

    fn begin(
        &mut self,
        index: NodeIndex,
        key: SessionKey,
        (topic, stream, end, peer): (TopicId, u64, usize, NodeIndex),
        machine: Machine,
        heard: Heard,
    ) {
        let mut decoder = FrameDecoder::new();
        if let Some(stream) = self.network.streams.get_mut(&stream) {
            let reader = std::mem::replace(&mut stream.ends[end].reader, Reader::Session(key));
            if let Reader::Asked(rest) = reader {
                decoder = rest;
            }
        }
        let node = &mut self.nodes[index];
        let lie = node.spec.lie.filter(|_| !machine.is_client());
        let live = Live {
            topic,
            stream,
            end,
            peer,
            machine,
            decoder,
            told_closed: false,
            telling: lie.map(|lie| Telling::new(lie, node.secret.clone())),
            heard,
            wake: None,
            works_till: None,
        };
        let up = node.up.as_mut().expect("only a running node has sessions");
        let before = up.sessions.insert(key, live);
        assert!(before.is_none(), "a session begins once");
        self.work.push_back(Work::Drive(index, key));
    }

    pub(super) fn tell_session(&mut self, index: NodeIndex, key: SessionKey, event: SessionEvent) {
        let input = Input::Session { key, event };
        self.work.push_back(Work::Tell(index, Box::new(input)));
    }

    /// Reads what has come, says what there is to say, plans the next wake-up.
    pub(super) fn drive(&mut self, index: NodeIndex, key: SessionKey) {
        let Some(mut live) = self.take_live(index, key) else {
            return;
        };
        let now = self.nodes[index].clock.read(self.now).at;
        self.drain(index, key, &mut live);
        self.read_stream(index, key, &mut live);
        self.pull_bulk(index, key, &mut live);
        while self.knobs.work_ms == 0 && live.machine.session().work(now) {
            self.drain(index, key, &mut live);
            self.pull_bulk(index, key, &mut live);
        }
        if live.machine.session().is_over() {
            self.trace
                .note(self.now, index, format_args!("{key:?} is over"));
            self.close_end(live.stream, live.end);
            return;
        }
        if live.machine.session().has_work() {
            self.plan_work(index, key, &mut live);
        }
        self.plan_session_wake(index, key, &mut live);
        let up = self.nodes[index].up.as_mut().expect("taken from it");
        up.sessions.insert(key, live);
    }

    fn pull_bulk(&mut self, index: NodeIndex, key: SessionKey, live: &mut Live) {
        let now = self.nodes[index].clock.read(self.now).at;
        while self.has_room(live) {
            let Some(message) = live.machine.session().poll_bulk(now) else {
                break;
            };
            self.say(index, live, message);
            self.drain(index, key, live);
        }
    }

    /// A slice of work takes its time on a slow machine.
    fn plan_work(&mut self, index: NodeIndex, key: SessionKey, live: &mut Live) {
        let life = self.nodes[index].life;
        if live.works_till.is_none() {
            let at = self.now + self.knobs.work_ms * MS;
            live.works_till = Some(at);
            let event = Event::SessionWake {
                node: index,
                life,
                key,
            };
            self.queue.put(at, event);
        }
    }

    pub(super) fn take_live(&mut self, index: NodeIndex, key: SessionKey) -> Option<Live> {
        self.nodes[index].up.as_mut()?.sessions.remove(&key)
    }

    fn has_room(&self, live: &Live) -> bool {
        let Some(stream) = self.network.streams.get(&live.stream) else {
            return false;
        };
        let far = &stream.ends[1 - live.end];
        !matches!(far.reader, Reader::Gone) && far.unread_bytes < self.network.window_bytes
    }

    fn plan_session_wake(&mut self, index: NodeIndex, key: SessionKey, live: &mut Live) {
        let node = &self.nodes[index];
        let Some(deadline) = live.machine.session().deadline() else {
            return;
        };
        let at = node.clock.when(deadline).max(self.now + 1);
        if live
            .wake
            .is_none_or(|planned| at < planned || planned <= self.now)
        {
            live.wake = Some(at);
            let life = node.life;
            self.queue.put(
                at,
                Event::SessionWake {
                    node: index,
                    life,
                    key,
                },
            );
        }
    }

    pub(super) fn session_wake(&mut self, index: NodeIndex, life: Life, key: SessionKey) {
        if self.nodes[index].life != life {
            return;
        }
        let now = self.nodes[index].clock.read(self.now).at;
        let up = self.nodes[index].up.as_mut();
        if let Some(live) = up.and_then(|up| up.sessions.get_mut(&key)) {
            if live.wake == Some(self.now) {
                live.wake = None;
            }
            if live.works_till.is_some_and(|till| till <= self.now) {
                live.works_till = None;
                live.machine.session().work(now);
            }
            if live
                .machine
                .session()
                .deadline()
                .is_some_and(|at| at <= now)
            {
                live.machine.session().on_time(now);
            }
            self.work.push_back(Work::Drive(index, key));
        }
    }

    pub(super) fn session_durable(
        &mut self,
        index: NodeIndex,
        key: SessionKey,
        batch: u64,
        ok: bool,
        withheld: Vec<EntryHash>,
    ) {
        let now = self.nodes[index].clock.read(self.now).at;
        let up = self.nodes[index].up.as_mut();
        if let Some(live) = up.and_then(|up| up.sessions.get_mut(&key)) {
            live.machine.session().withheld(withheld);
            live.machine.session().durable(batch, ok, now);
            self.work.push_back(Work::Drive(index, key));
        }
    }

    pub(super) fn cancel(&mut self, index: NodeIndex, key: SessionKey, reason: FailureReason) {
        let now = self.nodes[index].clock.read(self.now).at;
        let Some(up) = self.nodes[index].up.as_mut() else {
            return;
        };
        if up.dials.remove(&key).is_some() {
            let end = SessionEvent::ClientEnded(ClientEnd::Failed(reason));
            self.tell_session(index, key, end);
        } else if let Some(live) = up.sessions.get_mut(&key) {
            live.machine.session().cancel(reason, now);
            self.work.push_back(Work::Drive(index, key));
        }
    }

    /// Takes what the machine says, in order.
    pub(super) fn drain(&mut self, index: NodeIndex, key: SessionKey, live: &mut Live) {
        while let Some(output) = live.machine.session().poll() {
            let event = match output {
                SessionOutput::Send(message) => {
                    self.say(index, live, message);
                    continue;
                }
                SessionOutput::Started(started) => SessionEvent::Started {
                    session: started.session,
                    mode: started.mode,
                    summary: started.summary,
                    role: started.role,
                    token_unserviceable: started.token_unserviceable,
                },
                SessionOutput::Ingest(ingest) => {
                    if self.knobs.canary == 1 {
                        self.work.push_front(Work::Durable(
                            index,
                            key,
                            ingest.batch,
                            true,
                            Vec::new(),
                        ));
                    }
                    SessionEvent::Ingest {
                        batch: ingest.batch,
                        entries: ingest.entries,
                        token: ingest.token,
                    }
                }
                SessionOutput::Progress { received, expected } => {
                    SessionEvent::Progress { received, expected }
                }
                SessionOutput::ClientEnded(end) => {
                    self.judge_client_end(index, live, &end);
                    SessionEvent::ClientEnded(end)
                }
                SessionOutput::ProviderEnded(end) => {
                    self.judge_provider_end(index, live, &end);
                    SessionEvent::ProviderEnded(end)
                }
            };
            self.tell_session(index, key, event);
        }
    }

    /// The id of a node, for messages.
    pub fn node_id(&self, index: NodeIndex) -> NodeId {
        self.id(index)
    }

    pub(crate) fn id(&self, index: NodeIndex) -> NodeId {
        self.nodes[index].id
    }
}
