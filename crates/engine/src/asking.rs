//! Sessions that this node opens: whom to ask, how they move, what each came to.

use osier_core::{Duration, EntryHash, Instant, NodeId, RequestId, Role, SessionId, TopicId};
use osier_policy::{Outcome, Phase, silent_at};
use osier_proto::{ClientEnd, FailureReason, Mode};

use crate::{
    claim::Claim,
    end::{Again, Meaning, meaning},
    engine::{Engine, Now},
    event::{DegradedReason, SyncEvent},
    ingest::Origin,
    input::{SessionEvent, SessionKey},
    limit,
    output::{OpenSession, Output},
    pace,
    peer::{Link, Peer, SessionShown},
    proof::Drained,
    schedule::Timer,
    session_table::Asking,
    status::outcome_word,
    unheard::keeps_all,
};

impl Engine {
    /// Opens a session with a provider.
    pub(crate) fn ask(&mut self, id: TopicId, provider: NodeId, now: Now) {
        self.open_session(id, provider, false, now);
    }

    /// Opens a session, which may be an audit.
    pub(crate) fn open_session(&mut self, id: TopicId, provider: NodeId, audit: bool, now: Now) {
        let key = self.next_session();
        let request = RequestId::from_bytes(self.random_bytes());
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let token = topic.tokens.get(&provider).cloned();
        let with_token = token.is_some();
        let (keys, role, own) = (topic.keys.clone(), topic.role, topic.last_own(self.me));
        let peer = topic.peer_mut(provider, now.at);
        assert!(peer.asking.is_none(), "one session a provider and topic");
        peer.asking = Some(key);
        peer.retry_at = None;
        peer.shown = SessionShown::default();
        let since = *peer.unanswered.get_or_insert(now.at);
        if !audit {
            peer.outcome = Outcome::Streaming {
                since,
                last_progress: since,
                phase: Phase::Hello,
            };
        }
        let addresses = peer.addresses.clone();
        self.schedule.cancel(Timer::Retry(id, provider));
        self.schedule
            .set(Timer::Silence(key), silent_at(since, since));
        self.sessions.asking.insert(
            key,
            Asking {
                topic: id,
                provider,
                audit,
                opened: now.at,
                progress: now.at,
                session: None,
                snapshot: None,
                with_token,
                told: None,
                silent: false,
                crawls: false,
                storing: 0,
                own,
                keeps_all: false,
            },
        );
        self.put(Output::OpenSession(OpenSession {
            key,
            topic: id,
            keys,
            provider,
            addresses,
            request,
            role,
            token,
        }));
    }

    /// Something came of a session.
    pub(crate) fn session_event(&mut self, key: SessionKey, event: SessionEvent, now: Now) {
        match event {
            SessionEvent::Started {
                session,
                mode,
                role,
                token_unserviceable,
                summary,
            } => {
                let claim = Claim::all(now.at, summary);
                if let Some(asking) = self.sessions.asking.get_mut(&key) {
                    asking.keeps_all = keeps_all(role, &summary);
                    asking.snapshot = Some(summary);
                }
                self.audit_started(key, mode, claim, now);
                self.session_started(key, session, mode, role, token_unserviceable, now);
            }
            SessionEvent::Progress { received, expected } => {
                self.session_progress(key, received, expected, now);
            }
            SessionEvent::Ingest {
                batch,
                entries,
                token,
            } => {
                let Some(topic) = self.sessions.topic_of(key) else {
                    return;
                };
                let id = self.next_batch();
                let asking = self.sessions.asking.get_mut(&key);
                let token = asking.and_then(|asking| {
                    asking.storing += 1;
                    token.map(|token| (asking.provider, token))
                });
                self.session_moved(key, now);
                self.commit(id, topic, entries, Origin::Session { key, batch, token });
            }
            SessionEvent::ClientEnded(end) => self.client_ended(key, end, now),
            SessionEvent::ProviderEnded(end) => {
                if let Some(served) = self.sessions.serving.remove(&key) {
                    self.served(&served, &end);
                    self.look_at_holes(served.topic, now);
                    self.reconsider(served.topic, now);
                }
            }
            SessionEvent::Unreachable { cause } => {
                let reason = DegradedReason::ProviderLost { cause };
                self.asking_over(key, Meaning::Gone(reason), now);
            }
        }
    }

