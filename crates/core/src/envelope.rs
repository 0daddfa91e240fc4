//! `Signed<T>` has no payload accessor; only verifying it yields a `Verified<T>` (`ENV-3`).

use std::{collections::BTreeMap, fmt, marker::PhantomData, ops::Deref};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    codec::{Malformed, decode_canonical, encode_canonical},
    domain::Domain,
    id::NodeId,
    limit,
};

/// A signature that its named signer did not make over these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not {signer}'s over these bytes")]
pub struct SignatureInvalid {
    /// Whose signature it claims to be.
    pub signer: NodeId,
}

/// 64 signature bytes in a form that serde and postcard carry without a length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SignatureBytes([u8; 32], [u8; 32]);

impl SignatureBytes {
    pub(crate) fn to_bytes(self) -> [u8; 64] {
        let mut all = [0; 64];
        all[..32].copy_from_slice(&self.0);
        all[32..].copy_from_slice(&self.1);
        all
    }

    pub(crate) fn from_bytes(bytes: &[u8; 64]) -> Self {
        let mut halves = Self([0; 32], [0; 32]);
        halves.0.copy_from_slice(&bytes[..32]);
        halves.1.copy_from_slice(&bytes[32..]);
        halves
    }
}

impl fmt::Debug for SignatureBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Signature({}..)",
            data_encoding::HEXLOWER.encode(&self.0[..4])
        )
    }
}

/// A node's ed25519 secret key. Zeroized when dropped; never printed.
#[derive(Clone)]
pub struct NodeSecret(SigningKey);

impl NodeSecret {
    /// The key with these 32 secret bytes; every value is legal.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(bytes))
    }

    /// The secret bytes, for the key file and for iroh. Never log them.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The public key.
    pub fn node_id(&self) -> NodeId {
        NodeId::from_bytes(self.0.verifying_key().to_bytes())
    }

    /// A key that only this node can derive, for sealing its own tokens.
    pub fn derive(&self, domain: Domain) -> [u8; 32] {
        domain.hash(&[&self.0.to_bytes()])
    }

    pub(crate) fn sign(&self, domain: Domain, bytes: &[u8]) -> SignatureBytes {
        SignatureBytes::from_bytes(&self.0.sign(&signed_message(domain, bytes)).to_bytes())
    }
}

impl fmt::Debug for NodeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeSecret(of {:?})", self.node_id())
    }
}

/// What is signed: the context, then BLAKE3 of the bytes (`ENV-1`).
fn signed_message(domain: Domain, bytes: &[u8]) -> Vec<u8> {
    let mut message = domain.context().as_bytes().to_vec();
    message.extend_from_slice(blake3::hash(bytes).as_bytes());
    message
}

/// Decompressed public keys: decompressing costs a tenth of a verification.
#[derive(Debug, Default, Clone)]
pub struct KeyCache {
    keys: BTreeMap<NodeId, Option<VerifyingKey>>,
}

impl KeyCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Strict ed25519 verification (`ENV-4`): never the batch predicate, which accepts crafted
    /// signatures that this one refuses.
    pub(crate) fn verify(
        &mut self,
        signer: NodeId,
        domain: Domain,
        bytes: &[u8],
        signature: &SignatureBytes,
    ) -> Result<(), SignatureInvalid> {
        if self.keys.len() >= limit::KEY_CACHE_MAX && !self.keys.contains_key(&signer) {
            self.keys.clear();
        }
        let key = self
            .keys
            .entry(signer)
            .or_insert_with(|| VerifyingKey::from_bytes(signer.as_bytes()).ok());
        let signature = Signature::from_bytes(&signature.to_bytes());
        key.as_ref()
            .and_then(|key| {
                key.verify_strict(&signed_message(domain, bytes), &signature)
                    .ok()
            })
            .ok_or(SignatureInvalid { signer })
    }
}

