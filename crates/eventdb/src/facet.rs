//! Under what an event is found (`NOS-103`).

use osier_nostr::{Event, Letter, PublicKey, nip::nip45::HllRule};

use crate::{
    key::{self, Facet},
    row::{Expires, FacetRow},
    settings::Settings,
};

/// Whether nobody but those involved may see the event.
pub(crate) fn is_gated(settings: &Settings, event: &Event) -> bool {
    settings.gate.covers(event.kind())
}

/// The facets of an event, sorted, each once, with the row that it has there.
///
/// What is gated is found under those involved and nowhere else: no query of others comes across
/// it (`NOS-25`).
pub(crate) fn of(settings: &Settings, event: &Event) -> Vec<(Facet, FacetRow)> {
    let plain = FacetRow {
        kind: event.kind(),
        expires: Expires::of(event),
        register: 0,
        rank: 0,
    };
    let mut facets = if is_gated(settings, event) {
        let named = event.values("p").filter_map(PublicKey::from_hex);
        let involved = std::iter::once(event.pubkey()).chain(named);
        involved
            .map(|pubkey| (key::involved(&pubkey), plain))
            .collect()
    } else {
        let mut facets = vec![
            (key::author(&event.pubkey()), plain),
            (key::kind(event.kind()), plain),
        ];
        let indexed = event.tags().iter().filter_map(|tag| tag.indexed());
        facets.extend(
            indexed
                .filter(|(letter, value)| can_be_asked(*letter, value))
                .map(|(letter, value)| {
                    let row = with_sketch(settings.hll_rule, plain, value, &event.pubkey());
                    (key::tag(letter, value), row)
                }),
        );
        facets
    };
    facets.sort_unstable_by_key(|(facet, _)| *facet);
    facets.dedup_by_key(|(facet, _)| *facet);
    facets
}

/// Filters ask for ids and keys in hex only (`NOS-13`): other values would be rows in vain.
pub(crate) fn can_be_asked(letter: Letter, value: &str) -> bool {
    !letter.holds_hex() || PublicKey::from_hex(value).is_some()
}

/// What the signer adds to the sketch of a filter whose first tag has this value first.
fn with_sketch(rule: HllRule, plain: FacetRow, value: &str, signer: &PublicKey) -> FacetRow {
    let (register, rank) = rule.contribution(rule.offset_of_value(value), signer);
    FacetRow {
        register,
        rank,
        ..plain
    }
}
