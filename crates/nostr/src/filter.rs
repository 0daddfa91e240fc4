//! The filter of NIP-01: <https://github.com/nostr-protocol/nips/blob/master/01.md>.
//!
//! All conditions of a filter must hold; an empty list holds for nothing (`NOS-11`).

mod parse;
mod text;

pub use parse::FilterInvalid;

use crate::{
    event::Event,
    key::{EventId, PublicKey},
    kind::EventKind,
    tag::Letter,
    time::Seconds,
};

/// What a client asks for. [`Filter::default`] asks for everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    // Lists are sorted and without doubles; none is no condition.
    ids: Option<Box<[EventId]>>,
    authors: Option<Box<[PublicKey]>>,
    kinds: Option<Box<[EventKind]>>,
    // The one that came first stands first, the others by letter.
    tags: Vec<TagCondition>,
    // The value that came first in the first of the tags: NIP-45 derives an offset from it.
    first_value: Option<Box<str>>,
    since: Option<Seconds>,
    until: Option<Seconds>,
    limit: Option<u64>,
}

/// An event must have a tag with this letter and one of these values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCondition {
    letter: Letter,
    values: Box<[Box<str>]>,
}

impl TagCondition {
    fn new(letter: Letter, mut values: Vec<Box<str>>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self {
            letter,
            values: values.into(),
        }
    }

    /// The letter behind `#`.
    pub fn letter(&self) -> Letter {
        self.letter
    }

    /// The values, sorted, without doubles.
    pub fn values(&self) -> &[Box<str>] {
        &self.values
    }

    /// Whether this value is among them.
    pub fn holds(&self, value: &str) -> bool {
        self.values
            .binary_search_by(|own| (**own).cmp(value))
            .is_ok()
    }

    fn matches(&self, event: &Event) -> bool {
        let indexed = event.tags().iter().filter_map(|tag| tag.indexed());
        let mut named = indexed.filter(|(letter, _)| *letter == self.letter);
        named.any(|(_, value)| self.holds(value))
    }
}

impl Filter {
    /// Only events with one of these ids.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IntoIterator<Item = EventId>) -> Self {
        self.ids = Some(sorted(ids.into_iter().collect()));
        self
    }

    /// Only events signed by one of these keys.
    #[must_use]
    pub fn with_authors(mut self, authors: impl IntoIterator<Item = PublicKey>) -> Self {
        self.authors = Some(sorted(authors.into_iter().collect()));
        self
    }

    /// Only events of one of these kinds.
    #[must_use]
    pub fn with_kinds(mut self, kinds: impl IntoIterator<Item = EventKind>) -> Self {
        self.kinds = Some(sorted(kinds.into_iter().collect()));
        self
    }

    /// Only events with a tag of this letter and one of these values; instead of what was asked of
    /// tags before.
    #[must_use]
    pub fn with_tag<S: Into<Box<str>>>(
        mut self,
        letter: Letter,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        let values: Vec<Box<str>> = values.into_iter().map(Into::into).collect();
        self.first_value = values.first().cloned();
        self.tags = vec![TagCondition::new(letter, values)];
        self
    }

    /// Events of any kind.
    #[must_use]
    pub fn of_any_kind(mut self) -> Self {
        self.kinds = None;
        self
    }

    /// Only events from this second on.
    #[must_use]
    pub fn with_since(mut self, since: Option<Seconds>) -> Self {
        self.since = since;
        self
    }

    /// Only events up to this second, and in it.
    #[must_use]
    pub fn with_until(mut self, until: Option<Seconds>) -> Self {
        self.until = until;
        self
    }

    /// At most so many stored events; 0 asks for live ones only.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<u64>) -> Self {
        self.limit = limit;
        self
    }

    /// The ids asked for, sorted; none is any.
    pub fn ids(&self) -> Option<&[EventId]> {
        self.ids.as_deref()
    }

    /// The signers asked for, sorted; none is any.
    pub fn authors(&self) -> Option<&[PublicKey]> {
        self.authors.as_deref()
    }

    /// The kinds asked for, sorted; none is any.
    pub fn kinds(&self) -> Option<&[EventKind]> {
        self.kinds.as_deref()
    }

    /// The conditions on tags; the one that came first stands first.
    pub fn tags(&self) -> &[TagCondition] {
        &self.tags
    }

    /// The condition on the tags with this letter.
    pub fn tag(&self, letter: Letter) -> Option<&TagCondition> {
        self.tags
            .iter()
            .find(|condition| condition.letter == letter)
    }

    /// The first value of the first tag condition, as written by the client (NIP-45).
    pub fn first_tag_value(&self) -> Option<&str> {
        self.first_value.as_deref()
    }

    /// The first second asked for.
    pub fn since(&self) -> Option<Seconds> {
        self.since
    }

    /// The last second asked for.
    pub fn until(&self) -> Option<Seconds> {
        self.until
    }

    /// How many stored events are asked for at most; never looked at for live ones.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether no event at all can match (`NOS-11`).
    pub fn matches_nothing(&self) -> bool {
        let empty = |length: Option<usize>| length == Some(0);
        empty(self.ids().map(<[_]>::len))
            || empty(self.authors().map(<[_]>::len))
            || empty(self.kinds().map(<[_]>::len))
            || self
                .tags
                .iter()
                .any(|condition| condition.values.is_empty())
            || matches!((self.since, self.until), (Some(since), Some(until)) if since > until)
    }

    /// Whether events of this kind can match.
    pub fn reaches(&self, kind: EventKind) -> bool {
        self.kinds()
            .is_none_or(|kinds| kinds.binary_search(&kind).is_ok())
    }

    /// The one predicate, for stored and live events alike (`NOS-10`). It does not look at the
    /// limit, nor at who may see the event.
    pub fn matches(&self, event: &Event) -> bool {
        self.since.is_none_or(|since| since <= event.created_at())
            && self.until.is_none_or(|until| event.created_at() <= until)
            && self.reaches(event.kind())
            && self
                .authors()
                .is_none_or(|own| own.binary_search(&event.pubkey()).is_ok())
            && self
                .ids()
                .is_none_or(|own| own.binary_search(&event.id()).is_ok())
            && self.tags.iter().all(|condition| condition.matches(event))
    }
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Box<[T]> {
    values.sort_unstable();
    values.dedup();
    values.into()
}

#[cfg(test)]
mod tests;
