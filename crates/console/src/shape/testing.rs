//! One of every event, for tests.

use osier::{
    BehindCause, Convergence, Coverage, DegradedReason, EntryPhase, Event, Mode, NodeId,
    ProviderState, Role, SessionId, StateHash, SyncEvent, Synced, TopicId, TopicPhase, TopicState,
};

pub(crate) fn node(n: u8) -> NodeId {
    NodeId::from_bytes([n; 32])
}

/// A provider that has sent everything.
pub(crate) fn provider(n: u8) -> ProviderState {
    ProviderState {
        node: node(n),
        trusted: true,
        rank: Some(100),
        role: Role::Archive,
        connected: true,
        outcome: "drained",
        detail: "3 entries".to_owned(),
        session: Some(session()),
        received: 3,
        expected: Some(3),
        session_age_ms: Some(12),
        deadline_ms: Some(400),
        retry_ms: None,
    }
}

/// A topic that is synced.
pub(crate) fn state() -> TopicState {
    TopicState {
        phase: TopicPhase::Synced,
        role: Role::Peer,
        rule: osier::Rule::default(),
        entries: 3,
        authors: 1,
        holes: 0,
        state_hash: StateHash::from_bytes([3; 32]),
        coverage: Coverage::Complete,
        synced: Some(synced()),
        providers: vec![provider(1)],
        waiting: Vec::new(),
        search_ms: None,
        behind: None,
        camps: Vec::new(),
        upto: osier::Position::START.into(),
    }
}

fn session() -> SessionId {
    SessionId::from_bytes([5; 16])
}

fn synced() -> Synced {
    Synced {
        provider: node(1),
        session: Some(session()),
        still_pending: 0,
        coverage: Coverage::Complete,
        convergence: Convergence::Converged { with: 1 },
        entries: 3,
        state_hash: StateHash::from_bytes([3; 32]),
        dangling: 0,
    }
}

/// One of every event but entries, which only a store can make. A new kind does not compile before
/// it is here.
pub(crate) fn every_event() -> Vec<(TopicId, Event)> {
    let (provider, session) = (node(1), session());
    let state_hash = StateHash::from_bytes([3; 32]);
    let at = osier::Position::START.into();
    let degraded = |reason| SyncEvent::HistorySyncDegraded {
        provider,
        session: None,
        reason,
        still_pending: 1,
    };
    let text = || "why".to_owned();
    let all = vec![
        SyncEvent::State(Box::new(state())),
        SyncEvent::Appended {
            from: at,
            upto: at,
            phase: EntryPhase::Live,
        },
        SyncEvent::SyncStarted {
            provider,
            session,
            mode: Mode::Ranges,
            resumed: true,
        },
        SyncEvent::Progress {
            provider,
            session,
            received: 1,
            expected: None,
        },
        SyncEvent::SyncEnded {
            provider,
            session,
            outcome: "cut",
        },
        SyncEvent::HistorySynced(synced()),
        degraded(DegradedReason::Timeout),
        degraded(DegradedReason::ProviderLost { cause: text() }),
        degraded(DegradedReason::Refused { reason: text() }),
        degraded(DegradedReason::Cut { reason: text() }),
        degraded(DegradedReason::Misbehaved { rule: text() }),
        degraded(DegradedReason::Failed { reason: text() }),
        degraded(DegradedReason::LocalDisk { cause: text() }),
        SyncEvent::HistorySyncFailed {
            reasons: vec![(provider, DegradedReason::Timeout)],
        },
        SyncEvent::HistoryTruncated {
            provider,
            coverage: Coverage::Complete,
        },
        SyncEvent::Diverged {
            camps: vec![(state_hash, vec![provider])],
        },
        SyncEvent::Behind {
            cause: BehindCause::Gap,
            lag_entries: 0,
        },
        SyncEvent::CaughtUp { state_hash },
        SyncEvent::AuthorForked {
            author: provider,
            one: osier::EntryHash::from_bytes([1; 32]),
            other: osier::EntryHash::from_bytes([2; 32]),
        },
        SyncEvent::Withdrawn { entries: 3 },
        SyncEvent::ProviderUp { provider },
        SyncEvent::ProviderDown { provider },
        SyncEvent::Lagged { missed: 2 },
    ];
    let topic = TopicId::from_bytes([9; 32]);
    all.into_iter()
        .map(|event| (topic, Event::Sync(event)))
        .collect()
}
