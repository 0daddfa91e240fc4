//! Which rule a topic follows, and its text form.

use std::{fmt, num::NonZeroU32, str::FromStr};

use osier_core::{Coverage, NodeId, Role};

use crate::{
    facts::Held,
    outcome::Proof,
    tally::{self, Seat},
};

/// When a topic's history is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rule {
    /// A connected archive has drained; without one, whoever reaches back far enough (`POL-6`).
    #[default]
    StorageFirst,
    /// The first trusted provider has drained: fast, and coverage says how deep (`POL-9`).
    FirstTrusted,
    /// More than half of the connected trusted providers have drained alike (`POL-10`).
    StrictMajority,
    /// That many have drained alike (`POL-11`).
    Quorum {
        /// How many.
        n: NonZeroU32,
        /// Only those trusted in this role count; `None` for any.
        role: Option<Role>,
    },
}

impl Rule {
    /// What it makes of the seats, which are given best first.
    pub(crate) fn judge<'a, P: Proof>(self, seats: &'a [Seat<'a, P>], held: Held) -> Ruling<'a, P> {
        match self {
            Self::StorageFirst => storage_first(seats, held),
            Self::FirstTrusted => first_trusted(seats),
            Self::StrictMajority => strict_majority(seats),
            Self::Quorum { n, .. } => quorum(self, seats, n),
        }
    }

    /// Whether those trusted in this role count for it (`POL-11`).
    pub(crate) fn counts(self, role: Role) -> bool {
        match self {
            Self::Quorum { role: asked, .. } => asked.is_none_or(|asked| asked == role),
            Self::StorageFirst | Self::FirstTrusted | Self::StrictMajority => true,
        }
    }

    /// Whether a disagreement can keep it from being satisfied (`POL-13`).
    pub(crate) const fn asks_for_agreement(self) -> bool {
        matches!(self, Self::StrictMajority | Self::Quorum { .. })
    }
}

/// What a rule makes of the seats.
pub(crate) enum Ruling<'a, P> {
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
fn quorum<'a, P: Proof + 'a>(rule: Rule, seats: &'a [Seat<'a, P>], n: NonZeroU32) -> Ruling<'a, P> {
    let voters: Vec<_> = seats
        .iter()
        .filter(|seat| rule.counts(seat.standing.role))
        .collect();
    let enough = usize::try_from(n.get()).unwrap_or(usize::MAX);
    agreement(&voters, |agreed| agreed >= enough)
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

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StorageFirst => f.write_str("storage-first"),
            Self::FirstTrusted => f.write_str("first-trusted"),
            Self::StrictMajority => f.write_str("strict-majority"),
            Self::Quorum { n, role: None } => write!(f, "quorum:{n}"),
            Self::Quorum {
                n,
                role: Some(role),
            } => write!(f, "quorum:{n}:{role}"),
        }
    }
}

/// A text that names no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{got:?} is not a completion rule: use storage-first, first-trusted, strict-majority, \
     quorum:N or quorum:N:ROLE, with N at least 1 and ROLE archive, replay or peer"
)]
pub struct RuleTextInvalid {
    /// What was given, cut to 80 characters.
    pub got: String,
}

impl FromStr for Rule {
    type Err = RuleTextInvalid;

    fn from_str(text: &str) -> Result<Self, RuleTextInvalid> {
        let rule = match text {
            "storage-first" => Some(Self::StorageFirst),
            "first-trusted" => Some(Self::FirstTrusted),
            "strict-majority" => Some(Self::StrictMajority),
            _ => text.strip_prefix("quorum:").and_then(parse_quorum),
        };
        rule.ok_or_else(|| RuleTextInvalid {
            got: text.chars().take(80).collect(),
        })
    }
}

/// `N` or `N:ROLE`.
fn parse_quorum(text: &str) -> Option<Rule> {
    let (n, role) = match text.split_once(':') {
        Some((n, role)) => (n, Some(role.parse().ok()?)),
        None => (text, None),
    };
    let n = n.parse().ok()?;
    Some(Rule::Quorum { n, role })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_returns() {
        let texts = [
            "storage-first",
            "first-trusted",
            "strict-majority",
            "quorum:1",
            "quorum:3:archive",
            "quorum:2:replay",
            "quorum:4294967295:peer",
        ];
        for text in texts {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        assert_eq!(Rule::default(), Rule::StorageFirst);
    }

    #[test]
    fn other_texts_are_refused_with_what_was_given() {
        let texts = [
            "",
            "StorageFirst",
            "quorum",
            "quorum:",
            "quorum:0",
            "quorum:-1",
            "quorum:2:",
            "quorum:2:king",
            "quorum:2:archive:x",
            "quorum:4294967296",
        ];
        for text in texts {
            let error = text.parse::<Rule>().unwrap_err();
            assert_eq!(error.got, text);
        }
        let long = "x".repeat(200).parse::<Rule>().unwrap_err();
        assert_eq!(long.got.len(), 80);
    }
}
