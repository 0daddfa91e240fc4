//! Where a watcher is in a topic's log.

use std::{fmt, str::FromStr};

use osier_proto::Lsn;
use serde::{Serialize, Serializer};

/// A place in this node's log of a topic: opaque, to be kept and given back to go on exactly there.
/// It means nothing to another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(Lsn);

/// A text that is not a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a position: use start, now, or one that an earlier watch gave")]
pub struct PositionTextInvalid(String);

impl Position {
    /// Before the first entry.
    pub const START: Self = Self(Lsn::START);

    pub(crate) const fn new(lsn: Lsn) -> Self {
        Self(lsn)
    }

    pub(crate) const fn lsn(self) -> Lsn {
        self.0
    }
}

impl From<Position> for Lsn {
    fn from(position: Position) -> Self {
        position.0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.get())
    }
}

impl FromStr for Position {
    type Err = PositionTextInvalid;

    fn from_str(text: &str) -> Result<Self, PositionTextInvalid> {
        if text == "start" {
            return Ok(Self::START);
        }
        let number = text
            .parse()
            .map_err(|_| PositionTextInvalid(text.chars().take(40).collect()));
        number.map(|number| Self(Lsn::new(number)))
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_returns() {
        let at = Position::new(Lsn::new(42));
        assert_eq!(at.to_string().parse(), Ok(at));
        assert_eq!("start".parse(), Ok(Position::START));
        assert!("-1".parse::<Position>().is_err());
    }
}
