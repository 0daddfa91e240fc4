//! An entry as it travels: items, held or dropped (`ENT-5`, `ENT-7`), and the bytes as signed.

use std::fmt;

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, SeqAccess, Visitor},
};

use super::entry_hash;
use crate::{
    domain::Domain,
    envelope::SignatureBytes,
    id::{EntryHash, ItemHash},
    limit,
};

/// One piece of an entry's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    /// Its bytes.
    Held(Bytes),
    /// It was dropped; its hash keeps the body verifiable.
    Dropped(ItemHash),
    /// The same, and whoever dropped it says why. That is said, not signed: it is for people.
    Gone(ItemHash, DropReason),
}

/// Why an item was dropped: the rules of its kind hide it from everybody for good. The number of
/// each is the wire and the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DropReason {
    /// Who may delete it did.
    Deleted,
    /// Whose it was asked for everything of theirs to be forgotten.
    Vanished,
    /// A newer version took its place.
    Replaced,
    /// Its time was over.
    Expired,
}

impl DropReason {
    const ALL: [Self; 4] = [Self::Deleted, Self::Vanished, Self::Replaced, Self::Expired];

    /// Its number.
    pub const fn to_byte(self) -> u8 {
        self as u8
    }

    /// The reason with a number.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|reason| reason.to_byte() == byte)
    }

    /// In one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Vanished => "vanished",
            Self::Replaced => "replaced",
            Self::Expired => "expired",
        }
    }
}

impl Item {
    /// Hash of the item, dropped or not.
    pub fn hash(&self) -> ItemHash {
        match self {
            Self::Held(bytes) => ItemHash::from_bytes(Domain::Item.hash(&[bytes])),
            Self::Dropped(hash) | Self::Gone(hash, _) => *hash,
        }
    }

    /// The bytes, if held.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Held(bytes) => Some(bytes),
            Self::Dropped(_) | Self::Gone(..) => None,
        }
    }

    /// Why it is not held, as far as whoever dropped it has said.
    pub fn reason(&self) -> Option<DropReason> {
        match self {
            Self::Held(_) | Self::Dropped(_) => None,
            Self::Gone(_, reason) => Some(*reason),
        }
    }

    /// The same without its bytes.
    #[must_use]
    pub fn gone(&self, reason: DropReason) -> Self {
        Self::Gone(self.hash(), reason)
    }
}

/// An entry as it travels: header bytes as signed, signature, items. Not checked at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireEntry {
    pub(super) header: Bytes,
    pub(super) signature: SignatureBytes,
    #[serde(deserialize_with = "few_items")]
    pub(super) items: Vec<Item>,
}

/// Stops at the bound: two bytes on the wire make an item of 40 in memory.
fn few_items<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Item>, D::Error> {
    struct Items;
    impl<'de> Visitor<'de> for Items {
        type Value = Vec<Item>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {} items", limit::ENTRY_ITEMS_MAX)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Item>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = seq.next_element()? {
                if items.len() == limit::ENTRY_ITEMS_MAX {
                    return Err(de::Error::invalid_length(items.len() + 1, &self));
                }
                items.push(item);
            }
            Ok(items)
        }
    }
    deserializer.deserialize_seq(Items)
}

impl WireEntry {
    /// From parts kept apart in the store.
    pub fn from_parts(header: Bytes, signature: &[u8; 64], items: Vec<Item>) -> Self {
        Self {
            header,
            signature: SignatureBytes::from_bytes(signature),
            items,
        }
    }

    /// Rough size on the wire in bytes, for batching.
    pub fn size(&self) -> usize {
        let items: usize = self
            .items
            .iter()
            .map(|item| item.bytes().map_or(33, Bytes::len) + 4)
            .sum();
        self.header.len() + 64 + 8 + items
    }

    /// The hash that the entry has, whether or not it is authentic.
    pub fn hash(&self) -> EntryHash {
        entry_hash(&self.header, &self.signature)
    }
}
