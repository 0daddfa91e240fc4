//! One run of one seed: build a world, let it suffer, let it heal, and hold it to its promises.

use std::panic::{AssertUnwindSafe, catch_unwind};

use osier_core::Role;
use osier_policy::Rule;

use crate::{
    author::hostile_authors,
    check::{
        Violation,
        liveness::{CONVERGED_WITHIN, Core},
    },
    clock::{MS, SEC, Time},
    dice::{Dice, Purpose},
    event::NodeIndex,
    liar::{ALL_LIES, DRAWN_LIES},
    node::NodeSpec,
    owner::plan_words,
    swarm::Knobs,
    trace::TraceMode,
    workload::{Action, plan_faults, plan_writes},
    world::World,
};

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The first violation; none if all went well.
    pub violation: Option<Violation>,
    /// Virtual time that passed.
    pub virtual_time: Time,
    /// Events handled.
    pub events: u64,
    /// Lines of the trace and the hash over them; zeros when nothing was traced.
    pub digest: (u64, [u8; 32]),
    /// Client sessions that drained, and that ended otherwise.
    pub sessions: (u64, u64),
}

/// Runs a seed with its own parameters.
pub fn run_seed(seed: u64, mode: TraceMode) -> Outcome {
    run_knobs(seed, &Knobs::draw(seed), mode)
}

/// Runs a seed with these parameters. A panic anywhere is a violation like any other.
pub fn run_knobs(seed: u64, knobs: &Knobs, mode: TraceMode) -> Outcome {
    let mut world = World::new(seed, knobs.clone(), mode);
    let ran = catch_unwind(AssertUnwindSafe(|| whole_run(&mut world)));
    if let Err(panic) = ran {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("without a word");
        let now = world.now();
        world.checks.fail(now, format!("panic: {text}"));
    }
    Outcome {
        violation: world.violation().cloned(),
        virtual_time: world.now(),
        events: world.events(),
        digest: world.digest(),
        sessions: (world.checks.drained, world.checks.undrained),
    }
}

fn whole_run(world: &mut World) {
    let core = build(world);
    suffer(world);
    if world.violation().is_none() {
        heal(world, &core);
    }
}

/// Nodes, topics and plans of a run; gives its honest nodes.
fn build(world: &mut World) -> Vec<NodeIndex> {
    let knobs = world.knobs.clone();
    let mut dice = Dice::new(world.seed, Purpose::Fault);
    let honest = usize::try_from(knobs.nodes).expect("few nodes");
    let all = honest + usize::try_from(knobs.liars).expect("few nodes");
    for index in 0..all {
        let spec = spec_of(index, &knobs, &mut dice);
        world.add_node(spec);
    }
    for _ in 0..knobs.outsiders {
        let mut spec = NodeSpec::outsider();
        spec.topics = (0..usize::try_from(knobs.topics).expect("few topics")).collect();
        world.add_node(spec);
    }
    let other = dice.index(honest);
    for _ in 0..knobs.topics {
        world.add_topic(&[0, other]);
    }
    let topics: Vec<_> = (0..world.topics.len())
        .map(|topic| world.topic(topic))
        .collect();
    let authors = hostile_authors(&knobs, &topics);
    let mut writes = Dice::new(world.seed, Purpose::Workload);
    let plan = plan_writes(&knobs, authors.len(), &mut writes);
    let words = plan_words(world.seed, &knobs, authors.len());
    world.set_authors(authors);
    plan_outsiders(world, &knobs, all);
    for (at, action) in words {
        world.plan(at + SEC, action);
    }
    for (at, action) in plan.into_iter().chain(plan_faults(&knobs, &mut dice)) {
        world.plan(at + SEC, action);
    }
    // Late ones are those of the end, so the owner and the first archives are there.
    let late = usize::try_from(knobs.late).expect("few nodes");
    for node in 0..all {
        let waits = node < honest && node + late >= honest && node > 0;
        let at = if waits {
            dice.below(knobs.fault_s * SEC)
        } else {
            dice.below(300 * MS)
        };
        world.plan(at, Action::Start { node });
    }
    if knobs.backlog > 0 {
        world.start(0);
        world.publish(0, 0, knobs.backlog);
    }
    (0..honest).collect()
}

/// Outsiders run from the start and write now and then, until the liars stop, too.
fn plan_outsiders(world: &mut World, knobs: &Knobs, first: NodeIndex) {
    for node in first..world.node_count() {
        world.plan(100 * MS, Action::Start { node });
        for second in (1..knobs.fault_s).step_by(3) {
            let publish = Action::Publish {
                node,
                topic: 0,
                entries: 2,
            };
            world.plan(second * SEC, publish);
        }
    }
}

