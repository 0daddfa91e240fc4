//! Two real session machines over two real stores, without a network between: what a session
//! costs in round trips, bytes and CPU, and nothing else.

use std::{
    sync::Arc,
    time::{Duration, Instant as Wall},
};

use anyhow::{Result, bail};
use osier_core::{Instant, RequestId, Role, SessionId};
use osier_proto::{
    ClientConfig, ClientEnd, ClientSession, Message, Mode, ProviderConfig, ProviderSession,
    Session, SessionOutput, Source, Token, TokenSeal, encode_frame,
};
use osier_store::{Batch, Store};

use crate::dataset::{secret, ticket};

/// What one session cost.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    pub(crate) mode: Option<Mode>,
    pub(crate) round_trips: u32,
    /// Bytes of frames, both ways.
    pub(crate) bytes: u64,
    /// Bytes of frames that carry entries, both ways.
    pub(crate) entry_bytes: u64,
    /// Time spent in the client's machine, without its disk.
    pub(crate) client: Duration,
    /// Time spent in the provider's machine, without its disk.
    pub(crate) provider: Duration,
    /// Entries that the client received.
    pub(crate) received: u64,
    /// From the first word to the client's verdict, disks included.
    pub(crate) total: Duration,
}

/// One end: its machine, its store, and what it has cost.
struct End<'a> {
    session: Box<dyn Session + 'a>,
    store: &'a Store,
    /// The client keeps tokens of its provider.
    is_client: bool,
    spent: Duration,
    ended: Option<ClientEnd>,
    mode: Option<Mode>,
    received: u64,
}

/// Runs one session to its end and checks that it drained.
pub(crate) fn session(client: &Store, provider: &Store, token: Option<Token>) -> Result<Cost> {
    let (me, them) = (secret(1_000_001), secret(0));
    let keys = ticket().keys();
    let topic = keys.topic();
    let request = RequestId::from_bytes([1; 16]);
    let begun = Wall::now();
    let now = || Instant::from_nanos(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(0));
    let mut client_end = End::new(client, true, || {
        ClientSession::new(
            ClientConfig {
                me: me.node_id(),
                provider: them.node_id(),
                topic,
                keys: keys.clone(),
                binding: [0; 32],
                request,
                role: Role::Peer,
                token,
                source: Arc::new(client.clone()) as Arc<dyn Source>,
            },
            now(),
        )
        .map(|session| Box::new(session) as Box<dyn Session>)
        .map_err(anyhow::Error::from)
    })?;
    let mut cost = Cost::default();
    let mut to_provider = client_end.drain(&mut cost, now())?;
    let Some(Message::Hello(hello)) = to_provider.pop() else {
        bail!("a client session begins with its Hello");
    };
    let mut provider_end = End::new(provider, false, || {
        let config = ProviderConfig {
            seal: TokenSeal::new(&them),
            me: them.clone(),
            client: me.node_id(),
            topic,
            keys: keys.clone(),
            binding: [0; 32],
            session: SessionId::from_bytes([2; 16]),
            role: Role::Archive,
            source: Arc::new(provider.clone()) as Arc<dyn Source>,
        };
        ProviderSession::accept(config, hello, now())
            .map(|session| Box::new(session) as Box<dyn Session>)
            .map_err(|refuse| anyhow::anyhow!("refused: {refuse:?}"))
    })?;
    // Uploads follow the verdict: both ends go on until neither has anything to say.
    let mut silent = 0;
    while silent < 2 {
        let to_client = provider_end.drain(&mut cost, now())?;
        let to_provider = exchange(&mut client_end, to_client, &mut cost, now())?;
        let quiet = to_provider.is_empty() && client_end.ended.is_some();
        silent = if quiet { silent + 1 } else { 0 };
        provider_end.take(to_provider, now());
        if cost.round_trips > 100_000 {
            bail!("the session makes no progress");
        }
    }
    cost.total = begun.elapsed();
    cost.mode = client_end.mode;
    cost.received = client_end.received;
    (cost.client, cost.provider) = (client_end.spent, provider_end.spent);
    match client_end.ended {
        Some(ClientEnd::Drained(_)) => Ok(cost),
        other => bail!("the session did not drain: {other:?}"),
    }
}

/// Gives the client what the provider said; a round trip counts until the verdict.
fn exchange(
    client: &mut End<'_>,
    messages: Vec<Message>,
    cost: &mut Cost,
    now: Instant,
) -> Result<Vec<Message>> {
    cost.round_trips += u32::from(client.ended.is_none());
    client.take(messages, now);
    client.drain(cost, now)
}

impl<'a> End<'a> {
    fn new(
        store: &'a Store,
        is_client: bool,
        make: impl FnOnce() -> Result<Box<dyn Session + 'a>>,
    ) -> Result<Self> {
        let begun = Wall::now();
        let session = make()?;
        let spent = begun.elapsed();
        Ok(Self {
            session,
            store,
            is_client,
            spent,
            ended: None,
            mode: None,
            received: 0,
        })
    }

    fn take(&mut self, messages: Vec<Message>, now: Instant) {
        let begun = Wall::now();
        for message in messages {
            self.session.handle(message, now);
        }
        self.spent += begun.elapsed();
    }

    /// Everything that the machine has to say until it waits for the other end.
    fn drain(&mut self, cost: &mut Cost, now: Instant) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        loop {
            let begun = Wall::now();
            let output = self.session.poll();
            let bulk = if output.is_none() {
                self.session.poll_bulk(now)
            } else {
                None
            };
            self.spent += begun.elapsed();
            match (output, bulk) {
                (Some(SessionOutput::Send(message)), _) | (None, Some(message)) => {
                    messages.push(message);
                }
                (Some(SessionOutput::Ingest(ingest)), _) => {
                    self.ingest(ingest, now)?;
                }
                (Some(SessionOutput::Started(started)), _) => self.mode = Some(started.mode),
                (Some(SessionOutput::Progress { received, .. }), _) => self.received = received,
                (Some(SessionOutput::ClientEnded(end)), _) => self.ended = Some(end),
                (Some(SessionOutput::ProviderEnded(_)), _) => {}
                (None, None) => {
                    let begun = Wall::now();
                    let worked = self.session.work(now);
                    self.spent += begun.elapsed();
                    if !worked {
                        break;
                    }
                }
            }
        }
        for message in &messages {
            let bytes = encode_frame(message).len() as u64;
            cost.bytes += bytes;
            if matches!(message, Message::Entries(_)) {
                cost.entry_bytes += bytes;
            }
        }
        Ok(messages)
    }

    /// Puts a batch on disk at once and says so.
    fn ingest(&mut self, ingest: osier_proto::Ingest, now: Instant) -> Result<()> {
        let mut batch = Batch::new();
        batch.extend(ingest.entries);
        if let (true, Some(token)) = (self.is_client, ingest.token) {
            batch.keep_token(ticket().topic(), secret(0).node_id(), token);
        }
        self.store.commit(&batch)?;
        let begun = Wall::now();
        self.session.durable(ingest.batch, true, now);
        self.spent += begun.elapsed();
        Ok(())
    }
}
