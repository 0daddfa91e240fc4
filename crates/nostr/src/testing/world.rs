//! A relay in memory: connections, the fan-out index and the oracle, driven one input at a time.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use osier_core::Instant;
use osier_reconcile::VectorStorage;
use secp256k1::{Secp256k1, VerifyOnly};

use super::Oracle;
use crate::{
    connection::{
        Commit, Connection, Input, Now, Output, Published, Purpose, Reach, ScanEnd, Settings,
    },
    event::Event,
    fanout::Fanout,
    message::CountAnswer,
    nip::{nip42::RelayUrl, nip77::NegSession},
    subscription::{ConnectionId, Generation, RequestKey},
    time::Seconds,
};

/// The URL of the relay.
const URL: &str = "wss://relay.test";

/// A relay whose driver does everything at once. Time stands still unless it is moved.
#[derive(Debug)]
pub struct World {
    /// What is stored.
    pub oracle: Oracle,
    /// Whether all topics are complete.
    pub synced: bool,
    /// The present.
    pub now: Now,
    settings: Arc<Settings>,
    connections: BTreeMap<ConnectionId, Connection>,
    frames: BTreeMap<ConnectionId, Vec<String>>,
    fanout: Fanout<RequestKey>,
    sessions: BTreeMap<RequestKey, (NegSession, VectorStorage)>,
    commit: Commit,
    secp: Secp256k1<VerifyOnly>,
}

impl World {
    /// A relay with these settings, at second 1,000,000.
    pub fn new(mut settings: Settings) -> Self {
        settings.urls = RelayUrl::parse(URL).into_iter().collect();
        Self {
            oracle: Oracle::new(settings.urls.clone()),
            synced: true,
            now: Now {
                wall: Seconds::new(1_000_000).expect("in range"),
                instant: Instant::START,
            },
            settings: Arc::new(settings),
            connections: BTreeMap::new(),
            frames: BTreeMap::new(),
            fanout: Fanout::new(),
            sessions: BTreeMap::new(),
            commit: Commit(0),
            secp: Secp256k1::verification_only(),
        }
    }

    /// A client connects; its challenge is `challenge-` and its number.
    pub fn connect(&mut self) -> ConnectionId {
        let id = ConnectionId(self.connections.len() as u64);
        let mut out = Vec::new();
        let challenge = challenge(id);
        let connection = Connection::open(id, Arc::clone(&self.settings), &challenge, &mut out);
        self.connections.insert(id, connection);
        self.drive(id, out);
        id
    }

    /// Whatever a client was sent since it was last asked.
    pub fn frames(&mut self, id: ConnectionId) -> Vec<String> {
        self.frames.remove(&id).unwrap_or_default()
    }

    /// A client sends a text frame; returns what it was sent since it was last asked.
    pub fn say(&mut self, id: ConnectionId, text: &str) -> Vec<String> {
        self.input(id, Input::Text(text));
        self.frames(id)
    }

    /// A client publishes an event; returns what it was sent.
    pub fn publish(&mut self, id: ConnectionId, event: &Event) -> Vec<String> {
        self.say(id, &format!("[\"EVENT\",{}]", event.json()))
    }

    /// A client authenticates as test user `n`; true if it was accepted.
    pub fn authenticate(&mut self, id: ConnectionId, n: u8) -> bool {
        let tags: &[&[&str]] = &[&["relay", URL], &["challenge", &challenge(id)]];
        let event = super::event(n, self.now.wall.get(), 22_242, tags, "");
        let frames = self.say(id, &format!("[\"AUTH\",{}]", event.json()));
        frames
            .iter()
            .any(|frame| frame.starts_with("[\"OK\"") && frame.contains(",true,"))
    }

    /// An event that another node accepted.
    pub fn receive(&mut self, event: &Event) {
        let shown = self.oracle.fate(event, self.now.wall).is_none();
        self.oracle.receive(event);
        if shown {
            self.commit.0 += 1;
            self.fan_out(event, Some(self.commit));
        }
    }