    /// A batch of a session is on disk, or is not.
    pub(crate) fn session_stored(
        &mut self,
        key: SessionKey,
        batch: u64,
        stored: Result<Vec<EntryHash>, ()>,
        now: Now,
    ) {
        if let Some(asking) = self.sessions.asking.get_mut(&key) {
            assert!(asking.storing > 0, "every stored batch was handed out");
            asking.storing -= 1;
        }
        self.session_moved(key, now);
        let ok = stored.is_ok();
        let withheld = stored.unwrap_or_default();
        self.put(Output::SessionDurable {
            key,
            batch,
            ok,
            withheld,
        });
    }

    /// An audit that finds a difference is a hint like any other, and a reason to be neighbours:
    /// the swarm has not brought the two together.
    fn audit_started(&mut self, key: SessionKey, mode: Mode, claim: Claim, now: Now) {
        let asking = self.sessions.asking.get(&key);
        let Some(asking) = asking.filter(|a| a.audit && mode != Mode::Equal) else {
            return;
        };
        let (id, provider) = (asking.topic, asking.provider);
        self.audit_soon(id, now);
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        let apart = topic.peers.get(&provider).is_some_and(|p| !p.neighbor);
        if claim.entries() >= topic.held.summary.set.count() {
            self.hint(id, provider, claim, now);
        }
        if apart {
            self.meet(id, provider);
        }
    }

    fn session_started(
        &mut self,
        key: SessionKey,
        session: SessionId,
        mode: Mode,
        role: Role,
        token_unserviceable: bool,
        now: Now,
    ) {
        let Some(asking) = self.sessions.asking.get_mut(&key) else {
            return;
        };
        asking.session = Some(session);
        let (id, provider) = (asking.topic, asking.provider);
        let resumed = mode == Mode::Resume || (asking.with_token && mode == Mode::Equal);
        if let Some(topic) = self.topics.get_mut(&id) {
            if token_unserviceable {
                topic.tokens.remove(&provider);
            }
            let peer = topic.peer_mut(provider, now.at);
            let (up, apart) = (peer.link != Link::Up, !peer.neighbor);
            peer.unanswered = None;
            peer.link = Link::Up;
            peer.role_said = role;
            peer.heard = now.at;
            peer.shown.session = Some(session);
            if up {
                self.emit(id, SyncEvent::ProviderUp { provider });
            }
            if up && apart {
                self.meet(id, provider);
            }
        }
        self.session_moved(key, now);
        self.emit(
            id,
            SyncEvent::SyncStarted {
                provider,
                session,
                mode,
                resumed,
            },
        );
    }

    fn session_progress(
        &mut self,
        key: SessionKey,
        received: u64,
        expected: Option<u64>,
        now: Now,
    ) {
        let Some(asking) = self.sessions.asking.get_mut(&key) else {
            return;
        };
        let crawled = std::mem::replace(
            &mut asking.crawls,
            pace::is_hopeless(now.at.since(asking.opened), received, expected),
        );
        let slows_down = asking.crawls && !crawled;
        self.session_moved(key, now);
        let Some(asking) = self.sessions.asking.get_mut(&key) else {
            return;
        };
        let (id, provider) = (asking.topic, asking.provider);
        let every = Duration::from_millis(limit::PROGRESS_EVERY_MS);
        let due = asking.told.is_none_or(|told| now.at.since(told) >= every)
            || expected == Some(received);
        let session = asking.session;
        let mut brings = false;
        if due {
            asking.told = Some(now.at);
        }
        if let Some(peer) = self
            .topics
            .get_mut(&id)
            .and_then(|t| t.peers.get_mut(&provider))
        {
            assert!(
                received >= peer.shown.received,
                "progress never goes backwards"
            );
            brings = received > peer.shown.received;
            peer.shown.received = received;
            peer.shown.expected = expected;
        }
        if let (true, Some(session)) = (due, session) {
            self.emit(
                id,
                SyncEvent::Progress {
                    provider,
                    session,
                    received,
                    expected,
                },
            );
        }
        if slows_down {
            self.reconsider(id, now);
        } else if brings {
            self.leave_it_to(id, provider, now);
        }
    }

