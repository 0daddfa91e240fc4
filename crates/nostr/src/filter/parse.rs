//! Reading a filter. What is not understood is refused: leaving it out would widen the filter
//! (`NOS-13`).

use super::{Filter, TagCondition, sorted};
use crate::{
    json::{Int, Malformed, Reader},
    key::{EventId, PublicKey},
    kind::EventKind,
    limit,
    reason::{Prefix, Reason},
    tag::Letter,
    time::Seconds,
};

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterInvalid {
    /// Not the JSON that was expected.
    #[error("in a filter, {0}")]
    Json(#[from] Malformed),
    /// A key that is not in NIP-01; the text is cut.
    #[error("a filter has the unknown key {0:?}")]
    UnknownKey(String),
    /// A search in full text (NIP-50).
    #[error("search is not offered here")]
    Search,
    /// A key that is there twice: readers disagree on which one counts.
    #[error("a filter has the key {0:?} twice")]
    Twice(String),
    /// `ids`, `authors`, `#e` and `#p` hold 64 digits of lower-case hex.
    #[error("in a filter, {0:?} holds something else than 64 digits of lower-case hex")]
    NotHex(String),
    /// A limit below zero.
    #[error("in a filter, the limit is negative")]
    NegativeLimit,
    /// More than [`limit::FILTER_VALUES_MAX`].
    #[error("a filter has more than {} values", limit::FILTER_VALUES_MAX)]
    TooManyValues,
}

impl FilterInvalid {
    /// What the client is told.
    pub fn reason(&self) -> Reason {
        let prefix = match self {
            Self::Search => Prefix::Unsupported,
            _ => Prefix::Invalid,
        };
        Reason::new(prefix, &self.to_string())
    }
}

#[derive(Debug, Default)]
struct Parts {
    ids: Option<Vec<EventId>>,
    authors: Option<Vec<PublicKey>>,
    kinds: Option<Vec<EventKind>>,
    tags: Vec<(Letter, Vec<Box<str>>)>,
    since: Option<Int>,
    until: Option<Int>,
    limit: Option<Int>,
    values: usize,
}

impl Filter {
    /// Reads a text that holds a filter and nothing else.
    ///
    /// # Errors
    /// If it breaks a rule; whoever sent it is at fault.
    pub fn parse(text: &str) -> Result<Self, FilterInvalid> {
        let mut reader = Reader::new(text);
        let filter = Self::read(&mut reader)?;
        reader.end()?;
        Ok(filter)
    }

    /// Reads a filter that stands in a message.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, FilterInvalid> {
        let mut parts = Parts::default();
        reader.object(|reader, key| parts.field(reader, key))?;
        parts.finish()
    }
}

impl Parts {
    fn field(&mut self, reader: &mut Reader<'_>, key: &str) -> Result<(), FilterInvalid> {
        let twice = match key {
            "ids" => {
                let ids = self.hexes(reader, key, EventId::from_hex)?;
                self.ids.replace(ids).is_some()
            }
            "authors" => {
                let authors = self.hexes(reader, key, PublicKey::from_hex)?;
                self.authors.replace(authors).is_some()
            }
            "kinds" => {
                let kinds = self.kinds(reader)?;
                self.kinds.replace(kinds).is_some()
            }
            "since" => self.since.replace(reader.integer()?).is_some(),
            "until" => self.until.replace(reader.integer()?).is_some(),
            "limit" => self.limit.replace(reader.integer()?).is_some(),
            "search" => return Err(FilterInvalid::Search),
            _ => self.tag(reader, key)?,
        };
        if twice {
            Err(FilterInvalid::Twice(echo(key)))
        } else {
            Ok(())
        }
    }

