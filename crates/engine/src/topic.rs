//! One topic that this node takes part in.

use std::collections::BTreeMap;

use osier_core::{
    Bucket, Coverage, Entry, Instant, NodeId, OrderKey, Role, Ticket, Timestamp, TopicKeys,
    Verified, Writing,
};
use osier_policy::{
    Held as HeldBefore, OwnMark, OwnerWords, Rank, Rule, Standing, TrustList, TrustListFull,
};
use osier_proto::{Lsn, Summary, Token};

use crate::{
    audit::Audits,
    completion::Completion,
    input::TopicSetup,
    limit::{FUTURE_SLACK_MS, PEERS_PER_TOPIC_MAX},
    output::{NotGranted, NotGrantedBecause},
    own_chain::OwnChain,
    peer::Peer,
    trickle::Trickle,
    unauthentic::Unauthentic,
};

/// What the store holds, as of the last durable batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) summary: Summary,
    pub(crate) last: Lsn,
    pub(crate) holes: u64,
}

/// A topic's whole state. Decisions about it are in the files named after them.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) keys: TopicKeys,
    pub(crate) ticket: Ticket,
    pub(crate) role: Role,
    pub(crate) rule: Rule,
    pub(crate) trust: TrustList,
    /// What the owner has said: grants, revocations.
    pub(crate) words: OwnerWords,
    pub(crate) tokens: BTreeMap<NodeId, Token>,
    pub(crate) peers: BTreeMap<NodeId, Peer>,
    pub(crate) held: Held,
    pub(crate) own: OwnChain,
    pub(crate) completion: Completion,
    pub(crate) trickle: Trickle,
    pub(crate) audits: Audits,
    pub(crate) unauthentic: Unauthentic,
    /// Number of the next gossip message: equal bytes would be suppressed for 90 s.
    pub(crate) gossip_sequence: u64,
    /// How much of this node's share of ephemeral items is used.
    pub(crate) ephemeral: Bucket,
    /// The newest entry held, in range order.
    pub(crate) newest: Option<OrderKey>,
    /// The greatest stamp that was not in the future when it came, held or on its way to disk.
    pub(crate) recent: Option<Timestamp>,
    /// Own entries that are on their way to disk, to be gossiped when they are there.
    pub(crate) just_written: Vec<Verified<Entry>>,
}

impl Topic {
    /// A topic as it starts: nothing asked, everything from the store. `gossip_base` is greater
    /// than any sequence used before a restart.
    pub(crate) fn new(setup: TopicSetup, now: Instant, gossip_base: u64, random: u64) -> Self {
        let keys = setup.ticket.keys();
        let mut trust = TrustList::new(setup.ticket.owner());
        for (node, entry) in setup.trust {
            // A stored list was bounded when it was stored.
            let _ = set_trust(&mut trust, node, entry);
        }
        trust.set_grants(setup.words.grants());
        let mut topic = Self {
            words: setup.words,
            own: OwnChain::new(keys.topic(), setup.own_tip),
            keys,
            role: setup.role,
            rule: setup.rule,
            trust,
            tokens: setup.tokens.into_iter().collect(),
            peers: BTreeMap::new(),
            held: Held {
                summary: setup.summary,
                last: setup.point.last,
                holes: 0,
            },
            completion: Completion::new(held_before(setup.newest), now),
            newest: setup.newest,
            recent: setup.newest.map(|newest| newest.time),
            trickle: Trickle::new(now, setup.role == Role::Archive, random),
            audits: Audits::new(now),
            unauthentic: Unauthentic::default(),
            gossip_sequence: gossip_base,
            ephemeral: Bucket::default(),
            just_written: Vec::new(),
            ticket: setup.ticket,
        };
        for (node, address) in bootstrap(&topic.ticket) {
            topic.peer_mut(node, now).addresses.push(address);
        }
        topic
    }

    /// The peer's record, made if need be; at the bound the one unheard of for longest that is
    /// neither trusted nor in use is forgotten, those of known address last. Who only signs gossip
    /// is in no use: anybody can make as many signers as he likes.
    pub(crate) fn peer_mut(&mut self, node: NodeId, now: Instant) -> &mut Peer {
        if !self.peers.contains_key(&node) && self.peers.len() >= PEERS_PER_TOPIC_MAX {
            let idle = |(id, peer): &(&NodeId, &Peer)| {
                !peer.is_reached() && peer.asking.is_none() && self.trust.trusted(**id).is_none()
            };
            let oldest = self
                .peers
                .iter()
                .filter(idle)
                .min_by_key(|(_, peer)| (!peer.addresses.is_empty(), peer.heard))
                .map(|(id, _)| *id);
            if let Some(oldest) = oldest {
                self.peers.remove(&oldest);
            }
        }
        self.peers.entry(node).or_insert_with(|| Peer::new(now))
    }

