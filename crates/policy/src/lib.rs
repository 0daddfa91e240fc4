//! When is history complete: trust, outcomes, rules, deadlines, verdicts.
//!
//! Pure: a verdict is a function of the present [`Facts`], so the order in which facts arrive
//! cannot matter (`POL-1`). Nothing here keeps state between calls except [`TrustList`] and
//! [`Backoff`], which their owner keeps. The rules are `POL-n` in `specs/05-completion.md`.
//!
//! | module | what it decides |
//! | --- | --- |
//! | `trust` | whose marker counts, in what rank and role |
//! | `outcome` | what is known of one provider, and what proves that it has drained |
//! | `facts` | everything that a verdict looks at |
//! | `rule` | which rule a topic follows, and its text form |
//! | `verdict` | what the facts add up to |
//! | `tally` | who counts, best first; who is open; which providers agree |
//! | `reason` | why a provider could not make the topic complete |
//! | `plan` | whom to ask next |
//! | `deadline` | when a provider counts as silent or slow, when a search has failed |
//! | `backoff` | when to try again |
//! | `words` | what the owner's grants, revocations and manifests add up to |
//! | `space` | when a group of topics is complete |
//! | `limit` | every bound with unit, reason and consequence |
//!
//! Deliberately absent: a boolean that says "complete". A [`Verdict::Synced`] carries the proof of
//! the provider that it rests on, and only a session machine makes proofs.

mod backoff;
mod deadline;
mod facts;
pub mod limit;
mod outcome;
mod plan;
mod reason;
mod rule;
mod space;
mod tally;
#[cfg(test)]
mod testing;
mod trust;
mod verdict;
mod words;

pub use backoff::{Backoff, start_jitter};
pub use deadline::{
    HEDGE_AFTER_START, NO_PROVIDER_AFTER, SILENT_AFTER_PROGRESS, SILENT_AFTER_START,
    UNTRUSTED_MARKER_KEPT, expired, hedge_at, no_provider_at, silent_at,
};
pub use facts::{Facts, Held, Me, ProviderFacts, Search};
pub use outcome::{CutReason, Outcome, Phase, Proof, RefuseReason};
pub use plan::{next_to_ask, wake_at};
pub use reason::{Failure, Reason};
pub use rule::{Rule, RuleTextInvalid};
pub use space::{
    SpaceChange, SpaceFacts, SpaceManifest, SpaceVerdict, TopicState, WithdrawReason, space_change,
    space_verdict,
};
pub use tally::still_pending;
pub use trust::{
    OwnMark, Rank, RankTextInvalid, Standing, TrustEntry, TrustList, TrustListFull, TrustSource,
};
pub use verdict::{Camp, Convergence, Verdict, Voucher, verdict};
pub use words::OwnerWords;
