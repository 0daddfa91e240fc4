//! What a connection asks of its driver.

use std::sync::Arc;

use super::Purpose;
use crate::{
    event::{Event, UnverifiedEvent},
    filter::Filter,
    message::RelayMessage,
    nip::nip17::Viewer,
    reason::{Prefix, Reason},
    subscription::Generation,
};

/// One thing to do. In order: a frame that follows another is sent after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send a text frame.
    Send(Frame),
    /// Check id and signature, on a worker; answer with [`super::Input::Verified`].
    Verify {
        /// What for.
        purpose: Purpose,
        /// The event.
        event: UnverifiedEvent,
    },
    /// Store the event, make it durable, fan it out; answer with [`super::Input::Published`].
    Append(Event),
    /// Fan an ephemeral event out and gossip it, and store nothing; answer likewise.
    Broadcast(Event),
    /// Register the filters for live events, **before** a scan of the same request takes its
    /// snapshot: then nothing falls between the two.
    Subscribe {
        /// For which request.
        generation: Generation,
        /// Any of these.
        filters: Arc<[Filter]>,
    },
    /// Read stored events; answer with [`super::Input::Stored`] and [`super::Input::ScanEnded`].
    Scan {
        /// For which request.
        generation: Generation,
        /// Each with its own page; events that match several come once.
        pages: Vec<Page>,
        /// Who asks.
        viewer: Viewer,
    },
    /// Nothing is to be read: answer with [`super::Input::ScanEnded`], drained, as of the last
    /// batch that is durable now, **before** the client's next frame: what it publishes from then
    /// on is live.
    Mark {
        /// For which request.
        generation: Generation,
    },
    /// Count; answer with [`super::Input::Counted`].
    Count {
        /// For which request.
        generation: Generation,
        /// Any of these. A filter with a limit counts at most so many of its own.
        filters: Vec<Filter>,
        /// Who asks.
        viewer: Viewer,
    },
    /// Open a negentropy session and give it its first frame; answer with
    /// [`super::Input::NegAnswered`].
    NegOpen {
        /// For which request.
        generation: Generation,
        /// What is compared. Its limit counts: the newest so many.
        filter: Filter,
        /// Who asks.
        viewer: Viewer,
        /// The first frame.
        frame: Vec<u8>,
    },
    /// Give a session its next frame; answer likewise.
    NegFrame {
        /// For which request.
        generation: Generation,
        /// The frame.
        frame: Vec<u8>,
    },
    /// End whatever goes on for a request: subscription, scan, count or session. What is still
    /// said for it is ignored.
    Stop {
        /// Which request.
        generation: Generation,
    },
}

/// One filter of a request, and how much of it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What is read.
    pub filter: Filter,
    /// Events in the page. The scan looks one further.
    pub events_max: u64,
    /// Whether the page goes on to the end of its last second, up to
    /// [`crate::limit::PAGE_EVENTS_HARD_MAX`] (NIP-67): where our own cap cuts, never where the
    /// client's limit does.
    pub whole_second: bool,
}

/// A text frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A whole message.
    Text(String),
    /// A whole message that says what became of an event or a request.
    Answer {
        /// The message.
        text: String,
        /// What it says.
        verdict: Verdict,
    },
    /// An event: what stands before it, once for a subscription; the event itself, once for all.
    Event {
        /// `["EVENT","id",`
        head: Arc<str>,
        /// The event's canonical JSON.
        json: Arc<str>,
    },
}

/// What a client is told of something that it asked for: what an operator counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The event was taken: stored, or told to who listens.
    Taken,
    /// The event had come before.
    Known,
    /// The event was not taken.
    EventRefused(Prefix),
    /// The request, or the session, was refused or ended.
    RequestRefused(Prefix),
}

impl Verdict {
    /// What a message says; none if it is no verdict.
    pub(super) fn of(message: &RelayMessage) -> Option<Self> {
        let prefix = |reason: &Reason| reason.prefix().unwrap_or(Prefix::Error);
        match message {
            RelayMessage::Ok {
                accepted, reason, ..
            } => Some(match (accepted, reason.prefix()) {
                (true, Some(Prefix::Duplicate)) => Self::Known,
                (true, _) => Self::Taken,
                (false, _) => Self::EventRefused(prefix(reason)),
            }),
            RelayMessage::Closed { reason, .. } | RelayMessage::NegErr { reason, .. } => {
                Some(Self::RequestRefused(prefix(reason)))
            }
            _ => None,
        }
    }
}

impl Frame {
    /// Bytes of the frame, for back-pressure.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Answer { text, .. } => text.len(),
            Self::Event { head, json } => head.len() + json.len() + 1,
        }
    }

    /// Appends the frame to a buffer that is written at once.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) | Self::Answer { text, .. } => {
                out.extend_from_slice(text.as_bytes());
            }
            Self::Event { head, json } => {
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(json.as_bytes());
                out.push(b']');
            }
        }
    }

    /// The whole text.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) | Self::Answer { text, .. } => text.clone(),
            Self::Event { head, json } => format!("{head}{json}]"),
        }
    }
}
