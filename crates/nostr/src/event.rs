//! The event of NIP-01: <https://github.com/nostr-protocol/nips/blob/master/01.md>.
//!
//! An [`Event`] exists only verified. What comes in is an [`UnverifiedEvent`], which says nothing
//! of itself but the id that it claims (`NOS-1`).

mod draft;
mod parse;
mod rescue;

use std::sync::Arc;

use bytes::Bytes;
pub use draft::{EventDraft, EventKey};
pub use parse::EventMalformed;
pub(crate) use rescue::rescue_id;
use secp256k1::{Secp256k1, Verification, XOnlyPublicKey, schnorr};
use sha2::{Digest, Sha256};

use crate::{
    escape,
    key::{EventId, PublicKey, Signature},
    kind::{Class, EventKind},
    tag::{Address, Tag},
    time::Seconds,
};

/// An event whose id and signature have been checked, or that comes from our own store.
///
/// Cloning is cheap where it matters: the text that is served is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    id: EventId,
    pubkey: PublicKey,
    created_at: Seconds,
    kind: EventKind,
    tags: Arc<[Tag]>,
    content: Arc<str>,
    signature: Signature,
    json: Arc<str>,
}

/// An event that keeps every rule of form and may be forged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedEvent(Event);

/// Why a well-formed event is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventForged {
    /// The id is not the hash of the event (`NOS-3`).
    #[error("the id is not the hash of the event")]
    Id,
    /// The signature does not hold for the id and the key (`NOS-3`).
    #[error("the signature does not hold")]
    Signature,
}

/// What is signed: an event's fields without id and signature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) pubkey: &'a PublicKey,
    pub(crate) created_at: Seconds,
    pub(crate) kind: EventKind,
    pub(crate) tags: &'a [Tag],
    pub(crate) content: &'a str,
}

impl UnverifiedEvent {
    /// Puts together what has been read.
    pub(crate) fn new(id: EventId, signature: Signature, fields: Fields<'_>) -> Self {
        Self(Event {
            id,
            pubkey: *fields.pubkey,
            created_at: fields.created_at,
            kind: fields.kind,
            tags: fields.tags.into(),
            content: fields.content.into(),
            signature,
            json: fields.json(&id, &signature).into(),
        })
    }

    /// The id that it claims: what an `OK` names.
    pub fn claimed_id(&self) -> EventId {
        self.0.id
    }

    /// The kind that it claims: what decides how a frame is handled before it is verified.
    pub fn claimed_kind(&self) -> EventKind {
        self.0.kind
    }

    /// The time that it claims.
    pub fn claimed_time(&self) -> Seconds {
        self.0.created_at
    }

    /// The tags that it claims.
    pub(crate) fn claimed_tags(&self) -> &[Tag] {
        &self.0.tags
    }

    /// Its canonical JSON, for sending it on to somebody who checks it.
    pub fn json(&self) -> &str {
        &self.0.json
    }

    /// Bytes of its canonical JSON, for batching.
    pub fn size(&self) -> usize {
        self.0.json.len()
    }

    /// Hashes the event and checks its BIP-340 signature: some 30 microseconds (`NOS-3`).
    ///
    /// # Errors
    /// If either does not hold; whoever sent it is at fault.
    pub fn verify<C: Verification>(self, secp: &Secp256k1<C>) -> Result<Event, EventForged> {
        let Event {
            id,
            pubkey,
            signature,
            ..
        } = &self.0;
        if self.0.fields().hash() != *id {
            return Err(EventForged::Id);
        }
        verify_signature(secp, signature, id.as_bytes(), pubkey)?;
        Ok(self.0)
    }

    /// For text that this node itself verified and stored: a store's rows, never a peer's bytes.
    pub fn trust_stored(self) -> Event {
        self.0
    }
}

/// Checks a BIP-340 signature. A key that is not on the curve has signed nothing.
pub(crate) fn verify_signature<C: Verification>(
    secp: &Secp256k1<C>,
    signature: &Signature,
    message: &[u8],
    pubkey: &PublicKey,
) -> Result<(), EventForged> {
    let key = XOnlyPublicKey::from_slice(pubkey.as_bytes()).map_err(|_| EventForged::Signature)?;
    let signature = schnorr::Signature::from_slice(signature.as_bytes());
    let signature = signature.map_err(|_| EventForged::Signature)?;
    let outcome = secp.verify_schnorr(&signature, message, &key);
    outcome.map_err(|_| EventForged::Signature)
}

