//! Dialing, connections that break, links that are cut, clogged and healed.

use osier_engine::{Input, OpenSession, SessionEvent};

use super::{Work, World};
use crate::{
    clock::{MS, SEC, Time},
    event::{Event, Life, NodeIndex},
    network::{Connection, Reader, pair},
};

/// Time for a dial; as in the node.
const DIAL_WITHIN: Time = 5 * SEC;

/// Time between two tries of one dial.
const DIAL_STEP: Time = 500 * MS;

impl World {
    /// A dial may have come through.
    pub(super) fn dialed(
        &mut self,
        index: NodeIndex,
        life: Life,
        open: Box<OpenSession>,
        tries: u32,
    ) {
        let key = open.key;
        let current = self.nodes[index].life == life;
        let up = self.nodes[index].up.as_mut().filter(|_| current);
        if up.is_none_or(|up| !up.dials.contains_key(&key)) {
            return;
        }
        let peer = self.index_of(open.provider);
        let reached = peer.and_then(|peer| Some((peer, self.connect(index, peer)?)));
        if let Some((peer, connection)) = reached {
            self.undial(index, key);
            return self.ask(index, peer, &connection, *open);
        }
        let refused = peer.is_none() || (tries == 0 && self.dice.fault.chance(25));
        if refused || DIAL_STEP * Time::from(tries) >= DIAL_WITHIN {
            self.undial(index, key);
            let cause = "the dial came to nothing".to_owned();
            return self.tell_session(index, key, SessionEvent::Unreachable { cause });
        }
        let event = Event::Dialed {
            node: index,
            life,
            open,
            tries: tries + 1,
        };
        self.queue.put(self.now + DIAL_STEP, event);
    }

    fn undial(&mut self, index: NodeIndex, key: osier_engine::SessionKey) {
        let up = self.nodes[index].up.as_mut().expect("looked at before");
        up.dials.remove(&key);
    }

    /// The connection with a peer: the present one as far as this node knows, or a new one.
    fn connect(&mut self, index: NodeIndex, peer: NodeIndex) -> Option<Connection> {
        let ends = [
            (index, self.nodes[index].life),
            (peer, self.nodes[peer].life),
        ];
        let known = self.network.connections.get(&pair(index, peer)).copied();
        if let Some(known) = known.filter(|known| known.ends.contains(&ends[0])) {
            return Some(known);
        }
        if self.nodes[peer].up.is_none() || !self.network.connects(index, peer) {
            return None;
        }
        if let Some(stale) = known {
            // A newer connection with the same node replaces the one of its earlier life.
            self.break_connection(stale.id, false);
        }
        let connection = Connection {
            id: self.network.next_id(),
            binding: self.network.dice.bytes(),
            ends,
        };
        self.network
            .connections
            .insert(pair(index, peer), connection);
        Some(connection)
    }

    /// Nothing was heard on a connection for long enough, if that is still so.
    pub(super) fn idle_out(&mut self, id: u64) {
        let found = self.network.connections.values().find(|c| c.id == id);
        let Some(connection) = found.copied() else {
            return;
        };
        let [(one, _), (other, _)] = connection.ends;
        let gone = connection
            .ends
            .iter()
            .any(|(node, life)| self.nodes[*node].life != *life || self.nodes[*node].up.is_none());
        if gone || self.cut_for_long(one, other) {
            self.break_connection(id, true);
        }
    }

    /// Whether nothing has come through between two nodes for the idle time.
    pub(super) fn cut_for_long(&mut self, one: NodeIndex, other: NodeIndex) -> bool {
        let (now, idle) = (self.now, self.network.idle);
        [(one, other), (other, one)].into_iter().any(|(from, to)| {
            let link = *self.network.link(from, to);
            link.cuts > 0 && now - link.cut_at >= idle
        })
    }

