//! The messages between clients and relays: NIP-01, NIP-42, NIP-45, NIP-67, NIP-77.
//!
//! | from a client | what a relay answers |
//! | --- | --- |
//! | `["EVENT", event]` | `["OK", event id, accepted, reason]` |
//! | `["REQ", id, filter...]` | `["EVENT", id, event]` |
//! | | `["EOSE", id, hints?]` |
//! | | `["CLOSED", id, reason]` |
//! | `["CLOSE", id]` | |
//! | `["COUNT", id, filter...]` | `["COUNT", id, {count, approximate?, hll?}]` |
//! | | `["CLOSED", id, reason]` |
//! | `["AUTH", event]` | `["OK", event id, accepted, reason]` |
//! | | `["AUTH", challenge]`, unasked |
//! | `["NEG-OPEN", id, filter, hex]` | `["NEG-MSG", id, hex]` |
//! | `["NEG-MSG", id, hex]` | `["NEG-ERR", id, reason, cap?]` |
//! | `["NEG-CLOSE", id]` | |
//! | what has no id | `["NOTICE", reason]` |

mod client;
mod relay;

pub use client::{Refusal, Target};
pub use relay::RelayMessageInvalid;

use crate::{
    escape, event::UnverifiedEvent, filter::Filter, key::EventId, nip::nip67::Hints,
    reason::Reason, sketch::Sketch, subscription::SubscriptionId,
};

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Publish this.
    Event(UnverifiedEvent),
    /// Send what matches, now and as it comes.
    Req {
        /// Names the subscription.
        id: SubscriptionId,
        /// Any of these is to match; 1 to [`crate::limit::FILTERS_MAX`].
        filters: Vec<Filter>,
    },
    /// End a subscription.
    Close {
        /// Which one.
        id: SubscriptionId,
    },
    /// Say how many match.
    Count {
        /// Names the question.
        id: SubscriptionId,
        /// Any of these is to match; 1 to [`crate::limit::FILTERS_MAX`].
        filters: Vec<Filter>,
    },
    /// I am the signer of this.
    Auth(UnverifiedEvent),
    /// Compare what matches.
    NegOpen {
        /// Names the session; apart from the ids of subscriptions.
        id: SubscriptionId,
        /// What is compared.
        filter: Filter,
        /// The initiator's first frame.
        frame: Vec<u8>,
    },
    /// Go on comparing.
    NegMsg {
        /// Which session.
        id: SubscriptionId,
        /// The initiator's next frame.
        frame: Vec<u8>,
    },
    /// End a comparison.
    NegClose {
        /// Which session.
        id: SubscriptionId,
    },
}

/// What a relay sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayMessage {
    /// An event that matches.
    Event {
        /// For which subscription.
        id: SubscriptionId,
        /// The event, as far as this end knows.
        event: UnverifiedEvent,
    },
    /// What became of a published event, or of an authentication.
    Ok {
        /// Which event.
        id: EventId,
        /// Whether the relay took it.
        accepted: bool,
        /// Why not, or a remark.
        reason: Reason,
    },
    /// All stored events have been sent; live ones follow.
    Eose {
        /// For which subscription.
        id: SubscriptionId,
        /// What is known of the rest (NIP-67).
        hints: Hints,
    },
    /// A subscription is over, or a count is refused.
    Closed {
        /// Which one.
        id: SubscriptionId,
        /// Why.
        reason: Reason,
    },
    /// Something about no request in particular.
    Notice(Reason),
    /// How many match.
    Count {
        /// Which question.
        id: SubscriptionId,
        /// The answer.
        answer: CountAnswer,
    },
    /// Sign this to authenticate.
    Auth {
        /// The text to be signed.
        challenge: Box<str>,
    },
    /// The responder's frame.
    NegMsg {
        /// Which session.
        id: SubscriptionId,
        /// The frame.
        frame: Vec<u8>,
    },
    /// A session is over.
    NegErr {
        /// Which one.
        id: SubscriptionId,
        /// Why.
        reason: Reason,
        /// How many records a session may have, if there were too many (NIP-77).
        cap: Option<u64>,
    },
}

/// How many events match (NIP-45).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountAnswer {
    /// The number.
    pub count: u64,
    /// Whether it is an estimate.
    pub approximate: bool,
    /// Who signed them, as far as a sketch tells.
    pub sketch: Option<Sketch>,
}

impl CountAnswer {
    /// An exact number without a sketch.
    pub const fn exact(count: u64) -> Self {
        Self {
            count,
            approximate: false,
            sketch: None,
        }
    }
}

/// Starts a message: the verb, and what follows in JSON, comma by comma.
#[derive(Debug)]
struct Writer(String);

impl Writer {
    fn new(verb: &str) -> Self {
        let mut out = String::with_capacity(128);
        out.push('[');
        escape::push_string(&mut out, verb);
        Self(out)
    }

    #[must_use]
    fn string(mut self, text: &str) -> Self {
        self.0.push(',');
        escape::push_string(&mut self.0, text);
        self
    }

    #[must_use]
    fn json(mut self, json: &str) -> Self {
        self.0.push(',');
        self.0.push_str(json);
        self
    }

    #[must_use]
    fn hex(self, bytes: &[u8]) -> Self {
        self.string(&data_encoding::HEXLOWER.encode(bytes))
    }

    fn finish(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

#[cfg(test)]
mod tests;
