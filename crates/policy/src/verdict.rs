//! What the facts add up to.

use osier_core::{Coverage, NodeId, StateHash};

use crate::{
    facts::{Facts, Search},
    outcome::Proof,
    reason::{Failure, Reason, reason},
    rule::{Rule, Ruling},
    tally::{self, Seat},
};

/// What a topic's facts add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<P> {
    /// Not yet.
    Pending {
        /// Whom the rule waits for, best first; empty while it waits for a provider to turn up.
        waiting: Vec<NodeId>,
        /// Trusted, connected providers whose outcome is open.
        still_pending: u32,
    },
    /// The rule is satisfied.
    Synced {
        /// On whose word.
        by: Voucher<P>,
        /// How far back.
        coverage: Coverage,
        /// Whether others say the same.
        convergence: Convergence,
        /// Trusted, connected providers whose outcome is open.
        still_pending: u32,
    },
    /// Nobody is left to wait for, and those who drained disagree (`POL-13`). Only the rules that
    /// ask for agreement end so.
    Diverged {
        /// At least two, each with members best first, the camp of the best member first.
        camps: Vec<Camp>,
        /// Trusted, connected providers whose outcome is open.
        still_pending: u32,
    },
    /// Nobody is left to wait for (`POL-16`).
    Failed {
        /// Whether there was anyone at all.
        failure: Failure,
        /// Each trusted provider, best first, and why not.
        reasons: Vec<(NodeId, Reason)>,
        /// Trusted, connected providers whose outcome is open; they do not count for the rule.
        still_pending: u32,
    },
}

impl<P> Verdict<P> {
    /// The number of trusted, connected providers whose outcome is open (`POL-14`).
    pub const fn still_pending(&self) -> u32 {
        match self {
            Self::Pending { still_pending, .. }
            | Self::Synced { still_pending, .. }
            | Self::Diverged { still_pending, .. }
            | Self::Failed { still_pending, .. } => *still_pending,
        }
    }
}

/// On whose word a topic is synced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Voucher<P> {
    /// Our own: we are a trusted archive and know of no other trusted provider (`POL-12`).
    Sole,
    /// A provider's.
    Provider {
        /// Who.
        node: NodeId,
        /// What shows it.
        proof: P,
    },
}

/// Whether the drained trusted providers hold the same history (`POL-13`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Convergence {
    /// All of them do.
    Converged {
        /// How many, the voucher among them; at least 2.
        with: u32,
    },
    /// Nobody else has drained, or there is nobody else.
    Unverified,
    /// They do not.
    Diverged {
        /// At least two, each with members best first, the camp of the best member first.
        camps: Vec<Camp>,
    },
}

/// Providers who drained in the same state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Camp {
    /// What they agree on.
    pub state: StateHash,
    /// Best first; never empty.
    pub members: Vec<NodeId>,
}

/// What the present facts add up to under a rule: a pure function of them (`POL-1`).
///
/// A verdict may go from `Synced` to `Pending`, when an archive turns up or a provider leaves.
/// What was said before stays true of the snapshot that it named.
pub fn verdict<P: Proof>(rule: Rule, facts: &Facts<P>) -> Verdict<P> {
    let seats = tally::seats(facts);
    if facts.me.trusted_archive && seats.is_empty() {
        return sole();
    }
    let still_pending = tally::count(&tally::open(&seats));
    match rule.judge(&seats, facts.me.held) {
        Ruling::Synced(seat) => synced(seat, &seats, still_pending),
        Ruling::Waits(waiting) => Verdict::Pending {
            waiting,
            still_pending,
        },
        Ruling::Ended if may_come(&seats, facts.search) => Verdict::Pending {
            waiting: Vec::new(),
            still_pending,
        },
        Ruling::Ended => ended(rule, &seats, still_pending),
    }
}

/// Whether someone who is not here may still turn up (`POL-15`): one who is trusted, or, when
/// nobody who is trusted is here, one who will be.
fn may_come<P>(seats: &[Seat<'_, P>], search: Search) -> bool {
    let here = seats.iter().filter(|seat| seat.provider.connected).count();
    search == Search::Looking && (here == 0 || here < seats.len())
}

/// `POL-12`.
const fn sole<P>() -> Verdict<P> {
    Verdict::Synced {
        by: Voucher::Sole,
        coverage: Coverage::Complete,
        convergence: Convergence::Unverified,
        still_pending: 0,
    }
}

fn synced<P: Proof>(seat: &Seat<'_, P>, seats: &[Seat<'_, P>], still_pending: u32) -> Verdict<P> {
    let proof = seat.proof().expect("a rule is satisfied by a drained seat");
    let coverage = seat.coverage().expect("a drained seat has coverage");
    Verdict::Synced {
        by: Voucher::Provider {
            node: seat.node,
            proof: proof.clone(),
        },
        coverage,
        convergence: convergence(proof.state(), tally::camps(seats)),
        still_pending,
    }
}

/// `POL-13`. All drained trusted providers are heard, whether or not they count for the rule.
fn convergence(state: StateHash, camps: Vec<Camp>) -> Convergence {
    if camps.len() > 1 {
        return Convergence::Diverged { camps };
    }
    match tally::count(tally::camp(&camps, state)) {
        0 | 1 => Convergence::Unverified,
        with => Convergence::Converged { with },
    }
}

/// Nobody is left: a disagreement under a rule that asks for agreement, or a failure.
fn ended<P: Proof>(rule: Rule, seats: &[Seat<'_, P>], still_pending: u32) -> Verdict<P> {
    let camps = tally::camps(seats.iter().filter(|seat| rule.counts(seat.standing.role)));
    if rule.asks_for_agreement() && camps.len() > 1 {
        return Verdict::Diverged {
            camps,
            still_pending,
        };
    }
    failed(rule, seats, still_pending)
}

/// `POL-16`.
fn failed<P: Proof>(rule: Rule, seats: &[Seat<'_, P>], still_pending: u32) -> Verdict<P> {
    let why = |seat: &Seat<'_, P>| {
        if rule.counts(seat.standing.role) {
            reason(seat, rule)
        } else {
            Reason::RoleNotCounted
        }
    };
    let anyone = seats.iter().any(|seat| seat.provider.connected);
    Verdict::Failed {
        failure: if anyone {
            Failure::Exhausted
        } else {
            Failure::NoProvider
        },
        reasons: seats.iter().map(|seat| (seat.node, why(seat))).collect(),
        still_pending,
    }
}

#[cfg(test)]
mod tests;
