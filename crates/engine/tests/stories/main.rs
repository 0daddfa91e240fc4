//! The engine's decisions, told as short stories: inputs by hand, outputs looked at.

mod carried;
mod dispute;
mod ephemeral;
mod hint;
mod ring;

use std::collections::VecDeque;

use bytes::Bytes;
use osier_core::{
    Duration, Entry, Instant, Kind, NodeId, RequestId, Role, SessionId, SetSum, StateHash, Ticket,
    Timestamp, TopicId, TopicSecret, Verified, testing::secret,
};
use osier_engine::{
    AskId, BehindCause, CommandId, DegradedReason, Engine, EngineConfig, Input, Now, Output,
    OwnerWords, PassedOn, Rank, Reply, SessionEvent, SessionKey, SyncEvent, TopicPhase,
    TopicReport, TopicSetup, limit,
};
use osier_policy::Rule;
use osier_proto::{
    ClientEnd, Gossip, GossipMessage, Hello, Lsn, Mode, ResumePoint, StoreId, StorePoint, Summary,
    Token, TokenSeal, WIRE_VERSION, Watermark, encode_gossip,
    limit::{EPHEMERAL_BYTES_MAX, GOSSIP_PAYLOAD_BYTES_MAX},
    testing::{MemorySource, Pair, PairConfig},
};

/// One engine with a hand on its clock.
struct Desk {
    engine: Engine,
    now: Instant,
    topic: TopicId,
    lsn: u64,
    me: u64,
    owner: u64,
    wall_ms: u64,
    sequence: u64,
    /// Holes that the imagined disk has.
    holes: u64,
    outputs: VecDeque<Output>,
}

fn ticket(owner: u64) -> Ticket {
    Ticket::new(
        secret(owner).node_id(),
        TopicSecret::from_bytes([1; 32]),
        "t",
    )
    .expect("a legal name")
}

impl Desk {
    /// Node `me` takes part in a topic of node `owner`.
    fn open(me: u64, owner: u64, role: Role) -> Self {
        Self::open_with(me, owner, role, Vec::new())
    }

    /// The same with tokens of earlier sessions.
    fn open_with(me: u64, owner: u64, role: Role, tokens: Vec<(NodeId, Token)>) -> Self {
        let now = Instant::START;
        let config = EngineConfig {
            secret: secret(me),
            seed: [u8::try_from(me).expect("few nodes") + 1; 32],
        };
        let clock = Now {
            at: now,
            wall: Timestamp::default(),
        };
        let engine = Engine::new(config, clock);
        let ticket = ticket(owner);
        let outputs = VecDeque::new();
        let mut desk = Self {
            engine,
            now,
            topic: ticket.topic(),
            lsn: 0,
            me,
            owner,
            wall_ms: 1_000,
            sequence: 0,
            holes: 0,
            outputs,
        };
        desk.give(Input::Open(Box::new(TopicSetup {
            ticket,
            role,
            rule: Rule::default(),
            trust: Vec::new(),
            tokens,
            words: OwnerWords::default(),
            summary: Summary::empty(),
            point: StorePoint {
                store: StoreId::from_bytes([0; 16]),
                last: Lsn::START,
                pruned: 0,
            },
            newest: None,
            own_tip: None,
        })));
        desk
    }

    fn clock(&self) -> Now {
        Now {
            at: self.now,
            wall: Timestamp::from_millis(self.wall_ms),
        }
    }

    fn give(&mut self, input: Input) {
        self.engine.handle(self.clock(), input);
        while let Some(output) = self.engine.poll() {
            self.outputs.push_back(output);
        }
    }

