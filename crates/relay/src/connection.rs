//! One client: a small task that carries frames to the machine and what the machine asks to the
//! rest of the relay.
//!
//! It waits for three things at once: mail, a frame of the client, room to write. A client that
//! does not read is not read from, and nothing more is looked up for it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::poll_fn,
    sync::Arc,
    task::Poll,
};

use osier_nostr::{
    Connection as Machine, ConnectionId, Event, EventId, Generation, Input, Output, Published,
    Purpose, Reason, UnverifiedEvent,
};
use tokio_tungstenite::tungstenite::{
    Error, Message,
    error::{CapacityError, ProtocolError},
};

use crate::{
    limit,
    peer::{Farewell, Live, Mail, Peer, Rest, Scanned},
    quota::Place,
    relay::Relay,
    scan::{Cursor, Read, Session, Wanted, Work},
    socket::Socket,
};

/// A connection that runs.
pub(crate) struct Connection {
    relay: Arc<Relay>,
    /// Where the client comes from.
    place: Place,
    peer: Arc<Peer>,
    machine: Machine,
    socket: Socket,
    /// Answers that are being read. None while a reader has the cursor; else the client has to read
    /// before it goes on.
    scans: BTreeMap<Generation, Option<Box<Cursor>>>,
    /// Negentropy sessions. None while a reader has one.
    sessions: BTreeMap<Generation, Option<Box<Session>>>,
    /// Requests for which something is read. What is dropped here is given up (`NOS-47`).
    wanted: BTreeMap<Generation, Wanted>,
    /// Subscriptions that are registered for live events.
    live: BTreeSet<Generation>,
    todo: VecDeque<Output>,
}

/// What a connection woke for.
enum Woke {
    Mail,
    /// A paused answer may go on.
    Room,
    Frame(Option<Result<Message, Error>>),
    Failed,
}

/// How a connection ends.
enum End {
    /// The client has gone, or the socket failed.
    Gone,
    /// We close it.
    Close(u16, &'static str),
}

impl Connection {
    /// A connection whose handshake is done; the challenge goes out at once.
    pub(crate) fn open(
        relay: Arc<Relay>,
        (id, place): (ConnectionId, Place),
        challenge: &str,
        socket: Socket,
    ) -> Box<Self> {
        let mut out = Vec::new();
        let settings = Arc::clone(&relay.settings);
        let machine = Machine::open(id, settings, challenge, &mut out);
        let peer = Peer::new(id, machine.viewer().clone(), relay.clock.millis());
        let peer = Arc::new(peer);
        relay.hub.enter(&peer);
        Box::new(Self {
            relay,
            place,
            peer,
            machine,
            socket,
            scans: BTreeMap::new(),
            sessions: BTreeMap::new(),
            wanted: BTreeMap::new(),
            live: BTreeSet::new(),
            todo: out.into(),
        })
    }

    /// Runs until either side ends it.
    ///
    /// In a box, since tens of thousands of tasks hold one, and a future holds its arguments twice.
    pub(crate) async fn run(mut self: Box<Self>) {
        let end = self.serve().await;
        self.handle(Input::Gone);
        self.carry_out();
        self.relay.hub.leave(self.peer.id);
        match end {
            End::Close(code, sentence) => Box::pin(self.socket.close(code, sentence)).await,
            End::Gone => Box::pin(self.socket.end()).await,
        }
    }

    async fn serve(&mut self) -> End {
        loop {
            self.carry_out();
            let end = match self.wake().await {
                Woke::Mail => self.mail(),
                Woke::Room => {
                    self.resume();
                    None
                }
                Woke::Frame(Some(Ok(message))) => self.message(&message),
                Woke::Frame(Some(Err(error))) => Some(closing(&error)),
                Woke::Frame(None) | Woke::Failed => Some(End::Gone),
            };
            if let Some(end) = end {
                return end;
            }
        }
    }

