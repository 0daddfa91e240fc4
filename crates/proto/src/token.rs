//! Resume tokens (`CMP-20`): opaque to the client, sealed by the provider's own key.

use osier_core::{
    Domain, NodeSecret, SetSum, TopicId, decode_canonical, encode_canonical, keyed_hash,
};
use serde::{Deserialize, Serialize};

use crate::{
    limit,
    view::{Lsn, StoreId},
};

/// Opaque bytes that the client keeps and shows again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token(pub Vec<u8>);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Token({} bytes)", self.0.len())
    }
}

/// What is inside a token: a point in the provider's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// The store that the log belongs to; a wiped store has another.
    pub store: StoreId,
    /// The topic.
    pub topic: TopicId,
    /// Everything up to here has been sent.
    pub lsn: Lsn,
    /// Entries up to here, so that what follows can be told without a scan.
    pub prefix: SetSum,
    /// What retention had removed by then.
    pub pruned: u64,
}

/// Makes and opens this node's tokens. The client cannot read or change them.
#[derive(Clone)]
pub struct TokenSeal([u8; 32]);

impl TokenSeal {
    /// The seal of a node.
    pub fn new(secret: &NodeSecret) -> Self {
        Self(secret.derive(Domain::TokenSeal))
    }

    /// Seals a point.
    pub fn seal(&self, point: &ResumePoint) -> Token {
        let mut bytes = encode_canonical(point);
        let mac = keyed_hash(&self.0, &[&bytes]);
        bytes.extend_from_slice(&mac[..16]);
        assert!(
            bytes.len() <= limit::TOKEN_BYTES_MAX,
            "tokens are of bounded size"
        );
        Token(bytes)
    }

    /// Opens a token; none if it is not one of ours, whatever the reason.
    pub fn open(&self, token: &Token) -> Option<ResumePoint> {
        let (content, mac) = token.0.split_last_chunk::<16>()?;
        if token.0.len() > limit::TOKEN_BYTES_MAX {
            return None;
        }
        let expected = keyed_hash(&self.0, &[content]);
        let same: bool = subtle::ConstantTimeEq::ct_eq(&expected[..16], &mac[..]).into();
        if !same {
            return None;
        }
        decode_canonical("resume token", content, limit::TOKEN_BYTES_MAX).ok()
    }
}

impl std::fmt::Debug for TokenSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenSeal(..)")
    }
}

#[cfg(test)]
mod tests {
    use osier_core::testing::{secret, topic};

    use super::*;

    #[test]
    fn only_the_maker_opens_a_token() {
        let point = ResumePoint {
            store: StoreId::from_bytes([1; 16]),
            topic: topic(),
            lsn: Lsn::new(70),
            prefix: SetSum::EMPTY,
            pruned: 0,
        };
        let seal = TokenSeal::new(&secret(1));
        let token = seal.seal(&point);
        assert_eq!(seal.open(&token), Some(point));
        assert_eq!(TokenSeal::new(&secret(2)).open(&token), None);
        for at in 0..token.0.len() {
            let mut bent = token.clone();
            bent.0[at] ^= 1;
            assert_eq!(seal.open(&bent), None, "byte {at}");
        }
    }
}