    /// Lets time pass, waking the engine whenever it asks for it.
    fn pass(&mut self, ms: u64) {
        let end = self.now.after(Duration::from_millis(ms));
        while let Some(at) = self.engine.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.give(Input::Tick);
        }
        self.now = end;
        self.give(Input::Tick);
    }

    fn events(&mut self) -> Vec<SyncEvent> {
        let is_event = |output: Output| match output {
            Output::Emit { event, .. } => Some(event),
            _ => None,
        };
        self.outputs.drain(..).filter_map(is_event).collect()
    }

    /// A watermark of a node that says it holds so many entries.
    fn hear_watermark(&mut self, from: u64, entries: u8) {
        let mut summary = Summary::empty();
        summary.set = SetSum::from_parts(u64::from(entries), [entries; 32]);
        summary.state = StateHash::from_bytes([entries; 32]);
        let last = Lsn::new(u64::from(entries));
        self.hear(from, Gossip::Watermark(Watermark { summary, last }));
    }

    /// A gossip message of a node comes.
    fn hear(&mut self, from: u64, body: Gossip) {
        self.sequence += 1;
        let message = GossipMessage {
            topic: self.topic,
            sequence: self.sequence,
            body,
        };
        let bytes = encode_gossip(&secret(from), &message, GOSSIP_PAYLOAD_BYTES_MAX);
        self.give(Input::Gossip {
            topic: self.topic,
            bytes: bytes.expect("it fits"),
        });
    }

    /// Sessions that it wants to open, with whom; told once.
    fn opened(&mut self) -> Vec<(NodeId, SessionKey)> {
        let outputs = self.outputs.drain(..);
        let opened = outputs.filter_map(|output| match output {
            Output::OpenSession(open) => Some((open.provider, open.key)),
            _ => None,
        });
        opened.collect()
    }

    /// It trusts a node as an archive from now on.
    fn trusts(&mut self, other: u64) {
        self.give(Input::Trust {
            command: CommandId(7),
            topic: self.topic,
            node: node(other),
            entry: Some((Rank::DEFAULT, Role::Archive)),
        });
        self.store();
    }

    /// A session that it has opened is granted.
    fn starts(&mut self, key: SessionKey, mode: Mode) {
        self.starts_with(key, mode, Summary::empty());
    }

    /// The same by a provider that says what its snapshot holds.
    fn starts_with(&mut self, key: SessionKey, mode: Mode, summary: Summary) {
        let event = SessionEvent::Started {
            session: SessionId::from_bytes([7; 16]),
            mode,
            summary,
            role: Role::Archive,
            token_unserviceable: false,
        };
        self.give(Input::Session { key, event });
    }

    /// A session that it has opened comes to nothing.
    fn unreachable(&mut self, key: SessionKey) {
        let cause = "the dial came to nothing".to_owned();
        let event = SessionEvent::Unreachable { cause };
        self.give(Input::Session { key, event });
    }

    /// A node asks for a session.
    fn is_asked_by(&mut self, from: u64) {
        let (binding, request) = ([5; 32], RequestId::from_bytes([6; 16]));
        let keys = ticket(self.owner).keys();
        let hello = Hello {
            versions: vec![WIRE_VERSION],
            request,
            proof: keys.proof(node(from), node(self.me), &binding, request),
            role: Role::Peer,
            summary: Summary::empty(),
            token: None,
        };
        self.give(Input::SessionAsked {
            ask: AskId(1),
            peer: node(from),
            binding,
            hello: Box::new(hello),
        });
    }

    /// The session that it has asked for drains a provider that holds nothing.
    fn drains(&mut self) {
        let nothing = || MemorySource::with(1, &[]);
        let mut pair = Pair::new(PairConfig::new(&nothing(), &nothing()));
        pair.run();
        let key = self.outputs.iter().find_map(|output| match output {
            Output::OpenSession(open) => Some(open.key),
            _ => None,
        });
        let end = pair.client_ends.pop().expect("it has an end");
        self.give(Input::Session {
            key: key.expect("it has asked"),
            event: SessionEvent::ClientEnded(end),
        });
        self.outputs.clear();
    }

    /// A session drains a provider that holds these entries; this node has or gets them as well,
    /// or has others.
    fn drains_one_of(&mut self, key: SessionKey, theirs: &[Verified<Entry>]) {
        self.give(Input::Session {
            key,
            event: SessionEvent::ClientEnded(drained_of(theirs)),
        });
    }

    /// How many sessions it wants to open; told once.
    fn asked(&mut self) -> usize {
        self.opened().len()
    }

    /// Puts every commit on the imagined disk.
    fn store(&mut self) {
        let outputs: Vec<_> = self.outputs.drain(..).collect();
        for output in outputs {
            if let Output::Commit(commit) = output {
                let mut summary = Summary::empty();
                let appended = commit
                    .entries
                    .iter()
                    .map(|entry| {
                        self.lsn += 1;
                        summary.set.insert(&entry.hash());
                        summary.state = StateHash::from_bytes(*entry.hash().as_bytes());
                        (Lsn::new(self.lsn), entry.hash())
                    })
                    .collect();
                let report = TopicReport {
                    topic: commit.topic,
                    appended,
                    holes_opened: self.holes,
                    forked: Vec::new(),
                    summary,
                    last: Lsn::new(self.lsn),
                    holes: self.holes,
                    withheld: Vec::new(),
                    removed: Vec::new(),
                    missed: false,
                };
                self.give(Input::Durable {
                    batch: commit.batch,
                    result: Ok(vec![report]),
                });
            } else {
                self.outputs.push_back(output);
            }
        }
    }

    fn publish(&mut self, body: Vec<u8>) {
        self.give(Input::Publish {
            command: CommandId(1),
            topic: self.topic,
            kind: Kind::APPLICATION,
            entries: vec![vec![Bytes::from(body)]],
        });
    }

    fn phase(&self) -> TopicPhase {
        self.engine
            .state(self.topic, self.clock())
            .expect("the topic is open")
            .phase
    }
}

