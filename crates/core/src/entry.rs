//! The entry: one signed, content-addressed record in an author's chain (`ENT-1` to `ENT-9`).

mod header;
mod wire;

use bytes::Bytes;

use self::header::VERSION;
pub use self::{
    header::{EntryHeader, Kind, Seq},
    wire::{DropReason, Item, WireEntry},
};
use crate::{
    codec::{Malformed, decode_canonical, encode_canonical},
    domain::Domain,
    envelope::{KeyCache, NodeSecret, SignatureBytes, SignatureInvalid, Verified},
    id::{BodyHash, EntryHash, NodeId, TopicId},
    limit,
    set::OrderKey,
    time::Timestamp,
};

/// An entry that keeps every rule but is not known to be authentic. Has no accessor for what it
/// says beyond what placing it in a waiting area needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedEntry(Entry);

impl SignedEntry {
    /// Checks form, bounds and body of received bytes; not authenticity.
    ///
    /// # Errors
    /// `Malformed`: whoever sent it is at fault.
    pub fn parse(wire: WireEntry) -> Result<Self, Malformed> {
        let header: EntryHeader =
            decode_canonical("entry header", &wire.header, limit::ENTRY_HEADER_BYTES_MAX)?;
        header.check()?;
        check_body(&header, &wire.items)?;
        let hash = entry_hash(&wire.header, &wire.signature);
        let WireEntry {
            header: header_bytes,
            signature,
            items,
        } = wire;
        Ok(Self(Entry {
            header,
            header_bytes,
            signature,
            hash,
            items,
        }))
    }

    /// Checks the entry's own signature.
    ///
    /// # Errors
    /// If it does not hold; the entry may still be authentic by a link (rule V), so it comes back.
    #[expect(
        clippy::result_large_err,
        reason = "the entry waits for a link, or is dropped at once"
    )]
    pub fn verify(self, keys: &mut KeyCache) -> Result<Verified<Entry>, (Self, SignatureInvalid)> {
        match self.check_signature(keys) {
            Ok(()) => Ok(self.accept()),
            Err(invalid) => Err((self, invalid)),
        }
    }

    /// For bytes that this node itself verified and stored: a store's rows, never a peer's bytes.
    pub fn trust_stored(self) -> Verified<Entry> {
        self.accept()
    }

    /// The entry's hash.
    pub fn hash(&self) -> EntryHash {
        self.0.hash
    }

    /// The author that it claims.
    pub fn claimed_author(&self) -> NodeId {
        self.0.header.author
    }

    /// The topic that it claims.
    pub fn claimed_topic(&self) -> TopicId {
        self.0.header.topic
    }

    /// The predecessor that it claims.
    pub fn claimed_prev(&self) -> Option<EntryHash> {
        self.0.header.prev
    }

    /// What it claims to follow: its predecessor and its dependencies.
    pub fn claimed_links(&self) -> impl Iterator<Item = EntryHash> + '_ {
        self.0.header.links()
    }

    /// Rough size in bytes.
    pub fn size(&self) -> usize {
        self.0.size()
    }

    /// By itself, strictly (`ENT-8`).
    pub(crate) fn check_signature(&self, keys: &mut KeyCache) -> Result<(), SignatureInvalid> {
        let Entry {
            header,
            header_bytes,
            signature,
            ..
        } = &self.0;
        keys.verify(
            header.author,
            Domain::EntrySignature,
            header_bytes,
            signature,
        )
    }

    pub(crate) fn accept(self) -> Verified<Entry> {
        let author = self.0.header.author;
        Verified::new(self.0, author)
    }
}

/// `ENT-4`.
fn entry_hash(header: &[u8], signature: &SignatureBytes) -> EntryHash {
    EntryHash::from_bytes(Domain::EntryHash.hash(&[header, &signature.to_bytes()]))
}

fn check_body(header: &EntryHeader, items: &[Item]) -> Result<(), Malformed> {
    let rule = |rule| Malformed::Rule {
        what: "entry body",
        rule,
    };
    if items.len() != usize::from(header.items) {
        return Err(rule("ENT-5: as many items as the header says"));
    }
    let held: usize = items.iter().filter_map(Item::bytes).map(Bytes::len).sum();
    let whole = items.iter().all(|item| item.bytes().is_some());
    let said = header.body_len as usize;
    if held > said || (whole && held != said) {
        return Err(rule("ENT-6: body length as the header says"));
    }
    if body_hash(items) == header.body_hash {
        Ok(())
    } else {
        Err(rule("ENT-7: items hash to the header's body hash"))
    }
}

