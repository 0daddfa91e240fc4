//! Why something was refused: a machine-readable prefix and a sentence for people (NIP-01).

use crate::limit;

/// The standardised first word of a reason, and what a client may do about it (`NOS-41`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prefix {
    /// It is held already: done.
    Duplicate,
    /// Not enough proof of work: mine more.
    Pow,
    /// Not wanted, whoever asks: give up.
    Blocked,
    /// Too much at once: come back later.
    RateLimited,
    /// It breaks a rule of form: mend it.
    Invalid,
    /// The authenticated keys do not suffice: authenticate as someone else.
    Restricted,
    /// Nobody was there to take it.
    Mute,
    /// Our own trouble: try again.
    Error,
    /// Authenticate and ask again.
    AuthRequired,
    /// Not offered here.
    Unsupported,
    /// A negentropy session has ended (NIP-77): open a new one.
    Closed,
}

impl Prefix {
    /// How many there are.
    pub const COUNT: usize = 11;

    /// All of them, each at its [`Prefix::index`].
    pub const ALL: [Self; Self::COUNT] = [
        Self::Duplicate,
        Self::Pow,
        Self::Blocked,
        Self::RateLimited,
        Self::Invalid,
        Self::Restricted,
        Self::Mute,
        Self::Error,
        Self::AuthRequired,
        Self::Unsupported,
        Self::Closed,
    ];

    /// Its place in [`Prefix::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word before the colon.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Pow => "pow",
            Self::Blocked => "blocked",
            Self::RateLimited => "rate-limited",
            Self::Invalid => "invalid",
            Self::Restricted => "restricted",
            Self::Mute => "mute",
            Self::Error => "error",
            Self::AuthRequired => "auth-required",
            Self::Unsupported => "unsupported",
            Self::Closed => "closed",
        }
    }

    /// The prefix of a reason that a peer gave; none if it has none that we know.
    pub fn of(reason: &str) -> Option<Self> {
        let (word, _) = reason.split_once(':')?;
        Self::ALL.into_iter().find(|prefix| prefix.as_str() == word)
    }
}

/// A prefix and a sentence: what `OK`, `CLOSED`, `NEG-ERR` and `NOTICE` carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(Box<str>);

/// Characters of a reason: a sentence with a cut echo of what it is about.
const REASON_CHARS_MAX: usize = 8 * limit::ECHO_CHARS_MAX;

impl Reason {
    /// Puts the two together; a long sentence is cut.
    pub fn new(prefix: Prefix, sentence: &str) -> Self {
        let cut: String = sentence.chars().take(REASON_CHARS_MAX).collect();
        Self(format!("{}: {cut}", prefix.as_str()).into())
    }

    /// What a peer gave as its reason, or nothing at all.
    pub fn from_peer(text: &str) -> Self {
        Self(
            text.chars()
                .take(REASON_CHARS_MAX)
                .collect::<String>()
                .into(),
        )
    }

    /// A sentence without a prefix: for what was done, and may be of interest.
    pub fn remark(sentence: &str) -> Self {
        Self::from_peer(sentence)
    }

    /// No reason: everything is well.
    pub fn none() -> Self {
        Self(Box::default())
    }

    /// As it is sent.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Its first word.
    pub fn prefix(&self) -> Option<Prefix> {
        Prefix::of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-41.
    #[test]
    fn prefixes_return_from_their_text() {
        for (index, prefix) in Prefix::ALL.into_iter().enumerate() {
            assert_eq!(prefix.index(), index);
            let reason = Reason::new(prefix, "why: because");
            assert_eq!(reason.prefix(), Some(prefix));
            assert!(reason.text().ends_with(": why: because"));
        }
        for text in ["", "blocked", "Blocked: x", "what: x"] {
            assert_eq!(Prefix::of(text), None, "{text}");
        }
        let long = Reason::new(Prefix::Error, &"x".repeat(1_000_000));
        assert!(long.text().len() < 1_000);
    }
}
