//! Carrying out what a run has planned.

use bytes::Bytes;
use osier_core::{Control, Entry, Kind, NodeId, Role, TopicId, Verified, testing::secret};
use osier_engine::{CommandId, Input};
use osier_policy::Rank;
use osier_proto::{
    Gossip, GossipMessage, Lsn, Source, Summary, Watermark, encode_gossip,
    limit::GOSSIP_PAYLOAD_BYTES_MAX,
};

use super::{Work, World};
use crate::{
    author::{Author, Hostility, hostile_authors},
    clock::Time,
    event::{Event, NodeIndex},
    gossip::rumour,
    workload::Action,
};

/// Who signs the messages of entries that are delivered by hand.
const CARRIER: u64 = 2_001;

impl World {
    /// Plans something.
    pub fn plan(&mut self, at: Time, action: Action) {
        self.queue.put(at, Event::Act(action));
    }

    pub(crate) fn set_authors(&mut self, authors: Vec<Author>) {
        self.authors = authors;
    }

    /// Does something now.
    pub fn act(&mut self, action: &Action) {
        self.trace.note(self.now, 0, format_args!("** {action:?}"));
        match *action {
            Action::Publish {
                node,
                topic,
                entries,
            } => {
                self.publish(node, topic, entries);
            }
            Action::Decree { topic, who, word } => self.speak(topic, who, word),
            Action::Hostile { author, to } => self.hostile(author, to),
            Action::Start { node } if !self.is_up(node) => self.start(node),
            Action::Crash { node, wipe, span } if self.is_up(node) && !self.calm => {
                self.restart_in(node, span);
                if wipe {
                    self.wipe(node);
                }
            }
            Action::Stop { node, span } if self.is_up(node) && !self.calm => {
                self.stop(node);
                self.plan(self.now + span, Action::Start { node });
            }
            Action::Cut { from, to, span } if !self.calm => {
                self.cut(from, to);
                self.plan(self.now + span, Action::Heal { from, to });
            }
            Action::Heal { from, to } if !self.calm => self.heal(from, to),
            Action::Clog { from, to, span } if !self.calm => self.clog(from, to, span),
            Action::Snap { one, other } if !self.calm => {
                self.snap(one, other);
            }
            Action::Lag { node, span } if !self.calm => {
                self.gossip_deaf[node] = true;
                self.plan(self.now + span, Action::LagOver { node });
            }
            Action::LagOver { node } => self.lag_over(node),
            Action::DiskFull { node, span } if !self.calm => {
                self.tempers[node].full_until = self.now + span;
            }
            Action::WallJump { node, by_ms } => self.nodes[node].clock.jump_wall(by_ms),
            _ => {}
        }
    }

    /// A node writes so many entries in one command.
    pub fn publish(&mut self, index: NodeIndex, topic: usize, entries: u64) -> Option<CommandId> {
        let next = CommandId(self.next_command + 1);
        if let Some(events) = &mut self.events_published {
            let entries = (0..entries).map(|_| events.items()).collect();
            return self.write(index, topic, Kind::NOSTR, entries);
        }
        let body = |at: u64| vec![Bytes::from(format!("n{index} {next:?} {at}"))];
        let entries = (0..entries).map(body).collect();
        self.write(index, topic, Kind::APPLICATION, entries)
    }

    /// The same with bodies of so many bytes: a few make a batch.
    pub fn publish_large(
        &mut self,
        index: NodeIndex,
        topic: usize,
        entries: u64,
        bytes: usize,
    ) -> Option<CommandId> {
        let next = self.next_command + 1;
        let body = |at: u64| {
            let mut body = format!("n{index} {next} {at} ").into_bytes();
            body.resize(bytes.max(body.len()), b'.');
            vec![Bytes::from(body)]
        };
        let entries = (0..entries).map(body).collect();
        self.write(index, topic, Kind::APPLICATION, entries)
    }

    /// A node passes an ephemeral item on (`GOS-10`).
    pub fn pass_on(&mut self, index: NodeIndex, topic: usize, item: &[u8]) {
        self.next_command += 1;
        let (topic, command) = (self.topic(topic), CommandId(self.next_command));
        self.checks.publishes(index, topic, command);
        let input = Input::PassOn {
            command,
            topic,
            kind: Kind::APPLICATION,
            item: Bytes::copy_from_slice(item),
        };
        self.work.push_back(Work::Tell(index, Box::new(input)));
        self.settle();
    }

    /// How many ephemeral items a node has heard.
    pub fn heard_in_passing(&self, index: NodeIndex) -> usize {
        let heard = self.passed.iter();
        heard.filter(|(node, _)| *node == index).count()
    }

    fn write(
        &mut self,
        index: NodeIndex,
        topic: usize,
        kind: Kind,
        entries: Vec<Vec<Bytes>>,
    ) -> Option<CommandId> {
        let topic = self.topic(topic);
        self.nodes[index].up.as_ref()?;
        self.next_command += 1;
        let command = CommandId(self.next_command);
        self.checks.publishes(index, topic, command);
        let input = Input::Publish {
            command,
            topic,
            kind,
            entries,
        };
        self.work.push_back(Work::Tell(index, Box::new(input)));
        self.settle();
        Some(command)
    }

    /// A node writes a control entry; it has an effect if the node owns the topic.
    pub fn decree(
        &mut self,
        index: NodeIndex,
        topic: usize,
        control: &Control,
    ) -> Option<CommandId> {
        let items = vec![Bytes::from(control.to_bytes())];
        self.write(index, topic, Kind::CONTROL, vec![items])
    }

