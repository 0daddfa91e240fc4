//! The provider's session machine: serves one snapshot and signs for it.
//!
//! ```text
//! accept -> Finding (Heads -> Ranges | Ranges | done at once) -> flow drained -> marker
//!        -> at most one repair -> the client's Received, and its uploads durable -> Served
//! ```
//!
//! Everything that the marker speaks for comes from the one view taken at `accept`. Uploads go to
//! the disk beside it and never into what the marker says.

mod finding;
mod plan;
mod stream;
mod upload;

use std::sync::Arc;

use finding::Finding;
use osier_core::{
    EntryHash, Instant, NodeId, NodeSecret, RequestId, Role, SessionId, Signed, TopicId, TopicKeys,
};
use stream::{Flow, Holes, Repair};
use upload::Uploads;

use crate::{
    fault::{Fault, Rule},
    limit::VERSIONS_MAX,
    marker::{FailureReason, HistorySyncFailed},
    message::{
        Alive, Entries, Hello, HelloAck, Message, Mode, Phase, Received, Refuse, RefuseReason,
        Summary, Window,
    },
    output::{Outbox, ProviderEnd, SessionOutput, Started},
    proof,
    session::Session,
    timer::{Moved, Watch},
    token::TokenSeal,
    transfer::Tally,
    version::{self, WIRE_VERSION},
    view::{Source, View, ViewError},
};

/// What a provider session is made of.
pub struct ProviderConfig {
    /// This node; it signs the marker.
    pub me: NodeSecret,
    /// The node that asks: the connection's authenticated peer.
    pub client: NodeId,
    /// Which topic: found by [`crate::find_topic`].
    pub topic: TopicId,
    /// The topic's keys.
    pub keys: TopicKeys,
    /// Exported from the connection's TLS session.
    pub binding: [u8; 32],
    /// A name for the session: random, never used before.
    pub session: SessionId,
    /// In which capacity this node serves.
    pub role: Role,
    /// Where snapshots come from.
    pub source: Arc<dyn Source>,
    /// Makes and opens resume tokens.
    pub seal: TokenSeal,
}

impl std::fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ProviderConfig({:?} of {:?} for {:?})",
            self.session, self.topic, self.client
        )
    }
}

/// One session, served.
pub struct ProviderSession {
    config: ProviderConfig,
    request: RequestId,
    theirs: Summary,
    client_role: Role,
    view: Box<dyn View>,
    ours: Summary,
    window: Option<Window>,
    mode: Mode,
    finding: Finding,
    flow: Flow,
    sent: Tally,
    uploads: Uploads,
    holes: Option<Holes>,
    marked: bool,
    repair: Repair,
    received: Option<Received>,
    outbox: Outbox,
    watch: Watch,
    over: bool,
}

impl std::fmt::Debug for ProviderSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ProviderSession({:?}, {}, {} sent)",
            self.config,
            self.at(),
            self.sent.count()
        )
    }
}