fn body_hash(items: &[Item]) -> BodyHash {
    let hashes: Vec<u8> = items
        .iter()
        .flat_map(|item| *item.hash().as_bytes())
        .collect();
    BodyHash::from_bytes(Domain::Body.hash(&[&hashes]))
}

/// An entry with its bytes as signed. Obtained verified, from [`SignedEntry`] or [`EntryDraft`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    header: EntryHeader,
    header_bytes: Bytes,
    signature: SignatureBytes,
    hash: EntryHash,
    items: Vec<Item>,
}

impl Entry {
    /// The signed fields.
    pub fn header(&self) -> &EntryHeader {
        &self.header
    }

    /// The header as it was signed and is hashed.
    pub fn header_bytes(&self) -> &Bytes {
        &self.header_bytes
    }

    /// The author's signature.
    pub fn signature(&self) -> [u8; 64] {
        self.signature.to_bytes()
    }

    /// The entry's identity.
    pub fn hash(&self) -> EntryHash {
        self.hash
    }

    /// The body, item by item.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Its place in the range order. Stamps beyond [`OrderKey::TIME_MAX`] are placed there
    /// (`ENT-13`).
    pub fn order_key(&self) -> OrderKey {
        OrderKey {
            time: self.header.time.min(OrderKey::TIME_MAX),
            hash: self.hash,
        }
    }

    /// Rough size in bytes, for batching.
    pub fn size(&self) -> usize {
        self.header_bytes.len() + 200 + self.header.body_len as usize
    }

    /// The form that travels. Cheap: bytes are shared.
    pub fn to_wire(&self) -> WireEntry {
        WireEntry {
            header: self.header_bytes.clone(),
            signature: self.signature,
            items: self.items.clone(),
        }
    }
}

/// What an author decides of a new entry; signing makes it one.
#[derive(Debug, Clone)]
pub struct EntryDraft {
    /// The topic to write to.
    pub topic: TopicId,
    /// Position after the author's last entry.
    pub seq: Seq,
    /// The author's last entry; none exactly at the first position.
    pub prev: Option<EntryHash>,
    /// Entries of other authors seen; sorted and cut to 64 when signing.
    pub deps: Vec<EntryHash>,
    /// The author's clock.
    pub time: Timestamp,
    /// What the items are.
    pub kind: Kind,
    /// The body, 1 to 256 items, at most 1 MiB together.
    pub items: Vec<Bytes>,
}

/// A draft that cannot become an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the entry cannot be written: {0}")]
pub struct EntryError(#[from] Malformed);

impl EntryDraft {
    /// Signs the draft.
    ///
    /// # Errors
    /// If it breaks a bound: no items, too many, or too large.
    pub fn sign(mut self, secret: &NodeSecret) -> Result<Verified<Entry>, EntryError> {
        self.deps.sort_unstable();
        self.deps.dedup();
        self.deps.truncate(limit::ENTRY_DEPS_MAX);
        let items: Vec<Item> = self.items.into_iter().map(Item::Held).collect();
        let length: usize = items.iter().filter_map(Item::bytes).map(Bytes::len).sum();
        let header = EntryHeader {
            version: VERSION,
            topic: self.topic,
            author: secret.node_id(),
            seq: self.seq,
            prev: self.prev,
            deps: self.deps,
            time: self.time,
            kind: self.kind,
            items: u16::try_from(items.len()).unwrap_or(u16::MAX),
            body_len: u32::try_from(length).unwrap_or(u32::MAX),
            body_hash: body_hash(&items),
        };
        header.check()?;
        let header_bytes = Bytes::from(encode_canonical(&header));
        let signature = secret.sign(Domain::EntrySignature, &header_bytes);
        let hash = entry_hash(&header_bytes, &signature);
        let entry = Entry {
            header,
            header_bytes,
            signature,
            hash,
            items,
        };
        Ok(SignedEntry(entry).accept())
    }
}
