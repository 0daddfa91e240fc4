//! Tests of verdicts: each row of the matrix as a story, and every small case against an oracle.

mod agreement;
mod exhaustive;
mod matrix;
mod oracle;
mod order;

use std::num::NonZeroU32;

use osier_core::{Coverage, NodeId, Role};

use super::*;
use crate::{
    Failure, Outcome, Reason, RefuseReason, Rule,
    testing::{Drain, TestFacts, at_ms},
};

const COMPLETE: Coverage = Coverage::Complete;

fn storage_first(facts: &TestFacts) -> Verdict<Drain> {
    verdict(Rule::StorageFirst, facts)
}

/// Whom a verdict rests on, and how far back it says to reach.
fn said(verdict: &Verdict<Drain>) -> Option<(NodeId, Coverage)> {
    match verdict {
        Verdict::Synced {
            by: Voucher::Provider { node, .. },
            coverage,
            ..
        } => Some((*node, *coverage)),
        _ => None,
    }
}

fn waiting(verdict: &Verdict<Drain>) -> Option<&[NodeId]> {
    match verdict {
        Verdict::Pending { waiting, .. } => Some(waiting),
        _ => None,
    }
}

fn failure(verdict: &Verdict<Drain>) -> Option<(Failure, &[(NodeId, Reason)])> {
    match verdict {
        Verdict::Failed {
            failure, reasons, ..
        } => Some((*failure, reasons)),
        _ => None,
    }
}

fn quorum(n: u32, role: Option<Role>) -> Rule {
    let n = NonZeroU32::new(n).unwrap();
    Rule::Quorum { n, role }
}

fn refused(retry_at_ms: Option<u64>) -> Outcome<Drain> {
    Outcome::Refused {
        reason: RefuseReason::Overloaded,
        retry_at: retry_at_ms.map(at_ms),
    }
}
