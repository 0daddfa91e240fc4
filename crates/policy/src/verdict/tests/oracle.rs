//! The verdict once more: slow, and written from the rules alone, to be compared with.
//!
//! No ranking is kept, nothing is counted on the way: every question is asked of all providers
//! again, and agreement is looked for in every subset of them.

use std::cmp::Ordering;

use osier_core::{Coverage, NodeId, OrderKey, Role, StateHash};

use crate::{
    Camp, Convergence, Failure, Held, Outcome, Proof, Reason, Rule, Search, Standing, Verdict,
    Voucher,
    testing::{Drain, TestFacts, TestProvider},
};

/// What the rules say of these facts.
pub(crate) fn oracle(rule: Rule, facts: &TestFacts) -> Verdict<Drain> {
    let all: Vec<Row<'_>> = facts.providers.iter().filter_map(Row::of).collect();
    let still_pending = u32::try_from(all.iter().filter(|row| row.open()).count()).unwrap();
    if facts.me.trusted_archive && all.is_empty() {
        return Verdict::Synced {
            by: Voucher::Sole,
            coverage: Coverage::Complete,
            convergence: Convergence::Unverified,
            still_pending,
        };
    }
    if let Some(row) = satisfied_by(rule, &all, facts.me.held) {
        return Verdict::Synced {
            by: Voucher::Provider {
                node: row.node,
                proof: *row.drained().unwrap(),
            },
            coverage: row.says().unwrap(),
            convergence: convergence(&all, row),
            still_pending,
        };
    }
    let waiting = waits_for(rule, &all);
    let elsewhere = all.iter().any(|row| !row.provider.connected);
    let somebody = all.iter().any(|row| row.provider.connected);
    let may_come = facts.search == Search::Looking && (elsewhere || !somebody);
    if !waiting.is_empty() || may_come {
        return Verdict::Pending {
            waiting,
            still_pending,
        };
    }
    let counted = all.iter().filter(|row| row.counts(rule)).copied().collect();
    let camps = camps(&counted);
    let agreeing = matches!(rule, Rule::StrictMajority | Rule::Quorum { .. });
    if agreeing && camps.len() >= 2 {
        return Verdict::Diverged {
            camps,
            still_pending,
        };
    }
    Verdict::Failed {
        failure: if somebody {
            Failure::Exhausted
        } else {
            Failure::NoProvider
        },
        reasons: best_first(&all)
            .iter()
            .map(|row| (row.node, row.reason(rule)))
            .collect(),
        still_pending,
    }
}

#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    node: NodeId,
    standing: Standing,
    provider: &'a TestProvider,
}

impl<'a> Row<'a> {
    fn of((node, provider): (&NodeId, &'a TestProvider)) -> Option<Self> {
        let standing = provider.trust?;
        Some(Self {
            node: *node,
            standing,
            provider,
        })
    }

    fn open(&self) -> bool {
        let outcome = &self.provider.outcome;
        let unfinished = matches!(outcome, Outcome::Unasked | Outcome::Streaming { .. });
        self.provider.connected && unfinished
    }

    fn drained(&self) -> Option<&'a Drain> {
        match &self.provider.outcome {
            Outcome::Drained(proof) if self.provider.connected => Some(proof),
            _ => None,
        }
    }

    fn state(&self) -> Option<StateHash> {
        self.drained().map(Proof::state)
    }

    fn says(&self) -> Option<Coverage> {
        let proof = self.drained()?;
        let floor = OrderKey::MIN;
        match (self.standing.role, proof.coverage) {
            (Role::Archive, coverage) => Some(coverage),
            (_, Coverage::Complete) => Some(Coverage::From { floor }),
            (_, from) => Some(from),
        }
    }

    /// The floor that it says; `None`, which is less than any, for complete.
    fn floor(&self) -> Option<OrderKey> {
        match self.says().unwrap() {
            Coverage::Complete => None,
            Coverage::From { floor } => Some(floor),
        }
    }

    fn counts(&self, rule: Rule) -> bool {
        match rule {
            Rule::Quorum {
                role: Some(role), ..
            } => self.standing.role == role,
            _ => true,
        }
    }

    fn is_archive(&self) -> bool {
        self.standing.role == Role::Archive
    }

    fn reason(&self, rule: Rule) -> Reason {
        if !self.counts(rule) {
            return Reason::RoleNotCounted;
        }
        match self.provider.outcome {
            Outcome::Unasked | Outcome::Streaming { .. } => Reason::NotConnected,
            Outcome::Drained(_) => match self.says() {
                None => Reason::NotConnected,
                Some(Coverage::From { floor }) if rule == Rule::StorageFirst => {
                    Reason::TooShallow { floor }
                }
                Some(_) => Reason::NotEnough,
            },
            Outcome::Cut(reason) => Reason::Cut(reason),
            Outcome::Refused { reason, retry_at } => Reason::Refused { reason, retry_at },
            Outcome::Silent { phase } => Reason::Silent { phase },
            Outcome::Lost => Reason::Lost,
        }
    }
}