    /// A provider brings entries: sessions with trusted ones that are slow or silent are given up,
    /// for what they sent from now on would come twice. They are asked again when this one is done
    /// (`POL-26`).
    fn leave_it_to(&mut self, id: TopicId, carrier: NodeId, now: Now) {
        let Some(topic) = self.topics.get(&id).filter(|t| t.carries(carrier, now.at)) else {
            return;
        };
        let slow = |key: &SessionKey, asking: &Asking| {
            let peer = topic.peers.get(&asking.provider);
            asking.topic == id
                && asking.provider != carrier
                && !asking.audit
                && asking.storing == 0
                && !self.sessions.is_settling(*key)
                && topic.trusts(asking.provider)
                && (asking.silent || peer.is_some_and(|peer| peer.outcome.is_slow(now.at)))
        };
        let all = self.sessions.asking.iter();
        let slow = all.filter(|(key, asking)| slow(key, asking));
        let keys: Vec<SessionKey> = slow.map(|(key, _)| *key).collect();
        for key in keys {
            let reason = FailureReason::Cancelled;
            self.put(Output::CancelSession { key, reason });
            self.asking_over(key, Meaning::LeftToAnother, now);
        }
    }

    /// Only progress of this session puts off its deadline (`POL-17`).
    fn session_moved(&mut self, key: SessionKey, now: Now) {
        let Some(asking) = self.sessions.asking.get_mut(&key) else {
            return;
        };
        asking.progress = now.at;
        let at = silent_at(asking.opened, now.at);
        let (id, provider, since) = (asking.topic, asking.provider, asking.opened);
        let phase = match asking.session {
            None => Phase::Hello,
            Some(_) if asking.crawls => Phase::Crawling,
            Some(_) => Phase::Sending,
        };
        if asking.silent {
            return;
        }
        self.schedule.set(Timer::Silence(key), at);
        if let Some(peer) = self
            .topics
            .get_mut(&id)
            .and_then(|t| t.peers.get_mut(&provider))
            && matches!(peer.outcome, Outcome::Streaming { .. })
        {
            peer.outcome = Outcome::Streaming {
                since,
                last_progress: now.at,
                phase,
            };
        }
    }

    /// A session's deadline has come.
    pub(crate) fn silence(&mut self, key: SessionKey, now: Now) {
        let Some(asking) = self.sessions.asking.get_mut(&key) else {
            return;
        };
        if asking.storing > 0 {
            // The wait is for our own disk.
            self.schedule.set(
                Timer::Silence(key),
                now.at.after(osier_policy::SILENT_AFTER_PROGRESS),
            );
            return;
        }
        asking.silent = true;
        let (id, provider, session) = (asking.topic, asking.provider, asking.session);
        let phase = if session.is_none() {
            Phase::Hello
        } else {
            Phase::Sending
        };
        if let Some(topic) = self.topics.get_mut(&id) {
            let peer = topic.peer_mut(provider, now.at);
            peer.unanswered = None;
            peer.outcome = Outcome::Silent { phase };
        }
        self.degraded(id, provider, session, DegradedReason::Timeout);
        self.reconsider(id, now);
    }

