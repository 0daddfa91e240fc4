//! Completion of a topic: present facts, the policy's verdict on them, and what watchers are told.
//!
//! The verdict is a pure function of the facts; this file only remembers what was told last, so
//! that each thing is told once (`CMP-31`).

use std::collections::BTreeMap;

use osier_core::{Coverage, Duration, Instant, NodeId, Role, StateHash, TopicId};
use osier_policy::{
    Camp, Facts, Held, Me, NO_PROVIDER_AFTER, Outcome, Proof, ProviderFacts, Reason, Search,
    Verdict, Voucher, next_to_ask, verdict, wake_at,
};

use crate::{
    catch_up::ask_again,
    dispute::is_disputed,
    engine::{Engine, Now},
    event::{BehindCause, BehindState, Convergence, DegradedReason, SyncEvent, Synced, TopicPhase},
    limit,
    proof::Drained,
    relapse::Relapses,
    schedule::Timer,
    topic::Topic,
    word,
};

/// What watchers were told last.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    /// Nothing that still stands: history is on its way.
    Syncing,
    Synced(Synced),
    Diverged(Vec<Camp>),
    Failed,
}

/// A reason to doubt that what was synced is all there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Behind {
    /// The last reason came then; a session that began before proves nothing about it.
    pub(crate) since: Instant,
    /// Whether watchers know.
    pub(crate) told: bool,
    /// The reason that was told, or would have been.
    pub(crate) cause: BehindCause,
    /// At least this many entries are missing; 0 when unknown.
    pub(crate) lag_entries: u64,
}

/// What has been told of a topic, and what has come up since.
#[derive(Debug)]
pub(crate) struct Completion {
    told: Told,
    pub(crate) behind: Option<Behind>,
    /// The last reason to be behind, also one that nobody was there to be asked about, or that has
    /// been settled.
    pub(crate) doubted: Option<Instant>,
    /// Up to where history hung together before the present round.
    held_before: Held,
    /// When the present search for providers began: at the start, or when the last trusted provider
    /// that could be reached left (`POL-15`).
    search_since: Instant,
    /// Whether a trusted provider can be reached.
    accompanied: bool,
    /// Holes that the last synced session accounted for, or that have been looked into.
    pub(crate) holes_accepted: u64,
    pub(crate) relapses: Relapses,
}

impl Completion {
    pub(crate) fn new(held: Held, opened: Instant) -> Self {
        Self {
            told: Told::Syncing,
            behind: None,
            doubted: None,
            held_before: held,
            search_since: opened,
            accompanied: false,
            holes_accepted: 0,
            relapses: Relapses::default(),
        }
    }

    pub(crate) fn is_synced(&self) -> bool {
        matches!(self.told, Told::Synced(_)) && self.behind.is_none()
    }

    /// Why it is in doubt, for whoever asks now.
    pub(crate) fn behind_state(&self, now: Instant) -> Option<BehindState> {
        let behind = self.behind?;
        Some(BehindState {
            cause: behind.cause,
            lag_entries: behind.lag_entries,
            age_ms: now.since(behind.since).as_millis(),
        })
    }

    /// Whether watchers were told last that those whom the rule counts disagree.
    pub(crate) fn is_diverged(&self) -> bool {
        matches!(self.told, Told::Diverged(_))
    }

    /// Whether watchers were told last that providers disagree, whether or not the rule asks for
    /// agreement.
    pub(crate) fn is_disputed(&self) -> bool {
        match &self.told {
            Told::Synced(synced) => synced.convergence == Convergence::Diverged,
            Told::Diverged(_) => true,
            Told::Syncing | Told::Failed => false,
        }
    }

    /// Those who disagree, as watchers were told.
    pub(crate) fn camps(&self) -> Vec<(StateHash, Vec<NodeId>)> {
        match &self.told {
            Told::Diverged(camps) => as_told(camps.clone()),
            _ => Vec::new(),
        }
    }

    /// When the present search for providers began.
    pub(crate) fn search_since(&self) -> Instant {
        self.search_since
    }

    pub(crate) fn phase(&self) -> TopicPhase {
        match &self.told {
            Told::Failed => TopicPhase::Failed,
            _ if self.behind.is_some_and(|behind| behind.told) => TopicPhase::Behind,
            Told::Syncing => TopicPhase::Syncing,
            Told::Synced(_) => TopicPhase::Synced,
            Told::Diverged(_) => TopicPhase::Diverged,
        }
    }