impl ProviderSession {
    /// Grants a request (`SES-4`): takes the snapshot, chooses the mode and says so.
    ///
    /// # Errors
    /// The refusal to send instead.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a request is answered once, so it is given away"
    )]
    pub fn accept(config: ProviderConfig, hello: Hello, now: Instant) -> Result<Self, Refuse> {
        let request = hello.request;
        let refuse = |reason| Refuse {
            request,
            reason,
            retry_after_ms: 0,
        };
        if hello.versions.len() > VERSIONS_MAX {
            return Err(refuse(RefuseReason::Version));
        }
        let version = version::choose(&hello.versions).ok_or(refuse(RefuseReason::Version))?;
        assert_eq!(version, WIRE_VERSION, "one version is spoken so far");
        let me = config.me.node_id();
        let proven = config.keys.topic() == config.topic
            && proof::holds(
                &config.keys,
                config.client,
                me,
                &config.binding,
                request,
                &hello.proof,
            );
        if !proven {
            return Err(refuse(RefuseReason::UnknownTopic));
        }
        Self::granted(config, &hello, now).map_err(|_| Refuse {
            request,
            reason: RefuseReason::StoreError,
            retry_after_ms: version::STORE_RETRY_AFTER_MS,
        })
    }

    fn granted(config: ProviderConfig, hello: &Hello, now: Instant) -> Result<Self, ViewError> {
        let view = config.source.view(config.topic)?;
        let ours = view.summary();
        let chosen = plan::choose(&*view, hello, &config.seal, config.topic)?;
        let mut session = Self {
            request: hello.request,
            theirs: hello.summary,
            client_role: hello.role,
            ours,
            window: chosen.window,
            mode: chosen.plan.mode(),
            finding: Finding::Done,
            flow: Flow::Nothing,
            sent: Tally::default(),
            uploads: Uploads::new(config.topic),
            holes: None,
            marked: false,
            repair: Repair::Unused,
            received: None,
            outbox: Outbox::default(),
            watch: Watch::new(now),
            over: false,
            view,
            config,
        };
        session.greet(hello, chosen.token_unserviceable, now);
        session.begin(chosen.plan, now)?;
        Ok(session)
    }

    fn greet(&mut self, hello: &Hello, token_unserviceable: bool, now: Instant) {
        let me = self.config.me.node_id();
        let proof =
            self.config
                .keys
                .proof(me, self.config.client, &self.config.binding, self.request);
        self.send(
            Message::HelloAck(HelloAck {
                version: WIRE_VERSION,
                session: self.config.session,
                proof,
                role: self.config.role,
                summary: self.ours,
                mode: self.mode,
                token_unserviceable,
                window: self.window,
            }),
            now,
        );
        self.outbox.push(SessionOutput::Started(Started {
            session: self.config.session,
            mode: self.mode,
            role: hello.role,
            summary: hello.summary,
            token_unserviceable,
        }));
    }

    /// Which session this is.
    pub fn session(&self) -> SessionId {
        self.config.session
    }

    /// How the difference is found: as begun, or `Ranges` once heads were not enough.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Entries sent so far.
    pub fn sent(&self) -> u64 {
        self.sent.count()
    }

    /// Whether either side keeps a ring, or is becoming one while the session lasts.
    fn is_with_ring(&self) -> bool {
        let ring = Role::Replay;
        self.window.is_some() || self.config.role == ring || self.client_role == ring
    }

    fn send(&mut self, message: Message, now: Instant) {
        self.watch.spoke(now);
        self.outbox.push(SessionOutput::Send(message));
    }

    fn end(&mut self, end: ProviderEnd) {
        assert!(!self.over, "a session ends once");
        self.over = true;
        self.outbox.push(SessionOutput::ProviderEnded(end));
    }

    /// Ends on a fault; the client is told that it failed, and why as far as it needs to know.
    fn end_by(&mut self, fault: Fault, now: Instant) {
        let reason = match &fault {
            Fault::Local(_) => FailureReason::StoreError,
            _ => FailureReason::ClientFault,
        };
        self.send_failed(reason, now);
        self.end(ProviderEnd::Fault(fault));
    }

    fn say_alive(&mut self, now: Instant) {
        let alive = Alive {
            phase: self.phase(),
            sent: self.sent.count(),
        };
        self.send(Message::Alive(alive), now);
    }

    /// A marker that was sent stands: nothing is said after it.
    fn send_failed(&mut self, reason: FailureReason, now: Instant) {
        if self.marked {
            return;
        }
        let failed = HistorySyncFailed {
            topic: self.config.topic,
            session: self.config.session,
            requester: self.config.client,
            request: self.request,
            reason,
        };
        self.send(Message::Failed(Signed::sign(&self.config.me, &failed)), now);
    }

    /// What the session is doing, for faults.
    fn at(&self) -> &'static str {
        match (&self.finding, self.marked) {
            _ if self.over => "over",
            (Finding::Heads(_), _) => "heads are awaited",
            (Finding::Comparing(..), _) => "heads are compared",
            (Finding::Ranges(_), _) => "ranges are compared",
            (Finding::Done, false) => "entries are sent",
            (Finding::Done, true) => "the verdict is awaited",
        }
    }

    fn phase(&self) -> Phase {
        match &self.finding {
            Finding::Done if self.marked => Phase::Storing,
            Finding::Done => Phase::Sending,
            _ => Phase::Finding,
        }
    }

    fn on_message(&mut self, message: Message, now: Instant) -> Result<(), Fault> {
        let name = message.name();
        match message {
            Message::Alive(_) => Ok(()),
            Message::Heads(heads) => self.on_heads(heads),
            Message::Range(frame) => self.on_range(&frame.0, now),
            Message::Entries(entries) => self.on_entries(entries, now),
            Message::UploadEnd => self.on_upload_end(),
            Message::Want(want) => self.on_want(&want),
            Message::Received(received) => self.on_received(received),
            Message::Hello(_)
            | Message::HelloAck(_)
            | Message::Refuse(_)
            | Message::Expect(_)
            | Message::Holes(_)
            | Message::Complete(_)
            | Message::Failed(_) => Err(self.unexpected(name)),
        }
    }

    fn unexpected(&self, message: &'static str) -> Fault {
        Rule::Unexpected {
            message,
            at: self.at(),
        }
        .into()
    }

    fn on_entries(&mut self, entries: Entries, now: Instant) -> Result<(), Fault> {
        if !self.uploads.is_open() {
            return Err(self.unexpected("Entries"));
        }
        let source = &*self.config.source;
        if let Some(ingest) = self.uploads.take(entries, source, &*self.view, now)? {
            self.outbox.push(SessionOutput::Ingest(ingest));
        }
        self.outbox.push(SessionOutput::Progress {
            received: self.uploads.received(),
            expected: Some(self.uploads.wanted()),
        });
        Ok(())
    }

    fn on_upload_end(&mut self) -> Result<(), Fault> {
        // Before the last `Want` nobody knows what all would be.
        if !matches!(self.finding, Finding::Done) || !self.uploads.is_open() {
            return Err(self.unexpected("UploadEnd"));
        }
        Ok(self.uploads.end()?)
    }

    fn on_received(&mut self, received: Received) -> Result<(), Fault> {
        if !self.marked || self.received.is_some() {
            return Err(self.unexpected("Received"));
        }
        if received.session != self.config.session {
            return Err(Rule::ReceivedSession.into());
        }
        self.received = Some(received);
        Ok(())
    }

    /// Goes on as far as the last input allows, and ends when everything is done.
    fn settle(&mut self, now: Instant) {
        if self.over {
            return;
        }
        self.release_range(now);
        if let Err(fault) = self.uploads.check(self.is_with_ring()) {
            return self.end_by(fault, now);
        }
        let Some(received) = self.received else {
            return;
        };
        if self.uploads.is_done() {
            self.end(ProviderEnd::Served {
                verdict: received.verdict,
                state: received.state,
                sent: self.sent.count(),
                received: self.uploads.received(),
            });
        }
    }
}

