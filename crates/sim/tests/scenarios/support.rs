//! Worlds, and what a story waits for and looks at.

use osier_core::{Coverage, NodeId, Role};
use osier_engine::{SyncEvent, Synced, TopicPhase};
use osier_proto::Mode;
use osier_sim::{Knobs, Lie, MS, NodeSpec, SEC, TraceMode, World};

/// A world with these nodes, one topic owned by node 0, nothing started.
pub(crate) fn world(specs: Vec<NodeSpec>) -> World {
    tuned(specs, |_| {})
}

pub(crate) fn tuned(specs: Vec<NodeSpec>, tune: impl FnOnce(&mut Knobs)) -> World {
    made(specs, &[0], tune)
}

/// The same, joined through these nodes.
pub(crate) fn joined_through(bootstrap: &[usize], specs: Vec<NodeSpec>) -> World {
    made(specs, bootstrap, |_| {})
}

/// Both.
pub(crate) fn made(
    specs: Vec<NodeSpec>,
    bootstrap: &[usize],
    tune: impl FnOnce(&mut Knobs),
) -> World {
    seeded(7, specs, bootstrap, tune)
}

/// The same with a seed.
pub(crate) fn seeded(
    seed: u64,
    specs: Vec<NodeSpec>,
    bootstrap: &[usize],
    tune: impl FnOnce(&mut Knobs),
) -> World {
    let mut knobs = Knobs::calm();
    tune(&mut knobs);
    let mode = match std::env::var_os("OSIER_SIM_TRACE") {
        Some(_) => TraceMode::Print,
        None => TraceMode::Off,
    };
    let mut world = World::new(seed, knobs, mode);
    for spec in specs {
        world.add_node(spec);
    }
    world.add_topic(bootstrap);
    world
}

pub(crate) fn start_all(world: &mut World) {
    for node in 0..world.node_count() {
        world.start(node);
    }
}

pub(crate) fn no_violation(world: &World) {
    if let Some(violation) = world.violation() {
        panic!("{violation}");
    }
}

pub(crate) fn phase(world: &World, node: usize) -> Option<TopicPhase> {
    world.state(node, 0).map(|state| state.phase)
}

pub(crate) fn entries(world: &World, node: usize) -> u64 {
    world.state(node, 0).map_or(0, |state| state.entries)
}

/// Lets time pass until a node is synced with so many entries.
pub(crate) fn reaches(world: &mut World, node: usize, count: u64, within: u64) {
    let reached = world.run_while(within, |world| {
        entries(world, node) < count || phase(world, node) != Some(TopicPhase::Synced)
    });
    no_violation(world);
    let told: Vec<String> = world
        .told(node, 0)
        .iter()
        .map(|(at, e)| format!("{} {e:?}", at / MS))
        .collect();
    assert!(
        reached,
        "n{node} has {} of {count} entries, {:?}:\n{}",
        entries(world, node),
        phase(world, node),
        told.join("\n")
    );
}

pub(crate) fn coverages(world: &World, node: usize) -> Vec<Coverage> {
    let told = world.told(node, 0);
    let synced = told.into_iter().filter_map(|(_, event)| match event {
        SyncEvent::HistorySynced(synced) => Some(synced.coverage),
        _ => None,
    });
    synced.collect()
}

pub(crate) fn has_told(world: &World, node: usize, what: impl Fn(&SyncEvent) -> bool) -> bool {
    world
        .told(node, 0)
        .into_iter()
        .any(|(_, event)| what(event))
}

pub(crate) fn modes(world: &World, node: usize) -> Vec<(Mode, bool)> {
    let told = world.told(node, 0);
    let started = told.into_iter().filter_map(|(_, event)| match event {
        SyncEvent::SyncStarted { mode, resumed, .. } => Some((*mode, *resumed)),
        _ => None,
    });
    started.collect()
}

pub(crate) fn sessions_begun(world: &World, node: usize, after: u64) -> usize {
    let told = world.told(node, 0);
    let begun = told
        .into_iter()
        .filter(|(at, event)| *at >= after && matches!(event, SyncEvent::SyncStarted { .. }));
    begun.count()
}

/// Every `HistorySynced` that a node has told, with the time.
pub(crate) fn synced(world: &World, node: usize) -> Vec<(u64, Synced)> {
    let told = world.told(node, 0).into_iter();
    let synced = told.filter_map(|(at, event)| match event {
        SyncEvent::HistorySynced(synced) => Some((at, synced.clone())),
        _ => None,
    });
    synced.collect()
}

/// On whose word a node has said that it is synced, in order.
pub(crate) fn vouchers(world: &World, node: usize) -> Vec<NodeId> {
    let said = synced(world, node).into_iter();
    said.map(|(_, synced)| synced.provider).collect()
}

/// Whether a node has told that another cannot be counted on.
pub(crate) fn has_degraded(world: &World, node: usize, other: usize) -> bool {
    let other = world.node_id(other);
    has_told(world, node, |event| match event {
        SyncEvent::HistorySyncDegraded { provider, .. } => *provider == other,
        _ => false,
    })
}

/// Nodes 0 and 1 are archives that hold 30 entries, and 1 is a liar; node 2 will join and ranks the
/// liar first.
pub(crate) fn with_liar(lie: Lie) -> World {
    let liar = NodeSpec::archive()
        .lying(lie)
        .trusting(0, 10, Role::Archive);
    let joiner = NodeSpec::peer()
        .trusting(1, 1, Role::Archive)
        .trusting(0, 2, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), liar, joiner]);
    world.start(0);
    world.publish(0, 0, 30);
    world.start(1);
    reaches(&mut world, 1, 30, 10 * SEC);
    world
}

/// Node 0 is a lying owner with 40 entries; node 1 joins, hears no gossip, and knows nobody else.
pub(crate) fn alone_with_liar(lie: Lie, tune: impl FnOnce(&mut Knobs)) -> World {
    let joiner = NodeSpec::peer();
    let mut world = tuned(vec![NodeSpec::archive().lying(lie), joiner], tune);
    world.start(0);
    world.publish(0, 0, 40);
    world.run_for(SEC);
    world.deafen(1, true);
    world.start(1);
    world
}
