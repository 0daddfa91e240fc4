//! What a run has planned: who writes what and when, honest or hostile; which fault happens when.

use osier_core::{
    EntryHash, SignedEntry, TopicId, WireEntry,
    testing::{Chain, secret, with_bad_signature},
};
use osier_proto::{Gossip, GossipMessage, encode_gossip, limit::GOSSIP_PAYLOAD_BYTES_MAX};

use crate::{
    clock::{MS, SEC, Time},
    dice::Dice,
    event::NodeIndex,
    gossip::{Rumour, rumour},
    swarm::Knobs,
};

/// Something planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A node writes.
    Publish {
        /// Who.
        node: NodeIndex,
        /// Where, by place.
        topic: usize,
        /// How many entries.
        entries: u64,
    },
    /// A hostile author gossips something.
    Hostile {
        /// Which of the world's hostile authors.
        author: usize,
        /// Whom it tells.
        to: NodeIndex,
    },
    /// A node starts, if it does not run.
    Start {
        /// Which.
        node: NodeIndex,
    },
    /// A node crashes, if it runs, and starts again after a while.
    Crash {
        /// Which.
        node: NodeIndex,
        /// Whether its disk is lost.
        wipe: bool,
        /// How long it is gone.
        span: Time,
    },
    /// A node stops in order, if it runs, and starts again after a while.
    Stop {
        /// Which.
        node: NodeIndex,
        /// How long it is gone.
        span: Time,
    },
    /// Nothing passes from one node to another.
    Cut {
        /// From.
        from: NodeIndex,
        /// To.
        to: NodeIndex,
        /// How long.
        span: Time,
    },
    /// A cut is over.
    Heal {
        /// From.
        from: NodeIndex,
        /// To.
        to: NodeIndex,
    },
    /// A link delivers nothing for a while, then everything.
    Clog {
        /// From.
        from: NodeIndex,
        /// To.
        to: NodeIndex,
        /// How long.
        span: Time,
    },
    /// The connection between two nodes breaks.
    Snap {
        /// One of them.
        one: NodeIndex,
        /// The other.
        other: NodeIndex,
    },
    /// A node hears no gossip for a while, and is told that it missed some.
    Lag {
        /// Which.
        node: NodeIndex,
        /// How long.
        span: Time,
    },
    /// That while is over.
    LagOver {
        /// Which.
        node: NodeIndex,
    },
    /// A disk is full for a while.
    DiskFull {
        /// Whose.
        node: NodeIndex,
        /// How long.
        span: Time,
    },
    /// A wall clock jumps.
    WallJump {
        /// Whose.
        node: NodeIndex,
        /// How far.
        by_ms: i64,
    },
}

/// A hostile author: not a node, but a signer whose messages reach the swarm.
#[derive(Debug)]
pub(crate) struct Author {
    topic: TopicId,
    kind: Hostility,
    chain: Chain,
    /// The same chain one entry ago: what a fork continues.
    before: Chain,
    sequence: u64,
    key: u64,
}

/// What a hostile author does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hostility {
    /// Signs two entries at one position.
    Forks,
    /// Signs badly and links to it well.
    SignsBadly,
    /// Names entries that never existed.
    Invents,
    /// Has a clock far in the future.
    ComesFromTheFuture,
}

impl Author {
    pub(crate) fn new(topic: TopicId, kind: Hostility, key: u64) -> Self {
        let chain = Chain::in_topic(key, topic);
        Self {
            topic,
            kind,
            before: chain.clone(),
            chain,
            sequence: 0,
            key,
        }
    }

    /// The author's next messages.
    pub(crate) fn act(&mut self, dice: &mut Dice) -> Vec<Rumour> {
        let body = dice.bytes::<8>();
        let entries = match self.kind {
            Hostility::Forks => self.fork(&body, dice),
            Hostility::SignsBadly => self.sign_badly(&body),
            Hostility::Invents => {
                let invented = (0..dice.range(1, 3)).map(|_| EntryHash::from_bytes(dice.bytes()));
                let invented = invented.collect();
                vec![self.chain.next_with(&body, invented).to_wire()]
            }
            Hostility::ComesFromTheFuture => {
                let time = *dice.pick(&[u64::MAX, u64::MAX - 1, 0, 4_000_000_000_000]);
                vec![self.chain.at(time).next(&body).to_wire()]
            }
        };
        entries.into_iter().map(|entry| self.gossip(entry)).collect()
    }

    /// An entry that is badly signed, and that nothing will ever link to.
    pub(crate) fn orphan(&mut self) -> Rumour {
        let bad = with_bad_signature(self.chain.signed(b"orphan"));
        self.gossip(bad.trust_stored().to_wire())
    }

    /// The next entry of an honest chain.
    pub(crate) fn honest(&mut self) -> Rumour {
        let entry = self.chain.next(b"in order").to_wire();
        self.gossip(entry)
    }

