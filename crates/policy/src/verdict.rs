//! What the facts add up to.

use std::num::NonZeroU32;

use osier_core::{Coverage, NodeId, Role, StateHash};

use crate::{
    facts::{Facts, Held, Search},
    outcome::Proof,
    reason::{Failure, Reason, reason},
    rule::Rule,
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
    let ruling = match rule {
        Rule::StorageFirst => storage_first(&seats, facts.me.held),
        Rule::FirstTrusted => first_trusted(&seats),
        Rule::StrictMajority => strict_majority(&seats),
        Rule::Quorum { n, role } => quorum(&seats, n, role),
    };
    let still_pending = tally::count(&tally::open(&seats));
    match ruling {
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

/// What a rule makes of the seats.
enum Ruling<'a, P> {
    /// It is satisfied, on the word of this one.
    Synced(&'a Seat<'a, P>),
    /// It is not, and these may still change that; never empty.
    Waits(Vec<NodeId>),
    /// It is not, and nobody who is here can change that.
    Ended,
}

/// `POL-6`, `POL-7`, `POL-8`.
fn storage_first<'a, P: Proof + 'a>(seats: &'a [Seat<'a, P>], held: Held) -> Ruling<'a, P> {
    let is_archive = |seat: &&Seat<'_, P>| seat.standing.role == Role::Archive;
    let complete = |seat: &&Seat<'_, P>| seat.coverage() == Some(Coverage::Complete);
    if let Some(archive) = seats.iter().find(complete) {
        return Ruling::Synced(archive);
    }
    let archives = tally::open(seats.iter().filter(is_archive));
    if !archives.is_empty() {
        return Ruling::Waits(archives);
    }
    let joins_held = |seat: &&Seat<'_, P>| seat.coverage().is_some_and(|c| held.is_reached_by(&c));
    match tally::deepest(seats.iter().filter(joins_held)) {
        Some(seat) => Ruling::Synced(seat),
        None => waits_or_ended(seats),
    }
}

/// `POL-9`. "First" cannot mean first in time, or the order would matter: of those who drained,
/// the one that reaches back furthest speaks.
fn first_trusted<'a, P: Proof + 'a>(seats: &'a [Seat<'a, P>]) -> Ruling<'a, P> {
    match tally::deepest(seats) {
        Some(seat) => Ruling::Synced(seat),
        None => waits_or_ended(seats),
    }
}

/// `POL-10`.
fn strict_majority<'a, P: Proof + 'a>(seats: &'a [Seat<'a, P>]) -> Ruling<'a, P> {
    let voters: Vec<_> = seats.iter().filter(|seat| seat.has_vote()).collect();
    let of = voters.len();
    agreement(&voters, |agreed| agreed * 2 > of)
}

/// `POL-11`.
fn quorum<'a, P: Proof + 'a>(
    seats: &'a [Seat<'a, P>],
    n: NonZeroU32,
    role: Option<Role>,
) -> Ruling<'a, P> {
    let voters: Vec<_> = seats.iter().filter(|seat| counts(seat, role)).collect();
    let enough = usize::try_from(n.get()).unwrap_or(usize::MAX);
    agreement(&voters, |agreed| agreed >= enough)
}

/// Whether a seat counts for a rule that asks for a role.
fn counts<P>(seat: &Seat<'_, P>, role: Option<Role>) -> bool {
    role.is_none_or(|role| seat.standing.role == role)
}

/// Satisfied by a camp that is large enough; of several the one with the best member.
fn agreement<'a, P: Proof + 'a>(
    voters: &[&'a Seat<'a, P>],
    enough: impl Fn(usize) -> bool,
) -> Ruling<'a, P> {
    let camps = tally::camps(voters.iter().copied());
    let winner = camps.iter().find(|camp| enough(camp.members.len()));
    let members = voters.iter().copied().filter(|seat| {
        let state = seat.proof().map(Proof::state);
        winner.is_some_and(|camp| state == Some(camp.state))
    });
    match tally::deepest(members) {
        Some(seat) => Ruling::Synced(seat),
        None => waits_or_ended(voters.iter().copied()),
    }
}

fn waits_or_ended<'a, P: Proof + 'a>(
    seats: impl IntoIterator<Item = &'a Seat<'a, P>>,
) -> Ruling<'a, P> {
    let open = tally::open(seats);
    if open.is_empty() {
        Ruling::Ended
    } else {
        Ruling::Waits(open)
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
    let role = match rule {
        Rule::StorageFirst | Rule::FirstTrusted => return failed(rule, seats, still_pending, None),
        Rule::StrictMajority => None,
        Rule::Quorum { role, .. } => role,
    };
    let camps = tally::camps(seats.iter().filter(|seat| counts(seat, role)));
    if camps.len() > 1 {
        return Verdict::Diverged {
            camps,
            still_pending,
        };
    }
    failed(rule, seats, still_pending, role)
}

/// `POL-16`.
fn failed<P: Proof>(
    rule: Rule,
    seats: &[Seat<'_, P>],
    still_pending: u32,
    role: Option<Role>,
) -> Verdict<P> {
    let why = |seat: &Seat<'_, P>| {
        if counts(seat, role) {
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
