//! What the session machines ask of whoever drives them, and how a session can end.

use std::collections::VecDeque;

use osier_core::{Entry, Role, SessionId, StateHash, Verified};

use crate::{
    client::Evidence,
    fault::{CloseCode, Fault},
    marker::FailureReason,
    message::{Message, Mode, RefuseReason, Summary, Verdict},
    token::Token,
};

/// An output of a session machine.
#[derive(Debug)]
pub enum SessionOutput {
    /// Write this on the stream, before anything from `poll_bulk`.
    Send(Message),
    /// The session is granted. Once, and never after an end.
    Started(Started),
    /// Store these in one transaction, the token with them, and answer with `durable`.
    Ingest(Ingest),
    /// Entries have come; never goes back within a session.
    Progress {
        /// Entries received.
        received: u64,
        /// Entries that will come in all, once known.
        expected: Option<u64>,
    },
    /// A client session has its one end. It may still have uploads: drive it until `is_over`.
    ClientEnded(ClientEnd),
    /// A provider session has its one end.
    ProviderEnded(ProviderEnd),
}

/// A granted session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// The provider's name for it.
    pub session: SessionId,
    /// How the difference is found at first.
    pub mode: Mode,
    /// The other side's role.
    pub role: Role,
    /// What the other side holds.
    pub summary: Summary,
    /// Whether a token was shown that the provider cannot serve.
    pub token_unserviceable: bool,
}

/// Entries to store.
#[derive(Debug)]
pub struct Ingest {
    /// Names the batch within the session; ascending.
    pub batch: u64,
    /// Authentic; in the order in which they came.
    pub entries: Vec<Verified<Entry>>,
    /// To be stored in the same transaction, for the next session with this provider.
    pub token: Option<Token>,
}

/// The end of a client session (`CMP-13`). Only `Drained` can make anything complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEnd {
    /// Everything that the provider's snapshot holds is stored here, and that has been checked.
    Drained(Box<Evidence>),
    /// A marker came and something that it speaks for is missing.
    Cut {
        /// What.
        reason: CutReason,
    },
    /// Not granted.
    Refused {
        /// Why.
        reason: RefuseReason,
        /// When to ask again, in milliseconds; 0 when asking again will not help.
        retry_after_ms: u64,
    },
    /// The provider said that it could not, or this side cancelled.
    Failed(FailureReason),
    /// Somebody is at fault.
    Fault(Fault),
    /// The stream ended before any marker, or before what the marker speaks for could be asked for.
    Lost,
    /// The provider said nothing for too long.
    Silent,
}

/// What is missing of what a marker speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutReason {
    /// Another number of entries came than the marker counts.
    Count {
        /// What the marker says.
        said: u64,
        /// What came.
        received: u64,
    },
    /// The last entry of the marker is not the last that came.
    Last,
    /// What was held and what came do not add up to the provider's set.
    Set,
    /// The provider did not finish saying what it lacks.
    Wants,
    /// A head that the marker speaks for is not held.
    Head,
    /// Holes here that the provider does not have, and did not fill.
    Holes {
        /// How many, at least.
        open: u64,
    },
    /// Too many entries had to wait for proof that their author signed them.
    Unauthentic,
    /// Entries came whose authors may not write in this granted topic, as far as is known here
    /// (`ENT-43`). Nobody is to blame: one side does not know all of the owner's words yet.
    Withheld,
}

impl ClientEnd {
    /// The code to close the stream with.
    pub fn close_code(&self) -> CloseCode {
        match self {
            Self::Drained(_) | Self::Cut { .. } | Self::Refused { .. } => CloseCode::Done,
            Self::Failed(_) | Self::Lost => CloseCode::Cancelled,
            Self::Fault(fault) => fault.close_code(),
            Self::Silent => CloseCode::Silent,
        }
    }
}

/// The end of a provider session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderEnd {
    /// A marker was sent and the client has answered; its uploads are durable.
    Served {
        /// What the client made of it.
        verdict: Verdict,
        /// The client's state after it.
        state: StateHash,
        /// Entries sent.
        sent: u64,
        /// Entries received.
        received: u64,
    },
    /// Ended from here, and the client was told.
    Failed(FailureReason),
    /// Somebody is at fault.
    Fault(Fault),
    /// The stream ended before the client's last word.
    Lost,
    /// The client said nothing for too long.
    Silent,
}

impl ProviderEnd {
    /// The code to close the stream with.
    pub fn close_code(&self) -> CloseCode {
        match self {
            Self::Served { .. } => CloseCode::Done,
            Self::Failed(_) | Self::Lost => CloseCode::Cancelled,
            Self::Fault(fault) => fault.close_code(),
            Self::Silent => CloseCode::Silent,
        }
    }
}

/// Outputs that wait for the driver. One input adds a handful at most, and a driver drains them
/// before it gives the next.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: VecDeque<SessionOutput>,
    sends: usize,
}

impl Outbox {
    pub(crate) fn push(&mut self, output: SessionOutput) {
        self.sends += usize::from(matches!(output, SessionOutput::Send(_)));
        self.queue.push_back(output);
    }

    pub(crate) fn extend(&mut self, outputs: impl IntoIterator<Item = SessionOutput>) {
        outputs.into_iter().for_each(|output| self.push(output));
    }

    pub(crate) fn pop(&mut self) -> Option<SessionOutput> {
        let output = self.queue.pop_front()?;
        if matches!(output, SessionOutput::Send(_)) {
            assert!(self.sends > 0, "every send was counted");
            self.sends -= 1;
        }
        Some(output)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether a message waits that goes before any bulk.
    pub(crate) fn has_sends(&self) -> bool {
        self.sends > 0
    }
}
