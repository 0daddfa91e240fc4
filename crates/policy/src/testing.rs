//! A proof without a session, and short ways to write facts down.

use osier_core::{
    Coverage, EntryHash, Instant, NodeId, OrderKey, Role, SessionId, StateHash, Timestamp,
};

use crate::{Facts, Held, Me, Outcome, Phase, Proof, ProviderFacts, Rank, Search, Standing};

/// What a test says that a provider has drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drain {
    pub(crate) coverage: Coverage,
    pub(crate) state: u8,
}

impl Proof for Drain {
    fn session(&self) -> SessionId {
        SessionId::from_bytes([self.state; 16])
    }

    fn coverage(&self) -> Coverage {
        self.coverage
    }

    fn state(&self) -> StateHash {
        state(self.state)
    }

    fn entries(&self) -> u64 {
        u64::from(self.state)
    }
}

pub(crate) type TestFacts = Facts<Drain>;
pub(crate) type TestProvider = ProviderFacts<Drain>;
pub(crate) type TestOutcome = Outcome<Drain>;

/// Node `n`; node ids are ordered as the numbers are.
pub(crate) fn node(n: u64) -> NodeId {
    let mut bytes = [1; 32];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    NodeId::from_bytes(bytes)
}

pub(crate) const fn state(n: u8) -> StateHash {
    StateHash::from_bytes([n; 32])
}

/// The place in range order at this time.
pub(crate) const fn place(ms: u64) -> OrderKey {
    OrderKey {
        time: Timestamp::from_millis(ms),
        hash: EntryHash::MIN,
    }
}

pub(crate) const fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub(crate) const fn from(ms: u64) -> Coverage {
    Coverage::From { floor: place(ms) }
}

pub(crate) const fn drained(coverage: Coverage, state: u8) -> TestOutcome {
    Outcome::Drained(Drain { coverage, state })
}

pub(crate) const fn streaming_since(since_ms: u64, progress_ms: u64) -> TestOutcome {
    Outcome::Streaming {
        since: at_ms(since_ms),
        last_progress: at_ms(progress_ms),
        phase: Phase::Sending,
    }
}

/// Trusted in this rank and role, and connected.
pub(crate) const fn provider(rank: u16, role: Role, outcome: TestOutcome) -> TestProvider {
    ProviderFacts {
        trust: Some(Standing {
            rank: Rank::new(rank),
            role,
        }),
        connected: true,
        outcome,
        ask_after: None,
    }
}

/// A connected archive of the default rank.
pub(crate) fn trusted(outcome: TestOutcome) -> TestProvider {
    provider(Rank::DEFAULT.get(), Role::Archive, outcome)
}

/// A connected node that nobody trusts.
pub(crate) fn stranger(outcome: TestOutcome) -> TestProvider {
    ProviderFacts {
        trust: None,
        ..trusted(outcome)
    }
}

/// A client that held nothing and has looked long enough.
pub(crate) fn facts(providers: impl IntoIterator<Item = (NodeId, TestProvider)>) -> TestFacts {
    Facts {
        providers: providers.into_iter().collect(),
        me: Me {
            trusted_archive: false,
            held: Held::Nothing,
        },
        search: Search::Over,
    }
}