    /// A session may end on entries that are on disk and not yet reported to this engine. Its word
    /// waits for that, so that watchers are shown entries before what vouches for them (`CMP-30`).
    fn client_ended(&mut self, key: SessionKey, end: ClientEnd, now: Now) {
        match self.batches.last_waiting() {
            Some(batch) if matches!(end, ClientEnd::Drained(_)) => {
                self.schedule.cancel(Timer::Silence(key));
                self.sessions.settling.push_back((batch, key, end));
            }
            _ => self.asking_over(key, meaning(end), now),
        }
    }

    /// Ends sessions whose entries have all been reported.
    pub(crate) fn settle_ends(&mut self, now: Now) {
        while let Some((batch, ..)) = self.sessions.settling.front() {
            let first = self.batches.first_waiting();
            if first.is_some_and(|first| first <= *batch) {
                return;
            }
            if let Some((_, key, end)) = self.sessions.settling.pop_front() {
                self.asking_over(key, meaning(end), now);
            }
        }
    }

    /// A session that this node opened is over: its one end.
    pub(crate) fn asking_over(&mut self, key: SessionKey, meaning: Meaning, now: Now) {
        let Some(asking) = self.sessions.asking.remove(&key) else {
            return;
        };
        self.schedule.cancel(Timer::Silence(key));
        let (id, provider) = (asking.topic, asking.provider);
        let random = self.random_u64();
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let stale = topic
            .completion
            .doubted
            .is_some_and(|since| asking.opened < since);
        let mine = topic.held.summary.state;
        topic.asked(&asking, &meaning);
        let peer = topic.peer_mut(provider, now.at);
        assert_eq!(
            peer.asking,
            Some(key),
            "a peer's session is the one in the table"
        );
        peer.asking = None;
        if !matches!(meaning, Meaning::Again { .. }) {
            peer.unanswered = None;
        }
        let is_news = !matches!(peer.outcome, Outcome::Lost | Outcome::Silent { .. });
        if let Meaning::Drained(evidence) = &meaning
            && evidence.state() == mine
        {
            peer.agreed = Some(now.at);
        }
        let stands = asking.audit
            && matches!(&peer.outcome, Outcome::Drained(Drained(before))
                if !meaning.settles(before, peer.disputed.as_ref()))
            && meaning.says_nothing_new();
        let (outcome, degraded, retry) = meaning.judge(now.at);
        let degraded = degraded.filter(|_| !stands);
        peer.retry_at = next_try(peer, retry, now.at, random);
        if let Some(at) = peer.retry_at {
            self.schedule.set(Timer::Retry(id, provider), at);
        }
        if let Some(DegradedReason::ProviderLost { .. }) = &degraded {
            peer.link = Link::Down;
        }
        // What has come to light since the session began, its snapshot may not have held.
        let overtaken = stale && matches!(outcome, Outcome::Drained(_));
        if overtaken {
            peer.outcome = Outcome::Unasked;
        } else if !stands {
            peer.outcome = outcome;
            peer.drained_at = now.at;
            peer.drained_since = asking.opened;
        }
        let outcome = match peer.outcome {
            Outcome::Unasked if overtaken => "overtaken",
            Outcome::Unasked => "superseded",
            _ => outcome_word(peer),
        };
        self.tell_ended(id, &asking, outcome, degraded.filter(|_| is_news));
        self.look_at_holes(id, now);
        self.reconsider(id, now);
    }

    /// The one end of a session that was told to have begun, and what it means if that is news.
    fn tell_ended(
        &mut self,
        id: TopicId,
        asking: &Asking,
        outcome: &'static str,
        degraded: Option<DegradedReason>,
    ) {
        let provider = asking.provider;
        if let Some(session) = asking.session {
            let ended = SyncEvent::SyncEnded {
                provider,
                session,
                outcome,
            };
            self.emit(id, ended);
        }
        if let Some(reason) = degraded {
            self.degraded(id, provider, asking.session, reason);
        }
    }

