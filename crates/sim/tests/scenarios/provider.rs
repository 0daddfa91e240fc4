//! Providers that restart, never end, disagree, or keep only the newest (`POL-5` to `POL-13`).

use osier_core::{Coverage, Role};
use osier_engine::{Convergence, Rule, SyncEvent, TopicPhase};
use osier_sim::{Action, Knobs, Lie, MS, NodeSpec, SEC, World};

use crate::support::{
    alone_with_liar, coverages, entries, has_degraded, has_told, no_violation, phase, reaches,
    start_all, synced, tuned, vouchers, with_liar, world,
};

/// A link on which a few hundred kilobytes take seconds.
pub(crate) fn slow(knobs: &mut Knobs) {
    knobs.bandwidth_kib = 300;
    knobs.window_kib = 64;
}

/// What came stays, the application is told, and the same provider's next life sends the rest.
#[test]
fn provider_restarts_mid_stream() {
    let mut world = tuned(vec![NodeSpec::archive(), NodeSpec::peer()], slow);
    world.start(0);
    world.publish_large(0, 0, 100, 20_000);
    world.start(1);
    world.run_while(60 * SEC, |world| world.taken(1, 0) < 30);
    let before = world.taken(1, 0);
    assert!((30..90).contains(&before), "{before}");
    world.stop(0);
    world.run_for(SEC);
    assert!(has_degraded(&world, 1, 0), "it is told at once");
    assert_eq!(synced(&world, 1), []);
    world.start(0);
    reaches(&mut world, 1, 100, 60 * SEC);
    assert_eq!(world.came_twice(1), 0);
}

/// Entries that a liar makes up are progress, and never the end of it: nothing is called complete,
/// nobody is left without a word, and memory does not grow with what is announced.
#[test]
fn never_ending_stream() {
    let mut world = alone_with_liar(Lie::NeverEnds, |_| {});
    world.run_for(60 * SEC);
    no_violation(&world);
    assert_eq!(synced(&world, 1), []);
    let told = world.told(1, 0);
    let last = told.iter().rev().find_map(|(at, event)| match event {
        SyncEvent::Progress { .. } => Some(*at),
        _ => None,
    });
    assert!(last.is_some_and(|at| world.now() - at < SEC), "{last:?}");
    assert_eq!(phase(&world, 1), Some(TopicPhase::Syncing));
}

/// POL-19: a stream that does not end keeps nobody from an honest provider for ever, and a drip
/// that does not end for hours neither.
#[test]
fn one_that_never_ends_does_not_keep_others_away() {
    for lie in [Lie::NeverEnds, Lie::Drips] {
        let mut world = with_liar(lie);
        world.publish(0, 0, 11_970);
        reaches(&mut world, 1, 12_000, 20 * SEC);
        world.start(2);
        let honest = world.node_id(0);
        let done = world.run_while(60 * SEC, |world| !vouchers(world, 2).contains(&honest));
        no_violation(&world);
        assert!(done, "{lie:?}: {:?}", world.state(2, 0));
    }
}

/// Owner and archive with a history each, and a joiner with a rule that asks for agreement. Node 1
/// hides an author, which nobody but another provider can tell.
fn disagreeing(archives: usize, liar_rank: u16) -> World {
    let mut joiner = NodeSpec::peer().trusting(0, 20, Role::Archive);
    let mut specs = vec![NodeSpec::archive()];
    for node in 1..archives {
        let rank = if node == 1 { liar_rank } else { 30 };
        joiner = joiner.trusting(node, rank, Role::Archive);
        let archive = NodeSpec::archive().trusting(0, 10, Role::Archive);
        specs.push(if node == 1 {
            archive.lying(Lie::HidesAuthor)
        } else {
            archive
        });
    }
    joiner.rule = Rule::StrictMajority;
    specs.push(joiner);
    let mut world = world(specs);
    for node in 0..archives {
        world.start(node);
    }
    world.run_for(3 * SEC);
    for node in 0..archives {
        world.publish(node, 0, 10);
    }
    for node in 0..archives {
        reaches(&mut world, node, 10 * archives as u64, 20 * SEC);
    }
    world.deafen(archives, true);
    world.start(archives);
    world
}

