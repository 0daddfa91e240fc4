//! Nodes start, stop in order, crash, lose their disks.

use osier_core::{Control, Entry, EntryHash, Role, Seq, Ticket, TopicId, Verified};
use osier_engine::{Engine, EngineConfig, Input, OwnerWords, TopicSetup};
use osier_proto::{Source, StoreId};
use osier_store::{Batch, ControlRow, Retention, TopicRecord};

use super::{Work, World};
use crate::{
    clock::{MS, SEC},
    disk::{Disk, Vault},
    event::{Event, NodeIndex},
    node::{NodeSpec, Running},
};

impl World {
    /// Starts a node: a new life of the same key on what its disk holds.
    pub fn start(&mut self, index: NodeIndex) {
        assert!(self.nodes[index].up.is_none(), "a node runs once");
        let node = &mut self.nodes[index];
        node.life += 1;
        node.clock = node.clock.rebooted(self.now);
        let config = EngineConfig {
            secret: node.secret.clone(),
            seed: self.dice.node.bytes(),
        };
        let engine = Engine::new(config, node.clock.read(self.now));
        node.up = Some(Running {
            engine,
            disk: Disk::default(),
            sessions: std::collections::BTreeMap::new(),
            asks: std::collections::BTreeMap::new(),
            dials: std::collections::BTreeMap::new(),
            wake: None,
            next_ask: 0,
        });
        self.trace.note(
            self.now,
            index,
            format_args!("starts, life {}", self.nodes[index].life),
        );
        let topics: Vec<TopicId> = self.nodes[index]
            .spec
            .topics
            .iter()
            .map(|topic| self.topic(*topic))
            .collect();
        self.checks
            .started(self.now, index, &self.nodes[index].vault, &topics);
        self.check_index(index);
        for topic in self.nodes[index].spec.topics.clone() {
            self.open_topic(index, topic);
        }
        self.wake_old_peers(index);
        self.settle();
    }

    fn open_topic(&mut self, index: NodeIndex, topic: usize) {
        let setup = self.setup(index, topic);
        let topic = setup.ticket.topic();
        self.checks.opened(self.now, index, topic, setup.point.last);
        self.work
            .push_back(Work::Tell(index, Box::new(Input::Open(Box::new(setup)))));
    }

    /// What the node's start reads of its store.
    fn setup(&mut self, index: NodeIndex, topic: usize) -> TopicSetup {
        let ticket = self.topics[topic].clone();
        let id = ticket.topic();
        let node = &self.nodes[index];
        let (spec, vault) = (&node.spec, &node.vault);
        keep_record(vault, &ticket, spec);
        let view = vault.store.view(id).expect("memory can be read");
        let mut own: Vec<_> = view
            .heads(None, usize::MAX)
            .expect("memory can be read")
            .into_iter()
            .filter(|head| head.author == node.id)
            .map(|head| (head.seq, head.hash))
            .collect();
        own.sort_unstable();
        let cut_off = vault
            .store
            .cut_off_tip(id, node.id)
            .expect("memory can be read");
        let own_trust = spec.trust.iter().map(|(peer, rank, role)| {
            let id = self.nodes[*peer].id;
            (id, Some((*rank, *role)))
        });
        let edited = vault.trust.iter().filter(|((of, _), _)| *of == id);
        let trust = own_trust.chain(edited.map(|((_, peer), entry)| (*peer, *entry)));
        let tokens = vault.store.tokens(id).expect("memory can be read");
        let words = vault.store.control(id).expect("memory can be read");
        let words = words.iter().map(ControlRow::said);
        let mut words = OwnerWords::read(words);
        if spec.outsider {
            // It tells itself that it is granted, after all that the owner will ever say.
            let last = Seq::new(u64::MAX).expect("not zero");
            let (node, rank, role) = (node.id, 1, spec.role);
            words.note(last, EntryHash::MAX, Control::Grant { node, rank, role });
        }
        TopicSetup {
            words,
            ticket,
            role: spec.role,
            rule: spec.rule,
            trust: trust.collect(),
            tokens,
            summary: view.summary(),
            point: view.point(),
            newest: self.checks.newest(index, id),
            own_tip: own.last().copied().max(cut_off),
        }
    }

    /// Peers that still hold a connection with an earlier life learn soon that it is gone.
    fn wake_old_peers(&mut self, index: NodeIndex) {
        let life = self.nodes[index].life;
        let old: Vec<u64> = self
            .network
            .connections
            .values()
            .filter(|c| {
                c.ends
                    .iter()
                    .any(|(node, of)| *node == index && *of != life)
            })
            .map(|c| c.id)
            .collect();
        for connection in old {
            let at = self.now + self.dice.fault.range(1, 2_000) * MS;
            self.queue.put(at, Event::IdleOut { connection });
        }
    }

