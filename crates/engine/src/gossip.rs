//! Gossip: hints out, hints in (`GOS-3`). Whatever must arrive goes over a session.

use osier_core::{Entry, NodeId, SignedEntry, TopicId, Verified, WireEntry, authenticate};
use osier_policy::Outcome;
use osier_proto::{Gossip, GossipMessage, Watermark, decode_gossip, encode_gossip};

use crate::{
    audit::Word,
    claim::{Claim, agree},
    engine::{Engine, Now},
    event::{BehindCause, SyncEvent},
    ingest::Origin,
    limit,
    output::Output,
    schedule::Timer,
};

impl Engine {
    /// Tells the swarm of own entries that are durable: whole when they fit, by name otherwise
    /// (`GOS-2`).
    pub(crate) fn gossip_own(&mut self, id: TopicId, entries: Vec<Verified<Entry>>) {
        for entry in entries {
            let live = Gossip::Live(entry.to_wire());
            if !self.broadcast(id, live) {
                let header = entry.header();
                self.broadcast(
                    id,
                    Gossip::Announce {
                        hash: entry.hash(),
                        author: header.author(),
                        seq: header.seq(),
                        len: header.body_len(),
                    },
                );
            }
        }
    }

    /// Signs and sends; false when the message does not fit the payload room.
    pub(crate) fn broadcast(&mut self, id: TopicId, body: Gossip) -> bool {
        let Some(topic) = self.topics.get_mut(&id) else {
            return true;
        };
        topic.gossip_sequence += 1;
        let message = GossipMessage {
            topic: id,
            sequence: topic.gossip_sequence,
            body,
        };
        let room = limit::GOSSIP_PAYLOAD_BYTES_MAX;
        let Some(bytes) = encode_gossip(&self.secret, &message, room) else {
            return false;
        };
        assert!(
            bytes.len() <= room,
            "an oversize broadcast stops every topic of a node"
        );
        self.put(Output::Broadcast { topic: id, bytes });
        true
    }

    /// The watermark's timer has come.
    pub(crate) fn watermark_due(&mut self, id: TopicId, now: Now) {
        let random = self.random_u64();
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        if topic.trickle.on_time(now.at, random) {
            let held = &topic.held;
            let watermark = Watermark {
                summary: held.summary,
                last: held.last,
            };
            let role = topic.role;
            self.broadcast(id, Gossip::Watermark(watermark));
            self.broadcast(id, Gossip::Provider { role });
        }
        self.schedule_watermark(id);
    }

    /// Moves the topic's timer to where its Trickle state wants it.
    pub(crate) fn schedule_watermark(&mut self, id: TopicId) {
        if let Some(topic) = self.topics.get(&id) {
            self.schedule
                .set(Timer::Watermark(id), topic.trickle.deadline());
        }
    }

    /// Bytes from the swarm. What is wrong with them is nobody's fault that we could name: the
    /// last hop need not be the sender, so they are dropped.
    pub(crate) fn gossip(&mut self, id: TopicId, bytes: &[u8], now: Now) {
        if !self.topics.contains_key(&id) {
            return;
        }
        let room = limit::GOSSIP_PAYLOAD_BYTES_MAX;
        let Ok(message) = decode_gossip(bytes, room, &mut self.keys) else {
            return;
        };
        let signer = message.signer();
        if message.topic != id || signer == self.me {
            return;
        }
        if let Some(topic) = self.topics.get_mut(&id) {
            topic.peer_mut(signer, now.at).heard = now.at;
        }
        match message.into_inner().body {
            Gossip::Live(wire) => self.gossiped_entry(id, wire),
            Gossip::Announce { .. } => self.hint(id, signer, Claim::entry(now.at), now),
            Gossip::Watermark(watermark) => self.heard_watermark(id, signer, &watermark, now),
            Gossip::Provider { role } => {
                if let Some(topic) = self.topics.get_mut(&id) {
                    topic.peer_mut(signer, now.at).role_said = role;
                }
            }
            Gossip::Ephemeral { kind, item } => self.heard_ephemeral(id, signer, kind, item, now),
        }
    }

