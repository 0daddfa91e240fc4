//! Which rule a topic follows, and its text form.

use std::{fmt, num::NonZeroU32, str::FromStr};

use osier_core::Role;

/// When a topic's history is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rule {
    /// A connected archive has drained; without one, whoever reaches back far enough (`POL-6`).
    #[default]
    StorageFirst,
    /// The first trusted provider has drained: fast, and coverage says how deep (`POL-9`).
    FirstTrusted,
    /// More than half of the connected trusted providers have drained alike (`POL-10`).
    StrictMajority,
    /// That many have drained alike (`POL-11`).
    Quorum {
        /// How many.
        n: NonZeroU32,
        /// Only those trusted in this role count; `None` for any.
        role: Option<Role>,
    },
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StorageFirst => f.write_str("storage-first"),
            Self::FirstTrusted => f.write_str("first-trusted"),
            Self::StrictMajority => f.write_str("strict-majority"),
            Self::Quorum { n, role: None } => write!(f, "quorum:{n}"),
            Self::Quorum {
                n,
                role: Some(role),
            } => write!(f, "quorum:{n}:{role}"),
        }
    }
}

/// A text that names no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{got:?} is not a completion rule: use storage-first, first-trusted, strict-majority, \
     quorum:N or quorum:N:ROLE, with N at least 1 and ROLE archive, replay or peer"
)]
pub struct RuleTextInvalid {
    /// What was given, cut to 80 characters.
    pub got: String,
}

impl FromStr for Rule {
    type Err = RuleTextInvalid;

    fn from_str(text: &str) -> Result<Self, RuleTextInvalid> {
        let rule = match text {
            "storage-first" => Some(Self::StorageFirst),
            "first-trusted" => Some(Self::FirstTrusted),
            "strict-majority" => Some(Self::StrictMajority),
            _ => text.strip_prefix("quorum:").and_then(quorum),
        };
        rule.ok_or_else(|| RuleTextInvalid {
            got: text.chars().take(80).collect(),
        })
    }
}

/// `N` or `N:ROLE`.
fn quorum(text: &str) -> Option<Rule> {
    let (n, role) = match text.split_once(':') {
        Some((n, role)) => (n, Some(role.parse().ok()?)),
        None => (text, None),
    };
    let n = n.parse().ok()?;
    Some(Rule::Quorum { n, role })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_returns() {
        let texts = [
            "storage-first",
            "first-trusted",
            "strict-majority",
            "quorum:1",
            "quorum:3:archive",
            "quorum:2:replay",
            "quorum:4294967295:peer",
        ];
        for text in texts {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        assert_eq!(Rule::default(), Rule::StorageFirst);
    }

    #[test]
    fn other_texts_are_refused_with_what_was_given() {
        let texts = [
            "",
            "StorageFirst",
            "quorum",
            "quorum:",
            "quorum:0",
            "quorum:-1",
            "quorum:2:",
            "quorum:2:king",
            "quorum:2:archive:x",
            "quorum:4294967296",
        ];
        for text in texts {
            let error = text.parse::<Rule>().unwrap_err();
            assert_eq!(error.got, text);
        }
        let long = "x".repeat(200).parse::<Rule>().unwrap_err();
        assert_eq!(long.got.len(), 80);
    }
}
