//! A connection to another relay, with a limit on every wait.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use osier_nostr::{
    Asking, ClientMessage, Ending, EventDraft, EventKey, EventKind, Filter, RelayMessage, Step,
    SubscriptionId, Tag, UnverifiedEvent, limit as nostr_limit, nip::nip42::RelayUrl,
};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Error, Message, protocol::WebSocketConfig},
};

use super::{MirrorError, words};
use crate::{clock::Clock, limit};

/// A connection to another relay.
pub(super) struct Link {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    url: String,
    key: Option<EventKey>,
    challenge: Option<Box<str>>,
    patience: Duration,
    clock: Clock,
    requests: u64,
}

impl Link {
    /// Connects.
    pub(super) async fn open(
        url: &str,
        key: Option<EventKey>,
        patience: Duration,
        clock: Clock,
    ) -> Result<Self, MirrorError> {
        if RelayUrl::parse(url).is_none() {
            return Err(MirrorError::Url(url.chars().take(200).collect()));
        }
        let failed = |cause: String| MirrorError::Connect {
            url: url.to_owned(),
            cause,
        };
        // Others' limits may be above ours.
        let bytes_max = Some(4 * nostr_limit::MESSAGE_BYTES_MAX);
        let config = WebSocketConfig::default()
            .read_buffer_size(limit::WRITE_BYTES)
            .write_buffer_size(limit::WRITE_BYTES)
            .max_message_size(bytes_max)
            .max_frame_size(bytes_max);
        let connecting = Box::pin(connect_async_with_config(url, Some(config), true));
        let connected = timeout(limit::MIRROR_CONNECT_WITHIN, connecting).await;
        let (socket, _) = connected
            .map_err(|_| failed("no answer in time; is the address right?".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            socket,
            url: url.to_owned(),
            key,
            challenge: None,
            patience,
            clock,
            requests: 0,
        })
    }

    /// The relay.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// How long the relay may say nothing.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// The same, for the machine of a request.
    pub(super) fn for_asking(&self) -> osier::Duration {
        let millis = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
        osier::Duration::from_millis(millis)
    }

    /// The challenge that came last.
    pub(super) fn challenge(&self) -> Option<&str> {
        self.challenge.as_deref()
    }

    /// A name for the next request.
    pub(super) fn next_id(&mut self) -> SubscriptionId {
        self.requests += 1;
        SubscriptionId::new(&format!("osier-{}", self.requests)).expect("short, and not empty")
    }