    pub(crate) fn synced(&self) -> Option<&Synced> {
        match &self.told {
            Told::Synced(synced) if self.behind.is_none() => Some(synced),
            _ => None,
        }
    }

    /// What stands, if it was told of the same voucher's same session.
    fn told_before(&self, new: &Synced) -> Option<&Synced> {
        self.synced()
            .filter(|old| (old.provider, old.session) == (new.provider, new.session))
    }
}

impl Topic {
    /// The present facts.
    pub(crate) fn facts(&self, me: NodeId, now: Instant) -> Facts<Drained> {
        let mut providers = BTreeMap::new();
        let trusted = self.trust.entries().into_iter().map(|entry| entry.node);
        for node in trusted
            .chain(self.peers.keys().copied())
            .filter(|node| *node != me)
        {
            let trust = self.trust.trusted(node);
            let facts = match self.peers.get(&node) {
                Some(peer) => ProviderFacts {
                    trust,
                    connected: peer.is_connected(),
                    outcome: peer.outcome.clone(),
                    ask_after: peer.retry_at,
                },
                None => ProviderFacts {
                    trust,
                    connected: false,
                    outcome: Outcome::Unasked,
                    ask_after: None,
                },
            };
            providers.insert(node, facts);
        }
        let me = Me {
            trusted_archive: self.is_trusted_archive(me),
            held: self.held_before(),
        };
        let search = Search::at(self.completion.search_since, now);
        Facts {
            providers,
            me,
            search,
        }
    }

    /// Whether this node is itself one of those whose word counts as an archive's (`POL-12`).
    pub(crate) fn is_trusted_archive(&self, me: NodeId) -> bool {
        let mine = self.trust.trusted(me);
        mine.is_some_and(|mine| mine.role == Role::Archive) && self.role == Role::Archive
    }

    /// Up to where history hung together before. What a ring has dropped since leaves no gap: it is
    /// not kept.
    fn held_before(&self) -> Held {
        match (self.completion.held_before, self.held.summary.coverage) {
            (Held::UpTo(place), Coverage::From { floor }) => Held::UpTo(place.max(floor)),
            (held, _) => held,
        }
    }
}

impl Engine {
    /// Facts have changed: judge them, tell what is new, ask who is to be asked.
    pub(crate) fn reconsider(&mut self, id: TopicId, now: Now) {
        self.note_search(id, now);
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        let facts = topic.facts(self.me, now.at);
        let verdict = verdict(topic.rule, &facts);
        let disputed = is_disputed(&verdict);
        self.tell(id, verdict, now);
        if disputed {
            self.look_into_dispute(id, now);
        }
        self.ask_more(id, now);
    }