    async fn wake(&mut self) -> Woke {
        poll_fn(|cx| {
            self.peer.wake_by(cx.waker());
            let Ok(wrote) = self.socket.write(cx) else {
                return Poll::Ready(Woke::Failed);
            };
            self.peer
                .waits(!wrote.all, wrote.some, || self.relay.clock.millis());
            let waiting = self.socket.waiting_bytes();
            if self.peer.has_mail(waiting < limit::OUT_BYTES_LOW) {
                return Poll::Ready(Woke::Mail);
            }
            // One answer at a time goes on: each may bring as much as there is room for.
            let paused = !self.scans.is_empty() && self.scans.values().all(Option::is_some);
            if paused && waiting < limit::OUT_BYTES_LOW {
                return Poll::Ready(Woke::Room);
            }
            let reads = waiting < limit::OUT_BYTES_HIGH
                && self.machine.wants_input()
                && self.peer.may_read()
                && self.relay.ingest.has_room(&self.peer);
            self.peer.listens(reads, || self.relay.clock.millis());
            if reads {
                return self.socket.read(cx).map(Woke::Frame);
            }
            Poll::Pending
        })
        .await
    }

    fn message(&mut self, message: &Message) -> Option<End> {
        self.peer.heard(self.relay.clock.millis());
        match message {
            Message::Text(text) => self.handle(Input::Text(text)),
            Message::Binary(_) => self.handle(Input::Binary),
            // Pings are answered, and a close is completed, by the library.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) | Message::Close(_) => {}
        }
        None
    }

    fn mail(&mut self) -> Option<End> {
        for mail in self.peer.take_mail() {
            match mail {
                Mail::Verified {
                    purpose,
                    id,
                    outcome,
                } => {
                    let outcome = outcome.map(|event| *event);
                    self.handle(Input::Verified {
                        purpose,
                        id,
                        outcome,
                    });
                    if purpose == Purpose::Authenticate {
                        self.peer.speaks_for(self.machine.viewer());
                    }
                }
                Mail::Published { id, outcome } => self.handle(Input::Published { id, outcome }),
                Mail::Scanned(scanned) => self.scanned(*scanned),
                Mail::Counted {
                    generation,
                    outcome,
                } => {
                    let outcome = outcome.map(|answer| *answer);
                    self.wanted.remove(&generation);
                    self.handle(Input::Counted {
                        generation,
                        outcome,
                    });
                }
                Mail::NegAnswered {
                    generation,
                    outcome,
                    session,
                } => {
                    if let Some(own) = self.sessions.get_mut(&generation) {
                        *own = session;
                        self.handle(Input::NegAnswered {
                            generation,
                            outcome,
                        });
                    }
                }
                Mail::Lost => self.lost(),
                Mail::Tick => self.handle(Input::Tick),
                Mail::Ping => self.socket.ping(),
                Mail::Close(farewell) => return Some(close(farewell)),
            }
        }
        if self.socket.waiting_bytes() < limit::OUT_BYTES_LOW {
            for (generation, live) in self.peer.take_live(limit::OUT_BYTES_LOW) {
                self.live(generation, &live);
            }
        }
        None
    }

    /// Live events were lost: every subscription is told so.
    fn lost(&mut self) {
        for generation in self.live.clone() {
            self.handle(Input::Lagged { generation });
        }
    }

    fn live(&mut self, generation: Generation, live: &Live) {
        self.handle(Input::Live {
            generation,
            event: &live.event,
            commit: live.commit,
        });
    }

    /// A part of an answer; it goes on if the client reads.
    fn scanned(&mut self, scanned: Scanned) {
        let Scanned {
            generation,
            events,
            rest,
        } = scanned;
        if !self.scans.contains_key(&generation) {
            return;
        }
        for event in &events {
            self.handle(Input::Stored { generation, event });
        }
        match rest {
            Rest::More(cursor) => {
                self.scans.insert(generation, Some(cursor));
            }
            Rest::Ended(end) => {
                self.scans.remove(&generation);
                self.wanted.remove(&generation);
                self.want_ticks();
                self.handle(Input::ScanEnded { generation, end });
            }
        }
    }

    /// Lets the oldest answer go on that waited for the client.
    fn resume(&mut self) {
        let mut paused = self.scans.iter_mut();
        let next = paused.find_map(|(generation, cursor)| Some((*generation, cursor.take()?)));
        if let Some((generation, cursor)) = next {
            self.read(generation, Work::Scan { cursor });
        }
    }

    fn handle(&mut self, input: Input<'_>) {
        let mut out = Vec::new();
        self.machine.handle(self.relay.clock.now(), input, &mut out);
        self.todo.extend(out);
    }

