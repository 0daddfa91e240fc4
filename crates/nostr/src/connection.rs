//! One client's connection, as a machine: text frames and results in, frames and work out.
//!
//! ```text
//!  EVENT  -> Verify -> Append (or Broadcast) -> OK          OK only once it is durable
//!  AUTH   -> Verify -> OK                                   several keys add up
//!  REQ    -> Subscribe, Scan -> EVENT ... EOSE, EVENT ...   live ones wait for EOSE
//!  COUNT  -> Count -> COUNT
//!  NEG-*  -> NegOpen, NegFrame -> NEG-MSG ...               ends by NEG-CLOSE, fault or idleness
//! ```
//!
//! Everything that a client asks for gets a [`Generation`]. Who answers late names it, and what
//! is said for a request that was closed or replaced meanwhile is dropped (`NOS-43`).

mod compare;
mod count;
mod input;
mod output;
mod publish;
mod query;
mod settings;

use std::{collections::BTreeMap, sync::Arc};

pub use input::{Commit, Input, Now, Published, Purpose, Reach, ScanEnd};
use osier_core::{Bucket, Instant};
pub use output::{Frame, Output, Page, Verdict};
pub use settings::{Quotas, Settings};

use self::query::Subscription;
use crate::{
    key::EventId,
    limit,
    message::{ClientMessage, Refusal, RelayMessage, Target},
    nip::nip17::Viewer,
    reason::Prefix,
    subscription::{ConnectionId, Generation, RequestKey, SubscriptionId},
};

/// The machine of one connection.
#[derive(Debug)]
pub struct Connection {
    id: ConnectionId,
    settings: Arc<Settings>,
    challenge: Box<str>,
    viewer: Viewer,
    last: Generation,
    // Ids of REQ, with what is known of each; and the way back.
    subscriptions: BTreeMap<Generation, Subscription>,
    by_id: BTreeMap<SubscriptionId, Generation>,
    counts: BTreeMap<Generation, SubscriptionId>,
    sessions: BTreeMap<Generation, Session>,
    // Events that have no OK yet.
    unanswered: usize,
    // Of them, those that authenticate: what follows waits for them.
    authenticating: Vec<EventId>,
    // How much of its requests a minute is used.
    requests: Bucket,
}

/// A negentropy session of this connection. Its ids are apart from those of subscriptions.
#[derive(Debug)]
struct Session {
    id: SubscriptionId,
    opened_at: Instant,
    progress_at: Instant,
    // A frame of the client is being answered.
    is_busy: bool,
}

impl Connection {
    /// A new connection; the challenge goes out at once (`NOS-52`).
    ///
    /// The challenge is drawn by the driver, at random and for this connection alone.
    pub fn open(
        id: ConnectionId,
        settings: Arc<Settings>,
        challenge: &str,
        out: &mut Vec<Output>,
    ) -> Self {
        let challenge: String = challenge.chars().take(limit::CHALLENGE_CHARS_MAX).collect();
        let connection = Self {
            id,
            viewer: Viewer::new(settings.gate.clone()),
            settings,
            challenge: challenge.into(),
            last: Generation(0),
            subscriptions: BTreeMap::new(),
            by_id: BTreeMap::new(),
            counts: BTreeMap::new(),
            sessions: BTreeMap::new(),
            unanswered: 0,
            authenticating: Vec::new(),
            requests: Bucket::default(),
        };
        send(
            &RelayMessage::Auth {
                challenge: connection.challenge.clone(),
            },
            out,
        );
        connection
    }

    /// Its id.
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Who has authenticated.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// The name of one of its requests among all connections'.
    pub fn key(&self, generation: Generation) -> RequestKey {
        RequestKey {
            connection: self.id,
            generation,
        }
    }

    /// Whether frames should be read: with too many events unanswered the client waits, and TCP
    /// makes it. So it does while an `AUTH` is being checked: what it asks for next may need it
    /// (`NOS-53`).
    pub fn wants_input(&self) -> bool {
        self.authenticating.is_empty() && self.unanswered < limit::UNANSWERED_EVENTS_MAX / 2
    }

    /// How many subscriptions, counts and sessions are open.
    pub fn open_requests(&self) -> usize {
        self.subscriptions.len() + self.counts.len() + self.sessions.len()
    }

    /// Takes in what happened; appends what is to be done.
    pub fn handle(&mut self, now: Now, input: Input<'_>, out: &mut Vec<Output>) {
        match input {
            Input::Text(text) => match ClientMessage::parse(text) {
                Ok(message) => self.message(now, message, out),
                Err(refusal) => self.refuse(refusal, out),
            },
            Input::Binary => {
                let sentence = "messages are text, not binary";
                self.refuse(Refusal::new(Target::Frame, Prefix::Invalid, sentence), out);
            }
            Input::Verified {
                purpose,
                id,
                outcome,
            } => {
                self.verified(now, purpose, id, outcome, out);
            }
            Input::Published { id, outcome } => self.published(id, outcome, out),
            Input::Stored { generation, event } => self.stored(generation, event, out),
            Input::ScanEnded { generation, end } => self.scan_ended(now, generation, end, out),
            Input::Live {
                generation,
                event,
                commit,
            } => {
                self.live(now, generation, event, commit, out);
            }
            Input::Lagged { generation } => self.lagged(generation, out),
            Input::Counted {
                generation,
                outcome,
            } => self.counted(generation, outcome, out),
            Input::NegAnswered {
                generation,
                outcome,
            } => {
                self.neg_answered(now, generation, outcome, out);
            }
            Input::Tick => {
                self.end_old_reads(now, out);
                self.end_old_sessions(now, out);
            }
            Input::Gone => self.stop_all(out),
        }
    }

