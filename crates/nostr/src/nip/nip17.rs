//! NIP-17, NIP-59 and NIP-04, who may see direct messages and gift wraps:
//! <https://github.com/nostr-protocol/nips/blob/master/17.md>,
//! <https://github.com/nostr-protocol/nips/blob/master/59.md>,
//! <https://github.com/nostr-protocol/nips/blob/master/04.md>.
//!
//! What a client is told depends on its filter and its keys, never on what is stored: otherwise
//! the answer would give away that something is (`NOS-26`).

use std::collections::BTreeSet;

use crate::{
    event::Event,
    filter::Filter,
    key::PublicKey,
    kind::EventKind,
    reason::{Prefix, Reason},
    tag::Letter,
};

/// Which kinds only those involved may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate(BTreeSet<EventKind>);

impl Default for Gate {
    /// Direct messages of NIP-04 and both kinds of gift wrap.
    fn default() -> Self {
        let kinds = [
            EventKind::DIRECT_MESSAGE,
            EventKind::GIFT_WRAP,
            EventKind::EPHEMERAL_GIFT_WRAP,
        ];
        Self(kinds.into())
    }
}

impl Gate {
    /// Everybody sees everything: a relay that trusts all its clients.
    pub fn open() -> Self {
        Self(BTreeSet::new())
    }

    /// Whether events of this kind are gated.
    pub fn covers(&self, kind: EventKind) -> bool {
        self.0.contains(&kind)
    }

    /// The gated kinds.
    pub fn kinds(&self) -> impl Iterator<Item = EventKind> + '_ {
        self.0.iter().copied()
    }
}

/// Who looks: keys that have authenticated, possibly none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Viewer {
    gate: Gate,
    keys: BTreeSet<PublicKey>,
}

/// What a viewer gets for a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// What matches and may be seen.
    Served,
    /// Nothing before authentication: all that could match is gated.
    AuthRequired,
    /// Nothing: it asks for what is other people's.
    Restricted,
}

impl Viewer {
    /// Nobody in particular.
    pub fn new(gate: Gate) -> Self {
        Self {
            gate,
            keys: BTreeSet::new(),
        }
    }

    /// Adds a key that has authenticated.
    pub fn authenticate(&mut self, key: PublicKey) {
        self.keys.insert(key);
    }

    /// The keys that have authenticated.
    pub fn keys(&self) -> &BTreeSet<PublicKey> {
        &self.keys
    }

    /// Whether this viewer may see the event: it is not gated, or one of the keys signed it or
    /// is named in a `p` tag (`NOS-25`).
    pub fn sees(&self, event: &Event) -> bool {
        !self.gate.covers(event.kind()) || self.is_involved(event)
    }

    fn is_involved(&self, event: &Event) -> bool {
        if self.keys.is_empty() {
            return false;
        }
        let mut named = event.values("p").filter_map(PublicKey::from_hex);
        self.keys.contains(&event.pubkey()) || named.any(|key| self.keys.contains(&key))
    }

    /// What this viewer gets for a filter, known before anything is looked up (`NOS-26`).
    pub fn access(&self, filter: &Filter) -> Access {
        let kinds = filter.kinds().unwrap_or_default();
        let purely_gated = !kinds.is_empty() && kinds.iter().all(|kind| self.gate.covers(*kind));
        if !purely_gated {
            Access::Served
        } else if self.keys.is_empty() {
            Access::AuthRequired
        } else if self.asks_for_others(filter, kinds) {
            Access::Restricted
        } else {
            Access::Served
        }
    }

    /// Whether gated events may match that this viewer does not see (`NOS-26`).
    pub fn may_miss(&self, filter: &Filter) -> bool {
        let all_own = |mut named: Box<dyn Iterator<Item = Option<PublicKey>> + '_>| {
            named.all(|key| key.is_some_and(|key| self.keys.contains(&key)))
        };
        let own_authors = filter
            .authors()
            .is_some_and(|authors| all_own(Box::new(authors.iter().copied().map(Some))));
        let own_named = filter.tag(Letter::P).is_some_and(|condition| {
            all_own(Box::new(
                condition
                    .values()
                    .iter()
                    .map(|key| PublicKey::from_hex(key)),
            ))
        });
        let reaches = self.gate.kinds().any(|kind| filter.reaches(kind));
        reaches && !own_authors && !own_named && !filter.matches_nothing()
    }

    /// Whether recipients are named and none is ours, and we cannot have signed it either: gift
    /// wraps are signed by keys that nobody keeps.
    fn asks_for_others(&self, filter: &Filter, kinds: &[EventKind]) -> bool {
        let Some(named) = filter.tag(Letter::P) else {
            return false;
        };
        let mut named = named
            .values()
            .iter()
            .filter_map(|key| PublicKey::from_hex(key));
        let wraps = [EventKind::GIFT_WRAP, EventKind::EPHEMERAL_GIFT_WRAP];
        let only_wraps = kinds.iter().all(|kind| wraps.contains(kind));
        let others_sign = filter
            .authors()
            .is_some_and(|authors| !authors.iter().any(|author| self.keys.contains(author)));
        !named.any(|key| self.keys.contains(&key)) && (only_wraps || others_sign)
    }
}

