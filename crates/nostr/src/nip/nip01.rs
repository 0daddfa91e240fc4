//! NIP-01, the order of events and the winner of an address:
//! <https://github.com/nostr-protocol/nips/blob/master/01.md>.

use std::cmp::{Ordering, Reverse};

use crate::{event::Event, key::EventId, time::Seconds};

/// What decides between two events of one address, and the place of an event in an answer.
///
/// Ordered as answers are: the newest first, in one second the lowest id first (`NOS-16`). The
/// first of an address is its winner (`NOS-22`), so that nodes agree whatever came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    /// The event's time.
    pub created_at: Seconds,
    /// The event's id.
    pub id: EventId,
}

impl Version {
    /// The version that an event is.
    pub fn of(event: &Event) -> Self {
        Self {
            created_at: event.created_at(),
            id: event.id(),
        }
    }

    /// Whether this one wins over another of the same address.
    pub fn beats(&self, other: &Self) -> bool {
        self < other
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (Reverse(self.created_at), self.id).cmp(&(Reverse(other.created_at), other.id))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-16 and NOS-22.
    #[test]
    fn the_newest_comes_first_and_the_lowest_id_breaks_ties() {
        let version = |seconds, byte| Version {
            created_at: Seconds::new(seconds).unwrap(),
            id: EventId::from_bytes([byte; 32]),
        };
        let mut versions = [
            version(1, 0),
            version(2, 0x80),
            version(2, 0x7f),
            version(2, 0),
        ];
        versions.sort();
        let expected = [
            version(2, 0),
            version(2, 0x7f),
            version(2, 0x80),
            version(1, 0),
        ];
        assert_eq!(versions, expected);
        assert!(version(2, 9).beats(&version(1, 1)) && !version(2, 9).beats(&version(2, 9)));
    }
}