/// A type that travels inside a [`Signed`] envelope.
pub trait Payload: Serialize + DeserializeOwned {
    /// The signature's context; no two payload types share one.
    const DOMAIN: Domain;
    /// What to call it in errors.
    const WHAT: &'static str;
}

/// A payload with its signer's signature, not yet checked. There is no way to read the payload
/// but [`Signed::verify`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Signed<T> {
    signer: NodeId,
    signature: SignatureBytes,
    payload: Vec<u8>,
    #[serde(skip)]
    of: PhantomData<fn() -> T>,
}

impl<T: Payload> Signed<T> {
    /// Signs a payload. The identity is the signer; the payload carries no field for it.
    pub fn sign(secret: &NodeSecret, payload: &T) -> Self {
        let payload = encode_canonical(payload);
        assert!(
            payload.len() <= limit::ENVELOPE_PAYLOAD_BYTES_MAX,
            "our payloads are bounded"
        );
        let signature = secret.sign(T::DOMAIN, &payload);
        Self {
            signer: secret.node_id(),
            signature,
            payload,
            of: PhantomData,
        }
    }

    /// Checks size, signature and canonical form, in that order.
    ///
    /// # Errors
    /// `EnvelopeError` says which failed; whoever sent the bytes is at fault, which need not be
    /// the named signer.
    pub fn verify(self, keys: &mut KeyCache) -> Result<Verified<T>, EnvelopeError> {
        if self.payload.len() > limit::ENVELOPE_PAYLOAD_BYTES_MAX {
            let limit = limit::ENVELOPE_PAYLOAD_BYTES_MAX;
            return Err(Malformed::TooLong {
                what: T::WHAT,
                bytes: self.payload.len(),
                limit,
            })?;
        }
        keys.verify(self.signer, T::DOMAIN, &self.payload, &self.signature)?;
        let value = decode_canonical(T::WHAT, &self.payload, limit::ENVELOPE_PAYLOAD_BYTES_MAX)?;
        Ok(Verified {
            value,
            signer: self.signer,
        })
    }

    /// Whom the envelope claims as its signer: for routing a refusal, not for trust.
    pub fn claimed_signer(&self) -> NodeId {
        self.signer
    }
}

impl<T> fmt::Debug for Signed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Signed(by {:?}, {} bytes)",
            self.signer,
            self.payload.len()
        )
    }
}

/// An envelope that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The bytes are not what they claim to be.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The signature does not hold.
    #[error(transparent)]
    Signature(#[from] SignatureInvalid),
}

/// A value whose signature, or whose hash link from an authentic successor, has been checked.
/// Only such values are stored, forwarded or counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified<T> {
    value: T,
    signer: NodeId,
}

impl<T> Verified<T> {
    pub(crate) fn new(value: T, signer: NodeId) -> Self {
        Self { value, signer }
    }

    /// Who signed it: the only identity that counts.
    pub fn signer(&self) -> NodeId {
        self.signer
    }

    /// The value, giving up the proof that it was checked.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood of strangers' keys neither grows the cache nor breaks what comes after.
    #[test]
    fn the_key_cache_is_bounded() {
        let secret = NodeSecret::from_bytes(&[1; 32]);
        let mut keys = KeyCache::new();
        for n in 0..limit::KEY_CACHE_MAX as u64 + 10 {
            let mut stranger = [0; 32];
            stranger[..8].copy_from_slice(&n.to_le_bytes());
            let stranger = NodeId::from_bytes(stranger);
            let signature = SignatureBytes::from_bytes(&[0; 64]);
            let refused = keys.verify(stranger, Domain::Gossip, b"x", &signature);
            assert_eq!(refused, Err(SignatureInvalid { signer: stranger }));
            assert!(keys.keys.len() <= limit::KEY_CACHE_MAX);
        }
        let signature = secret.sign(Domain::Gossip, b"x");
        let good = keys.verify(secret.node_id(), Domain::Gossip, b"x", &signature);
        assert_eq!(good, Ok(()));
    }
}