    /// A connection is over: its streams end at both ends, and both sides are told.
    pub(crate) fn break_connection(&mut self, id: u64, tell: bool) {
        let found = self.network.connections.iter().find(|(_, c)| c.id == id);
        let Some((pair, connection)) = found.map(|(pair, c)| (*pair, *c)) else {
            return;
        };
        self.trace.note(
            self.now,
            pair.0,
            format_args!("connection with n{} breaks", pair.1),
        );
        self.network.connections.remove(&pair);
        let of_it = self
            .network
            .streams
            .iter()
            .filter(|(_, s)| s.connection == id);
        let streams: Vec<u64> = of_it.map(|(stream, _)| *stream).collect();
        for stream in streams {
            let stream = self.network.streams.remove(&stream).expect("listed above");
            for end in stream.ends {
                if let (Reader::Session(key), true) =
                    (end.reader, self.nodes[end.node].life == end.life)
                {
                    self.work.push_back(Work::Drive(end.node, key));
                }
            }
        }
        for (at, (node, life)) in connection.ends.into_iter().enumerate() {
            let (peer, _) = connection.ends[1 - at];
            if tell && self.nodes[node].life == life {
                let input = Input::PeerLost {
                    peer: self.id(peer),
                };
                self.work.push_back(Work::Tell(node, Box::new(input)));
            }
        }
    }

    /// Nothing passes from one node to another until it is healed as often as it was cut.
    pub fn cut(&mut self, from: NodeIndex, to: NodeIndex) {
        let now = self.now;
        let link = self.network.link(from, to);
        if link.cuts == 0 {
            link.cut_at = now;
        }
        link.cuts += 1;
        let later = now + self.network.idle;
        if let Some(connection) = self.network.connections.get(&pair(from, to)) {
            let connection = connection.id;
            self.queue.put(later, Event::IdleOut { connection });
        }
        for (topic, one, other) in self.overlay.links() {
            if pair(one, other) == pair(from, to) {
                self.queue.put(later, Event::PartWays { topic, one, other });
            }
        }
    }

    /// Takes one cut away; what waited comes through.
    pub fn heal(&mut self, from: NodeIndex, to: NodeIndex) {
        let link = self.network.link(from, to);
        assert!(link.cuts > 0, "only what is cut can heal");
        link.cuts -= 1;
        if link.cuts == 0 {
            self.look_again(from, to, self.now + MS);
        }
    }

    /// Delivers nothing from one node to another for a while, then everything.
    pub fn clog(&mut self, from: NodeIndex, to: NodeIndex, span: Time) {
        let until = self.now + span;
        let link = self.network.link(from, to);
        link.clogged_until = link.clogged_until.max(until);
        self.look_again(from, to, until);
    }

    fn look_again(&mut self, from: NodeIndex, to: NodeIndex, at: Time) {
        for (stream, end) in self.network.waiting(from, to) {
            self.queue.put(at, Event::Arrive { stream, end });
        }
    }

    /// Cuts both ways between two groups.
    pub fn part(&mut self, some: &[NodeIndex], others: &[NodeIndex]) {
        for (one, other) in across(some, others) {
            self.cut(one, other);
            self.cut(other, one);
        }
    }

    /// Heals both ways between two groups.
    pub fn join(&mut self, some: &[NodeIndex], others: &[NodeIndex]) {
        for (one, other) in across(some, others) {
            self.heal(one, other);
            self.heal(other, one);
        }
    }

    /// Breaks the connection between two nodes at once, if there is one.
    pub fn snap(&mut self, one: NodeIndex, other: NodeIndex) -> bool {
        let found = self
            .network
            .connections
            .get(&pair(one, other))
            .map(|c| c.id);
        found.is_some_and(|id| {
            self.break_connection(id, true);
            self.settle();
            true
        })
    }
}

fn across(some: &[NodeIndex], others: &[NodeIndex]) -> Vec<(NodeIndex, NodeIndex)> {
    let pairs = |one: &NodeIndex| {
        let one = *one;
        others.iter().map(move |other| (one, *other))
    };
    some.iter().flat_map(pairs).collect()
}
