//! The client's session machine: asks, receives, uploads, and judges the provider's marker.
//!
//! ```text
//! Asked -> Granted (finding -> receiving -> marker parked -> judged) -> uploads' tail -> over
//! ```
//!
//! `ClientEnded` comes once, as soon as the marker is judged: uploads may still be on their way
//! then, for the marker does not speak of them.

mod judge;
mod receive;
mod upload;

use std::sync::Arc;

pub use judge::Evidence;
use judge::{Judgement, Parked, Repair, Withheld};
use osier_core::{
    EntryHash, Instant, KeyCache, NodeId, OrderKey, RequestId, Role, SessionId, TopicId, TopicKeys,
};
use receive::{Finding, Vouching};
use upload::Upload;

use crate::{
    fault::{Fault, Incompatible, Rule},
    intake::Intake,
    marker::FailureReason,
    message::{Alive, Hello, HelloAck, Message, Mode, Phase, Received, Refuse, Summary, Verdict},
    output::{ClientEnd, Outbox, SessionOutput, Started},
    proof,
    session::Session,
    timer::{Moved, Watch},
    token::Token,
    version::WIRE_VERSION,
    view::{Source, View, ViewError},
    window,
};

/// What a client session is made of.
pub struct ClientConfig {
    /// This node.
    pub me: NodeId,
    /// The node asked: the connection's authenticated peer.
    pub provider: NodeId,
    /// Which topic.
    pub topic: TopicId,
    /// The topic's keys.
    pub keys: TopicKeys,
    /// Exported from the connection's TLS session.
    pub binding: [u8; 32],
    /// A name for the request: random, never used before.
    pub request: RequestId,
    /// This node's role in the topic.
    pub role: Role,
    /// The token of the last session with this provider.
    pub token: Option<Token>,
    /// Where snapshots come from.
    pub source: Arc<dyn Source>,
}

impl std::fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ClientConfig({:?} of {:?} from {:?})",
            self.request, self.topic, self.provider
        )
    }
}

/// One session, asked for.
pub struct ClientSession {
    config: ClientConfig,
    /// What was held when asking; what the provider was told, and what ranges compare.
    view: Box<dyn View>,
    ours: Summary,
    state: State,
    outbox: Outbox,
    watch: Watch,
    keys: KeyCache,
}

#[derive(Debug)]
enum State {
    /// The `Hello` is out.
    Asked,
    /// Under way.
    Granted(Box<Granted>),
    /// `ClientEnded` is out; what is left is to send what the provider lacks.
    Tail(Upload),
    Over,
}

/// A granted session.
#[derive(Debug)]
struct Granted {
    ack: HelloAck,
    /// As begun, or `Ranges` once heads were not enough.
    mode: Mode,
    finding: Finding,
    intake: Intake,
    /// How many entries the provider will send in all, once known.
    expected: Option<u64>,
    upload: Upload,
    vouching: Vouching,
    parked: Option<Box<Parked>>,
    repair: Repair,
    withheld: Withheld,
}

impl Granted {
    fn floor(&self) -> Option<OrderKey> {
        self.ack.window.map(|window| window.floor)
    }

    fn at(&self) -> &'static str {
        match (&self.parked, &self.finding) {
            (Some(_), _) => "a marker is judged",
            (None, Finding::HeadsAwaited) => "heads are awaited",
            (None, Finding::HeadsCompared(_)) => "heads are compared",
            (None, Finding::HeadsAnswered) => "an answer to heads is awaited",
            (None, Finding::Ranges(_)) => "ranges are compared",
            (None, Finding::Done) => "entries are received",
        }
    }
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClientSession({:?}, {})", self.config, self.at())
    }
}

impl ClientSession {
    /// Takes a snapshot and asks for a session (`SES-2`).
    ///
    /// # Errors
    /// When our own store cannot be read.
    pub fn new(config: ClientConfig, now: Instant) -> Result<Self, ViewError> {
        let view = config.source.view(config.topic)?;
        let ours = view.summary();
        let proof = config
            .keys
            .proof(config.me, config.provider, &config.binding, config.request);
        let hello = Hello {
            versions: vec![WIRE_VERSION],
            request: config.request,
            proof,
            role: config.role,
            summary: ours,
            token: config.token.clone(),
        };
        let mut session = Self {
            config,
            view,
            ours,
            state: State::Asked,
            outbox: Outbox::default(),
            watch: Watch::new(now),
            keys: KeyCache::new(),
        };
        session.send(Message::Hello(hello), now);
        Ok(session)
    }

