//! Where peers were last seen: feeds iroh's address lookup, for sessions and gossip alike.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use iroh::{EndpointAddr, RelayUrl, TransportAddr, address_lookup::memory::MemoryLookup};
use osier_core::NodeId;

use super::endpoint_id;
use crate::limit::{ADDRESSES_PER_PEER_MAX, PEERS_REMEMBERED_MAX};

/// Remembered addresses; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct PeerBook {
    lookup: MemoryLookup,
    peers: Arc<Mutex<Peers>>,
}

#[derive(Debug, Default)]
struct Peers {
    addresses: BTreeMap<NodeId, VecDeque<TransportAddr>>,
    /// Oldest news first.
    order: VecDeque<NodeId>,
}

/// A text that is neither `ip:port` nor a relay's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddressInvalid;

impl PeerBook {
    /// What iroh asks for addresses.
    pub(crate) fn lookup(&self) -> MemoryLookup {
        self.lookup.clone()
    }

    /// Notes an address in text form.
    pub(crate) fn note_text(&self, peer: NodeId, text: &str) -> Result<(), AddressInvalid> {
        self.note(peer, parse(text)?);
        Ok(())
    }

    /// Notes where a peer has been seen.
    pub(crate) fn note_seen(&self, peer: NodeId, at: SocketAddr) {
        self.note(peer, TransportAddr::Ip(at));
    }

    fn note(&self, peer: NodeId, address: TransportAddr) {
        let Some(id) = endpoint_id(peer) else { return };
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = peers.note(peer, address);
        self.lookup
            .set_endpoint_info(EndpointAddr::from_parts(id, known));
        if let Some(id) = peers
            .forget_over(PEERS_REMEMBERED_MAX)
            .and_then(endpoint_id)
        {
            self.lookup.remove_endpoint_info(id);
        }
    }
}

impl Peers {
    /// The peer's addresses after this one is noted.
    fn note(&mut self, peer: NodeId, address: TransportAddr) -> Vec<TransportAddr> {
        let known = self.addresses.entry(peer).or_default();
        if known.back() != Some(&address) {
            known.retain(|other| *other != address);
            known.push_back(address);
            if known.len() > ADDRESSES_PER_PEER_MAX {
                known.pop_front();
            }
        }
        let known = known.iter().cloned().collect();
        if self.order.back() != Some(&peer) {
            self.order.retain(|other| *other != peer);
            self.order.push_back(peer);
        }
        known
    }

    fn forget_over(&mut self, max: usize) -> Option<NodeId> {
        if self.order.len() <= max {
            return None;
        }
        let oldest = self.order.pop_front()?;
        self.addresses.remove(&oldest);
        Some(oldest)
    }
}

fn parse(text: &str) -> Result<TransportAddr, AddressInvalid> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(TransportAddr::Ip(address));
    }
    let relay = text.parse::<RelayUrl>().map_err(|_| AddressInvalid)?;
    Ok(TransportAddr::Relay(relay))
}

#[cfg(test)]
mod tests {
    use osier_core::testing::secret;

    use super::*;

    #[test]
    fn the_last_addresses_are_kept_and_the_oldest_peer_is_forgotten() {
        let mut peers = Peers::default();
        let (a, b) = (secret(1).node_id(), secret(2).node_id());
        for port in 1..=20 {
            peers.note(a, TransportAddr::Ip(([127, 0, 0, 1], port).into()));
        }
        let last = TransportAddr::Ip(([127, 0, 0, 1], 20).into());
        let known = peers.note(a, last.clone());
        assert_eq!(known.len(), ADDRESSES_PER_PEER_MAX);
        assert_eq!(known.last(), Some(&last));
        peers.note(b, last);
        assert_eq!(peers.forget_over(2), None);
        assert_eq!(peers.forget_over(1), Some(a));
        assert!(!peers.addresses.contains_key(&a));
    }

    #[test]
    fn addresses_and_relays_are_read_and_the_rest_is_refused() {
        let book = PeerBook::default();
        let peer = secret(1).node_id();
        assert_eq!(book.note_text(peer, "127.0.0.1:4000"), Ok(()));
        assert_eq!(book.note_text(peer, "https://relay.example/"), Ok(()));
        assert_eq!(book.note_text(peer, "somewhere"), Err(AddressInvalid));
        let id = endpoint_id(peer).unwrap();
        let info = book.lookup.get_endpoint_info(id).unwrap();
        assert_eq!(info.into_endpoint_addr().addrs.len(), 2);
    }
}