#[test]
fn two_providers_disagree() {
    let mut world = disagreeing(2, 10);
    world.run_for(20 * SEC);
    no_violation(&world);
    assert_eq!(phase(&world, 2), Some(TopicPhase::Diverged));
    assert_eq!(synced(&world, 2), [], "one of two is no majority");
    let camps = world.state(2, 0).expect("it runs").camps;
    let members: Vec<_> = camps.into_iter().map(|(_, members)| members).collect();
    assert_eq!(members, [vec![world.node_id(1)], vec![world.node_id(0)]]);
    assert_eq!(entries(&world, 2), 20, "what either holds is here");
}

/// The majority is followed, and the best-ranked one is named as the one that differs.
#[test]
fn majority_disagrees_with_the_best_rank() {
    let mut world = disagreeing(3, 10);
    reaches(&mut world, 3, 30, 30 * SEC);
    world.run_for(10 * SEC);
    no_violation(&world);
    let liar = world.node_id(1);
    let said = synced(&world, 3);
    assert!(
        said.iter()
            .all(|(_, said)| said.provider != liar && said.entries == 30)
    );
    let (_, last) = said.last().expect("it is synced");
    assert_eq!(last.convergence, Convergence::Diverged);
    let camps = world.state(3, 0).expect("it runs").camps;
    assert!(
        camps.iter().any(|(_, members)| *members == [liar]),
        "{camps:?}"
    );
}

/// A ring that joined late and a joiner that knows both it and the owner.
fn with_ring() -> World {
    let joiner = NodeSpec::peer()
        .trusting(1, 20, Role::Replay)
        .trusting(0, 10, Role::Archive);
    let ring = NodeSpec::replay(10).trusting(0, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring, joiner]);
    world.start(0);
    for _ in 0..40 {
        world.publish(0, 0, 1);
        world.run_for(5 * MS);
    }
    world.start(1);
    world.run_for(10 * SEC);
    world
}

#[test]
fn replay_only() {
    let mut world = with_ring();
    world.stop(0);
    world.start(2);
    world.run_for(30 * SEC);
    no_violation(&world);
    let said = coverages(&world, 2);
    assert!(
        !said.is_empty(),
        "a ring's word counts when nobody has more"
    );
    assert!(!said.iter().any(Coverage::is_complete));
    assert!(has_told(&world, 2, |event| matches!(
        event,
        SyncEvent::HistoryTruncated { .. }
    )));
}

/// The archive completed the joiner; when it dies, the ring's word reaches back to what was held.
#[test]
fn archive_dies_replay_remains() {
    let mut world = with_ring();
    world.start(2);
    reaches(&mut world, 2, 40, 20 * SEC);
    world.run_for(2 * SEC);
    world.crash(0);
    world.publish(1, 0, 3);
    let ring = world.node_id(1);
    let by_ring = |world: &World| vouchers(world, 2).last() == Some(&ring);
    let done = world.run_while(60 * SEC, |world| !by_ring(world));
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    reaches(&mut world, 2, 43, SEC);
    assert!(
        !coverages(&world, 2)
            .last()
            .is_some_and(Coverage::is_complete)
    );
    assert!(has_told(&world, 2, |event| matches!(
        event,
        SyncEvent::ProviderDown { .. }
    )));
}

/// One round trip, no entry, few bytes.
#[test]
fn equal_topic() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    world.publish(0, 0, 500);
    reaches(&mut world, 1, 500, 10 * SEC);
    world.stop(1);
    let before = (world.bytes_sent(0, 1), world.entries_sent(0, 1));
    world.start(1);
    reaches(&mut world, 1, 500, 5 * SEC);
    assert_eq!(world.entries_sent(0, 1), before.1);
    let bytes = world.bytes_sent(0, 1) - before.0;
    assert!(bytes < 4_096, "{bytes}");
}

