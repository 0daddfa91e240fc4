//! Event ids, public keys and signatures: fixed bytes, lower-case hex where people read.

use std::fmt;

use data_encoding::HEXLOWER;

macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Length in bytes.
            pub const BYTES: usize = $bytes;

            /// With these bytes; every value is legal.
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }

            /// The bytes.
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }

            /// Reads lower-case hex of exactly the right length; NIP-01 allows no other form.
            pub fn from_hex(text: &str) -> Option<Self> {
                let mut bytes = [0; $bytes];
                if text.len() != 2 * $bytes {
                    return None;
                }
                let decoded = HEXLOWER.decode_mut(text.as_bytes(), &mut bytes);
                decoded.is_ok().then_some(Self(bytes))
            }

            /// Appends the hex.
            pub(crate) fn push_hex(&self, out: &mut String) {
                HEXLOWER.encode_append(&self.0, out);
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&HEXLOWER.encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let short = self.0.get(..4).unwrap_or_default();
                write!(f, "{}({})", stringify!($name), HEXLOWER.encode(short))
            }
        }
    };
}

bytes!(
    /// SHA-256 of an event's canonical array (NIP-01). Ordered as unsigned bytes.
    EventId,
    32
);
bytes!(
    /// A BIP-340 public key: the x coordinate. Whether it is on the curve is known once a
    /// signature by it has been checked.
    PublicKey,
    32
);
bytes!(
    /// A BIP-340 signature.
    Signature,
    64
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lower_case_hex_of_the_right_length_is_an_id() {
        let hex = "ab".repeat(32);
        let id = EventId::from_hex(&hex).unwrap();
        assert_eq!(id.to_string(), hex);
        assert_eq!(format!("{id:?}"), "EventId(abababab)");
        for text in [
            &hex.to_uppercase(),
            &hex[2..],
            &format!("{hex}ab"),
            "",
            "zz",
        ] {
            assert_eq!(EventId::from_hex(text), None, "{text}");
        }
    }
}
