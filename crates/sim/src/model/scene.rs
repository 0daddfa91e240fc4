//! One path: the actors, what is on its way between them, and what the client's application has
//! been told.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use osier_core::{Coverage, EntryHash, NodeId, Role, testing};
use osier_engine::{Commit, Rank, SyncEvent};
use osier_proto::{Lsn, testing::MemorySource};

use super::{
    Budget, CLIENT_KEY, Cast, ENTRIES, End, Place, SERVERS, Setup, Step,
    line::{Item, Line},
    server::{BINDING, Server},
    trace::Note,
};
use crate::{
    check::Watch,
    clock::{SEC, Time},
    lean::{Act, Canary, Lean, LeanSpec, instant},
};

/// How late a word may be in virtual time: nothing here takes any.
const SLACK: Time = SEC;

/// Calls at deadlines in one wait at most; half an hour of signs of life.
const WAKES_MAX: u32 = 4096;

/// What must never happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// `HistorySynced`, and the client lacks what the provider's snapshot held (`CMP-12`).
    FalseComplete(String),
    /// The application waits past its deadline (`POL-17`).
    Overdue(String),
    /// A session has no end, or two (`CMP-32`).
    Ends(String),
}

/// What a search asks of a state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// What is broken; nothing happens after it.
    pub broken: Option<Broken>,
    /// Whether complete was ever said.
    pub synced: bool,
    /// Whether it was ever said that nobody is left.
    pub failed: bool,
    /// Whether it was ever said of a provider that it cannot be counted on.
    pub degraded: bool,
}

/// The client, the archives and all between them.
#[derive(Debug)]
pub struct Scene {
    cast: Arc<Cast>,
    left: Budget,
    now: Time,
    client: Lean,
    servers: Vec<Server>,
    lines: Vec<Line>,
    /// Writes that wait for the client's disk.
    disk: VecDeque<Commit>,
    /// What is on it.
    on_disk: BTreeSet<EntryHash>,
    canary: Option<Canary>,
    written: usize,
    watch: Watch,
    facts: Facts,
    /// All that each actor was given so far: the client, then the archives.
    histories: [[u8; 32]; 1 + SERVERS],
    /// Things that happened and are no signs of life.
    news: u64,
    pub(super) note: Note,
}

impl Scene {
    /// The beginning: the client has opened the topic.
    pub fn new(setup: &Setup, cast: &Arc<Cast>) -> Self {
        let servers: Vec<Server> = (0..SERVERS)
            .map(|server| Server::new(server, setup, cast))
            .collect();
        let spec = LeanSpec {
            secret: testing::secret(CLIENT_KEY),
            ticket: cast.ticket.clone(),
            role: Role::Peer,
            rule: setup.rule,
            trust: (servers.iter().zip(1..))
                .map(|(server, rank)| (server.id, Rank::new(rank), Role::Archive))
                .collect(),
        };
        let store = MemorySource::with(1, cast.chosen(setup.holds[0]));
        let mut scene = Self {
            cast: Arc::clone(cast),
            left: setup.budget,
            now: 0,
            client: Lean::new(spec, store, [7; 32], instant(0)),
            servers,
            lines: Vec::new(),
            disk: VecDeque::new(),
            on_disk: cast.chosen(setup.holds[0]).map(|e| e.hash()).collect(),
            canary: setup.canary,
            written: 0,
            watch: Watch::opened(0, SLACK, Lsn::START),
            facts: Facts::default(),
            histories: [[0; 32]; 1 + SERVERS],
            news: 0,
            note: Note::default(),
        };
        scene.client.set_canary(setup.canary);
        scene.settle();
        scene
    }