    fn message(&mut self, now: Now, message: ClientMessage, out: &mut Vec<Output>) {
        if let Some(target) = message.asks()
            && !self.may_ask(now)
        {
            let sentence = "too many requests in a minute; see NIP-11";
            return self.refuse(Refusal::new(target, Prefix::RateLimited, sentence), out);
        }
        match message {
            ClientMessage::Event(event) => self.verify(Purpose::Publish, event, out),
            ClientMessage::Auth(event) => self.verify(Purpose::Authenticate, event, out),
            ClientMessage::Req { id, filters } => self.req(now, id, filters, out),
            ClientMessage::Close { id } => self.close(&id, out),
            ClientMessage::Count { id, filters } => self.count(id, filters, out),
            ClientMessage::NegOpen { id, filter, frame } => {
                self.neg_open(now, id, filter, frame, out);
            }
            ClientMessage::NegMsg { id, frame } => self.neg_msg(id, frame, out),
            ClientMessage::NegClose { id } => self.neg_close(&id, out),
        }
    }

    /// Refuses something. Whatever is open under the id is over: the client takes `CLOSED` and
    /// `NEG-ERR` for its end, whichever request they answer (`NOS-43`).
    fn refuse(&mut self, refusal: Refusal, out: &mut Vec<Output>) {
        match &refusal.target {
            Target::Request(id) => self.close(id, out),
            Target::Negentropy(id) => self.neg_close(id, out),
            Target::Event(_) | Target::Frame => {}
        }
        send(&refusal.into_message(), out);
    }

    /// Whether one more request fits into this minute; if so, it is counted (`NOS-35`).
    fn may_ask(&mut self, now: Now) -> bool {
        let rate = self.settings.quotas.requests.map(Quotas::rate);
        rate.is_none_or(|rate| self.requests.take(rate, now.instant))
    }

    /// A new request.
    fn next_generation(&mut self) -> Generation {
        self.last = self.last.next();
        self.last
    }

    fn stop_all(&mut self, out: &mut Vec<Output>) {
        let all = self
            .subscriptions
            .keys()
            .chain(self.counts.keys())
            .chain(self.sessions.keys());
        out.extend(all.map(|generation| Output::Stop {
            generation: *generation,
        }));
        self.subscriptions.clear();
        self.by_id.clear();
        self.counts.clear();
        self.sessions.clear();
    }
}

fn send(message: &RelayMessage, out: &mut Vec<Output>) {
    let (text, verdict) = (message.to_json(), Verdict::of(message));
    out.push(Output::Send(match verdict {
        Some(verdict) => Frame::Answer { text, verdict },
        None => Frame::Text(text),
    }));
}

#[cfg(test)]
mod tests {
    use osier_core::Duration;

    use super::*;
    use crate::{connection::Verdict, time::Seconds};

    fn at(ms: u64) -> Now {
        Now {
            wall: Seconds::ZERO,
            instant: Instant::START.after(Duration::from_millis(ms)),
        }
    }

    /// The refusals among what a connection says to a frame.
    fn refusals(connection: &mut Connection, now: Now, text: &str) -> Vec<(String, Verdict)> {
        let mut out = Vec::new();
        connection.handle(now, Input::Text(text), &mut out);
        let said = out.into_iter().filter_map(|output| match output {
            Output::Send(Frame::Answer { text, verdict }) => Some((text, verdict)),
            _ => None,
        });
        said.collect()
    }

    /// NOS-35: requests of all three kinds share one bound; what is refused carries its id, and
    /// closing and publishing cost nothing.
    #[test]
    fn requests_of_a_connection_are_bounded_in_a_minute() {
        let settings = Settings {
            quotas: Quotas {
                requests: Some(3),
                ..Quotas::default()
            },
            ..Settings::default()
        };
        let mut out = Vec::new();
        let mut connection =
            Connection::open(ConnectionId(1), Arc::new(settings), "challenge", &mut out);
        let asks = [
            (r#"["REQ","a",{"kinds":[1]}]"#, r#"["CLOSED","a","#),
            (r#"["COUNT","b",{"kinds":[1]}]"#, r#"["CLOSED","b","#),
            (r#"["NEG-OPEN","c",{},"6100000200"]"#, r#"["NEG-ERR","c","#),
        ];
        for (ask, _) in asks {
            assert_eq!(refusals(&mut connection, at(5), ask), []);
        }
        assert_eq!(connection.open_requests(), 3);
        for (ask, refused) in asks {
            let [(text, verdict)] = &refusals(&mut connection, at(6), ask)[..] else {
                panic!("one answer to {ask}");
            };
            assert!(text.starts_with(refused), "{text}");
            assert_eq!(*verdict, Verdict::RequestRefused(Prefix::RateLimited));
        }
        // What is refused ends what was open under its id.
        assert_eq!(
            connection.open_requests(),
            1,
            "the count is not open by its id"
        );
        assert_eq!(refusals(&mut connection, at(7), r#"["CLOSE","a"]"#), []);
        let next = at(20_006);
        assert_eq!(refusals(&mut connection, next, asks[0].0), []);
        assert_eq!(refusals(&mut connection, next, asks[0].0).len(), 1);
    }
}
