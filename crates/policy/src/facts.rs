//! Everything that a verdict looks at.

use std::collections::BTreeMap;

use osier_core::{Coverage, Instant, NodeId, OrderKey};

use crate::{deadline::no_provider_at, outcome::Outcome, trust::Standing};

/// The present facts of one topic. How they came to be is not among them (`POL-1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts<P> {
    /// Every other node that is trusted, connected or not, and every connected one that serves the
    /// topic. A trusted node that is left out makes a trusted archive believe that it is alone.
    pub providers: BTreeMap<NodeId, ProviderFacts<P>>,
    /// The node itself; it is never among the providers.
    pub me: Me,
    /// Whether providers may still turn up.
    pub search: Search,
}

/// One provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFacts<P> {
    /// What [`TrustList::trusted`](crate::TrustList::trusted) says now; `None` counts for nothing.
    pub trust: Option<Standing>,
    /// Whether there is a connection now.
    pub connected: bool,
    /// What came of asking it.
    pub outcome: Outcome<P>,
    /// Our own pacing, from start jitter or backoff: not to be asked before. With `None` an
    /// unasked provider may be asked at once, and one that was cut, silent or lost is not asked
    /// again. A verdict does not look at it.
    pub ask_after: Option<Instant>,
}

/// What a verdict needs to know of the node itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Me {
    /// Whether the node is itself trusted as an archive of the topic: the owner, or granted the
    /// role.
    pub trusted_archive: bool,
    /// What was held *before* the sessions that are now judged began. It does not move while they
    /// store entries.
    pub held: Held,
}

/// Up to where history was held before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nothing, or nothing that is known to hang together: any floor is a start.
    Nothing,
    /// Up to this place in range order: the newest entry held, or where the last synced verdict
    /// reached. A ring whose floor is above it leaves a gap.
    UpTo(OrderKey),
}

impl Held {
    /// Whether history with this coverage joins what was held without a gap, or reaches the
    /// beginning (`POL-8`).
    pub fn is_reached_by(&self, coverage: &Coverage) -> bool {
        match (coverage, self) {
            (Coverage::Complete, _) | (_, Self::Nothing) => true,
            (Coverage::From { floor }, Self::UpTo(place)) => floor <= place,
        }
    }
}

/// Whether the search for providers goes on (`POL-15`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Search {
    /// Trusted providers may still turn up.
    Looking,
    /// The time for that has passed. Whoever turns up later is welcome all the same.
    Over,
}

impl Search {
    /// The search that started then: with the topic, and afresh when the last connected trusted
    /// provider left. It ends [`NO_PROVIDER_AFTER`](crate::NO_PROVIDER_AFTER) later *whether or
    /// not* a provider has turned up: while it lasts, a verdict waits for every trusted provider
    /// that is not connected, and one of them may be gone for good.
    pub fn at(search_start: Instant, now: Instant) -> Self {
        if now < no_provider_at(search_start) {
            Self::Looking
        } else {
            Self::Over
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at_ms;

    /// `POL-15`: five seconds, and then no longer.
    #[test]
    fn search_ends() {
        let start = at_ms(700);
        assert_eq!(Search::at(start, at_ms(5_699)), Search::Looking);
        assert_eq!(Search::at(start, at_ms(5_700)), Search::Over);
        assert_eq!(Search::at(start, at_ms(0)), Search::Looking);
    }
}
