//! How far back a provider's history reaches, and in what role it serves.

use serde::{Deserialize, Serialize};

use crate::set::OrderKey;

/// What a provider's history covers (`CMP-3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Everything of the topic that the provider has ever known.
    Complete,
    /// A ring: everything it has known at or above the floor. Below it only the authors' tips are
    /// held.
    From {
        /// The lowest place in range order from which nothing has been dropped.
        floor: OrderKey,
    },
}

impl Coverage {
    /// Whether nothing has been dropped.
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete)
    }

    /// Whether everything that `other` covers is covered by this.
    pub fn reaches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Complete, _) => true,
            (Self::From { .. }, Self::Complete) => false,
            (Self::From { floor }, Self::From { floor: other }) => floor <= other,
        }
    }
}

/// The capacity in which a node serves a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Keeps everything.
    Archive,
    /// Keeps a ring: the newest entries down to a floor.
    Replay,
    /// Takes part and keeps what it has seen; nobody relies on it unless it is trusted.
    Peer,
}

impl Role {
    /// The word used on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Replay => "replay",
            Self::Peer => "peer",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Archive, Self::Replay, Self::Peer]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a role: use archive, replay or peer"))
    }
}