impl Session for ProviderSession {
    fn handle(&mut self, message: Message, now: Instant) {
        if self.over {
            return;
        }
        let is_sign_of_life = matches!(message, Message::Alive(_));
        self.watch.heard_message(is_sign_of_life, now);
        if let Err(fault) = self.on_message(message, now) {
            return self.end_by(fault, now);
        }
        self.settle(now);
    }

    fn stream_moved(&mut self, bytes: Moved, now: Instant) {
        if !self.over {
            self.watch.moved_bytes(bytes, now);
        }
    }

    fn work(&mut self, now: Instant) -> bool {
        if self.over {
            return false;
        }
        match self.compare(now) {
            Ok(worked) => {
                self.settle(now);
                worked
            }
            Err(fault) => {
                self.end_by(fault, now);
                true
            }
        }
    }

    fn has_work(&self) -> bool {
        !self.over && matches!(self.finding, Finding::Comparing(..))
    }

    fn withheld(&mut self, entries: Vec<EntryHash>) {
        if !entries.is_empty() {
            self.uploads.note_withheld();
        }
    }

    fn durable(&mut self, batch: u64, ok: bool, now: Instant) {
        if self.over {
            return;
        }
        let was_blocked = !self.wants_input();
        self.watch.moved(now);
        let outcome = if ok {
            let source = &*self.config.source;
            self.uploads.durable(batch, source, &*self.view)
        } else {
            Err(ViewError {
                doing: "storing a batch",
                cause: "the batch was not stored".to_owned(),
            })
        };
        match outcome {
            Ok(ingest) => {
                self.outbox.extend(ingest.map(SessionOutput::Ingest));
                if was_blocked && self.wants_input() {
                    self.watch.heard(now);
                }
                self.settle(now);
            }
            Err(error) => self.end_by(error.into(), now),
        }
    }

    fn stream_closed(&mut self, now: Instant) {
        self.watch.heard(now);
        if !self.over && self.received.is_none_or(|_| self.uploads.is_open()) {
            self.end(ProviderEnd::Lost);
        }
    }

    fn fault(&mut self, fault: Fault, now: Instant) {
        if !self.over {
            self.end_by(fault, now);
        }
    }

    fn cancel(&mut self, reason: FailureReason, now: Instant) {
        if !self.over {
            self.send_failed(reason, now);
            self.end(ProviderEnd::Failed(reason));
        }
    }

    fn on_time(&mut self, now: Instant) {
        if self.over {
            return;
        }
        if now >= self.watch.gone_at(self.wants_input()) {
            return self.end(ProviderEnd::Silent);
        }
        if now >= self.watch.alive_at() && !self.outbox.has_sends() {
            self.say_alive(now);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        (!self.over).then(|| self.watch.deadline(self.wants_input()))
    }

    fn poll(&mut self) -> Option<SessionOutput> {
        self.outbox.pop()
    }

    fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    fn poll_bulk(&mut self, now: Instant) -> Option<Message> {
        if self.over || self.outbox.has_sends() {
            return None;
        }
        match self.next_bulk() {
            Ok(message) => {
                if message.is_some() {
                    self.watch.spoke(now);
                    self.watch.moved(now);
                }
                self.settle(now);
                message
            }
            Err(fault) => {
                self.end_by(fault, now);
                None
            }
        }
    }

    fn wants_input(&self) -> bool {
        !self.over && self.uploads.has_room()
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
