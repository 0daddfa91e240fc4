//! An event's kind, and what NIP-01 makes of its number.

/// The kind of an event: 0 to 65535. Others are refused in events and match nothing in filters
/// (`NOS-4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKind(u16);

/// How a relay keeps events of a kind (`NOS-20`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// All are kept.
    Regular,
    /// The newest of an author is kept.
    Replaceable,
    /// None is kept.
    Ephemeral,
    /// The newest of an author and `d` tag is kept.
    Addressable,
}

impl EventKind {
    /// User metadata.
    pub const METADATA: Self = Self(0);
    /// A short text note.
    pub const TEXT: Self = Self(1);
    /// A follow list.
    pub const FOLLOWS: Self = Self(3);
    /// An encrypted direct message (NIP-04).
    pub const DIRECT_MESSAGE: Self = Self(4);
    /// A deletion request (NIP-09).
    pub const DELETION: Self = Self(5);
    /// A repost of a text note.
    pub const REPOST: Self = Self(6);
    /// A reaction.
    pub const REACTION: Self = Self(7);
    /// A repost of anything else.
    pub const GENERIC_REPOST: Self = Self(16);
    /// A request to vanish (NIP-62).
    pub const VANISH: Self = Self(62);
    /// A gift wrap (NIP-59).
    pub const GIFT_WRAP: Self = Self(1059);
    /// A comment (NIP-22).
    pub const COMMENT: Self = Self(1111);
    /// An ephemeral gift wrap (NIP-59).
    pub const EPHEMERAL_GIFT_WRAP: Self = Self(21059);
    /// An authentication event (NIP-42): never stored, never shown.
    pub const AUTH: Self = Self(22242);

    /// The kind with this number.
    pub const fn new(kind: u16) -> Self {
        Self(kind)
    }

    /// As a number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// How events of the kind are kept. Numbers in no range of NIP-01 are regular.
    pub const fn class(self) -> Class {
        match self.0 {
            0 | 3 | 10_000..20_000 => Class::Replaceable,
            20_000..30_000 => Class::Ephemeral,
            30_000..40_000 => Class::Addressable,
            _ => Class::Regular,
        }
    }

    /// Whether it is never stored: ephemeral, authentication among them.
    pub const fn is_ephemeral(self) -> bool {
        matches!(self.class(), Class::Ephemeral)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-20.
    #[test]
    fn ranges_of_kinds_are_those_of_nip_01() {
        let class = |kind| EventKind::new(kind).class();
        for kind in [0, 3, 10_000, 19_999] {
            assert_eq!(class(kind), Class::Replaceable, "{kind}");
        }
        for kind in [20_000, 29_999, 22_242, 21_059] {
            assert_eq!(class(kind), Class::Ephemeral, "{kind}");
        }
        for kind in [30_000, 39_999] {
            assert_eq!(class(kind), Class::Addressable, "{kind}");
        }
        for kind in [1, 2, 4, 5, 44, 45, 62, 1_000, 1_059, 9_999, 40_000, 65_535] {
            assert_eq!(class(kind), Class::Regular, "{kind}");
        }
    }
}
