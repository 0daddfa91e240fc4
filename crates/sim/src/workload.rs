//! What a run has planned: who writes when, honest or hostile; which fault happens when.

use crate::{
    clock::{MS, SEC, Time},
    dice::Dice,
    event::NodeIndex,
    owner::Word,
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
    /// The owner of a granted topic says something, if it runs.
    Decree {
        /// Where, by place.
        topic: usize,
        /// Of whom: an honest node, or a hostile author counted after them.
        who: usize,
        /// What.
        word: Word,
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
        let action = Action::Crash {
            node,
            wipe,
            span: span(dice),
        };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.churns {
        let action = Action::Stop {
            node: dice.index(honest),
            span: span(dice),
        };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.partitions {
        plan.extend(partition(all, end, knobs.asymmetric == 1, dice));
    }
    let pairs = |dice: &mut Dice| (dice.index(all), dice.index(all));
    for _ in 0..knobs.clogs {
        let (from, to) = pairs(dice);
        let action = Action::Clog {
            from,
            to,
            span: span(dice),
        };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.breaks {
        let (one, other) = pairs(dice);
        plan.push((dice.below(end), Action::Snap { one, other }));
    }
    for _ in 0..knobs.lags {
        let action = Action::Lag {
            node: dice.index(honest),
            span: span(dice),
        };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.disk_full {
        let action = Action::DiskFull {
            node: dice.index(honest),
            span: span(dice),
        };
        plan.push((dice.below(end), action));
    }
    for _ in 0..knobs.wall_jumps {
        let far = i64::try_from(*dice.pick(&[500, 90_000, 86_400_000_u64])).expect("small");
        let by_ms = if dice.chance(50) { far } else { -far };
        plan.push((
            dice.below(end),
            Action::WallJump {
                node: dice.index(honest),
                by_ms,
            },
        ));
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
