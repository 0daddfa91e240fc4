//! SES-12: what every message does in every state. The whole table is kept in `table.txt`, so that
//! a change of it is seen; `OSIER_BLESS=1` writes it again.

use std::fmt::Write;

use osier_core::{EntryHash, Instant, NodeId, RequestId, Role, SessionId, SetSum, StateHash};

use super::*;
use crate::{
    client::ClientSession,
    fault::Fault,
    marker::{FailureReason, HistorySyncFailed, Streamed, Vouched},
    message::{
        Alive, Entries, Expect, Heads, Hello, HelloAck, Mode, Phase, RangeFrame, Received, Refuse,
        RefuseReason, Summary, Verdict, Want,
    },
    output::{ClientEnd, ProviderEnd, SessionOutput},
    provider::ProviderSession,
    session::Session,
    token::Token,
};

const NOW: Instant = Instant::START;

fn messages() -> Vec<Message> {
    let request = RequestId::from_bytes([1; 16]);
    let session = SessionId::from_bytes([0x81; 16]);
    let (client, provider) = (secret(1).node_id(), secret(2));
    let keys = PairConfig::keys();
    let entry = chain(7).next(b"a message of the table").to_wire();
    let hello = Hello {
        versions: vec![1],
        request,
        proof: [0; 32],
        role: Role::Peer,
        summary: Summary::empty(),
        token: None,
    };
    let ack = HelloAck {
        version: 1,
        session,
        proof: keys.proof(provider.node_id(), client, &[5; 32], request),
        role: Role::Archive,
        summary: Summary::empty(),
        mode: Mode::Heads,
        token_unserviceable: false,
        window: None,
    };
    let failed = HistorySyncFailed {
        topic: topic(),
        session,
        requester: client,
        request,
        reason: FailureReason::Restarting,
    };
    vec![
        Message::Hello(hello),
        Message::HelloAck(ack),
        Message::Refuse(Refuse {
            request,
            reason: RefuseReason::Overloaded,
            retry_after_ms: 5,
        }),
        Message::Heads(Heads {
            heads: Vec::new(),
            surplus: SetSum::EMPTY,
        }),
        Message::Range(RangeFrame(vec![0x61].into())),
        Message::Want(Want {
            hashes: Vec::new(),
            last: true,
        }),
        Message::Expect(Expect { entries: 1 }),
        Message::Entries(Entries {
            entries: vec![entry],
            token: None,
        }),
        Message::Holes(vec![EntryHash::MIN]),
        Message::Alive(Alive {
            phase: Phase::Sending,
            sent: 0,
        }),
        Message::Complete(Signed::sign(&provider, &other_marker(client))),
        Message::Failed(Signed::sign(&provider, &failed)),
        Message::Received(Received {
            session,
            verdict: Verdict::Drained,
            state: StateHash::empty(),
        }),
        Message::UploadEnd,
    ]
}

/// A marker of another session: where one has a place, that is what is wrong with it.
fn other_marker(requester: NodeId) -> HistorySyncComplete {
    HistorySyncComplete {
        topic: topic(),
        session: SessionId::from_bytes([9; 16]),
        requester,
        request: RequestId::from_bytes([1; 16]),
        streamed: Streamed::Nothing,
        covers: Vouched {
            set: SetSum::EMPTY,
            state: StateHash::empty(),
            authors: 0,
            heads: Vec::new(),
            coverage: osier_core::Coverage::Complete,
            hole_count: 0,
            holes: Vec::new(),
            holes_digest: [0; 32],
            window: None,
        },
        resume: Token(Vec::new()),
    }
}

/// Stores in which the provider has this to do.
fn config(mode: Mode) -> PairConfig {
    let (a, b) = (entries(3, 4), entries(4, 2));
    let (client, provider) = match mode {
        Mode::Empty => stores(&[], &a),
        Mode::Heads => stores(&[&a[..2], &b[..]].concat(), &a),
        _ => {
            let many: Vec<_> = (100..350).flat_map(|author| entries(author, 1)).collect();
            stores(&many[1..], &many[..249])
        }
    };
    PairConfig::new(&client, &provider)
}

/// Both machines, and what the provider has said so far.
struct Rig {
    client: ClientSession,
    provider: ProviderSession,
    said: Vec<Message>,
}

fn sends(session: &mut dyn Session) -> Vec<Message> {
    std::iter::from_fn(|| session.poll())
        .filter_map(|output| match output {
            SessionOutput::Send(message) => Some(message),
            _ => None,
        })
        .collect()
}

fn rig(mode: Mode) -> Rig {
    let config = config(mode);
    let mut client = ClientSession::new(config.client_config(), NOW).unwrap();
    let Some(Message::Hello(hello)) = sends(&mut client).pop() else {
        panic!("a client says hello");
    };
    let mut provider =
        ProviderSession::accept(config.provider_config(), hello, NOW).expect("granted");
    let said = sends(&mut provider);
    Rig {
        client,
        provider,
        said,
    }
}

impl Rig {
    /// The client takes the first `count` messages of the provider.
    fn taken(mut self, count: usize) -> Self {
        for message in self.said.drain(..count) {
            self.client.handle(message, NOW);
        }
        self
    }

    /// The client does the work that it has.
    fn worked(mut self) -> Self {
        while self.client.work(NOW) {}
        self
    }

