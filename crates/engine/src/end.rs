//! What the end of a session means: the provider's outcome, whether to tell, when to ask again.

use osier_core::{Duration, Instant};
use osier_policy::{CutReason, Outcome, RefuseReason as Refused};
use osier_proto::{ClientEnd, CutReason as Cut, Evidence, FailureReason, Mode, RefuseReason};

use crate::{dispute::Disputed, event::DegradedReason, limit, proof::Drained};

/// What the end of a session means.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// Everything that the provider vouches for is here.
    Drained(Box<Evidence>),
    /// The provider could not be reached, or is gone.
    Gone(DegradedReason),
    /// Something is missing, or the provider broke a rule.
    Cut {
        reason: CutReason,
        told: DegradedReason,
    },
    /// The provider would not serve.
    Refused {
        reason: Refused,
        retry_after_ms: u64,
        told: DegradedReason,
    },
    /// The provider fell silent.
    Silent,
    /// It was given up because another provider brings the same: ask again when that is done.
    LeftToAnother,
    /// It gave way to another session: ask again.
    Again { after_ms: u64 },
}

/// When a provider is to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// Not by itself: it has drained, or said that asking again will not help (`POL-20`).
    No,
    /// It failed: after our backoff, and not before its own pacing.
    Failed(Option<Duration>),
    /// It gave way: soon, and that is no failure.
    Soon(Duration),
    /// When the one that brings history is done.
    AfterCarrier,
}

/// Outcome, what to tell of it, and when to ask again.
type Judgement = (Outcome<Drained>, Option<DegradedReason>, Again);

impl Meaning {
    /// Whether, of a provider that has drained, it leaves what it vouched for as it was: it still
    /// agrees, or could not say now.
    pub(crate) fn says_nothing_new(&self) -> bool {
        match self {
            Self::Drained(evidence) => evidence.mode() == Mode::Equal,
            Self::Refused { .. } | Self::Again { .. } | Self::LeftToAnother => true,
            Self::Gone(_) | Self::Cut { .. } | Self::Silent => false,
        }
    }

    /// Whether it ends a dispute about what the provider vouched for before: it has come to agree.
    pub(crate) fn settles(&self, before: &Evidence, disputed: Option<&Disputed>) -> bool {
        let is_about = disputed.is_some_and(|disputed| disputed.theirs == before.state());
        is_about && matches!(self, Self::Drained(evidence) if evidence.state() != before.state())
    }

    pub(crate) fn judge(self, now: Instant) -> Judgement {
        match self {
            Self::Drained(evidence) => (Outcome::Drained(Drained(*evidence)), None, Again::No),
            Self::Gone(told) => (Outcome::Lost, Some(told), Again::Failed(None)),
            Self::Cut { reason, told } => (Outcome::Cut(reason), Some(told), Again::Failed(None)),
            Self::Refused {
                reason,
                retry_after_ms,
                told,
            } => {
                let pacing = Duration::from_millis(retry_after_ms);
                let again = retry_after_ms > 0;
                let retry_at = again.then(|| now.after(pacing));
                let outcome = Outcome::Refused { reason, retry_at };
                let next = if again {
                    Again::Failed(Some(pacing))
                } else {
                    Again::No
                };
                (outcome, Some(told), next)
            }
            Self::Silent => {
                let outcome = Outcome::Silent {
                    phase: osier_policy::Phase::Sending,
                };
                (outcome, Some(DegradedReason::Timeout), Again::Failed(None))
            }
            Self::LeftToAnother => (Outcome::Unasked, None, Again::AfterCarrier),
            Self::Again { after_ms } => (
                Outcome::Unasked,
                None,
                Again::Soon(Duration::from_millis(after_ms)),
            ),
        }
    }
}

