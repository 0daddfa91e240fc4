//! Gossip (`GOS-1` to `GOS-6`, `GOS-10`): signed hints, each small enough for its swarm.
//!
//! The identity is the signer, never the last hop. A message is a hint: what must arrive goes over
//! a session.

use bytes::Bytes;
use osier_core::{
    Domain, EntryHash, EnvelopeError, KeyCache, Kind, Malformed, NodeId, NodeSecret, Payload, Role,
    Seq, Signed, TopicId, Verified, WireEntry, decode_canonical, encode_canonical,
};
use serde::{Deserialize, Serialize};

use crate::{limit::EPHEMERAL_BYTES_MAX, watermark::Watermark};

/// A hint to everybody in a topic's swarm. Variant order is the wire: append only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gossip {
    /// An entry, whole.
    Live(WireEntry),
    /// An entry too large to be gossiped: pull it by a session.
    Announce {
        /// Which.
        hash: EntryHash,
        /// By whom.
        author: NodeId,
        /// Where in the author's chain.
        seq: Seq,
        /// Bytes of its body.
        len: u32,
    },
    /// What the signer holds.
    Watermark(Watermark),
    /// The signer serves the topic.
    Provider {
        /// In which capacity.
        role: Role,
    },
    /// Something of the moment: handed to who listens, and stored nowhere (`GOS-10`).
    Ephemeral {
        /// What it is, as for an entry's items.
        kind: Kind,
        /// The item.
        item: Bytes,
    },
}

/// What a swarm carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GossipMessage {
    /// Which topic: a message cannot be carried to another swarm.
    pub topic: TopicId,
    /// Never twice the same by one signer: equal bytes are suppressed for 90 s and cost a link.
    pub sequence: u64,
    /// The hint.
    pub body: Gossip,
}

impl Payload for GossipMessage {
    const DOMAIN: Domain = Domain::Gossip;
    const WHAT: &'static str = "gossip message";
}

/// Signs and encodes a message; none if it would not fit into `room` bytes of gossip payload
/// (`GOS-2`): an oversize broadcast would silence every topic of the node.
pub fn encode_gossip(secret: &NodeSecret, message: &GossipMessage, room: usize) -> Option<Bytes> {
    // An entry may be larger than any envelope: it is not even signed.
    let fits = match &message.body {
        Gossip::Live(entry) => entry.size() <= room,
        Gossip::Ephemeral { item, .. } => item.len() <= EPHEMERAL_BYTES_MAX,
        Gossip::Announce { .. } | Gossip::Watermark(_) | Gossip::Provider { .. } => true,
    };
    if !fits || encode_canonical(message).len() > room {
        return None;
    }
    let bytes = encode_canonical(&Signed::sign(secret, message));
    (bytes.len() <= room).then(|| bytes.into())
}

/// Checks size, form and signature of what a swarm delivered. Whether the signer counts is for
/// others to say.
///
/// # Errors
/// The bytes are of no use. The last hop need not be at fault.
pub fn decode_gossip(
    bytes: &[u8],
    room: usize,
    keys: &mut KeyCache,
) -> Result<Verified<GossipMessage>, EnvelopeError> {
    let signed: Signed<GossipMessage> = decode_canonical("gossip envelope", bytes, room)?;
    let message = signed.verify(keys)?;
    match broken_rule(&message.body) {
        Some(rule) => Err(Malformed::Rule {
            what: "gossip message",
            rule,
        }
        .into()),
        None => Ok(message),
    }
}

fn broken_rule(body: &Gossip) -> Option<&'static str> {
    match body {
        Gossip::Announce { seq, .. } if seq.get() == 0 => Some("GOS-4: seq starts at 1"),
        Gossip::Ephemeral { item, .. } if item.len() > EPHEMERAL_BYTES_MAX => {
            Some("GOS-10: an ephemeral item is small")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use osier_core::testing::{Chain, secret, topic};

    use super::*;
    use crate::{limit::GOSSIP_PAYLOAD_BYTES_MAX as ROOM, message::Summary, view::Lsn};

    fn message(sequence: u64, body: Gossip) -> GossipMessage {
        GossipMessage {
            topic: topic(),
            sequence,
            body,
        }
    }

    fn all() -> Vec<Gossip> {
        let entry = Chain::new(1).next(b"hello");
        vec![
            Gossip::Live(entry.to_wire()),
            Gossip::Announce {
                hash: entry.hash(),
                author: entry.signer(),
                seq: entry.header().seq(),
                len: 70_000,
            },
            Gossip::Watermark(Watermark {
                summary: Summary::empty(),
                last: Lsn::new(7),
            }),
            Gossip::Provider {
                role: Role::Archive,
            },
            Gossip::Ephemeral {
                kind: Kind::NOSTR,
                item: Bytes::from_static(b"{}"),
            },
        ]
    }

    /// GOS-1: what is signed comes back, with its signer, and nothing else passes.
    #[test]
    fn every_hint_returns_and_no_bent_byte_passes() {
        for body in all() {
            let message = message(1, body);
            let bytes = encode_gossip(&secret(1), &message, ROOM).unwrap();
            let read = decode_gossip(&bytes, ROOM, &mut KeyCache::new()).unwrap();
            assert_eq!(read.signer(), secret(1).node_id());
            assert_eq!(*read, message);
            for at in 0..bytes.len() {
                let mut bent = bytes.to_vec();
                bent[at] ^= 1;
                assert!(decode_gossip(&bent, ROOM, &mut KeyCache::new()).is_err());
            }
        }
    }

    /// GOS-2, IR-01: the limit is the payload room; one byte more is refused before it is sent.
    #[test]
    fn what_does_not_fit_is_said_so() {
        let entry = Chain::new(1).next(&[7; 3000]);
        let live = message(1, Gossip::Live(entry.to_wire()));
        let bytes = encode_gossip(&secret(1), &live, ROOM).unwrap();
        let exact = bytes.len();
        assert!(encode_gossip(&secret(1), &live, exact).is_some());
        assert!(encode_gossip(&secret(1), &live, exact - 1).is_none());
        assert!(decode_gossip(&bytes, exact - 1, &mut KeyCache::new()).is_err());
        for size in [4057, 4058, 5000, 70 * 1024] {
            let entry = Chain::new(1).next(&vec![7; size]);
            let live = message(1, Gossip::Live(entry.to_wire()));
            assert!(encode_gossip(&secret(1), &live, ROOM).is_none(), "{size}");
        }
    }

    /// GOS-10: the largest item fits whatever the numbers beside it, and a larger one is refused
    /// at both ends.
    #[test]
    fn an_ephemeral_item_has_a_bound_at_both_ends() {
        let of = |size: usize| {
            let item = vec![b'x'; size].into();
            let kind = Kind::from_u16(u16::MAX);
            message(u64::MAX, Gossip::Ephemeral { kind, item })
        };
        let largest = of(EPHEMERAL_BYTES_MAX);
        let bytes = encode_gossip(&secret(1), &largest, ROOM).unwrap();
        let read = decode_gossip(&bytes, ROOM, &mut KeyCache::new()).unwrap();
        assert_eq!(*read, largest);
        let over = of(EPHEMERAL_BYTES_MAX + 1);
        assert!(encode_gossip(&secret(1), &over, ROOM).is_none());
        let forced = encode_canonical(&Signed::sign(&secret(1), &over));
        let refused = decode_gossip(&forced, ROOM, &mut KeyCache::new()).unwrap_err();
        assert!(refused.to_string().contains("GOS-10"), "{refused}");
    }
}