    /// Sends a message.
    pub(super) async fn send(
        &mut self,
        doing: &'static str,
        message: &ClientMessage,
    ) -> Result<(), MirrorError> {
        let sent = self.socket.send(Message::text(message.to_json()));
        match timeout(self.patience, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.lost(doing, &error.to_string())),
            Err(_) => Err(self.silent(doing, "")),
        }
    }

    /// The next message that can be read; none if none comes in this time.
    pub(super) async fn next(
        &mut self,
        doing: &'static str,
        within: Duration,
    ) -> Result<Option<RelayMessage>, MirrorError> {
        let until = tokio::time::Instant::now() + within;
        loop {
            let next = tokio::time::timeout_at(until, self.socket.next()).await;
            let message = match next {
                Err(_) => return Ok(None),
                Ok(None | Some(Err(Error::ConnectionClosed))) => {
                    return Err(self.lost(doing, "without a reason"));
                }
                Ok(Some(Err(error))) => return Err(self.lost(doing, &error.to_string())),
                Ok(Some(Ok(message))) => message,
            };
            let text = match message {
                Message::Text(text) => text,
                Message::Close(frame) => {
                    let cause = frame.map_or_else(String::new, |frame| frame.to_string());
                    return Err(self.lost(doing, &cause));
                }
                _ => continue,
            };
            match RelayMessage::parse(&text) {
                Ok(RelayMessage::Auth { challenge }) => {
                    self.challenge = Some(challenge.clone());
                    return Ok(Some(RelayMessage::Auth { challenge }));
                }
                Ok(message) => return Ok(Some(message)),
                Err(error) => {
                    // What we cannot read is not for us, or is no event.
                    tracing::debug!(url = %self.url, %error, "a message is passed over");
                }
            }
        }
    }

    /// Lets time pass. What the relay says meanwhile is about nothing that we wait for; its pings
    /// are answered.
    pub(super) async fn rest(
        &mut self,
        doing: &'static str,
        time: Duration,
    ) -> Result<(), MirrorError> {
        let until = tokio::time::Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            if self.next(doing, left).await?.is_none() {
                return Ok(());
            }
        }
    }

    /// Runs a request for stored events to its end; what comes is handed on before that.
    pub(super) async fn read(
        &mut self,
        doing: &'static str,
        filter: &Filter,
        events: &mut Vec<UnverifiedEvent>,
    ) -> Result<Ending, MirrorError> {
        let id = self.next_id();
        let now = self.clock.now().instant;
        let patience = self.for_asking();
        let (mut asking, message) = Asking::read(id.clone(), filter.clone(), patience, now);
        if let Some(challenge) = self.challenge.as_deref() {
            asking.challenged(challenge);
        }
        self.send(doing, &message).await?;
        loop {
            match self.step(doing, &mut asking).await? {
                Step::None | Step::Frame(_) => {}
                Step::Event(event) => events.push(event),
                Step::Authenticate(challenge) => {
                    if !self.authenticate(doing, &challenge).await? {
                        let reason = "it wants to know who asks; set OSIER_NOSTR_KEY";
                        return Err(self.refused(doing, reason));
                    }
                    self.send(doing, &message).await?;
                }
                Step::Ended(ending) => {
                    self.send(doing, &ClientMessage::Close { id }).await?;
                    return Ok(ending);
                }
            }
        }
    }

    /// Gives the machine the next message, or the time.
    pub(super) async fn step(
        &mut self,
        doing: &'static str,
        asking: &mut Asking,
    ) -> Result<Step, MirrorError> {
        let message = self.next(doing, limit::MIRROR_TICK).await?;
        let now = self.clock.now().instant;
        let step = message.map_or(Step::None, |message| asking.handle(now, message));
        // Time passes while the relay speaks of something else, too (`NOS-74`).
        Ok(match step {
            Step::None => asking.tick(now),
            step => step,
        })
    }

    /// Says who we are, if we are somebody.
    pub(super) async fn authenticate(
        &mut self,
        doing: &'static str,
        challenge: &str,
    ) -> Result<bool, MirrorError> {
        let Some(key) = self.key.clone() else {
            return Ok(false);
        };
        let tag = |name: &str, value: &str| Tag::new([name, value]);
        let tags = [tag("relay", &self.url), tag("challenge", challenge)];
        let draft = EventDraft {
            created_at: self.clock.now().wall,
            kind: EventKind::AUTH,
            tags: tags.into_iter().flatten().collect(),
            content: String::new(),
        };
        let event = UnverifiedEvent::from(draft.sign(&key));
        self.send(doing, &ClientMessage::Auth(event)).await?;
        Ok(true)
    }

    /// Shows whether the connection still lives: one that does not fails a later read.
    pub(super) async fn ping(&mut self, doing: &'static str) -> Result<(), MirrorError> {
        let sent = self.socket.send(Message::Ping(bytes::Bytes::new()));
        match timeout(self.patience, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.lost(doing, &error.to_string())),
            Err(_) => Err(self.silent(doing, "")),
        }
    }

    /// Says goodbye, for a moment.
    pub(super) async fn close(mut self) {
        // A relay that does not answer has had its time.
        let _ = timeout(limit::CLOSE_WITHIN, self.socket.close(None)).await;
    }

    pub(super) fn refused(&self, doing: &'static str, reason: &str) -> MirrorError {
        MirrorError::Refused {
            url: self.url.clone(),
            doing,
            reason: reason.to_owned(),
        }
    }

    pub(super) fn silent(&self, doing: &'static str, notice: &str) -> MirrorError {
        let notice = match notice {
            "" => String::new(),
            text => format!("; its last notice was: {text}"),
        };
        MirrorError::Silent {
            url: self.url.clone(),
            doing,
            seconds: self.patience.as_secs(),
            notice,
        }
    }

    /// The error of an ending that is none of the good ones.
    pub(super) fn bad_end(&self, doing: &'static str, ending: &Ending) -> Option<MirrorError> {
        match ending {
            Ending::Drained | Ending::Cut { .. } => None,
            Ending::Refused(reason) => Some(self.refused(doing, &words(reason))),
            Ending::Silent { notice } => {
                let notice = notice.as_ref().map(words).unwrap_or_default();
                Some(self.silent(doing, &notice))
            }
        }
    }

    fn lost(&self, doing: &'static str, cause: &str) -> MirrorError {
        MirrorError::Lost {
            url: self.url.clone(),
            doing,
            cause: cause.to_owned(),
        }
    }
}