/// What a machine's word for the end means.
pub(crate) fn meaning(end: ClientEnd) -> Meaning {
    match end {
        ClientEnd::Drained(evidence) => Meaning::Drained(evidence),
        ClientEnd::Cut { reason } => cut(reason),
        ClientEnd::Refused {
            reason,
            retry_after_ms,
        } => refused(reason, retry_after_ms),
        ClientEnd::Failed(reason) => failed(reason),
        ClientEnd::Fault(fault) => Meaning::Cut {
            reason: CutReason::Fault,
            told: DegradedReason::Misbehaved {
                rule: fault.to_string(),
            },
        },
        ClientEnd::Lost => {
            let cause = "the connection closed before a marker came".to_owned();
            Meaning::Gone(DegradedReason::ProviderLost { cause })
        }
        ClientEnd::Silent => Meaning::Silent,
    }
}

fn cut(cut: Cut) -> Meaning {
    let (reason, words) = match cut {
        Cut::Count { said, received } => (
            CutReason::Rejected,
            format!("the marker counts {said} entries and {received} came"),
        ),
        Cut::Last => (CutReason::Rejected, "the last entry is another".to_owned()),
        Cut::Set => (
            CutReason::Missing { entries: 1 },
            "what came does not add up to what the marker vouches for".to_owned(),
        ),
        Cut::Wants => (CutReason::Closed, "it did not finish asking".to_owned()),
        Cut::Head => (
            CutReason::Missing { entries: 1 },
            "the last entry of an author that it vouches for did not come".to_owned(),
        ),
        Cut::Holes { open } => (
            CutReason::Missing {
                entries: open.max(1),
            },
            format!("{open} entries that others build on did not come"),
        ),
        Cut::Withheld => (
            CutReason::Missing { entries: 1 },
            "it sent entries whose authors may not write here, as far as this node knows; one of \
             the two does not know all grants and revocations yet"
                .to_owned(),
        ),
        Cut::Unauthentic => (
            CutReason::Fault,
            "it sent entries that their authors did not sign".to_owned(),
        ),
    };
    Meaning::Cut {
        reason,
        told: DegradedReason::Cut { reason: words },
    }
}

fn refused(reason: RefuseReason, retry_after_ms: u64) -> Meaning {
    let (kind, words) = match reason {
        RefuseReason::Superseded => {
            return Meaning::Again {
                after_ms: retry_after_ms
                    .clamp(limit::SUPERSEDED_RETRY_MS, limit::SUPERSEDED_RETRY_MAX_MS),
            };
        }
        RefuseReason::UnknownTopic => (Refused::UnknownTopic, "it does not hold the topic"),
        RefuseReason::Version => (Refused::Version, "it speaks no wire version of ours"),
        RefuseReason::Overloaded => (Refused::Overloaded, "it has too many sessions"),
        RefuseReason::NotProvider => (Refused::NotProvider, "it does not serve the topic"),
        RefuseReason::Restarting => (Refused::Restarting, "it is starting or stopping"),
        RefuseReason::StoreError => (Refused::StoreError, "its store cannot be read"),
    };
    let told = DegradedReason::Refused {
        reason: words.to_owned(),
    };
    Meaning::Refused {
        reason: kind,
        retry_after_ms,
        told,
    }
}

fn failed(reason: FailureReason) -> Meaning {
    let told = DegradedReason::Failed {
        reason: format!("{reason:?}"),
    };
    match reason {
        FailureReason::Overloaded { retry_after_ms } => Meaning::Refused {
            reason: Refused::Overloaded,
            retry_after_ms,
            told,
        },
        FailureReason::Restarting => Meaning::Refused {
            reason: Refused::Restarting,
            retry_after_ms: limit::OVERLOADED_RETRY_MS,
            told,
        },
        FailureReason::NotProvider => Meaning::Refused {
            reason: Refused::NotProvider,
            retry_after_ms: 0,
            told,
        },
        FailureReason::StoreError => Meaning::Refused {
            reason: Refused::StoreError,
            retry_after_ms: limit::OVERLOADED_RETRY_MS,
            told,
        },
        FailureReason::Truncated => Meaning::Cut {
            reason: CutReason::Truncated { floor: None },
            told,
        },
        FailureReason::TokenUnserviceable
        | FailureReason::Cancelled
        | FailureReason::ClientFault => Meaning::Cut {
            reason: CutReason::Cancelled,
            told,
        },
    }
}
