//! Canonical encoding: postcard, with every way of writing one value but the shortest refused.
//!
//! postcard by itself accepts trailing bytes and long varints (`ENV-2`), so a decoder here encodes
//! what it read and compares.

use serde::{Serialize, de::DeserializeOwned};

/// Bytes that are not the canonical encoding of what they claim to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Longer than the bound for this type.
    #[error("{what} has {bytes} bytes, the limit is {limit}")]
    TooLong {
        /// What was being read.
        what: &'static str,
        /// Its length in bytes.
        bytes: usize,
        /// The bound in bytes.
        limit: usize,
    },
    /// Does not decode: cut off, or a value outside its type.
    #[error("{what} does not decode: cut off or out of range")]
    Undecodable {
        /// What was being read.
        what: &'static str,
    },
    /// Decodes, but is not the one encoding of its value.
    #[error("{what} is not in canonical form")]
    NotCanonical {
        /// What was being read.
        what: &'static str,
    },
    /// Decodes, but breaks a rule of its type.
    #[error("{what} is not valid: {rule}")]
    Rule {
        /// What was being read.
        what: &'static str,
        /// The rule broken, with its id.
        rule: &'static str,
    },
}

/// The canonical bytes of a value.
///
/// # Panics
/// Never for our own wire types: they hold no map or sequence of unknown length.
pub fn encode_canonical<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("our wire types have known lengths")
}

/// Reads a value that must fill `bytes` exactly and be in canonical form.
///
/// # Errors
/// `Malformed` names what is wrong; the sender of the bytes is at fault.
pub fn decode_canonical<T: Serialize + DeserializeOwned>(
    what: &'static str,
    bytes: &[u8],
    limit: usize,
) -> Result<T, Malformed> {
    if bytes.len() > limit {
        return Err(Malformed::TooLong {
            what,
            bytes: bytes.len(),
            limit,
        });
    }
    let value: T = postcard::from_bytes(bytes).map_err(|_| Malformed::Undecodable { what })?;
    if encode_canonical(&value) == bytes {
        Ok(value)
    } else {
        Err(Malformed::NotCanonical { what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_varint_and_trailing_bytes_are_refused() {
        assert_eq!(decode_canonical::<u64>("n", &[5], 10), Ok(5));
        let long = decode_canonical::<u64>("n", &[0x85, 0x00], 10);
        assert_eq!(long, Err(Malformed::NotCanonical { what: "n" }));
        let trailing = decode_canonical::<u64>("n", &[5, 0], 10);
        assert_eq!(trailing, Err(Malformed::NotCanonical { what: "n" }));
        let cut = decode_canonical::<u64>("n", &[0x85], 10);
        assert_eq!(cut, Err(Malformed::Undecodable { what: "n" }));
        let over = decode_canonical::<u64>("n", &[0; 11], 10);
        assert!(matches!(over, Err(Malformed::TooLong { .. })));
    }
}