    /// The session's name, once granted and until it has its end.
    pub fn session(&self) -> Option<SessionId> {
        self.granted().map(|granted| granted.ack.session)
    }

    /// How the difference is found, once granted and until the end.
    pub fn mode(&self) -> Option<Mode> {
        self.granted().map(|granted| granted.mode)
    }

    fn granted(&self) -> Option<&Granted> {
        match &self.state {
            State::Granted(granted) => Some(granted),
            State::Asked | State::Tail(_) | State::Over => None,
        }
    }

    fn at(&self) -> &'static str {
        match &self.state {
            State::Asked => "a grant is awaited",
            State::Granted(granted) => granted.at(),
            State::Tail(_) => "the last uploads are sent",
            State::Over => "over",
        }
    }

    fn unexpected(&self, message: &'static str) -> Fault {
        Rule::Unexpected {
            message,
            at: self.at(),
        }
        .into()
    }

    fn send(&mut self, message: Message, now: Instant) {
        self.watch.spoke(now);
        self.outbox.push(SessionOutput::Send(message));
    }

    /// Tells that the session gets on although no entry has come, now and then.
    fn progress_slowly(&mut self, now: Instant) {
        if self.has_ended() || !self.watch.tells(now) {
            return;
        }
        let granted = self.granted();
        let progress = SessionOutput::Progress {
            received: granted.map_or(0, |granted| granted.intake.arrived().count()),
            expected: granted.and_then(|granted| granted.expected),
        };
        self.outbox.push(progress);
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, State::Tail(_) | State::Over)
    }

    fn end(&mut self, end: ClientEnd) {
        assert!(!self.has_ended(), "a session ends once");
        self.state = State::Over;
        self.outbox.push(SessionOutput::ClientEnded(end));
    }

    fn on_message(&mut self, message: Message, now: Instant) -> Result<(), Fault> {
        let name = message.name();
        match (&mut self.state, message) {
            (State::Over, _) | (State::Tail(_), Message::Alive(_)) => Ok(()),
            (State::Asked, Message::HelloAck(ack)) => self.on_ack(ack),
            (State::Asked, Message::Refuse(refuse)) => self.on_refuse(&refuse),
            (State::Granted(_), message) => self.on_granted(message, now),
            (State::Asked | State::Tail(_), _) => Err(self.unexpected(name)),
        }
    }

    fn on_refuse(&mut self, refuse: &Refuse) -> Result<(), Fault> {
        if refuse.request != self.config.request {
            return Err(self.unexpected("Refuse"));
        }
        self.end(ClientEnd::Refused {
            reason: refuse.reason,
            retry_after_ms: refuse.retry_after_ms,
        });
        Ok(())
    }

    fn on_ack(&mut self, ack: HelloAck) -> Result<(), Fault> {
        if ack.version != WIRE_VERSION {
            return Err(Incompatible::WireVersion(ack.version).into());
        }
        let config = &self.config;
        let proven = proof::holds(
            &config.keys,
            config.provider,
            config.me,
            &config.binding,
            config.request,
            &ack.proof,
        );
        if !proven {
            return Err(Rule::Proof.into());
        }
        check_mode(&self.ours, &ack, config.token.is_some())?;
        self.outbox.push(SessionOutput::Started(Started {
            session: ack.session,
            mode: ack.mode,
            role: ack.role,
            summary: ack.summary,
            token_unserviceable: ack.token_unserviceable,
        }));
        let floor = ack.window.map(|window| window.floor);
        self.state = State::Granted(Box::new(Granted {
            mode: ack.mode,
            finding: Finding::begin(ack.mode),
            intake: Intake::new(self.config.topic, floor),
            expected: match ack.mode {
                Mode::Equal => Some(0),
                Mode::Empty => Some(ack.summary.set.count()),
                Mode::Resume | Mode::Heads | Mode::Ranges => None,
            },
            upload: Upload::begin(ack.mode),
            vouching: Vouching::default(),
            parked: None,
            repair: Repair::Unused,
            withheld: Withheld::default(),
            ack,
        }));
        Ok(())
    }

    /// Judges what was gathered, if it is time: enough came, all that is to come has, or a marker
    /// waits for it.
    fn admit(&mut self, now: Instant) -> Result<(), Fault> {
        let State::Granted(granted) = &mut self.state else {
            return Ok(());
        };
        let all = granted.expected == Some(granted.intake.arrived().count());
        let last = all || granted.parked.is_some() || granted.vouching.closed;
        if last || granted.intake.is_due(now) {
            let ingest = granted.intake.admit(&*self.config.source, &*self.view)?;
            self.outbox.extend(ingest.map(SessionOutput::Ingest));
        }
        Ok(())
    }

    /// Judges a parked marker as far as that is possible now.
    fn settle(&mut self, now: Instant) {
        if !matches!(&self.state, State::Granted(granted) if granted.parked.is_some()) {
            return;
        }
        match self.judge(now) {
            Ok(Judgement::Wait) => {}
            Ok(Judgement::Ask(hashes)) => self.ask_again(hashes, now),
            Ok(Judgement::Drained(evidence)) => {
                self.conclude(Verdict::Drained, ClientEnd::Drained(evidence), now);
            }
            Ok(Judgement::Cut(reason)) => {
                self.conclude(Verdict::Cut, ClientEnd::Cut { reason }, now);
            }
            Ok(Judgement::Lost) => self.end(ClientEnd::Lost),
            Err(fault) => self.end_by(fault, now),
        }
    }

    /// The one end, and the last word to the provider; uploads go on.
    fn conclude(&mut self, verdict: Verdict, end: ClientEnd, now: Instant) {
        let state = match self.config.source.view(self.config.topic) {
            Ok(view) => view.summary().state,
            Err(error) => return self.end(ClientEnd::Fault(error.into())),
        };
        let State::Granted(granted) = std::mem::replace(&mut self.state, State::Asked) else {
            unreachable!("only a granted session is concluded");
        };
        let session = granted.ack.session;
        self.end(end);
        if !granted.upload.is_done() {
            self.state = State::Tail(granted.upload);
        }
        self.send(
            Message::Received(Received {
                session,
                verdict,
                state,
            }),
            now,
        );
    }

    fn end_by(&mut self, fault: Fault, now: Instant) {
        if self.has_ended() {
            self.state = State::Over;
            return;
        }
        // A marker that does not bind is answered, so that the provider can log it.
        let parked = matches!(&self.state, State::Granted(granted) if granted.parked.is_some());
        if let (Some(session), true) = (self.session(), parked && fault.blames_peer()) {
            let (verdict, state) = (Verdict::Rejected, self.ours.state);
            self.send(
                Message::Received(Received {
                    session,
                    verdict,
                    state,
                }),
                now,
            );
        }
        self.end(ClientEnd::Fault(fault));
    }

    fn store_failed(&mut self, now: Instant) {
        let error = ViewError {
            doing: "storing a batch",
            cause: "the batch was not stored".to_owned(),
        };
        self.end_by(error.into(), now);
    }

    fn phase(&self) -> Phase {
        match &self.state {
            State::Granted(granted) if matches!(granted.finding, Finding::Done) => {
                if granted.intake.is_settled() {
                    Phase::Sending
                } else {
                    Phase::Storing
                }
            }
            State::Asked | State::Granted(_) => Phase::Finding,
            State::Tail(_) | State::Over => Phase::Sending,
        }
    }

    fn sent(&self) -> u64 {
        match &self.state {
            State::Granted(granted) => granted.upload.sent(),
            State::Tail(upload) => upload.sent(),
            State::Asked | State::Over => 0,
        }
    }
}

