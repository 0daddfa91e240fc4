//! Whom to ask next.
//!
//! The best ranked provider carries the bulk alone. The others are asked once it has drained: they
//! only verify, and usually find equal summaries. If it fails or is slow, the next one is asked
//! (`POL-19`).

use std::cmp::Reverse;

use osier_core::{Instant, NodeId, Role};

use crate::{
    deadline::{hedge_at, silent_at},
    facts::{Facts, ProviderFacts},
    limit,
    outcome::{Outcome, Proof},
    rule::Rule,
    tally::{self, Seat},
};

/// Whom to open a session with now, in this order: connected ones, each once, none who streams or
/// has drained. At most `in_flight_max` sessions with trusted providers are open together with
/// those that stream already; 0 asks nobody.
///
/// Ask again after every fact that changed and at [`wake_at`].
pub fn next_to_ask<P: Proof>(
    rule: Rule,
    facts: &Facts<P>,
    now: Instant,
    in_flight_max: usize,
) -> Vec<NodeId> {
    if in_flight_max == 0 {
        return Vec::new();
    }
    let seats = tally::seats(facts);
    let streams = || seats.iter().filter(|seat| is_streaming(seat.provider));
    let free = in_flight_max.saturating_sub(streams().count());
    let mut ready: Vec<_> = seats.iter().filter(|s| is_ready(s.provider, now)).collect();
    if seats.iter().any(|seat| seat.proof().is_some()) {
        ready.sort_by_key(|seat| (Reverse(is_needed(rule, seat)), was_tried(seat.provider)));
        ready.truncate(free);
        return nodes(&ready);
    }
    if streams().any(|seat| !seat.provider.outcome.is_slow(now)) {
        return Vec::new();
    }
    if ready.is_empty() {
        return strangers(facts, now);
    }
    ready.sort_by_key(|seat| was_tried(seat.provider));
    ready.truncate(free.min(1));
    nodes(&ready)
}

/// When the next deadline or retry falls due, if nothing else happens before: a time later than
/// `now`, or `None`.
pub fn wake_at<P>(facts: &Facts<P>, now: Instant) -> Option<Instant> {
    let times = facts.providers.values().flat_map(|provider| {
        let (first, second) = match &provider.outcome {
            Outcome::Streaming {
                since,
                last_progress,
                ..
            } => (
                Some(silent_at(*since, *last_progress)),
                Some(hedge_at(*since, *last_progress)),
            ),
            Outcome::Refused { retry_at, .. } => (*retry_at, provider.ask_after),
            Outcome::Drained(_) => (None, None),
            _ => (None, provider.ask_after),
        };
        [first, second].into_iter().flatten()
    });
    times.filter(|at| *at > now).min()
}

/// Whether a provider may be asked now (`POL-20`).
fn is_ready<P>(provider: &ProviderFacts<P>, now: Instant) -> bool {
    let is_paced = provider.ask_after.is_some_and(|at| at > now);
    if !provider.connected || is_paced {
        return false;
    }
    match &provider.outcome {
        Outcome::Unasked => true,
        Outcome::Refused { retry_at, .. } => retry_at.is_some_and(|at| at <= now),
        Outcome::Cut(_) | Outcome::Silent { .. } | Outcome::Lost => provider.ask_after.is_some(),
        Outcome::Streaming { .. } | Outcome::Drained(_) => false,
    }
}

/// Untrusted ones, by node id: a node that knows no grants yet learns them from whoever holds
/// them. What they send is judged entry by entry, and their markers do not count (`POL-22`).
fn strangers<P>(facts: &Facts<P>, now: Instant) -> Vec<NodeId> {
    let strangers = || {
        let all = facts.providers.iter();
        all.filter(|(_, provider)| provider.trust.is_none())
    };
    let streaming = strangers().filter(|(_, p)| is_streaming(p)).count();
    let mut ready: Vec<_> = strangers().filter(|(_, p)| is_ready(p, now)).collect();
    ready.sort_by_key(|(_, provider)| was_tried(provider));
    ready.truncate(limit::STRANGERS_MAX.saturating_sub(streaming));
    ready.into_iter().map(|(node, _)| *node).collect()
}

const fn is_streaming<P>(provider: &ProviderFacts<P>) -> bool {
    provider.connected && matches!(provider.outcome, Outcome::Streaming { .. })
}

/// One that failed before comes after those who were not asked yet, whatever its rank.
const fn was_tried<P>(provider: &ProviderFacts<P>) -> bool {
    !matches!(provider.outcome, Outcome::Unasked)
}

/// Whether the rule cannot do without seats of this role.
fn is_needed<P>(rule: Rule, seat: &Seat<'_, P>) -> bool {
    match rule {
        Rule::StorageFirst => seat.standing.role == Role::Archive,
        Rule::Quorum {
            role: Some(role), ..
        } => seat.standing.role == role,
        Rule::FirstTrusted | Rule::StrictMajority | Rule::Quorum { role: None, .. } => true,
    }
}

fn nodes<P>(seats: &[&Seat<'_, P>]) -> Vec<NodeId> {
    seats.iter().map(|seat| seat.node).collect()
}

#[cfg(test)]
mod tests;