fn node(n: u64) -> NodeId {
    secret(n).node_id()
}

/// The end of a session that has drained a provider of these entries.
fn drained_of(theirs: &[Verified<Entry>]) -> ClientEnd {
    let sources = (MemorySource::with(1, theirs), MemorySource::with(2, theirs));
    let mut pair = Pair::new(PairConfig::new(&sources.0, &sources.1));
    pair.run();
    pair.client_ends.pop().expect("it has an end")
}

/// A token of an earlier session with a node.
fn token(of: u64) -> (NodeId, Token) {
    let point = ResumePoint {
        store: StoreId::from_bytes([1; 16]),
        topic: ticket(of).topic(),
        lsn: Lsn::START,
        prefix: Summary::empty().set,
        pruned: 0,
    };
    (node(of), TokenSeal::new(&secret(of)).seal(&point))
}

/// `POL-28`: who starts again asks a little later, and every node at its own time; who joins asks
/// at once.
#[test]
fn a_restart_asks_spread() {
    assert_eq!(Desk::open(2, 1, Role::Peer).asked(), 1);
    let mut early = 0;
    for me in 2..22 {
        let mut desk = Desk::open_with(me, 1, Role::Peer, vec![token(1)]);
        assert_eq!(desk.asked(), 0);
        desk.pass(100);
        let asked = desk.asked();
        early += asked;
        desk.pass(151);
        assert_eq!(asked + desk.asked(), 1);
    }
    assert!((3..17).contains(&early), "{early} of 20 within 100 ms");
}

#[test]
fn the_only_archive_is_complete_by_itself_at_once() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    let events = desk.events();
    assert!(
        matches!(events[0], SyncEvent::State(_)),
        "the present state comes first"
    );
    let synced = events.iter().find_map(|event| match event {
        SyncEvent::HistorySynced(synced) => Some(synced.clone()),
        _ => None,
    });
    let synced = synced.expect("an owner alone with its topic is complete");
    assert_eq!(synced.provider, node(1));
    assert_eq!(synced.session, None);
}

/// case PL-09: no network at all ends in its own explicit state, at the deadline.
#[test]
fn case_pl_09_without_any_provider_the_topic_fails_and_says_so() {
    let mut desk = Desk::open(2, 0, Role::Peer);
    let asked: Vec<_> = desk
        .outputs
        .iter()
        .filter_map(|output| match output {
            Output::OpenSession(open) => Some((open.key, open.provider)),
            _ => None,
        })
        .collect();
    assert_eq!(
        asked.len(),
        1,
        "the owner is asked although nobody said where it is"
    );
    assert_eq!(asked[0].1, node(0));
    let cause = "no address is known".to_owned();
    desk.give(Input::Session {
        key: asked[0].0,
        event: SessionEvent::Unreachable { cause },
    });
    desk.pass(6_000);
    let events = desk.events();
    let failed = |e: &SyncEvent| matches!(e, SyncEvent::HistorySyncFailed { .. });
    assert_eq!(events.iter().filter(|e| failed(e)).count(), 1, "{events:?}");
    assert_eq!(desk.phase(), TopicPhase::Failed);
}

#[test]
fn a_provider_that_never_answers_is_degraded_at_its_deadline() {
    let mut desk = Desk::open(2, 0, Role::Peer);
    desk.events();
    desk.pass(4_900);
    assert!(
        desk.events().is_empty(),
        "nothing is wrong within the deadline"
    );
    desk.pass(200);
    let events = desk.events();
    let timeout = events.iter().any(|event| {
        matches!(
            event,
            SyncEvent::HistorySyncDegraded {
                reason: DegradedReason::Timeout,
                ..
            }
        )
    });
    assert!(timeout, "{events:?}");
    assert_eq!(
        desk.phase(),
        TopicPhase::Failed,
        "nobody else is left to ask"
    );
}

