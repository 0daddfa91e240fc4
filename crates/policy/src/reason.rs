//! Why a provider could not make the topic complete.

use osier_core::{Coverage, Instant, OrderKey};

use crate::{
    outcome::{CutReason, Outcome, Phase, Proof, RefuseReason},
    rule::Rule,
    tally::Seat,
};

/// Why no provider can make the topic complete now (`POL-16`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No trusted provider is connected, and the time to look for one has passed.
    NoProvider,
    /// Trusted providers are connected, and none of them is left that could.
    Exhausted,
}

/// Why one trusted provider could not (`POL-16`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is no connection, and none was lost in mid-session.
    NotConnected,
    /// The connection went in mid-session.
    Lost,
    /// Its deadline passed.
    Silent {
        /// What the session was at.
        phase: Phase,
    },
    /// It ended, and something is missing.
    Cut(CutReason),
    /// It would not serve.
    Refused {
        /// Why.
        reason: RefuseReason,
        /// When it will be asked again.
        retry_at: Option<Instant>,
    },
    /// It drained, and its floor leaves a gap above what was held: ask someone deeper (`POL-8`).
    TooShallow {
        /// Its floor.
        floor: OrderKey,
    },
    /// It drained, and the rule asks for more who agree (`POL-10`, `POL-11`).
    NotEnough,
    /// The rule counts only those trusted in another role (`POL-11`).
    RoleNotCounted,
}

/// Why a seat whose role counts has come to nothing under a rule.
pub(crate) fn reason<P: Proof>(seat: &Seat<'_, P>, rule: Rule) -> Reason {
    match &seat.provider.outcome {
        Outcome::Lost => Reason::Lost,
        Outcome::Silent { phase } => Reason::Silent { phase: *phase },
        Outcome::Cut(reason) => Reason::Cut(*reason),
        Outcome::Refused { reason, retry_at } => Reason::Refused {
            reason: *reason,
            retry_at: *retry_at,
        },
        Outcome::Drained(_) | Outcome::Unasked | Outcome::Streaming { .. } => drained(seat, rule),
    }
}

/// Why one who drained did not suffice; who neither drained nor failed is not here.
fn drained<P: Proof>(seat: &Seat<'_, P>, rule: Rule) -> Reason {
    match (rule, seat.coverage()) {
        (_, None) => Reason::NotConnected,
        (Rule::StorageFirst, Some(Coverage::From { floor })) => Reason::TooShallow { floor },
        (_, Some(_)) => Reason::NotEnough,
    }
}
