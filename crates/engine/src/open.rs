//! Taking part in a topic, and leaving it.

use osier_core::{NodeId, TopicId};
use osier_policy::{NO_PROVIDER_AFTER, Rule, start_jitter};
use osier_proto::FailureReason;

use crate::{
    engine::{Engine, Now},
    event::SyncEvent,
    input::TopicSetup,
    output::{CommandError, Output},
    schedule::Timer,
    status::state_of,
    topic::Topic,
};

impl Engine {
    /// Takes part in a topic; one that is open already stays as it is.
    pub(crate) fn open(&mut self, setup: TopicSetup, now: Now) {
        let id = setup.ticket.topic();
        if self.topics.contains_key(&id) {
            return;
        }
        let (sequence, random) = (self.random_u64() >> 1, self.random_u64());
        let mut topic = Topic::new(setup, now.at, sequence, random);
        for entry in topic.trust.entries() {
            if entry.node != self.me {
                topic.peer_mut(entry.node, now.at);
            }
        }
        topic.peers.remove(&self.me);
        pace_restart(&mut topic, now, random);
        let swarm = topic.keys.gossip_topic();
        let bootstrap = bootstrap(&topic, self.me);
        self.topics.insert(id, topic);
        self.put(Output::JoinGossip {
            topic: id,
            swarm,
            bootstrap,
        });
        self.schedule_watermark(id);
        self.schedule_audit(id, now);
        self.schedule
            .set(Timer::NoProvider(id), now.at.after(NO_PROVIDER_AFTER));
        if let Some(topic) = self.topics.get(&id) {
            let state = state_of(topic, self.me, &self.sessions, now.at);
            self.emit(id, SyncEvent::State(Box::new(state)));
        }
        self.reconsider(id, now);
    }

    /// Leaves a topic. Its sessions end, its waiting commands are refused.
    pub(crate) fn close(&mut self, id: TopicId) {
        let Some(mut topic) = self.topics.remove(&id) else {
            return;
        };
        for command in topic.own.abandon() {
            self.reply(command, Err(CommandError::UnknownTopic(id)));
        }
        let asking = self
            .sessions
            .asking
            .iter()
            .filter(|(_, s)| s.topic == id)
            .map(|(k, _)| *k);
        let serving = self
            .sessions
            .serving
            .iter()
            .filter(|(_, s)| s.topic == id)
            .map(|(k, _)| *k);
        let keys: Vec<_> = asking.chain(serving).collect();
        for key in keys {
            self.sessions.asking.remove(&key);
            self.sessions.serving.remove(&key);
            self.schedule.cancel(Timer::Silence(key));
            self.put(Output::CancelSession {
                key,
                reason: FailureReason::NotProvider,
            });
        }
        self.schedule.cancel_topic(id);
        self.put(Output::LeaveGossip { topic: id });
    }

    /// Chooses the completion rule; what was told under the old one is judged again.
    pub(crate) fn set_rule(&mut self, id: TopicId, rule: Rule, now: Now) {
        if let Some(topic) = self.topics.get_mut(&id) {
            topic.rule = rule;
        }
        self.reconsider(id, now);
    }

    /// A peer can be reached again and gossip does not reach it, as far as is known: after a
    /// partition both sides have neighbours, and nothing else would make one of two (`IR-04`).
    pub(crate) fn meet(&mut self, id: TopicId, peer: NodeId) {
        self.put(Output::JoinPeers {
            topic: id,
            peers: vec![peer],
        });
    }

    /// The last gossip neighbour is gone: join again through everyone who is remembered, not only
    /// the bootstrap list (`GOS-7`).
    pub(crate) fn rejoin(&mut self, id: TopicId) {
        if let Some(topic) = self.topics.get(&id) {
            let peers = topic.peers.keys().copied().collect();
            self.put(Output::JoinPeers { topic: id, peers });
        }
    }
}

/// Who holds a token was here before: a node that starts again, perhaps with many others, which
/// must not all ask at one moment (`POL-28`). A joiner asks at once.
fn pace_restart(topic: &mut Topic, now: Now, random: u64) {
    if topic.tokens.is_empty() {
        return;
    }
    let at = now.at.after(start_jitter(random));
    for peer in topic.peers.values_mut() {
        peer.retry_at = Some(at);
    }
}

/// Everyone whom the topic's swarm may be joined through.
fn bootstrap(topic: &Topic, me: NodeId) -> Vec<(NodeId, Option<String>)> {
    let with_address = topic
        .ticket
        .bootstrap()
        .map(|(node, a)| (node, Some(a.to_owned())));
    let known = topic.peers.keys().map(|node| (*node, None));
    with_address
        .chain(known)
        .filter(|(node, _)| *node != me)
        .collect()
}