/// A ring drops while it serves: its snapshot does not, and the joiner is told the floor that held
/// when it asked.
#[test]
fn pruning_during_a_session() {
    let ring = NodeSpec::replay(40).trusting(0, 10, Role::Archive);
    let joiner = NodeSpec::peer().trusting(1, 20, Role::Replay);
    let mut world = tuned(vec![NodeSpec::archive(), ring, joiner], slow);
    world.start(0);
    world.start(1);
    for _ in 0..10 {
        world.publish_large(0, 0, 6, 20_000);
        world.run_for(20 * MS);
    }
    world.run_for(20 * SEC);
    assert_eq!(world.taken(1, 0), 60);
    world.stop(0);
    world.deafen(2, true);
    world.start(2);
    world.run_while(30 * SEC, |world| world.entries_sent(1, 2) < 10);
    let half_way = world.entries_sent(1, 2);
    let before = world.state(1, 0).expect("it runs").coverage;
    world.publish(1, 0, 30);
    world.run_for(200 * MS);
    assert!((10..35).contains(&half_way), "{half_way}");
    assert_ne!(
        world.state(1, 0).expect("it runs").coverage,
        before,
        "it has dropped"
    );
    let done = world.run_while(60 * SEC, |world| synced(world, 2).is_empty());
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    assert!(!has_degraded(&world, 2, 1), "nobody is blamed");
    assert_eq!(synced(&world, 2)[0].1.coverage, before);
}

/// An author names what never was: listed, blocking nobody, the same everywhere.
#[test]
fn author_with_a_dep_or_prev_that_never_existed() {
    let specs = vec![NodeSpec::archive(), NodeSpec::peer(), NodeSpec::peer()];
    let mut world = tuned(specs, |knobs| {
        knobs.inventors = 1;
        knobs.bad_signers = 1;
    });
    world.start(0);
    world.start(1);
    world.run_for(3 * SEC);
    world.add_hostile_authors();
    for to in [0, 1, 0, 1] {
        for author in [0, 1] {
            world.act(&Action::Hostile { author, to });
        }
        world.run_for(SEC);
    }
    world.publish(0, 0, 3);
    world.start(2);
    let held = entries(&world, 0);
    assert!(held > 3);
    reaches(&mut world, 2, held, 30 * SEC);
    let holes = |node| world.state(node, 0).map(|state| state.holes);
    assert!(holes(0) > Some(0));
    assert_eq!(holes(0), holes(2));
    let (_, said) = synced(&world, 2).pop().expect("it is synced");
    assert_eq!(Some(said.dangling), holes(2));
}

/// POL-13: what was written between two sessions is no disagreement: who is asked again agrees.
#[test]
fn writes_during_a_join_are_no_disagreement() {
    for rule in [Rule::StrictMajority, Rule::StorageFirst] {
        let archive = || NodeSpec::archive().trusting(0, 10, Role::Archive);
        let mut joiner =
            NodeSpec::peer()
                .trusting(1, 20, Role::Archive)
                .trusting(2, 30, Role::Archive);
        joiner.rule = rule;
        let specs = vec![NodeSpec::archive(), archive(), archive(), joiner];
        let mut world = tuned(specs, |knobs| knobs.delay_ms = 60);
        for node in 0..3 {
            world.start(node);
        }
        world.publish(0, 0, 20);
        world.run_for(5 * SEC);
        world.start(3);
        for _ in 0..40 {
            world.publish(0, 0, 1);
            world.run_for(50 * MS);
        }
        reaches(&mut world, 3, 60, 20 * SEC);
        world.run_for(20 * SEC);
        no_violation(&world);
        let state = world.state(3, 0).expect("it runs");
        let agreed = state.synced.map(|said| said.convergence);
        assert_eq!(agreed, Some(Convergence::Converged { with: 3 }), "{rule}");
        assert_eq!(state.camps, []);
    }
}
