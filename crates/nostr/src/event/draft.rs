//! Making events: what a mirror signs to authenticate, and what tests publish.

use std::fmt;

use secp256k1::{Keypair, Secp256k1, SecretKey};

use super::{Event, Fields, UnverifiedEvent};
use crate::{
    key::{PublicKey, Signature},
    kind::EventKind,
    tag::Tag,
    time::Seconds,
};

/// A secret key that signs events. Its bytes are erased on drop and never shown.
#[derive(Clone)]
pub struct EventKey(Keypair);

impl EventKey {
    /// The key with these bytes; none for zero and for numbers beyond the curve's order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let secret = SecretKey::from_slice(bytes).ok()?;
        Some(Self(Keypair::from_secret_key(
            &Secp256k1::signing_only(),
            &secret,
        )))
    }

    /// Its public half.
    pub fn pubkey(&self) -> PublicKey {
        PublicKey::from_bytes(self.0.x_only_public_key().0.serialize())
    }
}

impl Drop for EventKey {
    fn drop(&mut self) {
        self.0.non_secure_erase();
    }
}

impl fmt::Debug for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventKey of {:?}", self.pubkey())
    }
}

/// An event before it is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDraft {
    /// Its time.
    pub created_at: Seconds,
    /// Its kind.
    pub kind: EventKind,
    /// Its tags.
    pub tags: Vec<Tag>,
    /// Its content.
    pub content: String,
}

impl EventDraft {
    /// Signs it. The same draft and key always give the same event: BIP-340 needs no randomness.
    pub fn sign(&self, key: &EventKey) -> Event {
        let pubkey = key.pubkey();
        let fields = self.fields(&pubkey);
        let id = fields.hash();
        let signed = Secp256k1::signing_only().sign_schnorr_no_aux_rand(id.as_bytes(), &key.0);
        UnverifiedEvent::new(id, Signature::from_bytes(signed.to_byte_array()), fields).0
    }

    /// The event that `pubkey` would have signed, with a signature of zeros: for tests that look
    /// at no signature and make thousands of events.
    #[cfg(any(test, feature = "testing"))]
    pub fn unsigned(&self, pubkey: &PublicKey) -> Event {
        let fields = self.fields(pubkey);
        UnverifiedEvent::new(fields.hash(), Signature::from_bytes([0; 64]), fields).0
    }

    fn fields<'a>(&'a self, pubkey: &'a PublicKey) -> Fields<'a> {
        Fields {
            pubkey,
            created_at: self.created_at,
            kind: self.kind,
            tags: &self.tags,
            content: &self.content,
        }
    }
}