    /// Begins the search for providers afresh when the last one that could be reached has left.
    fn note_search(&mut self, id: TopicId, now: Now) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let was = topic.completion.accompanied;
        topic.completion.accompanied = topic.has_trusted_connected();
        if was && !topic.completion.accompanied {
            topic.completion.search_since = now.at;
            self.schedule
                .set(Timer::NoProvider(id), now.at.after(NO_PROVIDER_AFTER));
        }
    }

    /// Opens the sessions that the plan wants.
    fn ask_more(&mut self, id: TopicId, now: Now) {
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        let facts = topic.facts(self.me, now.at);
        if let Some(at) = wake_at(&facts, now.at) {
            self.schedule.set(Timer::Reconsider(id), at);
        }
        let next = next_to_ask(
            topic.rule,
            &facts,
            now.at,
            limit::SESSIONS_ASKED_PER_TOPIC_MAX,
        );
        for node in next {
            let may = self
                .topics
                .get(&id)
                .and_then(|topic| topic.peers.get(&node));
            let may = may.is_some_and(|peer| peer.may_ask(now.at));
            if may && !self.is_served_stranger(id, node) {
                self.ask(id, node, now);
            }
        }
    }

    /// A peer can be reached again. An archive lets a stranger ask first: that session moves what
    /// either lacks, and one of its own at the same time would move a cold joiner's history twice
    /// (`POL-25`).
    pub(crate) fn let_stranger_ask(&mut self, id: TopicId, node: NodeId, now: Now) {
        let wait = self.jittered(Duration::from_millis(limit::STRANGER_ASKS_FIRST_MS));
        let me = self.me;
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        if topic.trusts(node) || !topic.is_trusted_archive(me) {
            return;
        }
        let at = now.at.after(wait);
        let peer = topic.peer_mut(node, now.at);
        if peer.asking.is_none() {
            peer.retry_at = Some(peer.retry_at.map_or(at, |paced| paced.max(at)));
            self.schedule.set(Timer::Retry(id, node), at);
        }
    }

    /// Whether this is a peer whose word does not count and whom this node is serving: that session
    /// moves what either lacks, and a second one would move it twice.
    pub(crate) fn is_served_stranger(&self, id: TopicId, node: NodeId) -> bool {
        let trusted = self.topics.get(&id).is_some_and(|topic| topic.trusts(node));
        !trusted && self.sessions.is_serving(id, node)
    }

    /// Tells watchers what the verdict changes, once.
    fn tell(&mut self, id: TopicId, verdict: Verdict<Drained>, now: Now) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        // A doubt ends with a verdict, not with what is still remembered of the one before.
        let synced_again = matches!(verdict, Verdict::Synced { .. });
        let settled = synced_again || matches!(verdict, Verdict::Diverged { .. });
        let (told, events) = match verdict {
            Verdict::Synced {
                by,
                coverage,
                convergence,
                still_pending,
            } => {
                let synced = synced(topic, self.me, by, coverage, &convergence, still_pending);
                account_for(topic, &synced);
                tell_synced(&topic.completion, topic.held.summary.coverage, synced)
            }
            Verdict::Pending { .. } => (pending(topic), Vec::new()),
            Verdict::Diverged { camps, .. } => tell_diverged(&topic.completion.told, camps),
            Verdict::Failed { reasons, .. } => tell_failed(&topic.completion.told, &reasons),
        };
        let doubts = topic.completion.behind.take_if(|_| settled);
        let lost = taken_back(&topic.completion.told, &told);
        topic.completion.told = told;
        if synced_again && doubts.is_some_and(|behind| behind.told) {
            topic.completion.relapses.caught_up(now.at);
            let state_hash = topic.held.summary.state;
            self.emit(id, SyncEvent::CaughtUp { state_hash });
        }
        if let Some(cause) = lost {
            self.withdraw(id, cause, now);
        }
        for event in events {
            self.emit(id, event);
        }
    }

    /// What was synced no longer is, whatever the verdict comes to. Whoever has answered before is
    /// asked again.
    fn withdraw(&mut self, id: TopicId, cause: BehindCause, now: Now) {
        let settle = self.settle(id);
        let me = self.me;
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        ask_again(topic, me, now, settle);
        topic.completion.doubted = Some(now.at);
        let behind = topic.completion.behind.get_or_insert(Behind {
            since: now.at,
            told: false,
            cause,
            lag_entries: 0,
        });
        if !std::mem::replace(&mut behind.told, true) {
            // What began before this was told proves nothing about it.
            behind.since = now.at;
            let lag_entries = 0;
            self.emit(id, SyncEvent::Behind { cause, lag_entries });
        }
    }
}

/// A session that is told for the first time accounts for all holes that are open then. One that
/// has been told says nothing of those that have been opened since (`GOS-8`): till they are looked
/// into, history does not hang together any further.
fn account_for(topic: &mut Topic, synced: &Synced) {
    if topic.completion.told_before(synced).is_none() {
        topic.completion.holes_accepted = topic.held.holes;
    }
    if topic.held.holes <= topic.completion.holes_accepted {
        topic.completion.held_before = topic.newest_held();
    }
}

/// Why what was told to be synced does not stand any more, if it does not.
fn taken_back(before: &Told, now: &Told) -> Option<BehindCause> {
    match (before, now) {
        (Told::Synced(synced), Told::Syncing | Told::Failed) => match synced.session {
            Some(_) => Some(BehindCause::LinkLost),
            None => Some(BehindCause::NewProvider),
        },
        _ => None,
    }
}

/// The word that watchers get.
fn synced(
    topic: &Topic,
    me: NodeId,
    by: Voucher<Drained>,
    coverage: Coverage,
    convergence: &osier_policy::Convergence,
    still_pending: u32,
) -> Synced {
    let mine = topic.held.summary.state;
    let (provider, session, state_hash, dangling) = match by {
        Voucher::Sole => (me, None, mine, topic.held.holes),
        Voucher::Provider { node, proof } => {
            let evidence = proof.0;
            (
                node,
                Some(evidence.session()),
                evidence.state(),
                evidence.dangling(),
            )
        }
    };
    let convergence = match convergence {
        osier_policy::Convergence::Diverged { .. } => Convergence::Diverged,
        _ if session.is_some() && state_hash != mine => Convergence::Unverified,
        osier_policy::Convergence::Converged { with } => Convergence::Converged { with: *with },
        osier_policy::Convergence::Unverified if session.is_some() => {
            Convergence::Converged { with: 1 }
        }
        osier_policy::Convergence::Unverified => Convergence::Unverified,
    };
    let entries = topic.held.summary.set.count();
    Synced {
        provider,
        session,
        still_pending,
        coverage: within_own(topic, coverage),
        convergence,
        entries,
        state_hash,
        dangling,
    }
}

