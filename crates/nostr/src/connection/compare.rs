//! `NEG-OPEN`, `NEG-MSG` and `NEG-CLOSE`: sessions, and how each ends (`NOS-84`).

use osier_core::Duration;

use super::{Connection, Now, Output, Session, send};
use crate::{
    filter::Filter,
    limit,
    message::{Refusal, RelayMessage, Target},
    nip::nip77::NegEnd,
    reason::{Prefix, Reason},
    subscription::{Generation, SubscriptionId},
};

impl Connection {
    /// A session is asked for. One of the same id is closed first.
    pub(super) fn neg_open(
        &mut self,
        now: Now,
        id: SubscriptionId,
        filter: Filter,
        frame: Vec<u8>,
        out: &mut Vec<Output>,
    ) {
        self.neg_close(&id, out);
        let refusal = if !self.settings.negentropy {
            Some(Reason::new(
                Prefix::Unsupported,
                "negentropy is not offered here",
            ))
        } else if self.sessions.len() >= limit::NEG_SESSIONS_MAX {
            Some(Reason::new(
                Prefix::RateLimited,
                "too many sessions are open",
            ))
        } else {
            self.viewer.access(&filter).refusal()
        };
        if let Some(reason) = refusal {
            return self.refuse(
                Refusal {
                    target: Target::Negentropy(id),
                    reason,
                },
                out,
            );
        }
        let generation = self.next_generation();
        let session = Session {
            id,
            opened_at: now.instant,
            progress_at: now.instant,
            is_busy: true,
        };
        self.sessions.insert(generation, session);
        let viewer = self.viewer.clone();
        out.push(Output::NegOpen {
            generation,
            filter,
            viewer,
            frame,
        });
    }

    /// A session goes on. The two ends take turns.
    pub(super) fn neg_msg(&mut self, id: SubscriptionId, frame: Vec<u8>, out: &mut Vec<Output>) {
        let found = self
            .sessions
            .iter_mut()
            .find(|(_, session)| session.id == id);
        let Some((&generation, session)) = found else {
            let sentence = "no such session is open";
            let refusal = Refusal::new(Target::Negentropy(id), Prefix::Closed, sentence);
            return self.refuse(refusal, out);
        };
        if session.is_busy {
            let reason = Reason::new(Prefix::Invalid, "a message came before its turn");
            return self.end_session(generation, reason, None, out);
        }
        session.is_busy = true;
        out.push(Output::NegFrame { generation, frame });
    }

    /// A session is over because the client says so; an unknown one is over already.
    pub(super) fn neg_close(&mut self, id: &SubscriptionId, out: &mut Vec<Output>) {
        let found = self.sessions.iter().find(|(_, session)| session.id == *id);
        if let Some((&generation, _)) = found {
            self.sessions.remove(&generation);
            out.push(Output::Stop { generation });
        }
    }

    /// A session has answered.
    pub(super) fn neg_answered(
        &mut self,
        now: Now,
        generation: Generation,
        outcome: Result<Vec<u8>, NegEnd>,
        out: &mut Vec<Output>,
    ) {
        let Some(session) = self.sessions.get_mut(&generation) else {
            return;
        };
        match outcome {
            Ok(frame) => {
                session.is_busy = false;
                session.progress_at = now.instant;
                send(
                    &RelayMessage::NegMsg {
                        id: session.id.clone(),
                        frame,
                    },
                    out,
                );
            }
            Err(end) => self.end_session(generation, end.reason, end.cap, out),
        }
    }

    /// Sessions whose client has not gone on for too long, though none waits for us (`NOS-83`), and
    /// sessions that have held their snapshot for too long (`NOS-48`).
    pub(super) fn end_old_sessions(&mut self, now: Now, out: &mut Vec<Output>) {
        let idle_after = self.settings.neg_idle;
        let old_after = Duration::from_millis(limit::SNAPSHOT_MS);
        let end = |session: &Session| {
            if now.instant.since(session.opened_at) >= old_after {
                return Some(NegEnd::too_long());
            }
            let idle = now.instant.since(session.progress_at) >= idle_after;
            (idle && !session.is_busy).then(NegEnd::idle)
        };
        let ended = self.sessions.iter();
        let ended = ended.filter_map(|(generation, session)| Some((*generation, end(session)?)));
        for (generation, end) in ended.collect::<Vec<_>>() {
            self.end_session(generation, end.reason, None, out);
        }
    }

    fn end_session(
        &mut self,
        generation: Generation,
        reason: Reason,
        cap: Option<u64>,
        out: &mut Vec<Output>,
    ) {
        if let Some(session) = self.sessions.remove(&generation) {
            out.push(Output::Stop { generation });
            send(
                &RelayMessage::NegErr {
                    id: session.id,
                    reason,
                    cap,
                },
                out,
            );
        }
    }
}