    /// A node's own trust list is edited: a rank and a role for another node, or distrust.
    pub fn trust(
        &mut self,
        index: NodeIndex,
        topic: usize,
        other: NodeIndex,
        entry: Option<(u16, Role)>,
    ) {
        let (topic, node) = (self.topic(topic), self.id(other));
        self.next_command += 1;
        let command = CommandId(self.next_command);
        self.checks.publishes(index, topic, command);
        let input = Input::Trust {
            command,
            topic,
            node,
            entry: entry.map(|(rank, role)| (Rank::new(rank), role)),
        };
        self.work.push_back(Work::Tell(index, Box::new(input)));
        self.settle();
    }

    /// A watermark in a node's name reaches another: what the first holds, after a change.
    pub fn tell_watermark(
        &mut self,
        from: NodeIndex,
        to: NodeIndex,
        change: impl FnOnce(&mut Summary),
    ) {
        let topic = self.topic(0);
        let view = self.nodes[from].vault.store.view(topic);
        let mut summary = view.expect("memory can be read").summary();
        change(&mut summary);
        self.next_command += 1;
        let message = GossipMessage {
            topic,
            sequence: u64::MAX - self.next_command,
            body: Gossip::Watermark(Watermark {
                summary,
                last: Lsn::new(u64::MAX),
            }),
        };
        let secret = &self.nodes[from].secret;
        let bytes = encode_gossip(secret, &message, GOSSIP_PAYLOAD_BYTES_MAX);
        self.tell_gossip(to, &rumour(topic, bytes.expect("a watermark fits")));
        self.settle();
    }

    /// Whether an author is a hostile one.
    pub(crate) fn is_hostile(&self, author: &NodeId) -> bool {
        self.authors.iter().any(|hostile| hostile.id() == *author)
    }

    fn hostile(&mut self, author: usize, to: NodeIndex) {
        let life = self.nodes[to].life;
        let Some(author) = self.authors.get_mut(author) else {
            return;
        };
        for rumour in author.act(&mut self.dice.liar) {
            let at = self.now + self.network.draw_delay();
            let event = Event::Hop {
                from: to,
                to,
                life,
                rumour,
            };
            self.queue.put(at, event);
        }
    }

    /// Makes the hostile authors that the parameters ask for, in the first topic.
    pub fn add_hostile_authors(&mut self) {
        let topics = [self.topic(0)];
        self.authors = hostile_authors(&self.knobs, &topics);
    }

    /// One author gossips so many entries that nobody can tell to be its own.
    pub fn flood_with_orphans(&mut self, to: NodeIndex, entries: u64) {
        let mut author = Author::new(self.topic(0), Hostility::SignsBadly, 2_000);
        for _ in 0..entries {
            let rumour = author.orphan();
            self.tell_gossip(to, &rumour);
        }
        self.settle();
    }

    /// Entries of whomever reach a node by gossip, in this order, and nobody else.
    pub fn deliver(&mut self, to: NodeIndex, entries: impl IntoIterator<Item = Verified<Entry>>) {
        let topic = self.topic(0);
        for entry in entries {
            self.next_command += 1;
            let message = GossipMessage {
                topic,
                sequence: self.next_command,
                body: Gossip::Live(entry.to_wire()),
            };
            let bytes = encode_gossip(&secret(CARRIER), &message, GOSSIP_PAYLOAD_BYTES_MAX);
            self.tell_gossip(to, &rumour(topic, bytes.expect("a small entry fits")));
        }
        self.settle();
    }

    fn tell_gossip(&mut self, to: NodeIndex, rumour: &crate::gossip::Rumour) {
        let input = Input::Gossip {
            topic: rumour.topic,
            bytes: rumour.bytes.clone(),
        };
        self.work.push_back(Work::Tell(to, Box::new(input)));
    }

    /// Gossip tells a node, for each of its topics, that it has dropped messages.
    pub fn lag_over(&mut self, index: NodeIndex) {
        self.gossip_deaf[index] = false;
        self.tell_lagged(index);
    }

    /// The notice alone: a node that hears nothing goes on hearing nothing.
    pub fn tell_lagged(&mut self, index: NodeIndex) {
        let topics = self.overlay.topics_of(index);
        let doubted: Vec<TopicId> = topics
            .iter()
            .copied()
            .filter(|topic| self.goes_by_another(index, *topic))
            .collect();
        for topic in topics {
            let input = Input::GossipLagged { topic };
            self.work.push_back(Work::Tell(index, Box::new(input)));
        }
        self.settle();
        for topic in doubted {
            self.checks.lagged(self.now, index, topic);
        }
    }

    /// Whether a node is synced on the word of another.
    fn goes_by_another(&self, index: NodeIndex, topic: TopicId) -> bool {
        let node = &self.nodes[index];
        let up = node.up.as_ref();
        let state = up.and_then(|up| up.engine.state(topic, node.clock.read(self.now)));
        let synced = state.and_then(|state| state.synced);
        synced.is_some_and(|synced| synced.session.is_some())
    }

    /// From now on gossip reaches a node no more, or does again.
    pub fn deafen(&mut self, index: NodeIndex, deaf: bool) {
        self.gossip_deaf[index] = deaf;
    }

    /// No fault that is planned happens any more, and those under way end.
    pub(crate) fn end_faults(&mut self) {
        self.calm = true;
        let nodes = self.nodes.len();
        for from in 0..nodes {
            for to in 0..nodes {
                while self.network.link(from, to).cuts > 0 {
                    self.heal(from, to);
                }
                self.network.link(from, to).clogged_until = self.now;
                self.clog(from, to, 1);
            }
            self.tempers[from].full_until = 0;
        }
        self.knobs.disk_fail_pcm = 0;
        self.knobs.gossip_loss_pct = 0;
    }
}