/// What both sides have said rules some modes out (`SES-5`).
fn check_mode(ours: &Summary, ack: &HelloAck, token_shown: bool) -> Result<(), Rule> {
    let theirs = &ack.summary;
    let possible = match ack.mode {
        Mode::Equal => ours.set == theirs.set && ours.state == theirs.state,
        Mode::Empty => ours.set.is_empty() && !theirs.set.is_empty(),
        Mode::Resume => token_shown && ours.set.count() <= theirs.set.count(),
        Mode::Heads | Mode::Ranges => true,
    };
    if !possible || (ack.token_unserviceable && !token_shown) {
        return Err(Rule::Mode);
    }
    let compares = matches!(ack.mode, Mode::Heads | Mode::Ranges);
    let floor = window::common_floor(&ours.coverage, &theirs.coverage).filter(|_| compares);
    if ack.window.map(|window| window.floor) == floor {
        Ok(())
    } else {
        Err(Rule::Window)
    }
}

impl Session for ClientSession {
    fn handle(&mut self, message: Message, now: Instant) {
        if self.is_over() {
            return;
        }
        let is_sign_of_life = matches!(message, Message::Alive(_));
        self.watch.heard_message(is_sign_of_life, now);
        if !is_sign_of_life {
            self.progress_slowly(now);
        }
        let taken = self.on_message(message, now);
        if let Err(fault) = taken.and_then(|()| self.admit(now)) {
            return self.end_by(fault, now);
        }
        self.settle(now);
    }

