//! Every hash and signature context of Osier, in one table (`ENV-1`).
//!
//! Two uses never share a context, so bytes made for one can never be mistaken for another.

/// What a hash or a signature is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Key derivation of an entry's hash over header bytes and signature.
    EntryHash,
    /// What an author signs of an entry.
    EntrySignature,
    /// Hash of one item.
    Item,
    /// Hash over an entry's item hashes.
    Body,
    /// Topic id from owner, secret and name.
    Topic,
    /// Gossip topic from the topic's secret.
    GossipTopic,
    /// Key of the session proof from the topic's secret.
    SessionProof,
    /// A leaf of the frontier tree: one author's tips.
    FrontierLeaf,
    /// A branch of the frontier tree.
    FrontierBranch,
    /// The root of the frontier tree: the state hash.
    FrontierRoot,
    /// Digest over a list of holes.
    Holes,
    /// A signed completion marker.
    Marker,
    /// A signed failure marker.
    MarkerFailed,
    /// A signed gossip message.
    Gossip,
    /// Key of the seal of resume tokens, from the node's secret.
    TokenSeal,
    /// Secret of a public topic from its name.
    PublicTopic,
    /// Id of a granted topic from owner, secret and name.
    GrantedTopic,
}

impl Domain {
    /// The context string; each is used for exactly one purpose.
    pub const fn context(self) -> &'static str {
        match self {
            Self::EntryHash => "osier 2026 entry v1",
            Self::EntrySignature => "osier entry v1",
            Self::Item => "osier 2026 item v1",
            Self::Body => "osier 2026 body v1",
            Self::Topic => "osier 2026 topic v1",
            Self::GossipTopic => "osier 2026 gossip topic v1",
            Self::SessionProof => "osier 2026 session proof v1",
            Self::FrontierLeaf => "osier 2026 frontier leaf v1",
            Self::FrontierBranch => "osier 2026 frontier branch v1",
            Self::FrontierRoot => "osier 2026 frontier root v1",
            Self::Holes => "osier 2026 holes v1",
            Self::Marker => "osier marker v1",
            Self::MarkerFailed => "osier marker failed v1",
            Self::Gossip => "osier gossip v1",
            Self::TokenSeal => "osier 2026 token seal v1",
            Self::PublicTopic => "osier 2026 public topic v1",
            Self::GrantedTopic => "osier 2026 granted topic v1",
        }
    }

    /// BLAKE3 in derive-key mode over the parts, each taken as it is: callers give fixed-width
    /// parts, or one variable part last.
    pub fn hash(self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(self.context());
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }
}

/// BLAKE3 keyed hash: a message authentication code under a derived key.
pub fn keyed_hash(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}
