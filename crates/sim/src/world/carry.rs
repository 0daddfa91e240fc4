//! Carrying out what an engine wants.

use std::fmt;

use osier_core::NodeId;
use osier_engine::{Input, OpenSession, Output, SessionEvent};
use osier_proto::Message;

use super::{Work, World};
use crate::{
    clock::MS,
    event::{Event, NodeIndex},
    gossip::rumour,
    network::pair,
    node::Heard,
};

impl World {
    pub(super) fn carry_out(&mut self, index: NodeIndex, output: Output) {
        match output {
            Output::Commit(commit) => self.commit(index, commit),
            Output::OpenSession(open) => self.open_session(index, open),
            Output::GrantSession(grant) => self.grant_session(index, grant),
            Output::RefuseSession { ask, refuse } => {
                let up = self.nodes[index]
                    .up
                    .as_mut()
                    .expect("a running engine asks");
                let asked = up.asks.remove(&ask).expect("an ask is decided once");
                self.trace.note(
                    self.now,
                    index,
                    format_args!("-> refuse {:?}", refuse.reason),
                );
                self.write_message(asked.stream, 0, &Message::Refuse(refuse));
                self.close_end(asked.stream, 1);
            }
            Output::SessionDurable {
                key,
                batch,
                ok,
                withheld,
            } => {
                self.work
                    .push_back(Work::Durable(index, key, batch, ok, withheld));
            }
            Output::CancelSession { key, reason } => {
                self.work.push_back(Work::Cancel(index, key, reason));
            }
            Output::JoinGossip {
                topic, bootstrap, ..
            } => {
                let through: Vec<NodeId> = bootstrap.into_iter().map(|(node, _)| node).collect();
                self.join_swarm(index, topic, &through);
            }
            Output::JoinPeers { topic, peers } => self.join_swarm(index, topic, &peers),
            Output::LeaveGossip { topic } => self.leave_swarm(index, topic),
            Output::Broadcast { topic, bytes } => self.spread(index, &rumour(topic, bytes)),
            Output::Ephemeral { item, .. } => {
                self.trace
                    .note(self.now, index, format_args!("-> hears {item:?}"));
                self.passed.push((index, item));
            }
            Output::Emit { topic, upto, event } => {
                self.trace.note(
                    self.now,
                    index,
                    format_args!("-> {event:?} upto {}", upto.get()),
                );
                self.note_emitted(index, topic, upto, event);
            }
            Output::Reply { command, result } => {
                self.trace
                    .note(self.now, index, format_args!("-> {command:?} {result:?}"));
                self.checks.replied(self.now, index, command, &result);
            }
        }
    }

    fn open_session(&mut self, index: NodeIndex, open: OpenSession) {
        let (key, provider) = (open.key, open.provider);
        self.checks.asked(self.now, index, open.topic);
        self.trace.note(
            self.now,
            index,
            format_args!("-> open {key:?} {:?} with {provider:?}", open.request),
        );
        let node = &mut self.nodes[index];
        let life = node.life;
        let up = node.up.as_mut().expect("a running engine asks");
        up.dials.insert(key, provider);
        let connected = self
            .index_of(provider)
            .is_some_and(|peer| self.network.connections.contains_key(&pair(index, peer)));
        let wait = if connected {
            0
        } else {
            2 * self.network.draw_delay() + MS
        };
        let event = Event::Dialed {
            node: index,
            life,
            open: Box::new(open),
            tries: 0,
        };
        self.queue.put(self.now + wait, event);
    }

    /// What the checker knows of a session from its start.
    pub(super) fn heard_of(open: &OpenSession) -> Heard {
        Heard::of(open)
    }
}

/// An input in a few words, for the trace.
pub(super) struct Brief<'a>(pub(super) &'a Input);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Input::Open(setup) => write!(
                f,
                "open {:?} as {} with {:?}",
                setup.ticket.topic(),
                setup.role,
                setup.summary.set
            ),
            Input::Gossip { topic, bytes } => {
                write!(
                    f,
                    "gossip {topic:?} {} {:016x}",
                    bytes.len(),
                    crate::gossip::name_of(bytes)
                )
            }
            Input::SessionAsked {
                ask, peer, hello, ..
            } => {
                write!(f, "asked {ask:?} by {peer:?} {:?}", hello.request)
            }
            Input::Session { key, event } => write!(f, "{key:?} {}", BriefEvent(event)),
            Input::Publish {
                command, entries, ..
            } => write!(f, "publish {command:?} {} entries", entries.len()),
            other => write!(f, "{other:?}"),
        }
    }
}

struct BriefEvent<'a>(&'a SessionEvent);

impl fmt::Display for BriefEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SessionEvent::Ingest {
                batch,
                entries,
                token,
            } => write!(
                f,
                "ingest {batch}: {} entries, token {token:?}",
                entries.len()
            ),
            SessionEvent::Started {
                session,
                mode,
                summary,
                ..
            } => write!(f, "started {session:?} {mode:?} {:?}", summary.set),
            other => write!(f, "{other:?}"),
        }
    }
}
