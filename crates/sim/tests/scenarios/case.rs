//! Faults that others had in public, each as a story that must end well here.

use osier_core::{NodeId, Role};
use osier_engine::{SyncEvent, TopicPhase};
use osier_sim::{Action, Knobs, NodeSpec, SEC, World};

use crate::support::{
    entries, has_told, no_violation, phase, reaches, sessions_begun, start_all, tuned, world,
};

/// What each `HistorySynced` said was held.
fn said_synced(world: &World, node: usize) -> Vec<u64> {
    let told = world.told(node, 0).into_iter();
    let synced = told.filter_map(|(_, event)| match event {
        SyncEvent::HistorySynced(synced) => Some(synced.entries),
        _ => None,
    });
    synced.collect()
}

fn pair() -> World {
    world(vec![NodeSpec::archive(), NodeSpec::peer()])
}

/// case IR-06: what is written while a node joins is not lost to it.
#[test]
fn case_ir_06_what_is_written_during_a_join_arrives() {
    for written in 1..=20 {
        let mut world = pair();
        world.start(0);
        world.start(1);
        for _ in 0..written {
            world.publish(0, 0, 1);
        }
        reaches(&mut world, 1, written, 20 * SEC);
    }
}

/// case IR-09: no stamp is refused, none drags another clock along, none before 1970 is a panic.
#[test]
fn case_ir_09_a_wrong_clock_shuts_nobody_out() {
    let day_ms = 86_400_000_i64;
    let jumps = [1_000, 660_000, 400_000 * day_ms, -400_000 * day_ms];
    for by_ms in jumps {
        let mut world = pair();
        start_all(&mut world);
        world.act(&Action::WallJump { node: 1, by_ms });
        world.publish(1, 0, 3);
        reaches(&mut world, 0, 3, 20 * SEC);
        world.publish(0, 0, 4);
        reaches(&mut world, 1, 7, 20 * SEC);
    }
}

/// case PL-06: a provider that has just started serves what it holds, never an empty view.
#[test]
fn case_pl_06_a_provider_that_starts_never_serves_nothing() {
    let mut world = pair();
    world.start(0);
    world.publish(0, 0, 50);
    world.run_for(SEC);
    world.crash(0);
    world.start(1);
    world.start(0);
    reaches(&mut world, 1, 50, 20 * SEC);
    let said = said_synced(&world, 1);
    assert!(said.iter().all(|held| *held == 50), "{said:?}");
}

/// case PL-10: a token that was just given means "wait": an idle topic costs no sessions.
#[test]
fn case_pl_10_a_token_that_was_just_given_is_not_shown_at_once() {
    let mut world = pair();
    world.start(0);
    world.publish(0, 0, 10);
    world.start(1);
    reaches(&mut world, 1, 10, 20 * SEC);
    world.run_for(20 * SEC);
    let before = world.now();
    world.run_for(100 * SEC);
    no_violation(&world);
    assert!(sessions_begun(&world, 1, before) <= 1, "it hammers");
}

/// case PL-11: a provider that restarts is not hammered, and everybody is synced again.
#[test]
fn case_pl_11_a_restart_is_met_with_few_sessions() {
    let clients = 20;
    let mut specs = vec![NodeSpec::archive()];
    specs.extend((0..clients).map(|_| NodeSpec::peer()));
    let mut world = world(specs);
    start_all(&mut world);
    world.publish(0, 0, 10);
    for node in 1..=clients {
        reaches(&mut world, node, 10, 30 * SEC);
    }
    let before = world.now();
    world.crash(0);
    world.run_for(2 * SEC);
    world.start(0);
    world.run_for(90 * SEC);
    no_violation(&world);
    for node in 1..=clients {
        assert_eq!(phase(&world, node), Some(TopicPhase::Synced), "n{node}");
        let owner = world.node_id(0);
        let told = world.told(node, 0).into_iter();
        let with_owner = told.filter(|(at, event)| {
            let begun =
                matches!(event, SyncEvent::SyncStarted { provider, .. } if *provider == owner);
            *at >= before && begun
        });
        let begun = with_owner.count();
        assert!(
            begun <= 4,
            "n{node} began {begun} sessions with the provider"
        );
    }
}