impl From<Event> for UnverifiedEvent {
    /// Forgets that it has been checked: who receives it checks it again.
    fn from(event: Event) -> Self {
        Self(event)
    }
}

impl Event {
    /// Its id.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// Who signed it.
    pub fn pubkey(&self) -> PublicKey {
        self.pubkey
    }

    /// The time that its signer gave it.
    pub fn created_at(&self) -> Seconds {
        self.created_at
    }

    /// Its kind.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// Its tags, in order.
    pub fn tags(&self) -> &[Tag] {
        &self.tags
    }

    /// Its content.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Its signature.
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// Its canonical JSON: what is stored, sent and served (`NOS-2`).
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The canonical JSON, shared.
    pub fn shared_json(&self) -> Arc<str> {
        Arc::clone(&self.json)
    }

    /// The canonical JSON as bytes, shared: what an entry's item holds.
    pub fn to_bytes(&self) -> Bytes {
        struct Owner(Arc<str>);
        impl AsRef<[u8]> for Owner {
            fn as_ref(&self) -> &[u8] {
                self.0.as_bytes()
            }
        }
        Bytes::from_owner(Owner(self.shared_json()))
    }

    /// The values of all tags with this name.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.tags.iter().filter(move |tag| tag.name() == name);
        named.filter_map(Tag::value)
    }

    /// Where it lives, if only the newest of its address counts (`NOS-21`).
    pub fn address(&self) -> Option<Address> {
        let d = match self.kind.class() {
            Class::Regular | Class::Ephemeral => return None,
            Class::Replaceable => "",
            Class::Addressable => {
                let first = self.tags.iter().find(|tag| tag.name() == "d");
                first.and_then(Tag::value).unwrap_or_default()
            }
        };
        Some(Address {
            kind: self.kind,
            pubkey: self.pubkey,
            d: d.into(),
        })
    }

    fn fields(&self) -> Fields<'_> {
        Fields {
            pubkey: &self.pubkey,
            created_at: self.created_at,
            kind: self.kind,
            tags: &self.tags,
            content: &self.content,
        }
    }
}

impl Fields<'_> {
    /// The id: SHA-256 of the array `[0, pubkey, created_at, kind, tags, content]` (`NOS-2`).
    pub(crate) fn hash(&self) -> EventId {
        let mut text = String::with_capacity(self.content.len() + 256);
        text.push_str("[0,\"");
        self.pubkey.push_hex(&mut text);
        text.push_str("\",");
        escape::push_number(&mut text, self.created_at.get());
        text.push(',');
        escape::push_number(&mut text, u64::from(self.kind.get()));
        text.push(',');
        push_tags(&mut text, self.tags);
        text.push(',');
        escape::push_string(&mut text, self.content);
        text.push(']');
        EventId::from_bytes(Sha256::digest(text.as_bytes()).into())
    }

    /// The canonical JSON: the keys in the order in which NIP-01 lists them, no spaces.
    fn json(&self, id: &EventId, signature: &Signature) -> String {
        let mut text = String::with_capacity(self.content.len() + 512);
        text.push_str("{\"id\":\"");
        id.push_hex(&mut text);
        text.push_str("\",\"pubkey\":\"");
        self.pubkey.push_hex(&mut text);
        text.push_str("\",\"created_at\":");
        escape::push_number(&mut text, self.created_at.get());
        text.push_str(",\"kind\":");
        escape::push_number(&mut text, u64::from(self.kind.get()));
        text.push_str(",\"tags\":");
        push_tags(&mut text, self.tags);
        text.push_str(",\"content\":");
        escape::push_string(&mut text, self.content);
        text.push_str(",\"sig\":\"");
        signature.push_hex(&mut text);
        text.push_str("\"}");
        text
    }
}

fn push_tags(out: &mut String, tags: &[Tag]) {
    escape::push_list(out, tags, |out, tag| {
        escape::push_list(out, tag.strings(), escape::push_string);
    });
}

#[cfg(test)]
mod tests;