    /// Tells that a trusted provider cannot be counted on now.
    fn degraded(
        &mut self,
        id: TopicId,
        provider: NodeId,
        session: Option<SessionId>,
        reason: DegradedReason,
    ) {
        let Some(topic) = self.topics.get(&id).filter(|topic| topic.trusts(provider)) else {
            return;
        };
        let still_pending = osier_policy::still_pending(&topic.facts(self.me, self.last()));
        self.emit(
            id,
            SyncEvent::HistorySyncDegraded {
                provider,
                session,
                reason,
                still_pending,
            },
        );
    }

    /// A provider that failed may be asked again.
    pub(crate) fn retry(&mut self, id: TopicId, provider: NodeId, now: Now) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let trusted = topic.trusts(provider);
        let carried = trusted && topic.peers.keys().any(|node| topic.carries(*node, now.at));
        let peer = topic.peer_mut(provider, now.at);
        if carried && peer.asking.is_none() {
            // Another brings what this one would bring, too (`POL-26`).
            let at = now.at.after(Duration::from_millis(limit::CARRIED_RETRY_MS));
            peer.retry_at = Some(at);
            self.schedule.set(Timer::Retry(id, provider), at);
            return;
        }
        peer.retry_at = None;
        if peer.asking.is_none() && !matches!(peer.outcome, Outcome::Drained(_)) {
            peer.outcome = Outcome::Unasked;
            let wanted = trusted || !peer.addresses.is_empty() || peer.neighbor;
            if wanted && !self.is_served_stranger(id, provider) {
                self.ask(id, provider, now);
            }
        }
        self.reconsider(id, now);
    }

    /// A connection has closed. Its sessions end by themselves; what it vouched for no longer
    /// stands.
    pub(crate) fn peer_lost(&mut self, node: NodeId, now: Now) {
        let ids: Vec<TopicId> = self.topics.keys().copied().collect();
        for id in ids {
            let Some(topic) = self.topics.get_mut(&id) else {
                continue;
            };
            let Some(peer) = topic.peers.get_mut(&node).filter(|p| p.link == Link::Up) else {
                continue;
            };
            peer.link = Link::Down;
            if !peer.is_connected() {
                self.out_of_reach(id, node, now);
            }
            self.reconsider(id, now);
        }
    }

    /// A peer could be reached and no longer can, whichever of its links went last: what it
    /// vouched for does not stand any more, and one that counts is asked again.
    pub(crate) fn out_of_reach(&mut self, id: TopicId, node: NodeId, now: Now) {
        let random = self.random_u64();
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let trusted = topic.trusts(node);
        let peer = topic.peer_mut(node, now.at);
        if peer.asking.is_none() {
            if matches!(peer.outcome, Outcome::Drained(_)) {
                peer.outcome = Outcome::Lost;
            }
            if trusted || !peer.addresses.is_empty() {
                let at = peer.backoff.failed(now.at, None, random);
                peer.retry_at = Some(at);
                self.schedule.set(Timer::Retry(id, node), at);
            }
        }
        self.emit(id, SyncEvent::ProviderDown { provider: node });
    }
}

/// When a provider whose session has ended is to be asked again; none for not by a time of its own.
fn next_try(peer: &mut Peer, again: Again, now: Instant, random: u64) -> Option<Instant> {
    match again {
        Again::No => {
            peer.backoff.up(now);
            None
        }
        Again::Failed(pacing) => Some(peer.backoff.failed(now, pacing, random)),
        Again::Soon(wait) => {
            let spread = Duration::from_nanos(random % wait.as_nanos().max(1));
            Some(now.after(wait).after(spread))
        }
        // The plan asks whom it can reach; one that was being dialed needs a time of its own.
        Again::AfterCarrier => {
            let wait = Duration::from_millis(limit::CARRIED_RETRY_MS);
            (!peer.is_connected()).then(|| now.after(wait))
        }
    }
}