    /// The stamp of own entries: this node's clock. A ring whose clock is behind others' would drop
    /// what it has just written, before anybody has it; so it writes later than what it holds or
    /// will hold by then, as far as its clock allows, nor below its floor (`ENT-16`).
    pub(crate) fn stamp(&self, wall: Timestamp) -> Timestamp {
        let floor = match self.held.summary.coverage {
            Coverage::From { floor } => floor.time,
            Coverage::Complete if self.role == Role::Replay => Timestamp::default(),
            Coverage::Complete => return wall,
        };
        let near = self.recent.filter(|recent| *recent <= near_future(wall));
        // A floor is the start of a millisecond, at most the one after the newest that counts.
        let after = near.map(|recent| Timestamp::from_millis(recent.as_millis().saturating_add(1)));
        wall.max(floor).max(after.unwrap_or_default())
    }

    /// Whether a trusted peer's session is bringing history now.
    pub(crate) fn carries(&self, node: NodeId, now: Instant) -> bool {
        let peer = self.peers.get(&node);
        let streams = peer.is_some_and(|peer| peer.outcome.is_streaming_well(now));
        streams && self.trusts(node)
    }

    /// Whether the peer's word counts: the one predicate for serving, counting and showing.
    pub(crate) fn trusts(&self, node: NodeId) -> bool {
        self.trust.trusted(node).is_some()
    }

    /// Why a node may not write here; none if it may (`ENT-44`).
    pub(crate) fn may_not_write(&self, node: NodeId) -> Option<NotGranted> {
        let owner = self.ticket.owner();
        let why = match self.words.grant(node) {
            _ if self.ticket.writing() == Writing::Open || owner == node => return None,
            Some(true) => return None,
            Some(false) => NotGrantedBecause::Revoked,
            None => NotGrantedBecause::NeverGranted,
        };
        let topic = self.keys.topic();
        Some(NotGranted {
            topic,
            owner,
            node,
            why,
        })
    }

    /// Changes whom this node trusts. The marker of a provider that was not trusted counts from now
    /// on, unless it is too old (`POL-22`).
    pub(crate) fn change_trust<T>(
        &mut self,
        now: Instant,
        change: impl FnOnce(&mut TrustList) -> T,
    ) -> T {
        let peers = self.peers.keys().copied();
        let strangers: Vec<NodeId> = peers.filter(|node| !self.trusts(*node)).collect();
        let done = change(&mut self.trust);
        let doubted = self.completion.doubted;
        for node in strangers {
            if self.trust.trusted(node).is_some()
                && let Some(peer) = self.peers.get_mut(&node)
            {
                peer.drop_old_marker(now, doubted);
            }
        }
        done
    }

    /// Up to where history hangs together now.
    pub(crate) fn newest_held(&self) -> HeldBefore {
        held_before(self.newest)
    }

    /// Peers whose word counts and that can be reached.
    pub(crate) fn has_trusted_connected(&self) -> bool {
        self.peers
            .iter()
            .any(|(id, peer)| peer.is_connected() && self.trusts(*id))
    }
}

/// What is stamped later is in the future, for a ring.
pub(crate) const fn near_future(wall: Timestamp) -> Timestamp {
    Timestamp::from_millis(wall.as_millis().saturating_add(FUTURE_SLACK_MS))
}

/// Applies one row of the node's own trust list.
///
/// # Errors
/// If the own list is full; nothing has changed then.
pub(crate) fn set_trust(
    trust: &mut TrustList,
    node: NodeId,
    entry: Option<(Rank, Role)>,
) -> Result<(), TrustListFull> {
    let mark = match entry {
        Some((rank, role)) => OwnMark::Trust(Standing { rank, role }),
        None => OwnMark::Distrust,
    };
    trust.mark(node, mark)
}

/// Up to where history hangs together for a start: the newest entry held.
pub(crate) fn held_before(newest: Option<OrderKey>) -> HeldBefore {
    newest.map_or(HeldBefore::Nothing, HeldBefore::UpTo)
}

/// Nodes to dial first, with their addresses in text form.
fn bootstrap(ticket: &Ticket) -> Vec<(NodeId, String)> {
    ticket
        .bootstrap()
        .map(|(node, address)| (node, address.to_owned()))
        .collect()
}
