//! Watermarks: ahead, behind, forged (`GOS-3`, `GOS-8`, `GOS-11`).

use osier_core::{EntryHash, StateHash};
use osier_engine::{BehindCause, SyncEvent, TopicPhase};
use osier_sim::{NodeSpec, SEC, World};

use crate::support::{
    entries, has_told, no_violation, phase, reaches, sessions_begun, start_all, world,
};

/// Owner, joiner, and a plain member; all hold five entries.
fn three() -> World {
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    start_all(&mut world);
    world.publish(0, 0, 5);
    for node in 0..3 {
        reaches(&mut world, node, 5, 10 * SEC);
    }
    world.run_for(20 * SEC);
    no_violation(&world);
    world
}

fn is_behind_by_a_watermark(world: &World, node: usize) -> bool {
    has_told(world, node, |event| {
        let cause = BehindCause::Watermark;
        matches!(event, SyncEvent::Behind { cause: told, .. } if *told == cause)
    })
}

/// A trusted signer holds more: behind, and a session brings it without another message.
#[test]
fn watermark_ahead() {
    let mut world = three();
    world.deafen(1, true);
    world.publish(0, 0, 4);
    world.run_for(SEC / 2);
    assert_eq!(entries(&world, 1), 5);
    world.tell_watermark(0, 1, |_| {});
    reaches(&mut world, 1, 9, 3 * SEC);
    assert!(is_behind_by_a_watermark(&world, 1));
}

/// Who holds less is not asked: it hears of more from this node, and asks.
#[test]
fn watermark_behind() {
    let mut world = three();
    let before = world.now();
    world.tell_watermark(0, 1, |said| {
        said.set.remove(&EntryHash::MIN);
        said.state = StateHash::from_bytes([3; 32]);
    });
    world.run_for(4 * SEC);
    no_violation(&world);
    assert!(!is_behind_by_a_watermark(&world, 1));
    assert_eq!(sessions_begun(&world, 1, before), 0);
    assert_eq!(phase(&world, 1), Some(TopicPhase::Synced));
}

/// What a stranger claims costs a session with the stranger at most; what a trusted one claims and
/// does not hold is asked for, and the topic is synced again.
#[test]
fn watermark_forged() {
    let mut world = three();
    let before = world.now();
    for claimed in [1_u8, 2, 3] {
        world.tell_watermark(2, 1, |said| {
            said.set.insert(&EntryHash::from_bytes([claimed; 32]));
            said.state = StateHash::from_bytes([claimed; 32]);
        });
        world.run_for(2 * SEC);
    }
    no_violation(&world);
    assert!(!is_behind_by_a_watermark(&world, 1));
    let begun = sessions_begun(&world, 1, before);
    assert!(begun <= 3, "{begun}");
    world.tell_watermark(0, 1, |said| {
        said.set.insert(&EntryHash::MIN);
        said.state = StateHash::from_bytes([9; 32]);
    });
    world.run_for(5 * SEC);
    no_violation(&world);
    assert_eq!(phase(&world, 1), Some(TopicPhase::Synced));
    assert!(is_behind_by_a_watermark(&world, 1));
}

/// GOS-11: a node that gossip does not reach any more is heard to stay behind: the archive asks it
/// once it has spoken, before its next audit would.
#[test]
fn who_stays_behind_is_roused() {
    let mut world = three();
    world.publish(1, 0, 1);
    world.run_for(25 * SEC);
    world.deafen(1, true);
    let before = world.now();
    world.publish(2, 0, 3);
    reaches(&mut world, 0, 9, 5 * SEC);
    let held = world.run_while(90 * SEC, |world| entries(world, 1) < 9);
    no_violation(&world);
    assert!(held, "{:?}", world.state(1, 0));
    let deaf = world.node_id(1);
    let asked = world.told(0, 0).into_iter().any(|(at, event)| {
        let of_it = matches!(event, SyncEvent::SyncStarted { provider, .. } if *provider == deaf);
        at > before && of_it
    });
    assert!(asked, "the archive has asked it");
    assert_eq!(phase(&world, 1), Some(TopicPhase::Synced));
}

/// Who hears is left alone: a busy topic costs no session because of a watermark from a moment ago.
#[test]
fn who_comes_along_is_not_roused() {
    let mut world = three();
    let before = world.now();
    for _ in 0..60 {
        world.publish(0, 0, 1);
        world.run_for(SEC);
    }
    no_violation(&world);
    assert_eq!(sessions_begun(&world, 0, before), 0);
}