impl Access {
    /// The reason to refuse with, if it is a refusal.
    pub fn refusal(self) -> Option<Reason> {
        match self {
            Self::Served => None,
            Self::AuthRequired => Some(Reason::new(
                Prefix::AuthRequired,
                "direct messages are shown to those involved only",
            )),
            Self::Restricted => Some(Reason::new(
                Prefix::Restricted,
                "these are other people's direct messages",
            )),
        }
    }

    /// What a request of several filters gets: it is refused when each of them is (`NOS-26`).
    pub fn of_any(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter()
            .min_by_key(|access| access.severity())
            .unwrap_or(Self::Served)
    }

    /// What a count of several filters gets: one number speaks for all, so one refusal refuses it.
    pub fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter()
            .max_by_key(|access| access.severity())
            .unwrap_or(Self::Served)
    }

    const fn severity(self) -> u8 {
        match self {
            Self::Served => 0,
            Self::AuthRequired => 1,
            Self::Restricted => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn viewer(keys: &[u8]) -> Viewer {
        let mut viewer = Viewer::new(Gate::default());
        for n in keys {
            viewer.authenticate(testing::pubkey(*n));
        }
        viewer
    }

    fn filter(text: &str) -> Filter {
        let named = (1..=3).fold(text.to_owned(), |text, n| {
            text.replace(&format!("${n}"), &testing::pubkey(n).to_string())
        });
        Filter::parse(&named).unwrap()
    }

    /// NOS-25.
    #[test]
    fn only_those_involved_see_what_is_gated() {
        let wrap = testing::event(1, 1, 1059, &[&["p", &testing::pubkey(2).to_string()]], "");
        assert!(!viewer(&[]).sees(&wrap) && !viewer(&[3]).sees(&wrap));
        assert!(viewer(&[1]).sees(&wrap) && viewer(&[3, 2]).sees(&wrap));
        assert!(viewer(&[]).sees(&testing::note(1, 1, "")));
        assert!(Viewer::new(Gate::open()).sees(&wrap));
    }

    /// NOS-26.
    #[test]
    fn access_is_told_from_filter_and_keys_alone() {
        for (text, nobody, as_one, may_miss) in [
            ("{}", Access::Served, Access::Served, true),
            (r#"{"kinds":[1]}"#, Access::Served, Access::Served, false),
            (r#"{"kinds":[1,4]}"#, Access::Served, Access::Served, true),
            (
                r#"{"kinds":[1059]}"#,
                Access::AuthRequired,
                Access::Served,
                true,
            ),
            (
                r##"{"kinds":[1059],"#p":["$1"]}"##,
                Access::AuthRequired,
                Access::Served,
                false,
            ),
            (
                r##"{"kinds":[1059],"#p":["$3"]}"##,
                Access::AuthRequired,
                Access::Restricted,
                true,
            ),
            (
                r##"{"kinds":[4],"#p":["$3"]}"##,
                Access::AuthRequired,
                Access::Served,
                true,
            ),
            (
                r##"{"kinds":[4],"#p":["$3"],"authors":["$2"]}"##,
                Access::AuthRequired,
                Access::Restricted,
                true,
            ),
            (
                r#"{"kinds":[4],"authors":["$1"]}"#,
                Access::AuthRequired,
                Access::Served,
                false,
            ),
            (r#"{"kinds":[]}"#, Access::Served, Access::Served, false),
        ] {
            let filter = filter(text);
            assert_eq!(viewer(&[]).access(&filter), nobody, "{text}");
            assert_eq!(viewer(&[1]).access(&filter), as_one, "{text}");
            assert_eq!(viewer(&[1]).may_miss(&filter), may_miss, "{text}");
        }
        let all = [Access::Served, Access::AuthRequired];
        assert_eq!(Access::of_any(all), Access::Served);
        assert_eq!(Access::of_all(all), Access::AuthRequired);
    }
}
