//! Hostile authors: signers whose messages reach the swarm, not nodes.

use osier_core::{
    EntryHash, NodeId, SignedEntry, TopicId, WireEntry,
    testing::{Chain, secret, with_bad_signature},
};
use osier_proto::{Gossip, GossipMessage, encode_gossip, limit::GOSSIP_PAYLOAD_BYTES_MAX};

use crate::{
    dice::Dice,
    gossip::{Rumour, rumour},
    swarm::Knobs,
};

/// A hostile author: not a node, but a signer whose messages reach the swarm.
#[derive(Debug)]
pub(crate) struct Author {
    topic: TopicId,
    kind: Hostility,
    chain: Chain,
    /// The same chain one entry ago: what a fork continues.
    before: Chain,
    sequence: u64,
    key: u64,
}

/// What a hostile author does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hostility {
    /// Signs two entries at one position.
    Forks,
    /// Signs badly and links to it well.
    SignsBadly,
    /// Names entries that never existed.
    Invents,
    /// Has a clock far in the future.
    ComesFromTheFuture,
}

impl Author {
    pub(crate) fn new(topic: TopicId, kind: Hostility, key: u64) -> Self {
        let chain = Chain::in_topic(key, topic);
        Self {
            topic,
            kind,
            before: chain.clone(),
            chain,
            sequence: 0,
            key,
        }
    }

    /// Who signs.
    pub(crate) fn id(&self) -> NodeId {
        secret(self.key).node_id()
    }

    /// The author's next messages.
    pub(crate) fn act(&mut self, dice: &mut Dice) -> Vec<Rumour> {
        let body = dice.bytes::<8>();
        let entries = match self.kind {
            Hostility::Forks => self.fork(&body, dice),
            Hostility::SignsBadly => self.sign_badly(&body),
            Hostility::Invents => {
                let invented = (0..dice.range(1, 3)).map(|_| EntryHash::from_bytes(dice.bytes()));
                let invented = invented.collect();
                vec![self.chain.next_with(&body, invented).to_wire()]
            }
            Hostility::ComesFromTheFuture => {
                let time = *dice.pick(&[u64::MAX, u64::MAX - 1, 0, 4_000_000_000_000]);
                vec![self.chain.at(time).next(&body).to_wire()]
            }
        };
        entries
            .into_iter()
            .map(|entry| self.gossip(entry))
            .collect()
    }

    /// An entry that is badly signed, and that nothing will ever link to.
    pub(crate) fn orphan(&mut self) -> Rumour {
        let bad = with_bad_signature(self.chain.signed(b"orphan"));
        self.gossip(bad.trust_stored().to_wire())
    }

    fn fork(&mut self, body: &[u8], dice: &mut Dice) -> Vec<WireEntry> {
        if dice.chance(50) {
            std::mem::swap(&mut self.chain, &mut self.before);
        } else {
            self.before = self.chain.clone();
        }
        vec![self.chain.next(body).to_wire()]
    }

    fn sign_badly(&mut self, body: &[u8]) -> Vec<WireEntry> {
        let bad: SignedEntry = with_bad_signature(self.chain.signed(body));
        self.chain.follow(&bad);
        let good = self.chain.next(body).to_wire();
        vec![bad.trust_stored().to_wire(), good]
    }

    fn gossip(&mut self, entry: WireEntry) -> Rumour {
        self.sequence += 1;
        let message = GossipMessage {
            topic: self.topic,
            sequence: self.sequence,
            body: Gossip::Live(entry),
        };
        let bytes = encode_gossip(&secret(self.key), &message, GOSSIP_PAYLOAD_BYTES_MAX);
        rumour(self.topic, bytes.expect("a small entry fits"))
    }
}

/// The hostile authors of a run.
pub(crate) fn hostile_authors(knobs: &Knobs, topics: &[TopicId]) -> Vec<Author> {
    let kinds = [
        (knobs.forkers, Hostility::Forks),
        (knobs.bad_signers, Hostility::SignsBadly),
        (knobs.inventors, Hostility::Invents),
        (knobs.futurists, Hostility::ComesFromTheFuture),
    ];
    let all = kinds
        .into_iter()
        .flat_map(|(count, kind)| (0..count).map(move |_| kind));
    all.zip(1_000..)
        .map(|(kind, key)| Author::new(topics[0], kind, key))
        .collect()
}