    fn gossiped_entry(&mut self, id: TopicId, wire: WireEntry) {
        let Ok(entry) = SignedEntry::parse(wire) else {
            return;
        };
        if entry.claimed_topic() != id {
            return;
        }
        let judged = authenticate(vec![entry], &mut self.keys, &|_, _| false);
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let mut accepted = judged.verified;
        // What waited for exactly this successor is authentic with it (rule V), and so on down.
        let mut next = accepted
            .first()
            .and_then(|e| Some((e.header().prev()?, e.signer())));
        while let Some((prev, author)) = next {
            let Some(vouched) = topic.unauthentic.take(&prev, author) else {
                break;
            };
            next = vouched.claimed_prev().map(|prev| (prev, author));
            let linked = authenticate(vec![vouched], &mut self.keys, &|_, by| *by == author);
            accepted.splice(0..0, linked.verified);
        }
        for entry in judged.waiting {
            topic.unauthentic.wait(entry);
        }
        if !accepted.is_empty() {
            let batch = self.next_batch();
            self.commit(batch, id, accepted, Origin::Gossip);
        }
    }

    /// A signed summary of what a node holds.
    fn heard_watermark(&mut self, id: TopicId, signer: NodeId, heard: &Watermark, now: Now) {
        let random = self.random_u64();
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let (mine, theirs) = (topic.held.summary, heard.summary);
        let word = topic.word_of(signer);
        let peer = topic.peer_mut(signer, now.at);
        if agree(&mine, &theirs) {
            peer.agreed = Some(now.at);
            peer.lagging = None;
            match word {
                Word::Enough => topic.trickle.hear_enough(),
                Word::Counts => topic.trickle.hear_consistent(),
                Word::CountsNothing => {}
            }
            self.heard_to_agree(id, now);
            return;
        }
        // Two that differ for good must not keep the whole swarm talking.
        let differ = Some((theirs.state, mine.state));
        let is_news = std::mem::replace(&mut peer.differed, differ) != differ;
        let claim = Claim::all(now.at, theirs);
        let is_known = topic.unanswered(signer, claim).is_none();
        if is_news {
            topic.trickle.reset(now.at, random);
            self.schedule_watermark(id);
        }
        // Who holds less hears our watermark and asks us.
        if theirs.set.count() < mine.set.count() {
            self.heard_laggard(id, signer, &theirs, now);
        } else if !is_known {
            self.hint(id, signer, claim, now);
        }
    }

    /// Gossip has dropped messages: whatever they said, a session must say again.
    pub(crate) fn gossip_lagged(&mut self, id: TopicId, now: Now) {
        self.behind(id, BehindCause::GossipLagged, 0, now);
    }

    /// A gossip neighbour has come or gone.
    pub(crate) fn neighbor(&mut self, id: TopicId, node: NodeId, up: bool, now: Now) {
        let random = self.random_u64();
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let peer = topic.peer_mut(node, now.at);
        let was = peer.is_connected();
        peer.neighbor = up;
        peer.heard = now.at;
        let is = peer.is_connected();
        if up {
            // A late joiner gets no past from gossip; one that was away is asked again at once.
            // So is one that did not know the topic: it takes part now.
            let refused = matches!(peer.outcome, Outcome::Refused { .. });
            if (!was || refused) && peer.asking.is_none() {
                peer.retry_at = None;
                peer.outcome = Outcome::Unasked;
            }
            topic.trickle.reset(now.at, random);
            self.schedule_watermark(id);
        }
        let alone = self
            .topics
            .get(&id)
            .is_some_and(|t| !t.peers.values().any(|p| p.neighbor));
        if up {
            self.let_stranger_ask(id, node, now);
        }
        match (was, is) {
            (false, true) => self.emit(id, SyncEvent::ProviderUp { provider: node }),
            (true, false) => self.out_of_reach(id, node, now),
            _ => {}
        }
        if !up && alone {
            self.behind(id, BehindCause::LinkLost, 0, now);
            self.rejoin(id);
        }
        self.reconsider(id, now);
    }
}
