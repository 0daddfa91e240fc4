//! Who asked for what: subscription ids, connections, generations.

use std::fmt;

use crate::{escape, limit};

/// A subscription id: 1 to 64 characters, chosen by the client (NIP-01, `NOS-42`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(Box<str>);

impl SubscriptionId {
    /// The id, if it has a legal length.
    pub fn new(text: &str) -> Option<Self> {
        let characters = text
            .chars()
            .take(limit::SUBSCRIPTION_ID_CHARS_MAX + 1)
            .count();
        let legal = (1..=limit::SUBSCRIPTION_ID_CHARS_MAX).contains(&characters);
        legal.then(|| Self(text.into()))
    }

    /// An id that only appears in a refusal: whatever the client wrote, cut to a legal length.
    pub(crate) fn cut(text: &str) -> Self {
        let cut: String = text
            .chars()
            .take(limit::SUBSCRIPTION_ID_CHARS_MAX)
            .collect();
        Self(cut.into())
    }

    /// As the client wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Escaped and in quotes, as it is written back.
    pub fn to_json(&self) -> String {
        escape::string(&self.0)
    }
}

impl fmt::Display for SubscriptionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names a connection as long as the relay runs; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// Counts what a connection asked for. A later request with the same id has a higher one, so
/// that what still comes for the earlier one is told apart (`NOS-43`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

impl Generation {
    /// The one after.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Names one request of one connection for good: what drivers key their work by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    /// Who asked.
    pub connection: ConnectionId,
    /// Which of its requests.
    pub generation: Generation,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-42.
    #[test]
    fn ids_have_1_to_64_characters() {
        let id = |count: usize| SubscriptionId::new(&"\u{e9}".repeat(count));
        assert!(id(0).is_none() && id(65).is_none() && id(1_000_000).is_none());
        assert!(id(1).is_some() && id(64).is_some());
        assert_eq!(
            SubscriptionId::cut(&"x".repeat(1_000_000)).as_str().len(),
            64
        );
        assert_eq!(
            SubscriptionId::new("a\"\n").unwrap().to_json(),
            r#""a\"\n""#
        );
    }
}