/// Whoever looks must see which provider, which outcome, which deadline.
#[test]
fn the_state_says_whom_a_topic_waits_for_and_until_when() {
    let mut desk = Desk::open(2, 0, Role::Peer);
    let look = |desk: &Desk| {
        let state = desk.engine.state(desk.topic, desk.clock());
        let state = state.expect("the topic is open");
        let [provider] = &state.providers[..] else {
            panic!("the owner alone is known: {state:?}");
        };
        (provider.clone(), state)
    };
    desk.pass(1_200);
    let (owner, state) = look(&desk);
    assert_eq!(state.waiting, [node(0)]);
    assert_eq!(state.search_ms, None, "it waits for somebody");
    assert_eq!(owner.outcome, "streaming");
    assert_eq!(owner.session_age_ms, Some(1_200));
    assert_eq!(owner.deadline_ms, Some(3_800));
    assert_eq!(owner.retry_ms, None);
    let asked = desk.outputs.iter().find_map(|output| match output {
        Output::OpenSession(open) => Some(open.key),
        _ => None,
    });
    desk.pass(3_900);
    let (owner, state) = look(&desk);
    assert_eq!(state.phase, TopicPhase::Failed);
    assert!(state.waiting.is_empty() && state.search_ms.is_none());
    assert_eq!((owner.outcome, owner.deadline_ms), ("silent", None));
    desk.give(Input::Session {
        key: asked.expect("the owner was asked"),
        event: SessionEvent::ClientEnded(ClientEnd::Lost),
    });
    let (owner, _) = look(&desk);
    assert!(
        owner.retry_ms.is_some_and(|ms| ms > 0 && ms <= 500),
        "{owner:?}"
    );
}

#[test]
fn with_nobody_to_ask_the_search_runs_down() {
    let mut desk = Desk::open(2, 0, Role::Peer);
    let key = desk.outputs.iter().find_map(|output| match output {
        Output::OpenSession(open) => Some(open.key),
        _ => None,
    });
    let cause = "no address is known".to_owned();
    desk.give(Input::Session {
        key: key.expect("the owner is asked at once"),
        event: SessionEvent::Unreachable { cause },
    });
    desk.pass(2_000);
    let state = desk.engine.state(desk.topic, desk.clock());
    let state = state.expect("the topic is open");
    assert_eq!(state.phase, TopicPhase::Syncing);
    assert!(state.waiting.is_empty(), "{state:?}");
    assert_eq!(state.search_ms, Some(3_000));
}

#[test]
fn a_write_is_answered_and_gossiped_only_when_durable() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    desk.outputs.clear();
    desk.publish(b"hello".to_vec());
    let early = desk
        .outputs
        .iter()
        .any(|output| matches!(output, Output::Reply { .. } | Output::Broadcast { .. }));
    assert!(!early, "nothing is acknowledged before it is durable");
    desk.store();
    let replied = desk.outputs.iter().any(|output| {
        matches!(output, Output::Reply { result: Ok(Reply::Published(hashes)), .. }
            if hashes.len() == 1)
    });
    assert!(replied);
    assert!(
        desk.outputs
            .iter()
            .any(|output| matches!(output, Output::Broadcast { .. }))
    );
}

/// case IR-01: what does not fit a gossip message is named there and fetched by a session.
#[test]
fn case_ir_01_an_entry_over_the_payload_room_is_announced() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    desk.outputs.clear();
    desk.publish(vec![7; 5_000]);
    desk.store();
    let sizes: Vec<_> = desk
        .outputs
        .iter()
        .filter_map(|output| match output {
            Output::Broadcast { bytes, .. } => Some(bytes.len()),
            _ => None,
        })
        .collect();
    assert!(
        !sizes.is_empty() && sizes.iter().all(|size| *size < 1024),
        "{sizes:?}"
    );
}