/// Node 0 owns the topics. Archives come first, then peers, then rings, then liars.
fn spec_of(index: NodeIndex, knobs: &Knobs, dice: &mut Dice) -> NodeSpec {
    let number = index as u64;
    let is_liar = number >= knobs.nodes;
    let mut spec = if is_liar || number < knobs.archives {
        NodeSpec::archive()
    } else if number >= knobs.nodes - knobs.replays.min(knobs.nodes - 1) {
        NodeSpec::replay(knobs.ring)
    } else {
        NodeSpec::peer()
    };
    if is_liar {
        let first = usize::try_from(knobs.lie).expect("few lies");
        let lie = ALL_LIES[(first + index) % DRAWN_LIES];
        spec = spec.lying(lie);
    }
    spec.rule = match knobs.rule {
        1 => Rule::FirstTrusted,
        2 => Rule::StrictMajority,
        _ => Rule::StorageFirst,
    };
    spec.topics = (0..usize::try_from(knobs.topics).expect("few topics")).collect();
    for other in trusted_by(number, knobs) {
        let role = if other < knobs.archives || other >= knobs.nodes {
            Role::Archive
        } else if other >= knobs.nodes - knobs.replays.min(knobs.nodes - 1) {
            Role::Replay
        } else {
            Role::Peer
        };
        let rank = 50 + u16::try_from(dice.below(100)).expect("small");
        let other = usize::try_from(other).expect("few nodes");
        spec = spec.trusting(other, rank, role);
    }
    let drift = i64::try_from(dice.range(0, 2 * knobs.drift_ppm)).expect("small");
    spec.drift_ppm = drift - i64::try_from(knobs.drift_ppm).expect("small");
    let skew = i64::try_from(dice.range(0, 2_000 * knobs.wall_skew_s)).expect("small");
    spec.wall_off_ms = skew - i64::try_from(1_000 * knobs.wall_skew_s).expect("small");
    spec
}

/// Whom a node has on its trust list: archives and rings of the run, the liars, and with `mutual`
/// everyone.
fn trusted_by(index: u64, knobs: &Knobs) -> Vec<u64> {
    let first_ring = knobs.nodes - knobs.replays.min(knobs.nodes - 1);
    let all = 0..knobs.nodes + knobs.liars;
    all.filter(|other| {
        let serves = *other < knobs.archives || *other >= first_ring;
        *other != index && (serves || knobs.mutual == 1)
    })
    .collect()
}

fn suffer(world: &mut World) {
    let end = world.knobs.fault_s * SEC + SEC;
    let deaf = (world.knobs.final_lag == 1).then(|| world.nodes_honest() - 1);
    world.run_until(end);
    if let Some(node) = deaf.filter(|_| world.violation().is_none()) {
        // It hears nothing of the last writes, and then only that it has missed something.
        world.deafen(node, true);
    }
}

fn heal(world: &mut World, core: &[NodeIndex]) {
    world.end_faults();
    for liar in core.len()..world.node_count() {
        if world.is_up(liar) {
            world.stop(liar);
        }
    }
    for node in core {
        if !world.is_up(*node) {
            world.start(*node);
        }
    }
    world.run_for(5 * SEC);
    // Written after all is well: it must reach everyone, and not only what sessions carry.
    for writer in [0, core.len() / 2] {
        world.publish(writer, 0, 1);
        world.run_for(500 * MS);
    }
    world.run_for(2 * SEC);
    for node in core {
        if world.knobs.final_lag == 1 && *node + 1 == core.len() {
            world.tell_lagged(*node);
        }
    }
    let topics = world.topics.len();
    let cores: Vec<Core> = (0..topics)
        .map(|topic| Core {
            nodes: core.to_vec(),
            topic,
        })
        .collect();
    let start = world.now();
    while world.violation().is_none() {
        let wrong = cores.iter().find_map(|core| world.unconverged(core));
        let Some(what) = wrong else {
            break;
        };
        if world.now() - start > CONVERGED_WITHIN {
            let now = world.now();
            world
                .checks
                .fail(now, format!("not converged in time: {what}"));
            return;
        }
        world.run_for(500 * MS);
    }
    world.run_for(2 * SEC);
    // What was commanded at the very end is answered when it is on disk.
    world.run_while(2 * SEC, |world| world.is_answering(core));
    if let Some(what) = world.shows_unlike(core) {
        let now = world.now();
        world.checks.fail(now, what);
    }
    if let Some(what) = cores.iter().find_map(|core| world.loose_ends(core)) {
        let now = world.now();
        world.checks.fail(now, what);
    }
}
