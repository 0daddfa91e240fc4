//! What nodes want, carried out; what arrives, handed over.

use osier_core::NodeId;
use osier_engine::{AskId, Input, SessionKey, SyncEvent};
use osier_proto::{Lsn, Message, encode_frame};

use super::{Crowd, DIAL_STEP, DIAL_WITHIN, Event, SLACK, Seat};
use crate::{
    clock::{MS, Time},
    event::NodeIndex,
    lean::{Act, Lean, instant},
};

/// What streams are bound to: no two connections are told apart here.
const BINDING: [u8; 32] = [5; 32];

impl Crowd {
    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Wake(node, life) => self.wake(node, life),
            Event::Dialed(node, life, open, waited) => {
                if self.lives(node, life) {
                    self.dialed(node, *open, waited);
                }
            }
            Event::Arrive(stream, end, message) => self.arrive(stream, end, *message),
            Event::Fin(stream, end) => self.fin(stream, end),
            Event::Lost(node, peer) => {
                if self.members[node].connected.remove(&peer) && self.members[node].up {
                    let peer = self.id(peer);
                    self.tell(node, Input::PeerLost { peer });
                }
            }
            Event::Hop(hop) => self.hop(&hop),
            Event::Start(node) => self.start(node),
        }
    }

    fn lives(&self, node: NodeIndex, life: u32) -> bool {
        self.members[node].up && self.members[node].life == life
    }

    pub(super) fn id(&self, node: NodeIndex) -> NodeId {
        self.members[node].spec.secret.node_id()
    }

    /// Tells a node's engine something.
    pub(super) fn tell(&mut self, node: NodeIndex, input: Input) {
        let now = instant(self.now);
        self.with(node, |lean| lean.tell(input, now));
    }

    /// Does something with a running node and carries out what it wants then.
    fn with(&mut self, node: NodeIndex, act: impl FnOnce(&mut Lean)) {
        let member = &mut self.members[node];
        if let Some(lean) = member.lean.as_mut().filter(|_| member.up) {
            act(lean);
            self.carry(node);
        }
    }

    pub(super) fn carry(&mut self, node: NodeIndex) {
        while let Some(act) = self.members[node].lean.as_mut().and_then(Lean::poll) {
            self.carry_out(node, act);
        }
        self.plan_wake(node);
    }

    fn plan_wake(&mut self, node: NodeIndex) {
        let member = &mut self.members[node];
        let Some(at) = member.lean.as_ref().and_then(Lean::deadline) else {
            return;
        };
        let at = at.as_nanos().max(self.now + 1);
        if member.wake.is_none_or(|planned| at < planned) {
            member.wake = Some(at);
            let life = member.life;
            self.plan(at, Event::Wake(node, life));
        }
    }

    fn wake(&mut self, node: NodeIndex, life: u32) {
        let now = self.now;
        if self.lives(node, life) && self.members[node].wake == Some(now) {
            self.members[node].wake = None;
            self.with(node, |lean| lean.on_time(instant(now)));
        }
    }

    fn carry_out(&mut self, node: NodeIndex, act: Act) {
        match act {
            Act::Commit(commit) => {
                let now = instant(self.now);
                if let Some(lean) = &mut self.members[node].lean {
                    lean.stored(&commit, true, now);
                }
            }
            Act::Dial(open) => {
                self.members[node].watch.asked(self.now, SLACK);
                self.members[node].dials.insert(open.key);
                let peer = self.index[&open.provider];
                let life = self.members[node].life;
                let known = self.members[node].connected.contains(&peer);
                let wait = if known { 0 } else { 2 * self.delay() + MS };
                self.plan(self.now + wait, Event::Dialed(node, life, open, wait));
            }
            Act::Undial(key) => {
                self.members[node].dials.remove(&key);
            }
            Act::Grant(ask, key) => self.granted(node, ask, key),
            Act::Refuse(ask, refuse) => {
                self.figures.refused += 1;
                self.send(ask.0, 0, Message::Refuse(refuse));
                self.end(ask.0, 0);
            }
            Act::Say(key, message) => {
                if let Some((stream, end)) = self.members[node].streams.get(&key).copied() {
                    self.send(stream, 1 - end, message);
                }
            }
            Act::Over(key) => {
                if let Some((stream, end)) = self.members[node].streams.remove(&key) {
                    self.end(stream, 1 - end);
                }
            }
            Act::Join => self.join(node),
            Act::Broadcast(bytes) => self.broadcast(node, bytes),
            Act::Told(upto, event) => self.told(node, upto, &event),
        }
    }

    fn dialed(&mut self, node: NodeIndex, open: osier_engine::OpenSession, waited: Time) {
        let key = open.key;
        if !self.members[node].dials.contains(&key) {
            return;
        }
        let (peer, now) = (self.index[&open.provider], instant(self.now));
        if !self.members[peer].up {
            if waited < DIAL_WITHIN {
                let life = self.members[node].life;
                let event = Event::Dialed(node, life, Box::new(open), waited + DIAL_STEP);
                return self.plan(self.now + DIAL_STEP, event);
            }
            self.members[node].dials.remove(&key);
            return self.with(node, |lean| lean.unreachable(key, now));
        }
        self.members[node].dials.remove(&key);
        self.members[node].connected.insert(peer);
        self.members[peer].connected.insert(node);
        self.next += 1;
        let stream = self.next;
        let seat = |node: NodeIndex, key| Seat {
            node,
            life: self.members[node].life,
            key,
            last: 0,
        };
        let seats = [seat(node, Some(key)), seat(peer, None)];
        self.streams.insert(stream, seats);
        self.members[node].streams.insert(key, (stream, 0));
        self.figures.asked(peer, self.now);
        self.with(node, |lean| lean.connected(open, BINDING, now));
    }

    fn granted(&mut self, node: NodeIndex, ask: AskId, key: SessionKey) {
        if let Some(seats) = self.streams.get_mut(&ask.0) {
            seats[1].key = Some(key);
            self.members[node].streams.insert(key, (ask.0, 1));
        }
        let serving = self.members[node].lean.as_ref().map_or(0, Lean::serving);
        self.figures.serves(node, serving);
    }

    /// Sends to one end of a stream.
    fn send(&mut self, stream: u64, to: usize, message: Message) {
        let delay = self.delay();
        let Some(seats) = self.streams.get_mut(&stream) else {
            return;
        };
        let at = (self.now + delay).max(seats[to].last + 1);
        seats[to].last = at;
        let (from, heard) = (seats[1 - to].node, seats[to].node);
        let bytes = encode_frame(&message).len() as u64;
        self.figures.session_bytes(from, heard, bytes);
        self.plan(at, Event::Arrive(stream, to, Box::new(message)));
    }

    /// One end of a stream hears nothing more after what is on its way.
    fn end(&mut self, stream: u64, for_end: usize) {
        let Some(seats) = self.streams.get(&stream) else {
            return;
        };
        let at = (self.now + super::DELAY).max(seats[for_end].last + 1);
        self.plan(at, Event::Fin(stream, for_end));
    }

    fn arrive(&mut self, stream: u64, end: usize, message: Message) {
        let Some(seats) = self.streams.get(&stream) else {
            return;
        };
        let (seat, other) = (seats[end], seats[1 - end]);
        if !self.lives(seat.node, seat.life) {
            return;
        }
        let now = instant(self.now);
        match (seat.key, message) {
            (Some(key), message) => self.with(seat.node, |lean| lean.hear(key, message, now)),
            (None, Message::Hello(hello)) => {
                let peer = self.id(other.node);
                self.with(seat.node, |lean| {
                    lean.asked(AskId(stream), peer, BINDING, hello, now);
                });
            }
            (None, _) => {}
        }
    }

    fn fin(&mut self, stream: u64, end: usize) {
        let Some(seats) = self.streams.get(&stream) else {
            return;
        };
        let (seat, now) = (seats[end], instant(self.now));
        if let Some(key) = seat.key.filter(|_| self.lives(seat.node, seat.life)) {
            self.with(seat.node, |lean| lean.closed(key, now));
        }
        let Some(seats) = self.streams.get(&stream) else {
            return;
        };
        let open = seats.iter().enumerate().any(|(end, seat)| {
            let member = &self.members[seat.node];
            let mine = seat.key.and_then(|key| member.streams.get(&key));
            member.life == seat.life && mine == Some(&(stream, end))
        });
        if !open {
            self.streams.remove(&stream);
        }
    }

    fn told(&mut self, node: NodeIndex, upto: Lsn, event: &SyncEvent) {
        let member = &mut self.members[node];
        let upto = upto.max(Lsn::new(u64::MAX));
        let wrong = member.watch.tell(self.now, SLACK, upto, event);
        assert!(wrong.is_none(), "node {node}: {wrong:?}");
        match event {
            SyncEvent::HistorySynced(_) | SyncEvent::CaughtUp { .. } => {
                member.synced = Some(self.now);
            }
            SyncEvent::Behind { .. }
            | SyncEvent::HistorySyncFailed { .. }
            | SyncEvent::Diverged { .. } => member.synced = None,
            SyncEvent::SyncStarted { mode, resumed, .. } => {
                member.begun += 1;
                if node >= self.spec.archives {
                    self.figures.started(*mode, *resumed);
                }
            }
            _ => {}
        }
    }
}