    /// What a search asks of this state.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// All that can happen next.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.facts.broken.is_some() {
            return steps;
        }
        for line in 0..self.lines.len() {
            for to in [End::Client, End::Server] {
                self.steps_of(line, to, &mut steps);
            }
        }
        if !self.disk.is_empty() {
            steps.push(Step::Store);
            if self.left.disk_failures > 0 {
                steps.push(Step::FailStore);
            }
        }
        for (number, server) in self.servers.iter().enumerate() {
            if !server.up {
                steps.push(Step::Restart(number));
            } else if self.left.crashes > 0 {
                steps.push(Step::Crash(number));
            }
            if server.up && self.left.writes > 0 {
                steps.push(Step::Write(number));
            }
        }
        if self.waits_left() > 0 {
            steps.push(Step::Wait);
        }
        steps
    }

    /// Whether messages or writes are under way.
    fn is_busy(&self) -> bool {
        let on_its_way = |line: &Line| {
            let ends = [End::Client, End::Server];
            ends.into_iter().any(|end| !line.items(end).is_empty())
        };
        !self.disk.is_empty() || self.lines.iter().any(on_its_way)
    }

    fn waits_left(&self) -> u8 {
        if self.is_busy() {
            self.left.waits
        } else {
            self.left.quiets
        }
    }

    fn steps_of(&self, line: usize, to: End, steps: &mut Vec<Step>) {
        for at in 0..self.lines[line].items(to).len() {
            let place = Place { line, to, at };
            if at == 0 || self.left.overtakes > 0 {
                steps.push(Step::Deliver(place));
            }
            if self.left.losses > 0 {
                steps.push(Step::Lose(place));
            }
            if self.left.doubles > 0 {
                steps.push(Step::Double(place));
            }
        }
    }

    /// One thing happens, and what follows from it at once.
    ///
    /// # Panics
    /// If it is none of [`Scene::steps`].
    pub fn take(&mut self, step: Step) {
        self.note.begin(self.now, self.words(step));
        match step {
            Step::Deliver(place) => self.deliver(place),
            Step::Lose(place) => {
                self.left.losses -= 1;
                self.lines[place.line].take(place.to, place.at);
            }
            Step::Double(place) => {
                self.left.doubles -= 1;
                self.lines[place.line].double(place.to, place.at);
            }
            Step::Store => self.store(true),
            Step::FailStore => {
                self.left.disk_failures -= 1;
                self.store(false);
            }
            Step::Crash(server) => self.crash(server),
            Step::Restart(server) => {
                self.servers[server].up = true;
                self.heard(1 + server, b"up", &[]);
            }
            Step::Write(server) => {
                self.left.writes -= 1;
                let entry = &self.cast.entries[ENTRIES + self.written % 2];
                self.servers[server].write(entry);
                let hash = *entry.hash().as_bytes();
                self.written += 1;
                self.heard(1 + server, b"write", &hash);
            }
            Step::Wait => self.wait(),
        }
        self.settle();
        self.look_for_ends();
    }

    fn deliver(&mut self, place: Place) {
        if place.at > 0 {
            self.left.overtakes -= 1;
        }
        let line = &mut self.lines[place.line];
        let item = line.take(place.to, place.at);
        let (hash, server, key, session) = (item.hash(), line.server, line.key, line.session);
        let at = [&[place.line.to_le_bytes()[0]], &hash[..]].concat();
        let now = instant(self.now);
        if place.to == End::Client {
            self.heard(0, b"hear", &at);
            match item {
                Item::Message(message) => self.client.hear(key, message, now),
                Item::Fin => self.client.closed(key, now),
            }
            return;
        }
        self.heard(1 + server, b"hear", &at);
        match (session, item) {
            (Some(session), item) => self.servers[server].hear(session, item, now),
            (None, Item::Message(osier_proto::Message::Hello(hello))) => {
                match self.servers[server].accept(hello, &self.cast, now) {
                    Ok(session) => self.lines[place.line].session = Some(session),
                    Err(refuse) => {
                        self.lines[place.line].send(End::Client, refuse);
                        self.lines[place.line].leave(End::Server);
                    }
                }
            }
            // Nobody is asked by anything else.
            (None, _) => self.lines[place.line].leave(End::Server),
        }
    }

    fn store(&mut self, ok: bool) {
        let commit = self.disk.pop_front().expect("a write waits");
        self.heard(0, b"disk", &[u8::from(ok)]);
        if ok {
            let entries = commit.entries.iter();
            self.on_disk.extend(entries.map(|entry| entry.hash()));
        }
        let said = ok || self.canary == Some(Canary::ForgetfulDisk);
        self.client.stored(&commit, said, instant(self.now));
    }

    fn crash(&mut self, server: usize) {
        self.left.crashes -= 1;
        self.heard(1 + server, b"crash", &[]);
        self.servers[server].crash();
        let lines = self.lines.iter_mut();
        for line in lines.filter(|line| line.server == server) {
            line.die(End::Server);
        }
    }

    /// Nothing arrives and nothing is written until somebody does something; or nobody ever will.
    fn wait(&mut self) {
        if self.is_busy() {
            self.left.waits -= 1;
        } else {
            self.left.quiets -= 1;
        }
        let before = self.news;
        for _ in 0..WAKES_MAX {
            let servers = self.servers.iter().filter_map(Server::deadline);
            let next = self.client.deadline().into_iter().chain(servers).min();
            let next = next.map_or(Time::MAX, osier_core::Instant::as_nanos);
            if let Some(due) = self.watch.due().filter(|due| *due < next) {
                let what = format!("nothing was told by {} ms", due / crate::clock::MS);
                return self.break_off(Broken::Overdue(what));
            }
            if next == Time::MAX {
                break;
            }
            self.now = self.now.max(next);
            let now = instant(self.now);
            self.client.on_time(now);
            self.servers
                .iter_mut()
                .for_each(|server| server.on_time(now));
            self.settle();
            if self.news > before || self.facts.broken.is_some() {
                break;
            }
        }
        for actor in 0..=SERVERS {
            self.heard(actor, b"time", &[]);
        }
        self.note.until(self.now);
    }

    /// Carries what the actors say until nobody says anything.
    fn settle(&mut self) {
        loop {
            while let Some(act) = self.client.poll() {
                self.carry_out(act);
            }
            let mut quiet = true;
            for number in 0..SERVERS {
                for (session, item) in self.servers[number].take_said() {
                    quiet = false;
                    self.say(number, session, item);
                }
            }
            if quiet {
                return;
            }
        }
    }

    fn say(&mut self, server: usize, session: u64, item: Item) {
        let lines = self.lines.iter_mut();
        let mut mine = lines.filter(|line| line.server == server);
        // What a grant says at once, it says before the session has a line.
        let newest = |line: &&mut Line| line.session.is_none_or(|of| of == session);
        let Some(line) = mine.find(|line| line.session == Some(session) || newest(line)) else {
            return;
        };
        let before = line.items(End::Client).len();
        match item {
            Item::Fin => line.leave(End::Server),
            Item::Message(_) => line.send(End::Client, item),
        }
        self.news += u64::from(line.items(End::Client).len() > before);
    }

    fn carry_out(&mut self, act: Act) {
        match act {
            Act::Commit(commit) => {
                self.news += 1;
                self.disk.push_back(commit);
            }
            Act::Dial(open) => self.dial(*open),
            Act::Say(key, message) => {
                if let Some(line) = self.lines.iter_mut().find(|line| line.key == key) {
                    let before = line.items(End::Server).len();
                    line.send(End::Server, Item::Message(message));
                    self.news += u64::from(line.items(End::Server).len() > before);
                }
            }
            Act::Over(key) => {
                self.news += 1;
                if let Some(line) = self.lines.iter_mut().find(|line| line.key == key) {
                    line.leave(End::Client);
                }
            }
            Act::Told(upto, event) => self.told(upto, &event),
            // The client serves nobody, and there is no swarm.
            Act::Undial(_) | Act::Grant(..) | Act::Refuse(..) | Act::Join | Act::Broadcast(_) => {}
        }
    }

    fn dial(&mut self, open: osier_engine::OpenSession) {
        self.news += 1;
        self.watch.asked(self.now, SLACK);
        let server = self.server_of(open.provider);
        let now = instant(self.now);
        let Some(server) = server.filter(|server| self.servers[*server].up) else {
            return self.client.unreachable(open.key, now);
        };
        self.lines.push(Line::new(server, open.key));
        self.client.connected(open, BINDING, now);
    }

    fn server_of(&self, node: NodeId) -> Option<usize> {
        self.servers.iter().position(|server| server.id == node)
    }

    fn told(&mut self, upto: Lsn, event: &SyncEvent) {
        self.news += 1;
        self.note.told(event);
        if let Some(what) = self.watch.tell(self.now, SLACK, upto, event) {
            self.break_off(Broken::Ends(what));
        }
        match event {
            SyncEvent::HistorySynced(synced) => {
                self.facts.synced = true;
                if let Some(what) = self.lacking(synced) {
                    self.break_off(Broken::FalseComplete(what));
                }
            }
            SyncEvent::HistorySyncFailed { .. } => self.facts.failed = true,
            SyncEvent::HistorySyncDegraded { .. } => self.facts.degraded = true,
            _ => {}
        }
    }

    /// What the client lacks of the snapshot on whose word it says that it is synced.
    fn lacking(&self, synced: &osier_engine::Synced) -> Option<String> {
        if synced.coverage != Coverage::Complete {
            return Some("no archive here is a ring".to_owned());
        }
        let server = self.server_of(synced.provider);
        let vouched = server.and_then(|server| {
            let session = synced.session?;
            self.servers[server].vouched.get(&session)
        });
        let Some(vouched) = vouched else {
            return Some("nobody granted that session".to_owned());
        };
        let missing = vouched.difference(&self.on_disk).count();
        (missing > 0).then(|| format!("{missing} of {} entries are not on disk", vouched.len()))
    }

    /// A session whose machine is done has had its end, once all is on disk that it waits for.
    fn look_for_ends(&mut self) {
        let open = self.lines.iter().filter(|line| !line.is_gone(End::Client));
        let begun = self.watch.open_sessions();
        if self.disk.is_empty() && begun > open.count() {
            let what = format!("{begun} are told to have begun, and machines are done");
            self.break_off(Broken::Ends(what));
        }
    }

    fn break_off(&mut self, broken: Broken) {
        self.note.broken(&broken);
        self.facts.broken.get_or_insert(broken);
    }

    /// An actor is given something.
    fn heard(&mut self, actor: usize, what: &[u8], of: &[u8]) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.histories[actor]);
        hasher.update(&self.now.to_le_bytes());
        hasher.update(what);
        hasher.update(of);
        self.histories[actor] = *hasher.finalize().as_bytes();
    }

    /// Names the state: see [`crate::model`].
    pub fn key(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        self.histories.iter().for_each(|history| {
            hasher.update(history);
        });
        hasher.update(&self.now.to_le_bytes());
        let left = self.left;
        hasher.update(&[left.losses, left.doubles, left.overtakes, left.crashes]);
        hasher.update(&[left.disk_failures, left.writes, left.waits, left.quiets]);
        hasher.update(&self.disk.len().to_le_bytes());
        for line in &self.lines {
            for to in [End::Client, End::Server] {
                hasher.update(&[u8::from(line.is_gone(to))]);
                hasher.update(&line.items(to).len().to_le_bytes());
                line.items(to).iter().for_each(|item| {
                    hasher.update(&item.hash());
                });
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// The message at a place.
    pub(super) fn item(&self, place: Place) -> &'static str {
        self.lines[place.line].items(place.to)[place.at].name()
    }

    /// Which archive a line leads to.
    pub(super) fn server_at(&self, line: usize) -> usize {
        self.lines[line].server
    }
}