/// case IR-02: what gossip dropped, a session must bring: nobody counts as synced until one has,
/// and nothing else need come for it to be opened.
#[test]
fn case_ir_02_a_lag_opens_a_session() {
    let mut desk = Desk::open(2, 0, Role::Peer);
    desk.give(Input::Neighbor {
        topic: desk.topic,
        peer: node(0),
        up: true,
    });
    desk.drains();
    desk.pass(5_000);
    assert_eq!(desk.phase(), TopicPhase::Synced);
    assert_eq!(desk.asked(), 0, "nothing is in doubt");
    desk.give(Input::GossipLagged { topic: desk.topic });
    assert_eq!(desk.phase(), TopicPhase::Behind);
    let lagged = BehindCause::GossipLagged;
    let events = desk.events();
    let told = |e: &SyncEvent| matches!(e, SyncEvent::Behind { cause, .. } if *cause == lagged);
    assert_eq!(events.iter().filter(|e| told(e)).count(), 1, "{events:?}");
    desk.pass(1_000);
    desk.drains();
    assert_eq!(desk.phase(), TopicPhase::Synced);
}

/// `POL-17`: a provider that lets every session give way to one of its own, which never comes, is
/// told of at its deadline all the same.
#[test]
fn giving_way_for_ever_is_silence() {
    let mut desk = Desk::open(2, 0, Role::Peer);
    let timed_out = |event: &SyncEvent| {
        let timeout = DegradedReason::Timeout;
        matches!(event, SyncEvent::HistorySyncDegraded { reason, .. } if *reason == timeout)
    };
    for _ in 0..30 {
        let outputs: Vec<_> = desk.outputs.drain(..).collect();
        for output in outputs {
            match output {
                Output::OpenSession(open) => desk.give(Input::Session {
                    key: open.key,
                    event: SessionEvent::ClientEnded(ClientEnd::Refused {
                        reason: osier_proto::RefuseReason::Superseded,
                        retry_after_ms: 600_000,
                    }),
                }),
                Output::Emit { event, .. } if timed_out(&event) => {
                    let told = desk.now.since(Instant::START);
                    assert!(told >= Duration::from_secs(5), "{told:?}");
                    return;
                }
                _ => {}
            }
        }
        desk.pass(300);
    }
    panic!("nothing was told in 9 s");
}

#[test]
fn a_rewind_of_the_clock_is_our_own_bug() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    desk.pass(10);
    let earlier = Now {
        at: Instant::START,
        wall: Timestamp::default(),
    };
    let rewound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        desk.engine.handle(earlier, Input::Tick);
    }));
    assert!(rewound.is_err());
}

/// `POL-25`: the joiner's own session moves what either side lacks.
#[test]
fn an_archive_lets_a_stranger_ask_first() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    let stranger = secret(2).node_id();
    desk.events();
    desk.give(Input::Neighbor {
        topic: desk.topic,
        peer: stranger,
        up: true,
    });
    desk.pass(1_900);
    assert_eq!(desk.asked(), 0, "the stranger is given time to ask");
    desk.pass(2_200);
    assert_eq!(desk.asked(), 1, "one that does not ask is asked");
}

#[test]
fn a_node_that_is_no_archive_asks_a_stranger_at_once() {
    let mut desk = Desk::open(1, 9, Role::Peer);
    desk.give(Input::Neighbor {
        topic: desk.topic,
        peer: secret(2).node_id(),
        up: true,
    });
    assert_eq!(desk.asked(), 1, "it may learn from strangers whom to ask");
}

/// `ENT-16`, case IR-09: own entries go on in order, whatever the wall clock does.
#[test]
fn clock_jumps_both_ways() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    desk.outputs.clear();
    let mut seqs = Vec::new();
    for wall_ms in [1_000_000_000_u64, 5, u64::MAX, 0, 2_000] {
        desk.wall_ms = wall_ms;
        desk.publish(b"x".to_vec());
        let written = desk.outputs.iter().find_map(|output| match output {
            Output::Commit(commit) => Some(commit.entries[0].header().seq().get()),
            _ => None,
        });
        seqs.push(written.expect("it writes"));
        desk.store();
        desk.outputs.clear();
    }
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
}

/// `SES-20`: of two sessions opened at once the smaller node's goes on.
#[test]
fn both_dial_at_once() {
    let (small, large) = if node(1) < node(2) { (1, 2) } else { (2, 1) };
    for (me, other) in [(small, large), (large, small)] {
        let mut desk = Desk::open(me, other, Role::Peer);
        assert_eq!(desk.asked(), 1, "the owner is asked");
        desk.is_asked_by(other);
        let granted = desk
            .outputs
            .iter()
            .any(|output| matches!(output, Output::GrantSession(_)));
        assert_eq!(granted, me == large);
    }
}
