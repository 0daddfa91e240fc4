//! The other side: this node as a client of a relay, one request at a time.
//!
//! A request ends in one of four ways, and only one of them means that everything came. A wall,
//! a refusal, silence and a full page are told apart (`NOS-72`).

use osier_core::{Duration, Instant};

use crate::{
    event::UnverifiedEvent,
    filter::Filter,
    message::{ClientMessage, RelayMessage},
    reason::{Prefix, Reason},
    subscription::SubscriptionId,
    time::Seconds,
};

/// How a request to a relay ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The relay said that it has sent everything.
    Drained,
    /// The relay ended the page, and there may be more.
    Cut {
        /// The time of the oldest event of the page: where to go on. None if no event came.
        oldest: Option<Seconds>,
        /// Whether the relay knows that there is more.
        more: bool,
    },
    /// The relay would not.
    Refused(Reason),
    /// Nothing came for too long.
    Silent {
        /// The last notice that came meanwhile: often the cause.
        notice: Option<Reason>,
    },
}

/// What a message, or time, means for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    None,
    /// An event that has to be verified.
    Event(UnverifiedEvent),
    /// Authenticate with this challenge and send the request again.
    Authenticate(Box<str>),
    /// The responder's frame of a comparison.
    Frame(Vec<u8>),
    /// The request is over. Nothing more comes of it.
    Ended(Ending),
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Question {
    Read,
    Compare,
}

/// One request to a relay: a `REQ` up to its end of stored events, or a negentropy session.
#[derive(Debug, Clone)]
pub struct Asking {
    id: SubscriptionId,
    question: Question,
    patience: Duration,
    heard_at: Instant,
    challenge: Option<Box<str>>,
    has_authenticated: bool,
    oldest: Option<Seconds>,
    notice: Option<Reason>,
    ended: bool,
}

impl Asking {
    /// Asks for stored events; returns the message to send too.
    pub fn read(
        id: SubscriptionId,
        filter: Filter,
        patience: Duration,
        now: Instant,
    ) -> (Self, ClientMessage) {
        let message = ClientMessage::Req {
            id: id.clone(),
            filters: vec![filter],
        };
        (Self::new(id, Question::Read, patience, now), message)
    }

    /// Opens a comparison; returns the message to send too.
    pub fn compare(
        id: SubscriptionId,
        filter: Filter,
        frame: Vec<u8>,
        patience: Duration,
        now: Instant,
    ) -> (Self, ClientMessage) {
        let message = ClientMessage::NegOpen {
            id: id.clone(),
            filter,
            frame,
        };
        (Self::new(id, Question::Compare, patience, now), message)
    }

    fn new(id: SubscriptionId, question: Question, patience: Duration, now: Instant) -> Self {
        Self {
            id,
            question,
            patience,
            heard_at: now,
            challenge: None,
            has_authenticated: false,
            oldest: None,
            notice: None,
            ended: false,
        }
    }

    /// The connection's challenge, if it came before this request.
    pub fn challenged(&mut self, challenge: &str) {
        self.challenge = Some(challenge.into());
    }

    /// A message of the relay has come. Messages for other requests mean nothing.
    pub fn handle(&mut self, now: Instant, message: RelayMessage) -> Step {
        if self.ended {
            return Step::None;
        }
        match message {
            RelayMessage::Auth { challenge } => self.challenge = Some(challenge),
            RelayMessage::Notice(reason) => return self.notice(reason),
            RelayMessage::Event { id, event } if self.is_read(&id) => {
                self.heard_at = now;
                let time = event.claimed_time();
                self.oldest = Some(self.oldest.map_or(time, |oldest| oldest.min(time)));
                return Step::Event(event);
            }
            RelayMessage::Eose { id, hints } if self.is_read(&id) => {
                return self.end(if hints.is_complete() {
                    Ending::Drained
                } else {
                    Ending::Cut {
                        oldest: self.oldest,
                        more: hints.more,
                    }
                });
            }
            RelayMessage::NegMsg { id, frame } if self.is_compare(&id) => {
                self.heard_at = now;
                return Step::Frame(frame);
            }
            RelayMessage::Closed { id, reason } | RelayMessage::NegErr { id, reason, .. }
                if id == self.id =>
            {
                return self.refused(now, reason);
            }
            _ => {}
        }
        Step::None
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Instant) -> Step {
        if self.ended || now.since(self.heard_at) < self.patience {
            return Step::None;
        }
        let notice = self.notice.take();
        self.end(Ending::Silent { notice })
    }

    /// Notices name no request. One that answers a comparison is how relays that do not know
    /// negentropy refuse it; beside a read it may be about anything, and is kept as a clue.
    fn notice(&mut self, reason: Reason) -> Step {
        if self.question == Question::Compare {
            return self.end(Ending::Refused(reason));
        }
        self.notice = Some(reason);
        Step::None
    }

    /// A wall is tried once with a key, where there is a challenge.
    fn refused(&mut self, now: Instant, reason: Reason) -> Step {
        let wall = reason.prefix() == Some(Prefix::AuthRequired) && !self.has_authenticated;
        match self.challenge.clone().filter(|_| wall) {
            Some(challenge) => {
                self.has_authenticated = true;
                self.heard_at = now;
                Step::Authenticate(challenge)
            }
            None => self.end(Ending::Refused(reason)),
        }
    }

    fn is_read(&self, id: &SubscriptionId) -> bool {
        self.question == Question::Read && *id == self.id
    }

    fn is_compare(&self, id: &SubscriptionId) -> bool {
        self.question == Question::Compare && *id == self.id
    }

    fn end(&mut self, ending: Ending) -> Step {
        self.ended = true;
        Step::Ended(ending)
    }
}