    /// Carries out what the machine has asked for, and what that leads to.
    fn carry_out(&mut self) {
        while let Some(output) = self.todo.pop_front() {
            match output {
                Output::Send(frame) => {
                    self.relay.tally.note(&frame);
                    self.socket.push(frame);
                }
                Output::Verify { purpose, event } => self.verify(purpose, event),
                Output::Append(event) | Output::Broadcast(event) => self.publish(event),
                Output::Subscribe {
                    generation,
                    filters,
                } => {
                    self.live.insert(generation);
                    let key = self.machine.key(generation);
                    self.relay.hub.subscribe(key, &filters);
                }
                Output::Scan {
                    generation,
                    pages,
                    viewer,
                } => {
                    self.scans.insert(generation, None);
                    self.want_ticks();
                    self.read(generation, Work::Open { pages, viewer });
                }
                Output::Mark { generation } => self.mark(generation),
                Output::Count {
                    generation,
                    filters,
                    viewer,
                } => self.read(generation, Work::Count { filters, viewer }),
                Output::NegOpen {
                    generation,
                    filter,
                    viewer,
                    frame,
                } => {
                    self.sessions.insert(generation, None);
                    self.want_ticks();
                    self.read(
                        generation,
                        Work::Compare {
                            filter,
                            viewer,
                            frame,
                        },
                    );
                }
                Output::NegFrame { generation, frame } => self.neg_frame(generation, frame),
                Output::Stop { generation } => self.stop(generation),
            }
        }
        // Most connections have nothing to do: what held it is given back.
        self.todo = VecDeque::new();
    }

    /// A request that reads nothing is as of now; the place is read here, not by a reader, so that
    /// the client's next frame comes after it.
    fn mark(&mut self, generation: Generation) {
        let end = self.relay.mark();
        self.handle(Input::ScanEnded { generation, end });
    }

    fn verify(&mut self, purpose: Purpose, event: UnverifiedEvent) {
        let now = self.relay.clock.now().instant;
        match self.relay.quota.of_place(self.place, now) {
            Some(reason) => self.refuse(event.claimed_id(), reason),
            None => self.relay.ingest.verify(&self.peer, purpose, event),
        }
    }

    /// Has a verified event stored, or told to who listens.
    fn publish(&mut self, event: Event) {
        let now = self.relay.clock.now().instant;
        match self.relay.quota.of_key(event.pubkey(), now) {
            Some(reason) => self.refuse(event.id(), reason),
            None if event.kind().is_ephemeral() => self.relay.ingest.pass(&self.peer, event),
            None => self.relay.ingest.append(&self.peer, event),
        }
    }

    fn refuse(&mut self, id: EventId, reason: Reason) {
        let outcome = Published::Refused(reason);
        self.handle(Input::Published { id, outcome });
    }

    fn read(&mut self, generation: Generation, work: Work) {
        let wanted = self.wanted.entry(generation).or_default();
        let read = Read::new(&self.peer, generation, wanted, work);
        self.relay.readers.submit(read);
    }

    /// Requests that hold a snapshot end by time.
    fn want_ticks(&self) {
        let wants = !self.scans.is_empty() || !self.sessions.is_empty();
        self.peer.want_ticks(wants);
    }

    fn neg_frame(&mut self, generation: Generation, frame: Vec<u8>) {
        // The two ends take turns, so the session is at home.
        let session = self.sessions.get_mut(&generation).and_then(Option::take);
        if let Some(session) = session {
            self.read(generation, Work::Answer { session, frame });
        }
    }

    fn stop(&mut self, generation: Generation) {
        if self.live.remove(&generation) {
            self.relay.hub.unsubscribe(self.machine.key(generation));
        }
        self.scans.remove(&generation);
        self.sessions.remove(&generation);
        self.wanted.remove(&generation);
        self.want_ticks();
    }
}

fn close(farewell: Farewell) -> End {
    End::Close(farewell.code(), farewell.sentence())
}

/// What to tell a client whose frames cannot be read.
fn closing(error: &Error) -> End {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => End::Close(
            1009,
            "a message is longer than max_message_length of NIP-11",
        ),
        Error::Utf8(_) => End::Close(1007, "a text message is not UTF-8"),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => End::Gone,
        Error::Protocol(_) => End::Close(1002, "a frame breaks the WebSocket protocol"),
        _ => End::Gone,
    }
}
