//! The proof that a provider has been drained (`CMP-12`). Only the judge can make one.

use osier_core::{Coverage, EntryHash, NodeId, SessionId, SetSum, StateHash};

use super::super::Granted;
use crate::{
    marker::HistorySyncComplete,
    message::{Mode, Window},
    token::Token,
};

/// Count, last and set are right (`CMP-8`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted(());

impl Counted {
    pub(super) fn new() -> Self {
        Self(())
    }
}

/// Every head that the provider vouches for is held (`CMP-9`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Covered(());

impl Covered {
    pub(super) fn new() -> Self {
        Self(())
    }
}

/// Every hole is the provider's too (`CMP-10`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Closed {
    dangling: u64,
}

impl Closed {
    pub(super) fn new(dangling: u64) -> Self {
        Self { dangling }
    }
}

/// What was checked before a provider counts as drained. There is no other way to make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    provider: NodeId,
    session: SessionId,
    mode: Mode,
    coverage: Coverage,
    set: SetSum,
    state: StateHash,
    own_state: StateHash,
    received: u64,
    surplus: u64,
    dangling: u64,
    last: Option<EntryHash>,
    resume: Token,
}

impl Evidence {
    pub(super) fn new(
        (Counted(()), Covered(()), closed): (Counted, Covered, Closed),
        granted: &Granted,
        marker: &HistorySyncComplete,
        provider: NodeId,
        own_state: StateHash,
    ) -> Self {
        Self {
            provider,
            session: marker.session,
            mode: granted.mode,
            // What was not compared is not known to be complete.
            coverage: match granted.compared() {
                None => marker.covers.coverage,
                Some(Window { floor, .. }) => Coverage::From { floor },
            },
            set: marker.covers.set,
            state: marker.covers.state,
            own_state,
            received: granted.intake.arrived().count(),
            surplus: granted.upload.wanted(),
            dangling: closed.dangling,
            last: granted.intake.arrived().last(),
            resume: marker.resume.clone(),
        }
    }

    /// Who was drained.
    pub fn provider(&self) -> NodeId {
        self.provider
    }

    /// In which session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// How the difference was found.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How far back this reaches: the provider's floor, or this node's own if that is higher and
    /// only what lies above was compared.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Entries that the provider's snapshot held.
    pub fn entries(&self) -> u64 {
        self.set.count()
    }

    /// The provider's set.
    pub fn set(&self) -> SetSum {
        self.set
    }

    /// The provider's state.
    pub fn state(&self) -> StateHash {
        self.state
    }

    /// This node's state when it judged.
    pub fn own_state(&self) -> StateHash {
        self.own_state
    }

    /// Whether both states agree. With a surplus they only will once that has been stored there.
    pub fn is_converged(&self) -> bool {
        self.state == self.own_state
    }

    /// Entries received in the session.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Entries that the provider's snapshot lacked, and that are being sent to it.
    pub fn surplus(&self) -> u64 {
        self.surplus
    }

    /// Holes that both sides have: named by some entry, held by neither. They block nobody.
    pub fn dangling(&self) -> u64 {
        self.dangling
    }

    /// The last entry received.
    pub fn last(&self) -> Option<EntryHash> {
        self.last
    }

    /// The token to keep for the next session with this provider.
    pub fn resume(&self) -> &Token {
        &self.resume
    }
}