/// case PL-13: progress reaches what it announces and never goes back, also while more is written.
#[test]
fn case_pl_13_progress_is_monotone_and_reaches_its_end() {
    let slow = |knobs: &mut Knobs| {
        knobs.bandwidth_kib = 60;
        knobs.window_kib = 16;
    };
    let mut world = tuned(vec![NodeSpec::archive(), NodeSpec::peer()], slow);
    world.start(0);
    world.publish(0, 0, 600);
    world.run_for(SEC);
    world.start(1);
    for _ in 0..10 {
        world.run_for(SEC / 2);
        world.publish(0, 0, 5);
    }
    reaches(&mut world, 1, 650, 90 * SEC);
    let mut last = None;
    for (_, event) in world.told(1, 0) {
        if let SyncEvent::Progress {
            session,
            received,
            expected,
            ..
        } = event
        {
            let before = last.filter(|(of, _)| of == session).map_or(0, |(_, n)| n);
            assert!(*received >= before, "{received} after {before}");
            assert!(expected.is_none_or(|expected| *received <= expected));
            last = Some((*session, *received));
        }
    }
    assert!(last.is_some(), "it was told of progress");
}

/// case WI-01: the owner serves and counts without any grant; a plain member's word does not.
#[test]
fn case_wi_01_an_owner_needs_no_grant() {
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    world.start(0);
    world.publish(0, 0, 5);
    world.start(1);
    reaches(&mut world, 1, 5, 20 * SEC);
    let owner: NodeId = world.node_id(0);
    assert!(has_told(&world, 1, |event| matches!(
        event,
        SyncEvent::HistorySynced(synced) if synced.provider == owner
    )));
    world.stop(0);
    world.start(2);
    world.run_for(20 * SEC);
    no_violation(&world);
    assert_eq!(
        said_synced(&world, 2),
        [],
        "a plain member vouches for nobody"
    );
    assert!(has_told(&world, 2, |event| matches!(
        event,
        SyncEvent::HistorySyncFailed { .. }
    )));
}

/// case WI-02: whatever the way in which a difference was found, there is a word at its end.
#[test]
fn case_wi_02_every_way_ends_with_a_word() {
    // Nothing on either side; everything on one; the same; a little more; some on each side.
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::archive().trusting(0, 10, Role::Archive),
    ]);
    start_all(&mut world);
    reaches(&mut world, 1, 0, 20 * SEC);
    world.stop(1);
    world.publish(0, 0, 20);
    world.start(1);
    reaches(&mut world, 1, 20, 20 * SEC);
    world.stop(1);
    world.start(1);
    reaches(&mut world, 1, 20, 20 * SEC);
    world.part(&[0], &[1]);
    world.publish(0, 0, 3);
    world.publish(1, 0, 4);
    world.run_for(40 * SEC);
    world.join(&[0], &[1]);
    reaches(&mut world, 1, 27, 90 * SEC);
    reaches(&mut world, 0, 27, 90 * SEC);
}

/// case WI-09: a joiner with nothing, and one with half, reach all, however much that is.
#[test]
fn case_wi_09_more_than_one_page_is_reached() {
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    world.start(0);
    world.publish(0, 0, 600);
    world.start(1);
    reaches(&mut world, 1, 600, 30 * SEC);
    world.stop(1);
    world.publish(0, 0, 600);
    world.run_for(SEC);
    world.start(1);
    world.start(2);
    reaches(&mut world, 1, 1_200, 30 * SEC);
    reaches(&mut world, 2, 1_200, 30 * SEC);
    assert_eq!(entries(&world, 2), 1_200);
}
