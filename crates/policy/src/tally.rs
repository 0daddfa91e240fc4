//! Who counts, best first; who is open; which providers agree.

use osier_core::{Coverage, NodeId, OrderKey, Role, StateHash};

use crate::{
    facts::{Facts, ProviderFacts},
    outcome::{Outcome, Proof},
    trust::Standing,
    verdict::Camp,
};

/// The number of trusted, connected providers whose outcome is still open (`POL-14`).
pub fn still_pending<P: Proof>(facts: &Facts<P>) -> u32 {
    count(&open(&seats(facts)))
}

/// A trusted provider.
#[derive(Debug)]
pub(crate) struct Seat<'a, P> {
    pub(crate) node: NodeId,
    pub(crate) standing: Standing,
    pub(crate) provider: &'a ProviderFacts<P>,
}

impl<'a, P: Proof> Seat<'a, P> {
    /// Its proof, if it counts: a provider that left no longer vouches for the present (`POL-4`).
    pub(crate) fn proof(&self) -> Option<&'a P> {
        match &self.provider.outcome {
            Outcome::Drained(proof) if self.provider.connected => Some(proof),
            _ => None,
        }
    }

    /// What its proof may be said to cover: only an archive says `Complete`, since only an archive
    /// undertakes to keep everything (`POL-5`).
    pub(crate) fn coverage(&self) -> Option<Coverage> {
        let coverage = self.proof()?.coverage();
        Some(match coverage {
            Coverage::Complete if self.standing.role != Role::Archive => Coverage::From {
                floor: OrderKey::MIN,
            },
            coverage => coverage,
        })
    }

    /// Whether it may still drain by itself (`POL-14`).
    pub(crate) const fn is_open(&self) -> bool {
        self.provider.connected && self.provider.outcome.is_open()
    }

    /// Whether it is to be counted among the connected. A silent one is as if it were not in the
    /// trust list, until a late marker comes (`POL-18`).
    pub(crate) const fn has_vote(&self) -> bool {
        self.provider.connected && !matches!(self.provider.outcome, Outcome::Silent { .. })
    }
}

/// Every trusted provider, best first: by rank, then role, then node id (`POL-19`).
pub(crate) fn seats<P: Proof>(facts: &Facts<P>) -> Vec<Seat<'_, P>> {
    let trusted = facts.providers.iter().filter_map(|(node, provider)| {
        Some(Seat {
            node: *node,
            standing: provider.trust?,
            provider,
        })
    });
    let mut seats: Vec<_> = trusted.collect();
    seats.sort_unstable_by_key(|seat| (seat.standing, seat.node));
    seats
}

/// Those whose outcome is open, best first.
pub(crate) fn open<'a, P: Proof + 'a>(
    seats: impl IntoIterator<Item = &'a Seat<'a, P>>,
) -> Vec<NodeId> {
    let open = seats.into_iter().filter(|seat| seat.is_open());
    open.map(|seat| seat.node).collect()
}

/// The drained one that reaches back furthest; of equals the best (`POL-8`).
pub(crate) fn deepest<'a, P: Proof + 'a>(
    seats: impl IntoIterator<Item = &'a Seat<'a, P>>,
) -> Option<&'a Seat<'a, P>> {
    let drained = seats
        .into_iter()
        .filter_map(|seat| Some((seat, floor(seat.coverage()?))));
    drained
        .min_by_key(|(_, floor)| *floor)
        .map(|(seat, _)| seat)
}

/// `None`, the lowest, when nothing has been dropped.
const fn floor(coverage: Coverage) -> Option<OrderKey> {
    match coverage {
        Coverage::Complete => None,
        Coverage::From { floor } => Some(floor),
    }
}

/// The drained ones by state hash: each camp and its members best first (`POL-13`).
pub(crate) fn camps<'a, P: Proof + 'a>(
    seats: impl IntoIterator<Item = &'a Seat<'a, P>>,
) -> Vec<Camp> {
    let mut camps: Vec<Camp> = Vec::new();
    for seat in seats {
        let Some(state) = seat.proof().map(Proof::state) else {
            continue;
        };
        match camps.iter_mut().find(|camp| camp.state == state) {
            Some(camp) => camp.members.push(seat.node),
            None => camps.push(Camp {
                state,
                members: vec![seat.node],
            }),
        }
    }
    camps
}

/// The members of the camp with this state.
pub(crate) fn camp(camps: &[Camp], state: StateHash) -> &[NodeId] {
    let found = camps.iter().find(|camp| camp.state == state);
    found.map_or(&[], |camp| &camp.members)
}

/// How many; the trust list is bounded far below the range of `u32`.
pub(crate) fn count(nodes: &[NodeId]) -> u32 {
    u32::try_from(nodes.len()).unwrap_or(u32::MAX)
}