    /// Something happens to a connection.
    pub fn input(&mut self, id: ConnectionId, input: Input<'_>) {
        let mut out = Vec::new();
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.handle(self.now, input, &mut out);
        }
        self.drive(id, out);
    }

    fn drive(&mut self, id: ConnectionId, out: Vec<Output>) {
        let mut queue: VecDeque<Output> = out.into();
        while let Some(output) = queue.pop_front() {
            self.work(id, output);
        }
    }

    /// A scan has come to its end, or nothing was to be read.
    fn scanned(&mut self, id: ConnectionId, generation: Generation, drained: bool) {
        let end = ScanEnd::Done {
            drained,
            more: !drained,
            synced: self.synced,
            commit: self.commit,
        };
        self.input(id, Input::ScanEnded { generation, end });
    }

    fn work(&mut self, id: ConnectionId, output: Output) {
        match output {
            Output::Send(frame) => self.frames.entry(id).or_default().push(frame.to_text()),
            Output::Verify { purpose, event } => self.verify(id, purpose, event),
            Output::Append(event) => {
                let outcome = self.oracle.publish(&event, self.now.wall);
                let stored = outcome == Published::Stored;
                self.input(
                    id,
                    Input::Published {
                        id: event.id(),
                        outcome,
                    },
                );
                if stored {
                    self.commit.0 += 1;
                    self.fan_out(&event, Some(self.commit));
                }
            }
            Output::Broadcast(event) => {
                let listeners = self.fan_out(&event, None);
                let reach = Reach::Alone;
                let outcome = Published::Broadcast { listeners, reach };
                self.input(
                    id,
                    Input::Published {
                        id: event.id(),
                        outcome,
                    },
                );
            }
            Output::Subscribe {
                generation,
                filters,
            } => {
                let key = RequestKey {
                    connection: id,
                    generation,
                };
                self.fanout.insert(key, filters.iter().cloned());
            }
            Output::Scan {
                generation,
                pages,
                viewer,
            } => {
                let answer = self.oracle.answer(&pages, &viewer, self.now.wall);
                for event in &answer.events {
                    self.input(id, Input::Stored { generation, event });
                }
                self.scanned(id, generation, answer.drained);
            }
            Output::Mark { generation } => self.scanned(id, generation, true),
            Output::Count {
                generation,
                filters,
                viewer,
            } => {
                let count = self.oracle.count(&filters, &viewer, self.now.wall);
                let outcome = Ok(CountAnswer::exact(count));
                self.input(
                    id,
                    Input::Counted {
                        generation,
                        outcome,
                    },
                );
            }
            Output::NegOpen {
                generation,
                filter,
                viewer,
                frame,
            } => {
                let records = self.oracle.records(&filter, &viewer, self.now.wall);
                self.open_session(id, generation, records, &frame);
            }
            Output::NegFrame { generation, frame } => self.answer_session(id, generation, &frame),
            Output::Stop { generation } => {
                let key = RequestKey {
                    connection: id,
                    generation,
                };
                self.fanout.remove(&key);
                self.sessions.remove(&key);
            }
        }
    }

    fn verify(&mut self, id: ConnectionId, purpose: Purpose, event: crate::UnverifiedEvent) {
        let claimed = event.claimed_id();
        let outcome = event.verify(&self.secp);
        self.input(
            id,
            Input::Verified {
                purpose,
                id: claimed,
                outcome,
            },
        );
    }

    fn fan_out(&mut self, event: &Event, commit: Option<Commit>) -> usize {
        let mut keys = self.fanout.matching(event);
        keys.retain(|key| {
            let connection = self.connections.get(&key.connection);
            connection.is_some_and(|it| it.viewer().sees(event))
        });
        for key in &keys {
            let generation = key.generation;
            self.input(
                key.connection,
                Input::Live {
                    generation,
                    event,
                    commit,
                },
            );
        }
        keys.len()
    }

    fn open_session(
        &mut self,
        id: ConnectionId,
        generation: Generation,
        records: VectorStorage,
        frame: &[u8],
    ) {
        let opened = NegSession::open(&records, self.settings.neg_items_max, self.now.instant);
        match opened {
            Ok(session) => {
                let key = RequestKey {
                    connection: id,
                    generation,
                };
                self.sessions.insert(key, (session, records));
                self.answer_session(id, generation, frame);
            }
            Err(end) => self.input(
                id,
                Input::NegAnswered {
                    generation,
                    outcome: Err(end),
                },
            ),
        }
    }

    fn answer_session(&mut self, id: ConnectionId, generation: Generation, frame: &[u8]) {
        let key = RequestKey {
            connection: id,
            generation,
        };
        let Some((session, records)) = self.sessions.get_mut(&key) else {
            return;
        };
        let outcome = session.answer(records, frame, self.now.instant);
        self.input(
            id,
            Input::NegAnswered {
                generation,
                outcome,
            },
        );
    }
}

fn challenge(id: ConnectionId) -> String {
    format!("challenge-{}", id.0)
}