/// `POL-19`: rank, then archive before replay before peer, then node id.
fn compare(a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let place = |role: Role| match role {
        Role::Archive => 1,
        Role::Replay => 2,
        Role::Peer => 3,
    };
    let by_rank = a.standing.rank.get().cmp(&b.standing.rank.get());
    by_rank
        .then(place(a.standing.role).cmp(&place(b.standing.role)))
        .then(a.node.cmp(&b.node))
}

fn best_first<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let mut rows = rows.to_vec();
    rows.sort_by(compare);
    rows
}

/// `POL-8`: the lowest floor, then the best.
fn deepest<'a>(rows: &[Row<'a>]) -> Option<Row<'a>> {
    let order = |a: &Row<'a>, b: &Row<'a>| a.floor().cmp(&b.floor()).then(compare(a, b));
    rows.iter().copied().min_by(order)
}

/// Whose word satisfies the rule, if it is satisfied.
fn satisfied_by<'a>(rule: Rule, all: &[Row<'a>], held: Held) -> Option<Row<'a>> {
    let drained: Vec<_> = all
        .iter()
        .filter(|r| r.drained().is_some())
        .copied()
        .collect();
    match rule {
        Rule::StorageFirst => {
            let whole = |row: &&Row<'a>| row.says() == Some(Coverage::Complete);
            let archives: Vec<_> = drained.iter().filter(whole).copied().collect();
            if !archives.is_empty() {
                return best_first(&archives).first().copied();
            }
            if all.iter().any(|row| row.is_archive() && row.open()) {
                return None;
            }
            let joins = |row: &&Row<'a>| match (row.floor(), held) {
                (None, _) | (_, Held::Nothing) => true,
                (Some(floor), Held::UpTo(place)) => floor == OrderKey::MIN || floor <= place,
            };
            let joining: Vec<_> = drained.iter().filter(joins).copied().collect();
            deepest(&joining)
        }
        Rule::FirstTrusted => deepest(&drained),
        Rule::StrictMajority => {
            let silent = |row: &Row<'_>| matches!(row.provider.outcome, Outcome::Silent { .. });
            let voting = |row: &&Row<'_>| row.provider.connected && !silent(row);
            let votes = all.iter().filter(voting).count();
            agreeing(&drained, |size| size > votes - size)
        }
        Rule::Quorum { n, .. } => {
            let counted: Vec<_> = drained.iter().filter(|r| r.counts(rule)).copied().collect();
            agreeing(&counted, |size| u32::try_from(size).unwrap() >= n.get())
        }
    }
}

/// Every subset of those who drained is tried. Of the ones that agree and are large enough, the
/// one with the best member wins, and all who agree with it may speak for it.
fn agreeing<'a>(drained: &[Row<'a>], enough: impl Fn(usize) -> bool) -> Option<Row<'a>> {
    let mut winners: Vec<Row<'a>> = Vec::new();
    for subset in 1_u32..1 << drained.len() {
        let is_in = |i: &usize| subset & (1 << i) != 0;
        let members: Vec<_> = (0..drained.len())
            .filter(is_in)
            .map(|i| drained[i])
            .collect();
        let alike = members.iter().all(|row| row.state() == members[0].state());
        if alike && enough(members.len()) {
            winners.extend(members);
        }
    }
    let best = best_first(&winners).first().copied()?;
    let with_it = |row: &&Row<'a>| row.state() == best.state();
    let speakers: Vec<_> = drained.iter().filter(with_it).copied().collect();
    deepest(&speakers)
}

/// Who is open and may still satisfy the rule.
fn waits_for(rule: Rule, all: &[Row<'_>]) -> Vec<NodeId> {
    let open: Vec<_> = all.iter().filter(|row| row.open()).copied().collect();
    let archives: Vec<_> = open
        .iter()
        .filter(|row| row.is_archive())
        .copied()
        .collect();
    let waiting = if rule == Rule::StorageFirst && !archives.is_empty() {
        archives
    } else {
        open.into_iter().filter(|row| row.counts(rule)).collect()
    };
    best_first(&waiting).iter().map(|row| row.node).collect()
}

fn camps(rows: &Vec<Row<'_>>) -> Vec<Camp> {
    let drained: Vec<_> = rows
        .iter()
        .filter(|r| r.drained().is_some())
        .copied()
        .collect();
    let ranked = best_first(&drained);
    let is_first = |i: &usize| ranked[..*i].iter().all(|r| r.state() != ranked[*i].state());
    let leaders = (0..ranked.len()).filter(is_first).map(|i| ranked[i]);
    leaders
        .map(|leader| Camp {
            state: leader.state().unwrap(),
            members: ranked
                .iter()
                .filter(|row| row.state() == leader.state())
                .map(|row| row.node)
                .collect(),
        })
        .collect()
}

fn convergence(all: &[Row<'_>], voucher: Row<'_>) -> Convergence {
    let drained: Vec<_> = all
        .iter()
        .filter(|r| r.drained().is_some())
        .copied()
        .collect();
    if drained.iter().any(|row| row.state() != voucher.state()) {
        return Convergence::Diverged {
            camps: camps(&drained),
        };
    }
    match u32::try_from(drained.len()).unwrap() {
        1 => Convergence::Unverified,
        with => Convergence::Converged { with },
    }
}
