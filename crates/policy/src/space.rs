//! When a group of topics is complete.
//!
//! A space is a control topic whose owner signs a manifest: a list of topics and a version
//! (`POL-23`).

use std::collections::{BTreeMap, BTreeSet};

use osier_core::TopicId;

use crate::{outcome::Proof, verdict::Verdict};

/// What a space's verdict looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceFacts {
    /// The control topic.
    pub control: TopicState,
    /// The newest manifest that the control topic holds, if any.
    pub manifest: Option<SpaceManifest>,
    /// The state of each topic that is joined; one that is missing is pending, one that the
    /// manifest does not list is ignored.
    pub topics: BTreeMap<TopicId, TopicState>,
}

/// What the owner of a space signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceManifest {
    /// Grows with each change.
    pub version: u64,
    /// The topics of the space, without its control topic.
    pub topics: BTreeSet<TopicId>,
}

/// Where one topic stands, as far as a space cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TopicState {
    /// Not settled.
    Pending,
    /// Synced, from the beginning or from a floor.
    Synced,
    /// Settled without being synced: failed or diverged.
    Degraded,
}

impl<P: Proof> From<&Verdict<P>> for TopicState {
    fn from(verdict: &Verdict<P>) -> Self {
        match verdict {
            Verdict::Pending { .. } => Self::Pending,
            Verdict::Synced { .. } => Self::Synced,
            Verdict::Diverged { .. } | Verdict::Failed { .. } => Self::Degraded,
        }
    }
}

/// What a space's facts add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpaceVerdict {
    /// The control topic is not settled: which topics there are is not known for sure.
    ControlPending,
    /// The control topic is settled without being synced: nothing can be said of the space.
    ControlDegraded,
    /// The control topic is synced and holds no manifest.
    NoManifest,
    /// Topics of the manifest are not settled.
    Pending {
        /// Of which manifest.
        version: u64,
        /// Which; by topic id, never empty.
        waiting: Vec<TopicId>,
    },
    /// Every topic of the manifest is synced or settled.
    Synced {
        /// Of which manifest.
        version: u64,
        /// How many topics it lists, degraded ones included.
        topics: usize,
        /// Those that settled without being synced, by topic id.
        degraded: Vec<TopicId>,
    },
}

/// What the facts of a space add up to: a pure function of them (`POL-23`).
pub fn space_verdict(facts: &SpaceFacts) -> SpaceVerdict {
    match facts.control {
        TopicState::Pending => return SpaceVerdict::ControlPending,
        TopicState::Degraded => return SpaceVerdict::ControlDegraded,
        TopicState::Synced => {}
    }
    let Some(manifest) = &facts.manifest else {
        return SpaceVerdict::NoManifest;
    };
    let in_state = |wanted: TopicState| -> Vec<TopicId> {
        let state_of = |topic| facts.topics.get(topic).copied();
        let topics = manifest.topics.iter();
        let found = topics.filter(|t| state_of(t).unwrap_or(TopicState::Pending) == wanted);
        found.copied().collect()
    };
    let version = manifest.version;
    let waiting = in_state(TopicState::Pending);
    if !waiting.is_empty() {
        return SpaceVerdict::Pending { version, waiting };
    }
    SpaceVerdict::Synced {
        version,
        topics: manifest.topics.len(),
        degraded: in_state(TopicState::Degraded),
    }
}

/// What to tell an application when a space's verdict moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpaceChange {
    /// It is synced, or synced otherwise than was said before.
    Synced {
        /// Of which manifest.
        version: u64,
        /// How many topics it lists.
        topics: usize,
        /// Those that settled without being synced.
        degraded: Vec<TopicId>,
    },
    /// It was synced and no longer is.
    Withdrawn(WithdrawReason),
}

/// Why a synced space no longer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawReason {
    /// A newer manifest lists topics that are not settled.
    ManifestGrew {
        /// The version that was synced.
        from: u64,
        /// The version now.
        to: u64,
        /// The topics waited for.
        waiting: Vec<TopicId>,
    },
    /// Topics of the same manifest have fallen behind.
    TopicsBehind {
        /// Which.
        waiting: Vec<TopicId>,
    },
    /// The control topic has fallen behind, failed or lost its manifest.
    ControlBehind,
}

/// What to tell when the verdict goes from `before` to `after`; `None` for nothing (`POL-24`).
pub fn space_change(before: &SpaceVerdict, after: &SpaceVerdict) -> Option<SpaceChange> {
    if let SpaceVerdict::Synced {
        version,
        topics,
        degraded,
    } = after
    {
        return (before != after).then(|| SpaceChange::Synced {
            version: *version,
            topics: *topics,
            degraded: degraded.clone(),
        });
    }
    let SpaceVerdict::Synced { version: from, .. } = before else {
        return None;
    };
    Some(SpaceChange::Withdrawn(withdrawn(*from, after)))
}

fn withdrawn(from: u64, after: &SpaceVerdict) -> WithdrawReason {
    match after {
        SpaceVerdict::Pending { version, waiting } if *version == from => {
            WithdrawReason::TopicsBehind {
                waiting: waiting.clone(),
            }
        }
        SpaceVerdict::Pending { version, waiting } => WithdrawReason::ManifestGrew {
            from,
            to: *version,
            waiting: waiting.clone(),
        },
        _ => WithdrawReason::ControlBehind,
    }
}

#[cfg(test)]
mod tests;