/// How far back history is complete here: not further than this node itself holds it, whoever
/// vouches for more (`CMP-36`).
fn within_own(topic: &Topic, vouched: Coverage) -> Coverage {
    let own = topic.held.summary.coverage;
    if own.reaches(&vouched) { vouched } else { own }
}

/// Told again only when it says something else: another voucher, extent or agreement, or an end
/// of doubt. `own` is this node's own coverage.
fn tell_synced(completion: &Completion, own: Coverage, new: Synced) -> (Told, Vec<SyncEvent>) {
    // A ring that goes on dropping what it does not keep says nothing new.
    let by_own_floor = new.coverage == own && !own.is_complete();
    let same = completion.told_before(&new).is_some_and(|old| {
        (old.coverage == new.coverage || by_own_floor && !old.coverage.is_complete())
            && old.convergence == new.convergence
    });
    let mut events = Vec::new();
    if !same {
        // Nobody is deeper than a ring wants to be.
        if !new.coverage.is_complete() && !by_own_floor {
            let (provider, coverage) = (new.provider, new.coverage);
            events.push(SyncEvent::HistoryTruncated { provider, coverage });
        }
        events.push(SyncEvent::HistorySynced(new.clone()));
    }
    (Told::Synced(new), events)
}

fn pending(topic: &Topic) -> Told {
    match &topic.completion.told {
        // While a doubt is looked into, what was told is kept to compare with.
        told @ (Told::Synced(_) | Told::Diverged(_)) if topic.completion.behind.is_some() => {
            told.clone()
        }
        // That another is asked, or asked again, takes nothing back (`CMP-41`).
        told @ Told::Synced(synced) if stands(topic, synced) => told.clone(),
        _ => Told::Syncing,
    }
}

/// Whether who vouched for it still does, by the same session.
fn stands(topic: &Topic, synced: &Synced) -> bool {
    let peer = topic.peers.get(&synced.provider);
    topic.trusts(synced.provider)
        && peer.is_some_and(|peer| match &peer.outcome {
            Outcome::Drained(proof) => {
                peer.is_connected() && synced.session == Some(proof.session())
            }
            _ => false,
        })
}

fn tell_diverged(told: &Told, camps: Vec<Camp>) -> (Told, Vec<SyncEvent>) {
    let new = Told::Diverged(camps.clone());
    if *told == new {
        return (new, Vec::new());
    }
    let camps = as_told(camps);
    (new, vec![SyncEvent::Diverged { camps }])
}

/// Camps as watchers are told of them.
pub(crate) fn as_told(camps: Vec<Camp>) -> Vec<(StateHash, Vec<NodeId>)> {
    let pairs = camps.into_iter().map(|camp| (camp.state, camp.members));
    pairs.collect()
}

fn tell_failed(told: &Told, reasons: &[(NodeId, Reason)]) -> (Told, Vec<SyncEvent>) {
    if *told == Told::Failed {
        return (Told::Failed, Vec::new());
    }
    let reasons = reasons
        .iter()
        .map(|(node, reason)| (*node, in_words(reason)))
        .collect();
    (Told::Failed, vec![SyncEvent::HistorySyncFailed { reasons }])
}

fn in_words(reason: &Reason) -> DegradedReason {
    match reason {
        Reason::NotConnected => DegradedReason::ProviderLost {
            cause: "it is not connected".to_owned(),
        },
        Reason::Lost => DegradedReason::ProviderLost {
            cause: "the connection went".to_owned(),
        },
        Reason::Silent { .. } => DegradedReason::Timeout,
        Reason::Cut(reason) => DegradedReason::Cut {
            reason: word::cut(*reason),
        },
        Reason::Refused { reason, .. } => DegradedReason::Refused {
            reason: word::refused(*reason).to_owned(),
        },
        Reason::TooShallow { floor } => DegradedReason::Cut {
            reason: format!("its history begins at {} ms", floor.time.as_millis()),
        },
        Reason::NotEnough => DegradedReason::Failed {
            reason: "too few agree for the rule".to_owned(),
        },
        Reason::RoleNotCounted => DegradedReason::Failed {
            reason: "its role does not count for the rule".to_owned(),
        },
    }
}