    fn stream_moved(&mut self, bytes: Moved, now: Instant) {
        if !self.is_over() && self.watch.moved_bytes(bytes, now) {
            self.progress_slowly(now);
        }
    }

    fn work(&mut self, now: Instant) -> bool {
        match self.compare(now) {
            Ok(worked) => worked,
            Err(fault) => {
                self.end_by(fault, now);
                true
            }
        }
    }

    fn has_work(&self) -> bool {
        let finding = self.granted().map(|granted| &granted.finding);
        matches!(finding, Some(Finding::HeadsCompared(_)))
    }

    fn withheld(&mut self, entries: Vec<EntryHash>) {
        if let State::Granted(granted) = &mut self.state {
            granted.withheld.note(entries);
        }
    }

    fn durable(&mut self, batch: u64, ok: bool, now: Instant) {
        let was_blocked = !self.wants_input();
        self.watch.moved(now);
        let State::Granted(granted) = &mut self.state else {
            return;
        };
        if !ok {
            return self.store_failed(now);
        }
        let source = &*self.config.source;
        match granted.intake.durable(batch, source, &*self.view) {
            Ok(ingest) => self.outbox.extend(ingest.map(SessionOutput::Ingest)),
            Err(error) => return self.end_by(error.into(), now),
        }
        if was_blocked && self.wants_input() {
            self.watch.heard(now);
        }
        self.settle(now);
    }

    fn stream_closed(&mut self, now: Instant) {
        match &mut self.state {
            State::Over => {}
            State::Tail(_) => self.state = State::Over,
            State::Asked => self.end(ClientEnd::Lost),
            State::Granted(granted) => {
                granted.vouching.closed = true;
                let is_parked = granted.parked.is_some();
                if let Err(fault) = self.admit(now) {
                    return self.end_by(fault, now);
                }
                if !is_parked {
                    return self.end(ClientEnd::Lost);
                }
                self.settle(now);
            }
        }
    }

    fn fault(&mut self, fault: Fault, now: Instant) {
        if !self.is_over() {
            self.end_by(fault, now);
        }
    }

    fn cancel(&mut self, reason: FailureReason, _now: Instant) {
        if self.has_ended() {
            self.state = State::Over;
        } else {
            self.end(ClientEnd::Failed(reason));
        }
    }

    fn on_time(&mut self, now: Instant) {
        if self.is_over() {
            return;
        }
        if let Err(fault) = self.admit(now) {
            return self.end_by(fault, now);
        }
        self.settle(now);
        if !self.is_over() && now >= self.watch.gone_at(self.wants_input()) {
            if self.has_ended() {
                self.state = State::Over;
            } else {
                self.end(ClientEnd::Silent);
            }
        }
        if !self.is_over() && now >= self.watch.alive_at() && !self.outbox.has_sends() {
            let alive = Alive {
                phase: self.phase(),
                sent: self.sent(),
            };
            self.send(Message::Alive(alive), now);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let deadline = self.watch.deadline(self.wants_input());
        let granted = self.granted();
        let gathered = granted.and_then(|granted| granted.intake.judged_at());
        let parked = granted.and_then(Granted::judged_at);
        let sooner = gathered.into_iter().chain(parked).min();
        Some(sooner.map_or(deadline, |sooner| deadline.min(sooner)))
    }

    fn poll(&mut self) -> Option<SessionOutput> {
        self.outbox.pop()
    }

    fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    fn poll_bulk(&mut self, now: Instant) -> Option<Message> {
        if self.outbox.has_sends() {
            return None;
        }
        let upload = match &mut self.state {
            State::Granted(granted) => &mut granted.upload,
            State::Tail(upload) => upload,
            State::Asked | State::Over => return None,
        };
        let message = match upload.next_bulk(&*self.view) {
            Ok(message) => message,
            Err(error) => {
                self.end_by(error.into(), now);
                return None;
            }
        };
        if message.is_some() {
            self.watch.spoke(now);
            self.watch.moved(now);
        }
        if matches!(&self.state, State::Tail(upload) if upload.is_done()) {
            self.state = State::Over;
        }
        message
    }

    fn wants_input(&self) -> bool {
        match &self.state {
            State::Asked | State::Tail(_) => true,
            State::Granted(granted) => granted.intake.has_room() && !granted.vouching.closed,
            State::Over => false,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }
}