    fn tag(&mut self, reader: &mut Reader<'_>, key: &str) -> Result<bool, FilterInvalid> {
        let letter = key.strip_prefix('#').and_then(Letter::from_name);
        let letter = letter.ok_or_else(|| FilterInvalid::UnknownKey(echo(key)))?;
        let mut values: Vec<Box<str>> = Vec::new();
        reader.array(|reader| {
            self.count_value()?;
            let value = reader.string()?;
            if letter.holds_hex() && EventId::from_hex(&value).is_none() {
                return Err(FilterInvalid::NotHex(echo(key)));
            }
            values.push(value.into());
            Ok(())
        })?;
        let twice = self.tags.iter().any(|(own, _)| *own == letter);
        self.tags.push((letter, values));
        Ok(twice)
    }

    fn hexes<T>(
        &mut self,
        reader: &mut Reader<'_>,
        key: &str,
        read: fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, FilterInvalid> {
        let mut values = Vec::new();
        reader.array(|reader| {
            self.count_value()?;
            let value = read(&reader.string()?);
            values.push(value.ok_or_else(|| FilterInvalid::NotHex(echo(key)))?);
            Ok::<_, FilterInvalid>(())
        })?;
        Ok(values)
    }

    /// Kinds that no event can have are left out: the others still match (`NOS-14`).
    fn kinds(&mut self, reader: &mut Reader<'_>) -> Result<Vec<EventKind>, FilterInvalid> {
        let mut kinds = Vec::new();
        reader.array(|reader| {
            self.count_value()?;
            if let Int::Value(value) = reader.integer()? {
                kinds.extend(u16::try_from(value).ok().map(EventKind::new));
            }
            Ok::<_, FilterInvalid>(())
        })?;
        Ok(kinds)
    }

    fn count_value(&mut self) -> Result<(), FilterInvalid> {
        self.values += 1;
        if self.values > limit::FILTER_VALUES_MAX {
            return Err(FilterInvalid::TooManyValues);
        }
        Ok(())
    }

    fn finish(self) -> Result<Filter, FilterInvalid> {
        let mut filter = Filter {
            ids: self.ids.map(sorted),
            authors: self.authors.map(sorted),
            kinds: self.kinds.map(sorted),
            ..Filter::default()
        };
        filter.limit = match self.limit {
            None => None,
            Some(Int::Value(limit)) => Some(limit),
            Some(Int::TooLarge) => Some(u64::MAX),
            Some(Int::Negative) => return Err(FilterInvalid::NegativeLimit),
        };
        filter.set_time(self.since, self.until);
        filter.set_tags(self.tags);
        Ok(filter)
    }
}

impl Filter {
    /// A bound outside the range of times is none where every event is on its right side, and
    /// matches nothing where none is (`NOS-14`).
    fn set_time(&mut self, since: Option<Int>, until: Option<Int>) {
        let mut nothing = false;
        self.since = match since.map(seconds) {
            None | Some(Int::Negative) => None,
            Some(Int::Value(value)) => Seconds::new(value),
            Some(Int::TooLarge) => {
                nothing = true;
                None
            }
        };
        self.until = match until.map(seconds) {
            None | Some(Int::TooLarge) => None,
            Some(Int::Value(value)) => Seconds::new(value),
            Some(Int::Negative) => {
                nothing = true;
                None
            }
        };
        if nothing {
            self.ids = Some(Box::default());
        }
    }

    fn set_tags(&mut self, tags: Vec<(Letter, Vec<Box<str>>)>) {
        self.first_value = tags.first().and_then(|(_, values)| values.first().cloned());
        let tags = tags
            .into_iter()
            .map(|(letter, values)| TagCondition::new(letter, values));
        self.tags = tags.collect();
        if let Some((_, others)) = self.tags.split_first_mut() {
            others.sort_unstable_by_key(|condition| condition.letter);
        }
    }
}

fn seconds(int: Int) -> Int {
    match int {
        Int::Value(value) if Seconds::new(value).is_none() => Int::TooLarge,
        other => other,
    }
}

/// A client's text, cut.
fn echo(text: &str) -> String {
    text.chars().take(limit::ECHO_CHARS_MAX).collect()
}
