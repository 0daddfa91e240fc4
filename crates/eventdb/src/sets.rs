//! The sets that NIP-77 compares most: each has its order index (`NOS-105`).

use osier_nostr::{Event, Filter, TagCondition};

use crate::{facet, settings::Settings};

/// The set of everything that is not gated.
pub(crate) const ALL: u32 = 0;

/// The sets that an event is in. What is gated is in none: who may see it has it added.
pub(crate) fn of(settings: &Settings, event: &Event) -> impl Iterator<Item = u32> {
    let open = !facet::is_gated(settings, event);
    let matching = settings
        .compared
        .iter()
        .zip(1_u32..)
        .filter(|(filter, _)| filter.matches(event));
    let matching: Vec<u32> = matching.map(|(_, set)| set).collect();
    std::iter::once(ALL).chain(matching).filter(move |_| open)
}

/// The numbers of all sets.
pub(crate) fn all(settings: &Settings) -> impl Iterator<Item = u32> {
    let filters = u32::try_from(settings.compared.len()).unwrap_or(u32::MAX);
    0..=filters
}

/// The set that a filter asks for, whatever its times and its limit.
pub(crate) fn asked(settings: &Settings, filter: &Filter) -> Option<u32> {
    let filter = timeless(filter);
    if filter == Filter::default() {
        return Some(ALL);
    }
    let mut sets = settings.compared.iter().zip(1_u32..);
    sets.find(|(own, _)| is_timeless(own) && same(own, &filter))
        .map(|(_, set)| set)
}

fn timeless(filter: &Filter) -> Filter {
    filter
        .clone()
        .with_since(None)
        .with_until(None)
        .with_limit(None)
}

fn is_timeless(filter: &Filter) -> bool {
    filter.since().is_none() && filter.until().is_none()
}

/// Whether two filters have the same conditions; which value came first does not matter.
fn same(one: &Filter, two: &Filter) -> bool {
    let tags = |filter: &Filter| {
        let mut tags = filter.tags().to_vec();
        tags.sort_unstable_by_key(TagCondition::letter);
        tags
    };
    one.ids() == two.ids()
        && one.authors() == two.authors()
        && one.kinds() == two.kinds()
        && tags(one) == tags(two)
}
