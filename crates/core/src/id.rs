//! Identifiers: one macro gives each the same shape, text form and short `Debug`.

use data_encoding::HEXLOWER_PERMISSIVE;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A text that is not the lower-case hex of an id of the expected length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected_bytes} bytes of hex for a {what}, got {got:?}")]
pub struct IdTextInvalid {
    /// Which kind of id was expected.
    pub what: &'static str,
    /// Its length in bytes.
    pub expected_bytes: usize,
    /// What was given, cut to 80 characters.
    pub got: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Length in bytes.
            pub const BYTES: usize = $bytes;

            /// The id with these bytes; every value is legal.
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }

            /// The bytes of the id.
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }

            /// The first eight hex digits: for logs and tables, never for comparison.
            pub fn short(&self) -> String {
                data_encoding::HEXLOWER.encode(&self.0[..4])
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&data_encoding::HEXLOWER.encode(&self.0))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.short())
            }
        }

        /// Raw bytes on the wire, lower-case hex where people read.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = String::deserialize(deserializer)?;
                    text.parse().map_err(de::Error::custom)
                } else {
                    <[u8; $bytes]>::deserialize(deserializer).map(Self)
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdTextInvalid;

            fn from_str(text: &str) -> Result<Self, IdTextInvalid> {
                HEXLOWER_PERMISSIVE
                    .decode(text.as_bytes())
                    .ok()
                    .and_then(|bytes| bytes.try_into().ok())
                    .map(Self)
                    .ok_or_else(|| IdTextInvalid {
                        what: stringify!($name),
                        expected_bytes: $bytes,
                        got: text.chars().take(80).collect(),
                    })
            }
        }
    };
}

id!(
    /// Names a topic: the unit of subscription and replication. Bound to owner, secret and name
    /// (`ENT-20`).
    TopicId,
    32
);
id!(
    /// Names an entry: BLAKE3 over its header bytes and signature (`ENT-4`).
    EntryHash,
    32
);
id!(
    /// A node's ed25519 public key; iroh calls it the endpoint id.
    NodeId,
    32
);
id!(
    /// BLAKE3 of one item of an entry's body; what is left of a dropped item.
    ItemHash,
    32
);
id!(
    /// BLAKE3 over the item hashes of an entry's body.
    BodyHash,
    32
);
id!(
    /// Names one sync session; 16 random bytes drawn by the provider.
    SessionId,
    16
);
id!(
    /// Hash over all authors' tips: equal hashes mean that two nodes agree on one history, whatever
    /// part of it each still holds (`ENT-14`).
    StateHash,
    32
);
id!(
    /// Names one request for a session; 16 random bytes drawn by the client.
    RequestId,
    16
);

impl TopicId {
    /// The smallest id; only used as the lower end of a scan.
    pub const MIN: Self = Self([0; 32]);
}

impl EntryHash {
    /// The smallest hash; only used as the lower end of a scan.
    pub const MIN: Self = Self([0; 32]);
    /// The greatest hash; only used as the upper end of a scan.
    pub const MAX: Self = Self([0xff; 32]);
}

impl NodeId {
    /// The owner of a public topic: nobody (`ENT-21`).
    pub const NOBODY: Self = Self([0; 32]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_returns() {
        let id = TopicId::from_bytes([0xab; 32]);
        assert_eq!(id.to_string().parse::<TopicId>().unwrap(), id);
        assert_eq!(format!("{id:?}"), "TopicId(abababab)");
    }

    #[test]
    fn short_text_is_refused_with_what_was_expected() {
        let error = "abcd".parse::<SessionId>().unwrap_err();
        assert_eq!(error.expected_bytes, 16);
        assert!(error.to_string().contains("SessionId"));
    }
}
