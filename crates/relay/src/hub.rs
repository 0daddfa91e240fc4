//! Live fan-out: who is subscribed to what, and new events on their way to them.
//!
//! The index is split into shards by connection, each behind a lock of its own, so that clients
//! which subscribe again and again wait for a part of the others only.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use osier_nostr::{Commit, ConnectionId, Event, Fanout, Filter, RequestKey};

use crate::peer::{Live, Mail, Peer};

/// Everybody who is connected.
#[derive(Debug)]
pub(crate) struct Hub {
    shards: Box<[Mutex<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    index: Fanout<RequestKey>,
    peers: BTreeMap<ConnectionId, Arc<Peer>>,
}

impl Hub {
    /// Nobody yet.
    pub(crate) fn new(shards: usize) -> Self {
        Self {
            shards: (0..shards.max(1)).map(|_| Mutex::default()).collect(),
        }
    }

    /// A connection has opened.
    pub(crate) fn enter(&self, peer: &Arc<Peer>) {
        let mut shard = self.shard(peer.id);
        shard.peers.insert(peer.id, Arc::clone(peer));
    }

    /// A connection has closed. Its subscriptions have been taken out before.
    pub(crate) fn leave(&self, id: ConnectionId) {
        self.shard(id).peers.remove(&id);
    }

    /// How many are connected.
    pub(crate) fn connections(&self) -> usize {
        self.all().map(|shard| shard.peers.len()).sum()
    }

    /// How many requests are open to new events.
    pub(crate) fn subscriptions(&self) -> usize {
        self.all().map(|shard| shard.index.len()).sum()
    }

    /// Every connection.
    pub(crate) fn peers(&self) -> Vec<Arc<Peer>> {
        let mut peers = Vec::new();
        for shard in self.all() {
            peers.extend(shard.peers.values().cloned());
        }
        peers
    }

    /// From here on new events that match go to this request. Whoever takes a snapshot after this
    /// call misses nothing.
    pub(crate) fn subscribe(&self, key: RequestKey, filters: &[Filter]) {
        let live = filters.iter().cloned();
        self.shard(key.connection).index.insert(key, live);
    }

    /// No more of them.
    pub(crate) fn unsubscribe(&self, key: RequestKey) {
        self.shard(key.connection).index.remove(&key);
    }

    /// Gives a new event to every subscription that it matches and whose client may see it; how
    /// many those are.
    pub(crate) fn publish(&self, event: Event, commit: Option<Commit>) -> usize {
        let live = Arc::new(Live { event, commit });
        let mut listeners = 0;
        for shard in self.all() {
            for key in shard.index.matching(&live.event) {
                let peer = shard.peers.get(&key.connection);
                if let Some(peer) = peer.filter(|peer| peer.sees(&live.event)) {
                    peer.deliver(key.generation, &live);
                    listeners += 1;
                }
            }
        }
        listeners
    }

    /// Whether nobody is subscribed to anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.all().all(|shard| shard.index.is_empty())
    }

    /// New events were lost: every subscription ends, and can be asked for again (`NOS-46`).
    pub(crate) fn lose(&self) {
        for peer in self.peers() {
            peer.post(Mail::Lost);
        }
    }

    fn all(&self) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.shards.iter().map(lock)
    }

    fn shard(&self, id: ConnectionId) -> MutexGuard<'_, Shard> {
        let count = u64::try_from(self.shards.len()).unwrap_or(1);
        let at = usize::try_from(id.0 % count).unwrap_or(0);
        lock(&self.shards[at])
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use osier_nostr::{
        Generation,
        nip::nip17::{Gate, Viewer},
        testing,
    };

    use super::*;

    #[test]
    fn an_event_goes_to_those_whom_it_matches_and_to_nobody_who_left() {
        let hub = Hub::new(3);
        let peers: Vec<Arc<Peer>> = (0..7)
            .map(|n| Arc::new(Peer::new(ConnectionId(n), Viewer::default(), 0)))
            .collect();
        for peer in &peers {
            hub.enter(peer);
            let own = testing::pubkey(u8::try_from(peer.id.0 % 2 + 1).unwrap());
            let filter = format!("{{\"authors\":[\"{own}\"]}}");
            let key = RequestKey {
                connection: peer.id,
                generation: Generation(1),
            };
            hub.subscribe(key, &[Filter::parse(&filter).unwrap()]);
        }
        assert_eq!((hub.connections(), hub.subscriptions()), (7, 7));
        let event = testing::note(1, 1, "x");
        assert_eq!(hub.publish(event.clone(), Some(Commit(1))), 4);
        for peer in &peers {
            let got = peer.take_live(usize::MAX).len();
            assert_eq!(got, usize::from(peer.id.0 % 2 == 0), "{:?}", peer.id);
        }
        hub.unsubscribe(RequestKey {
            connection: ConnectionId(2),
            generation: Generation(1),
        });
        assert_eq!(hub.subscriptions(), 6);
        hub.leave(ConnectionId(4));
        assert_eq!(hub.publish(event, None), 2);
    }

    /// NOS-34: a client that may not see an event does not count among those who got it.
    #[test]
    fn who_may_not_see_an_event_is_no_listener() {
        let hub = Hub::new(1);
        let peer = Peer::new(ConnectionId(1), Viewer::new(Gate::default()), 0);
        let peer = Arc::new(peer);
        hub.enter(&peer);
        let key = RequestKey {
            connection: peer.id,
            generation: Generation(1),
        };
        hub.subscribe(key, &[Filter::parse("{}").unwrap()]);
        let to = testing::pubkey(2).to_string();
        let wrap = testing::event(1, 1, 21_059, &[&["p", &to]], "sealed");
        assert_eq!(hub.publish(wrap.clone(), None), 0);
        let mut viewer = Viewer::new(Gate::default());
        viewer.authenticate(testing::pubkey(2));
        peer.speaks_for(&viewer);
        assert_eq!(hub.publish(wrap, None), 1);
        assert_eq!(peer.take_live(usize::MAX).len(), 1);
    }
}
