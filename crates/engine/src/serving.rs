//! Sessions that peers ask for: whom to serve, and what to say to the others.

use osier_core::{NodeId, SessionId, TopicId};
use osier_policy::Outcome;
use osier_proto::{FailureReason, Hello, Refuse, RefuseReason};

use crate::{
    end::Meaning,
    engine::{Engine, Now},
    input::AskId,
    limit,
    output::{GrantSession, Output},
    peer::Link,
    session_table::Serving,
    unheard::keeps_all,
};

impl Engine {
    /// A peer asks for a session: grant it or say why not, always carrying its request's name.
    pub(crate) fn session_asked(
        &mut self,
        ask: AskId,
        peer: NodeId,
        binding: &[u8; 32],
        hello: &Hello,
        now: Now,
    ) {
        match self.judge_ask(peer, binding, hello) {
            Ok(topic) => {
                let keeps_all = keeps_all(hello.role, &hello.summary);
                self.grant(ask, topic, (peer, keeps_all), now);
            }
            Err((reason, retry_after_ms)) => {
                let refuse = Refuse {
                    request: hello.request,
                    reason,
                    retry_after_ms,
                };
                self.put(Output::RefuseSession { ask, refuse });
            }
        }
    }

    fn judge_ask(
        &self,
        peer: NodeId,
        binding: &[u8; 32],
        hello: &Hello,
    ) -> Result<TopicId, (RefuseReason, u64)> {
        let keys = self.topics.values().map(|topic| &topic.keys);
        let topic = osier_proto::find_topic(hello, peer, self.me, binding, keys)
            .ok_or((RefuseReason::UnknownTopic, 0))?;
        if self.sessions.serving.len() >= limit::SESSIONS_SERVED_MAX
            || self.sessions.serving_to(peer) >= limit::SESSIONS_PER_PEER_MAX
        {
            return Err((RefuseReason::Overloaded, limit::OVERLOADED_RETRY_MS));
        }
        // SES-20: of two that were opened at once, the smaller node's goes on; one that is already
        // under way is not doubled.
        let asking = self
            .topics
            .get(&topic)
            .and_then(|t| t.peers.get(&peer)?.asking);
        let mine = asking.and_then(|key| self.sessions.asking.get(&key));
        match mine {
            Some(mine) if !mine.silent && (mine.session.is_some() || self.me < peer) => {
                Err((RefuseReason::Superseded, limit::SUPERSEDED_RETRY_MS))
            }
            _ if self.is_being_filled(topic, peer) => {
                Err((RefuseReason::Overloaded, limit::OVERLOADED_RETRY_MS))
            }
            _ => Ok(topic),
        }
    }

    /// Whether another trusted provider is half-way through bringing what this one would upload,
    /// too. It is asked when that is done (`POL-26`).
    fn is_being_filled(&self, id: TopicId, asker: NodeId) -> bool {
        let Some(topic) = self.topics.get(&id).filter(|topic| topic.trusts(asker)) else {
            return false;
        };
        topic.peers.iter().any(|(node, peer)| {
            let left = peer.shown.expected.unwrap_or(0);
            let half_way = (1..left).contains(&peer.shown.received);
            *node != asker && half_way && topic.carries(*node, self.last())
        })
    }

    fn grant(&mut self, ask: AskId, id: TopicId, (client, keeps_all): (NodeId, bool), now: Now) {
        let key = self.next_session();
        let session = SessionId::from_bytes(self.random_bytes());
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let (keys, role, own) = (topic.keys.clone(), topic.role, topic.last_own(self.me));
        let peer = topic.peer_mut(client, now.at);
        peer.heard = now.at;
        peer.lagging = None;
        let newly_up = peer.link != Link::Up;
        let apart = newly_up && !peer.neighbor;
        peer.link = Link::Up;
        let superseded = peer.asking;
        // A stranger that was lost was not to be dialed; it is here, and may come to count.
        let is_idle = superseded.is_none() && peer.retry_at.is_none();
        if is_idle && matches!(peer.outcome, Outcome::Lost) {
            peer.outcome = Outcome::Unasked;
        }
        let serving = Serving {
            topic: id,
            client,
            keeps_all,
            own,
        };
        self.sessions.serving.insert(key, serving);
        if let Some(mine) = superseded.filter(|key| {
            self.sessions
                .asking
                .get(key)
                .is_some_and(|s| s.session.is_none() && !s.silent)
        }) {
            self.put(Output::CancelSession {
                key: mine,
                reason: FailureReason::Cancelled,
            });
            self.asking_over(
                mine,
                Meaning::Again {
                    after_ms: limit::SUPERSEDED_RETRY_MS,
                },
                now,
            );
        }
        self.put(Output::GrantSession(GrantSession {
            ask,
            key,
            topic: id,
            keys,
            session,
            role,
        }));
        if apart {
            self.meet(id, client);
        }
        if newly_up {
            self.let_stranger_ask(id, client, now);
            self.reconsider(id, now);
        }
    }
}