    /// The client answers, and the provider with it.
    fn answered(mut self) -> Self {
        for message in sends(&mut self.client) {
            self.provider.handle(message, NOW);
        }
        while self.provider.work(NOW) {}
        self.said.extend(sends(&mut self.provider));
        self
    }

    /// The provider sends its bulk.
    fn drained(mut self) -> Self {
        while let Some(message) = self.provider.poll_bulk(NOW) {
            self.said.push(message);
        }
        self
    }

    /// Without the entries, so that the marker stays parked.
    fn without_entries(mut self) -> Self {
        self.said
            .retain(|message| !matches!(message, Message::Entries(_)));
        self
    }

    /// The client takes everything, and its disk answers.
    fn all(mut self) -> Self {
        for message in std::mem::take(&mut self.said) {
            self.client.handle(message, NOW);
            while let Some(output) = self.client.poll() {
                if let SessionOutput::Ingest(ingest) = output {
                    self.client.durable(ingest.batch, true, NOW);
                }
            }
        }
        self
    }
}

type State = (&'static str, fn() -> Box<dyn Session>);

fn client_states() -> Vec<State> {
    vec![
        ("asked", || Box::new(rig(Mode::Heads).client)),
        ("heads awaited", || {
            Box::new(rig(Mode::Heads).taken(1).client)
        }),
        ("heads compared", || {
            Box::new(rig(Mode::Heads).taken(2).client)
        }),
        ("heads answered", || {
            Box::new(rig(Mode::Heads).taken(2).worked().client)
        }),
        ("ranges", || Box::new(rig(Mode::Ranges).taken(2).client)),
        ("receiving", || Box::new(rig(Mode::Empty).taken(1).client)),
        ("marker parked", || {
            Box::new(rig(Mode::Empty).drained().without_entries().all().client)
        }),
        ("over", || {
            let mut client = rig(Mode::Heads).client;
            client.cancel(FailureReason::Cancelled, NOW);
            Box::new(client)
        }),
    ]
}

fn provider_states() -> Vec<State> {
    vec![
        ("heads awaited", || Box::new(rig(Mode::Heads).provider)),
        ("heads compared", || {
            let mut rig = rig(Mode::Heads).taken(2).worked();
            for message in sends(&mut rig.client) {
                rig.provider.handle(message, NOW);
            }
            Box::new(rig.provider)
        }),
        ("ranges", || Box::new(rig(Mode::Ranges).provider)),
        ("sending", || Box::new(rig(Mode::Empty).provider)),
        ("uploads open", || {
            Box::new(rig(Mode::Heads).taken(2).worked().answered().provider)
        }),
        ("marker sent", || {
            Box::new(rig(Mode::Empty).drained().provider)
        }),
        ("over", || {
            let mut provider = rig(Mode::Heads).provider;
            provider.cancel(FailureReason::Cancelled, NOW);
            Box::new(provider)
        }),
    ]
}

/// What came of one message: how the session ended, or that it goes on.
fn outcome(session: &mut dyn Session, message: Message) -> String {
    while session.poll().is_some() {}
    session.handle(message, NOW);
    while session.work(NOW) {}
    let mut ends = Vec::new();
    let mut said = Vec::new();
    while let Some(output) = session.poll() {
        match output {
            SessionOutput::ClientEnded(ClientEnd::Fault(fault))
            | SessionOutput::ProviderEnded(ProviderEnd::Fault(fault)) => ends.push(name(&fault)),
            SessionOutput::ClientEnded(end) => ends.push(format!("{end:?}")),
            SessionOutput::ProviderEnded(end) => ends.push(format!("{end:?}")),
            SessionOutput::Send(message) => said.push(message.name()),
            _ => {}
        }
    }
    assert!(ends.len() <= 1, "one end");
    match ends.pop() {
        Some(end) => end.split([' ', '(']).next().unwrap_or_default().to_owned(),
        None if said.is_empty() => "-".to_owned(),
        None => format!("> {}", said.join(", ")),
    }
}

fn name(fault: &Fault) -> String {
    match fault {
        Fault::PeerMisbehaved(rule) => format!("{}:{rule:?}", rule.id()),
        Fault::Malformed(_) => "Malformed".to_owned(),
        other => format!("{other:?}"),
    }
}

fn table() -> String {
    let mut text = String::new();
    for (side, states) in [("client", client_states()), ("provider", provider_states())] {
        for (state, make) in states {
            writeln!(text, "{side}, {state}").unwrap();
            for message in messages() {
                let mut session = make();
                let name = message.name();
                let outcome = outcome(&mut *session, message);
                writeln!(text, "    {name:<9} {outcome}").unwrap();
            }
        }
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "writes the table when asked to")]
fn every_message_in_every_state() {
    let table = table();
    if std::env::var_os("OSIER_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/table.txt");
        std::fs::write(path, &table).unwrap();
        return;
    }
    let kept = include_str!("table.txt");
    for (new, old) in table.lines().zip(kept.lines()) {
        assert_eq!(new, old, "OSIER_BLESS=1 writes the table again");
    }
    assert_eq!(table, kept);
}

/// Bytes that are no message at all end either side, whatever the state.
#[test]
fn broken_frames_end_every_state() {
    for (state, make) in client_states().into_iter().chain(provider_states()) {
        let mut session = make();
        while session.poll().is_some() {}
        let error = crate::frame::FrameError::TooLong { bytes: usize::MAX };
        session.fault(error.into(), NOW);
        assert!(session.is_over(), "{state}");
        assert_eq!(session.deadline(), None, "{state}");
    }
}