    /// A node dies: what was not on disk is lost, and nobody is told.
    pub fn crash(&mut self, index: NodeIndex) {
        self.trace.note(self.now, index, format_args!("crashes"));
        let up = self.nodes[index].up.take();
        // Half of the crashes fall into a write.
        let mut torn = up.map(|mut up| up.disk.finish()).unwrap_or_default();
        if self.dice.disk.chance(50) {
            torn.clear();
        }
        let (writes, seed) = (self.dice.disk.below(12), self.dice.disk.bits());
        self.nodes[index].vault.crash(&torn, writes, seed);
        self.checks.stopped(index);
        let later = self.now + self.network.idle;
        let mine = self.network.connections.values();
        let mine = mine.filter(|c| c.ends.iter().any(|(node, _)| *node == index));
        for connection in mine.map(|c| c.id).collect::<Vec<u64>>() {
            self.queue.put(later, Event::IdleOut { connection });
        }
        for topic in self.overlay.topics_of(index) {
            self.overlay.leave(topic, index);
            for other in self.overlay.neighbors_of(topic, index) {
                let event = Event::PartWays {
                    topic,
                    one: index,
                    other,
                };
                self.queue.put(later, event);
            }
        }
    }

    /// A node stops in order: what waits is written, sessions and connections end at once.
    pub fn stop(&mut self, index: NodeIndex) {
        self.trace.note(self.now, index, format_args!("stops"));
        let topics: Vec<TopicId> = self.nodes[index]
            .spec
            .topics
            .iter()
            .map(|topic| self.topic(*topic))
            .collect();
        self.flush(index);
        for topic in topics {
            self.work
                .push_back(Work::Tell(index, Box::new(Input::Close { topic })));
        }
        self.settle();
        let mine = self.network.connections.values();
        let mine = mine.filter(|c| c.ends.iter().any(|(node, _)| *node == index));
        let mine: Vec<u64> = mine.map(|c| c.id).collect();
        for connection in mine {
            self.break_connection(connection, true);
        }
        self.settle();
        self.nodes[index].up = None;
        self.checks.stopped(index);
    }

    /// A node that is not running loses its disk.
    pub fn wipe(&mut self, index: NodeIndex) {
        assert!(
            self.nodes[index].up.is_none(),
            "a disk is lost while nobody uses it"
        );
        self.trace
            .note(self.now, index, format_args!("loses its disk"));
        let is_relay = self.events_published.is_some();
        let id = StoreId::from_bytes(self.dice.node.bytes());
        self.nodes[index].vault = Vault::new(id, is_relay);
        self.checks.wiped(index);
    }

    /// Puts entries on the disk of a node that is not running.
    pub fn preload(&mut self, index: NodeIndex, entries: Vec<Verified<Entry>>) {
        assert!(
            self.nodes[index].up.is_none(),
            "a disk is filled while nobody uses it"
        );
        let mut batch = Batch::new();
        batch.extend(entries);
        self.nodes[index].vault.put(&batch);
    }

    /// Crashes and starts again after a while.
    pub fn restart_in(&mut self, index: NodeIndex, span: u64) {
        self.crash(index);
        let action = crate::workload::Action::Start { node: index };
        self.queue
            .put(self.now + span.min(600 * SEC), Event::Act(action));
    }

    /// Whether a node runs.
    pub fn is_up(&self, index: NodeIndex) -> bool {
        self.nodes[index].up.is_some()
    }
}

/// The store's own record of a topic: how much it keeps.
fn keep_record(vault: &Vault, ticket: &Ticket, spec: &NodeSpec) {
    let topic = ticket.topic();
    let known = vault.store.topic(topic).expect("memory can be read");
    if known.is_some() {
        return;
    }
    let role = spec.role;
    let retention = match role {
        Role::Replay => Retention::Newest { entries: spec.ring },
        Role::Archive | Role::Peer => Retention::All,
    };
    let record = TopicRecord {
        // Without its ticket a store takes every topic for an open one.
        ticket: if spec.outsider {
            Vec::new()
        } else {
            ticket.to_string().into_bytes()
        },
        role,
        retention,
        policy: Vec::new(),
    };
    vault
        .store
        .set_topic(topic, &record)
        .expect("memory can be written");
}