    fn fork(&mut self, body: &[u8], dice: &mut Dice) -> Vec<WireEntry> {
        if dice.chance(50) {
            std::mem::swap(&mut self.chain, &mut self.before);
        } else {
            self.before = self.chain.clone();
        }
        vec![self.chain.next(body).to_wire()]
    }

    fn sign_badly(&mut self, body: &[u8]) -> Vec<WireEntry> {
        let bad: SignedEntry = with_bad_signature(self.chain.signed(body));
        self.chain.follow(&bad);
        let good = self.chain.next(body).to_wire();
        vec![bad.trust_stored().to_wire(), good]
    }

    fn gossip(&mut self, entry: WireEntry) -> Rumour {
        self.sequence += 1;
        let message = GossipMessage {
            topic: self.topic,
            sequence: self.sequence,
            body: Gossip::Live(entry),
        };
        let bytes = encode_gossip(&secret(self.key), &message, GOSSIP_PAYLOAD_BYTES_MAX);
        rumour(self.topic, bytes.expect("a small entry fits"))
    }
}

/// The hostile authors of a run.
pub(crate) fn hostile_authors(knobs: &Knobs, topics: &[TopicId]) -> Vec<Author> {
    let kinds = [
        (knobs.forkers, Hostility::Forks),
        (knobs.bad_signers, Hostility::SignsBadly),
        (knobs.inventors, Hostility::Invents),
        (knobs.futurists, Hostility::ComesFromTheFuture),
    ];
    let all = kinds.into_iter().flat_map(|(count, kind)| (0..count).map(move |_| kind));
    all.zip(1_000..)
        .map(|(kind, key)| Author::new(topics[0], kind, key))
        .collect()
}

/// Writes in the time of faults.
pub(crate) fn plan_writes(knobs: &Knobs, hostile: usize, dice: &mut Dice) -> Vec<(Time, Action)> {
    let honest = usize::try_from(knobs.nodes).expect("few nodes");
    let span = knobs.fault_s * SEC;
    let mut plan = Vec::new();
    for _ in 0..knobs.writes {
        let action = Action::Publish {
            node: dice.index(honest),
            topic: dice.index(usize::try_from(knobs.topics).expect("few topics")),
            entries: dice.range(1, knobs.burst),
        };
        plan.push((dice.below(span), action));
    }
    for author in 0..hostile {
        for _ in 0..dice.range(2, 6) {
            let to = dice.index(honest);
            plan.push((dice.below(span), Action::Hostile { author, to }));
        }
    }
    plan
}

/// Faults in their time. Node 0 is as exposed as any.
pub(crate) fn plan_faults(knobs: &Knobs, dice: &mut Dice) -> Vec<(Time, Action)> {
    let honest = usize::try_from(knobs.nodes).expect("few nodes");
    let all = honest + usize::try_from(knobs.liars).expect("few nodes");
    let end = knobs.fault_s * SEC;
    let mut plan = Vec::new();
    let span = |dice: &mut Dice| dice.range(50, 12_000) * MS;
    for at in 0..knobs.crashes {
        let (node, wipe) = (dice.index(honest), at < knobs.wipes);
        let action = Action::Crash { node, wipe, span: span(dice) };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.churns {
        let action = Action::Stop { node: dice.index(honest), span: span(dice) };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.partitions {
        plan.extend(partition(all, end, knobs.asymmetric == 1, dice));
    }
    let pairs = |dice: &mut Dice| (dice.index(all), dice.index(all));
    for _ in 0..knobs.clogs {
        let (from, to) = pairs(dice);
        let action = Action::Clog { from, to, span: span(dice) };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.breaks {
        let (one, other) = pairs(dice);
        plan.push((dice.below(end), Action::Snap { one, other }));
    }
    for _ in 0..knobs.lags {
        let action = Action::Lag { node: dice.index(honest), span: span(dice) };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.disk_full {
        let action = Action::DiskFull { node: dice.index(honest), span: span(dice) };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.wall_jumps {
        let far = i64::try_from(*dice.pick(&[500, 90_000, 86_400_000_u64])).expect("small");
        let by_ms = if dice.chance(50) { far } else { -far };
        plan.push((dice.below(end), Action::WallJump { node: dice.index(honest), by_ms }));
    }
    plan
}

fn partition(nodes: usize, end: Time, one_way: bool, dice: &mut Dice) -> Vec<(Time, Action)> {
    let (at, span) = (dice.below(end), dice.range(500, 25_000) * MS);
    let side: Vec<bool> = (0..nodes).map(|_| dice.chance(50)).collect();
    let mut plan = Vec::new();
    for from in 0..nodes {
        for to in 0..nodes {
            if side[from] != side[to] && (side[from] || !one_way) {
                plan.push((at, Action::Cut { from, to, span }));
            }
        }
    }
    plan
}
