//! A small world for exhaustive search: one client, two providers, and a network that may do
//! anything a few times.
//!
//! The client is the engine, policy and session machine that ship (`lean`); the providers
//! are the session machine that ships, one of which may lie or crash. Machines cannot be copied, so
//! a state of the search is the path to it: a [`Scene`] is made anew and takes the same steps.
//!
//! Two paths lead to one state when [`Scene::key`] is the same. It covers, for each of the three
//! actors, all that the actor was ever given, in order and with the time of each, and what is on
//! its way between them, and what may still go wrong. An actor is a deterministic machine, so what
//! it was given decides all that it will ever do: no two states that differ in what can follow have
//! one key. (That it is deterministic is checked: every replay must come to the key that was noted
//! when the state was found.) The key may tell states apart that are alike, which costs time only.
//!
//! What bounds the search is a [`Budget`] of things that go wrong, not a depth: messages are
//! finite, so is the number of steps, and all of them are tried.

mod line;
mod scene;
mod server;
mod trace;

use std::fmt;

use osier_core::{Entry, Ticket, TopicSecret, Verified, testing};
use osier_engine::Rule;

pub use self::{
    scene::{Broken, Facts, Scene},
    trace::tell,
};
pub use crate::lean::Canary;
use crate::liar::Lie;

/// Providers: `archive A`, which owns the topic and is asked first, and `archive B`.
pub const SERVERS: usize = 2;

/// Entries that exist: two of one author, one of another, one of the client's own.
pub const ENTRIES: usize = 4;

/// How often each may happen on one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// A message that never arrives.
    pub losses: u8,
    /// A message that arrives twice.
    pub doubles: u8,
    /// A message that overtakes those before it.
    pub overtakes: u8,
    /// A provider that dies, with all its sessions; it may come back.
    pub crashes: u8,
    /// A write of the client's disk that fails.
    pub disk_failures: u8,
    /// An entry that a provider gets meanwhile.
    pub writes: u8,
    /// Time that passes until somebody does something, while messages or writes wait: a slow
    /// network or disk.
    pub waits: u8,
    /// Time that passes when nothing is under way.
    pub quiets: u8,
}

/// Who meets whom, and how much may go wrong.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What the client goes by.
    pub rule: Rule,
    /// What the client, archive A and archive B hold at first: a bit an entry.
    pub holds: [u8; 1 + SERVERS],
    /// The archive that lies, and how.
    pub liar: Option<(usize, Lie)>,
    /// How much may go wrong.
    pub budget: Budget,
    /// A bug on purpose.
    pub canary: Option<Canary>,
}

impl Setup {
    /// An empty client, two archives with the same three entries, nothing that goes wrong.
    pub fn calm() -> Self {
        Self {
            rule: Rule::StorageFirst,
            holds: [0b0000, 0b0111, 0b0111],
            liar: None,
            budget: Budget::default(),
            canary: None,
        }
    }
}

/// One thing that happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A message on its way arrives.
    Deliver(Place),
    /// It never does.
    Lose(Place),
    /// It will arrive once more.
    Double(Place),
    /// The oldest of the client's writes is on disk.
    Store,
    /// It is not, and never will be.
    FailStore,
    /// An archive dies.
    Crash(usize),
    /// It is there again.
    Restart(usize),
    /// It gets one more entry.
    Write(usize),
    /// Time passes, and nothing arrives, until somebody does something.
    Wait,
}

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which stream, by the order in which the client opened them.
    pub line: usize,
    /// Which way it goes.
    pub to: End,
    /// How many are before it.
    pub at: usize,
}

/// One end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// The client.
    Client,
    /// The archive.
    Server,
}

/// What every scene of a search begins with: signed once.
#[derive(Debug)]
pub struct Cast {
    ticket: Ticket,
    /// [`ENTRIES`] to begin with, and one for each write after that.
    entries: Vec<Verified<Entry>>,
}

impl Default for Cast {
    fn default() -> Self {
        Self::new()
    }
}

impl Cast {
    /// A topic of archive A's and its entries.
    pub fn new() -> Self {
        let owner = testing::secret(key_of(0)).node_id();
        let secret = TopicSecret::from_bytes([3; 32]);
        let ticket = Ticket::new(owner, secret, "model").expect("a short name");
        let chain = |author| testing::Chain::in_topic(author, ticket.topic());
        let (mut one, mut other, mut own) = (chain(11), chain(12), chain(CLIENT_KEY));
        let mut entries = vec![one.next(b"1"), one.next(b"2"), other.next(b"3")];
        entries.push(own.next(b"own"));
        entries.extend([other.next(b"4"), one.next(b"5")]);
        Self { ticket, entries }
    }

    /// The entries whose bits are set.
    fn chosen(&self, bits: u8) -> impl Iterator<Item = &Verified<Entry>> {
        let all = self.entries[..ENTRIES].iter().enumerate();
        all.filter(move |(at, _)| bits & (1 << at) != 0)
            .map(|(_, entry)| entry)
    }
}

/// The test key of the client.
const CLIENT_KEY: u64 = 1;

/// The test key of an archive.
const fn key_of(server: usize) -> u64 {
    2 + server as u64
}

/// What an archive is called.
const fn name_of(server: usize) -> &'static str {
    if server == 0 {
        "archive A"
    } else {
        "archive B"
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FalseComplete(what) => write!(f, "complete is said and not true: {what}"),
            Self::Overdue(what) => write!(f, "a wait without a word: {what}"),
            Self::Ends(what) => write!(f, "a session without its one end: {what}"),
        }
    }
}
