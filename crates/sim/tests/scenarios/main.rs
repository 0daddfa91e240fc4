//! The scenarios of the promise, each as one readable story on the simulator.

mod audit;
mod case;
mod grant;
mod granted;
mod hint;
mod marker;
mod minority;
mod parked;
mod provider;
mod relay;
mod restart;
mod ring;
mod scale;
mod slow;
mod stands;
mod support;
mod trust;

use osier_core::{Coverage, Role};
use osier_engine::{BehindCause, SyncEvent, TopicPhase};
use osier_sim::{Action, Knobs, MS, NodeSpec, SEC, World};
use support::{
    coverages, entries, has_degraded, has_told, joined_through, modes, no_violation, reaches,
    start_all, synced, tuned, with_liar, world,
};

#[test]
fn two_nodes_share_history() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    world.publish(0, 0, 20);
    reaches(&mut world, 1, 20, 5 * SEC);
    world.publish(1, 0, 5);
    reaches(&mut world, 0, 25, 5 * SEC);
    assert!(coverages(&world, 1).iter().all(Coverage::is_complete));
}

/// PL-07: who has an author's entries serves them, long after the author has gone.
#[test]
fn chain_of_four_where_the_writer_leaves() {
    let passing = |from| NodeSpec::peer().trusting(from, 10, Role::Peer);
    let specs = vec![NodeSpec::archive(), passing(0), passing(1), passing(2)];
    let mut world = world(specs);
    world.start(0);
    world.publish(0, 0, 12);
    world.start(1);
    reaches(&mut world, 1, 12, 10 * SEC);
    world.stop(0);
    world.start(2);
    reaches(&mut world, 2, 12, 20 * SEC);
    world.stop(1);
    world.start(3);
    reaches(&mut world, 3, 12, 20 * SEC);
}

/// A replay node alone is never "complete"; an archive that appears makes it so.
#[test]
fn replay_first_then_the_archive_appears() {
    let joiner = NodeSpec::peer()
        .trusting(1, 20, Role::Replay)
        .trusting(0, 10, Role::Archive);
    let ring = NodeSpec::replay(10).trusting(0, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring, joiner]);
    world.start(0);
    world.publish(0, 0, 1);
    for _ in 0..40 {
        world.run_for(5 * MS);
        world.publish(0, 0, 1);
    }
    world.start(1);
    world.run_for(10 * SEC);
    world.stop(0);
    world.start(2);
    let from = |world: &World| coverages(world, 2).iter().any(|c| !c.is_complete());
    assert!(
        world.run_while(20 * SEC, |world| !from(world)),
        "{:?}",
        world.told(2, 0)
    );
    assert!(!coverages(&world, 2).iter().any(Coverage::is_complete));
    no_violation(&world);
    world.start(0);
    let whole = |world: &World| coverages(world, 2).iter().any(Coverage::is_complete);
    assert!(
        world.run_while(90 * SEC, |world| !whole(world)),
        "{:?}",
        world.told(2, 0)
    );
    reaches(&mut world, 2, 41, SEC);
}

/// What came is kept, the application is told, the rest comes from the next provider.
#[test]
fn provider_dies_at_400_of_1000() {
    let second = NodeSpec::archive().trusting(0, 10, Role::Archive);
    let joiner = NodeSpec::peer()
        .trusting(0, 1, Role::Archive)
        .trusting(1, 2, Role::Archive);
    let slow = |knobs: &mut Knobs| {
        knobs.bandwidth_kib = 40;
        knobs.window_kib = 16;
    };
    let mut world = tuned(vec![NodeSpec::archive(), second, joiner], slow);
    world.start(0);
    world.publish(0, 0, 1000);
    world.start(1);
    reaches(&mut world, 1, 1000, 120 * SEC);
    world.start(2);
    world.run_while(60 * SEC, |world| world.taken(2, 0) < 400);
    world.crash(0);
    reaches(&mut world, 2, 1000, 120 * SEC);
}

#[test]
fn every_liar_is_seen_through_and_the_honest_provider_is_asked() {
    for lie in osier_sim::ALL_LIES {
        let mut world = with_liar(lie);
        world.start(2);
        reaches(&mut world, 2, 30, 45 * SEC);
        world.run_for(5 * SEC);
        no_violation(&world);
    }
}

/// case IR-04: two islands that both write become one again, and each node says anew that it is
/// complete; a newcomer finds them although a node to join through is gone.
#[test]
fn case_ir_04_two_islands_become_one() {
    let archive = NodeSpec::archive().trusting(3, 20, Role::Archive);
    let other = NodeSpec::archive().trusting(0, 20, Role::Archive);
    let peer = || NodeSpec::peer().trusting(3, 20, Role::Archive);
    let specs = vec![archive, peer(), peer(), other, peer(), peer(), peer()];
    let mut world = joined_through(&[0, 4], specs);
    (0..6).for_each(|node| world.start(node));
    world.run_for(5 * SEC);
    world.part(&[0, 1, 2], &[3, 4, 5]);
    for _ in 0..6 {
        world.publish(1, 0, 2);
        world.publish(5, 0, 3);
        world.run_for(10 * SEC);
    }
    (0..6).for_each(|node| assert!(entries(&world, node) < 30, "it is cut off"));
    let healed = world.now();
    world.join(&[0, 1, 2], &[3, 4, 5]);
    for node in 0..6 {
        reaches(&mut world, node, 30, 60 * SEC);
        let said = synced(&world, node).into_iter();
        let mut anew = said.filter(|(at, said)| *at > healed && said.entries == 30);
        assert!(anew.next().is_some(), "n{node} says that it is complete");
    }
    let state = |node| world.state(node, 0).map(|state| state.state_hash);
    assert!((1..6).all(|node| state(node) == state(0)));
    world.stop(0);
    world.run_for(SEC);
    world.start(6);
    reaches(&mut world, 6, 30, 20 * SEC);
}

/// CMP-36: a ring that an archive vouches for says no more than it holds itself, and blames nobody
/// for its own floor.
#[test]
fn a_ring_says_no_more_than_it_holds() {
    let ring = NodeSpec::replay(10).trusting(0, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring]);
    world.start(0);
    for _ in 0..40 {
        world.run_for(5 * MS);
        world.publish(0, 0, 1);
    }
    // It takes everything, and keeps what a ring keeps.
    world.start(1);
    world.run_for(10 * SEC);
    no_violation(&world);
    let state = world.state(1, 0).unwrap();
    assert_eq!(state.phase, TopicPhase::Synced);
    assert!(!state.coverage.is_complete());
    assert!(!state.synced.unwrap().coverage.is_complete());
    assert!(!has_told(&world, 1, |event| matches!(
        event,
        SyncEvent::HistoryTruncated { .. }
    )));
}

/// IR-03: a node that crashed and came back with the same key is accepted at once, each time.
#[test]
fn restart_with_the_same_key() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    world.run_for(2 * SEC);
    let mut written = 0;
    for _ in 0..5 {
        world.crash(1);
        world.run_for(1500 * MS);
        world.start(1);
        world.publish(0, 0, 1);
        world.run_for(SEC);
        world.publish(1, 0, 1);
        written += 2;
        reaches(&mut world, 0, written, 8 * SEC);
        reaches(&mut world, 1, written, 8 * SEC);
    }
}

/// Of two sessions opened at once one survives, and both nodes end equal.
#[test]
fn both_dial_at_once() {
    let one = NodeSpec::archive().trusting(1, 10, Role::Archive);
    let other = NodeSpec::archive().trusting(0, 10, Role::Archive);
    let mut world = tuned(vec![one, other], |knobs| knobs.delay_ms = 50);
    world.start(0);
    world.publish(0, 0, 7);
    world.run_for(100 * MS);
    world.stop(0);
    world.start(1);
    world.publish(1, 0, 5);
    world.run_for(100 * MS);
    world.start(0);
    reaches(&mut world, 0, 12, 20 * SEC);
    reaches(&mut world, 1, 12, 20 * SEC);
}

/// case PL-05: a fork is told once, and others' entries still come.
#[test]
fn case_pl_05_a_forked_author_stops_nobody() {
    let mut world = tuned(
        vec![NodeSpec::archive(), NodeSpec::peer(), NodeSpec::peer()],
        |knobs| {
            knobs.forkers = 1;
        },
    );
    start_all(&mut world);
    world.run_for(3 * SEC);
    world.add_hostile_authors();
    for to in [1, 2, 1, 2, 1, 2] {
        world.act(&Action::Hostile { author: 0, to });
        world.run_for(SEC);
    }
    world.publish(1, 0, 3);
    world.run_for(20 * SEC);
    no_violation(&world);
    let state = |node| {
        world
            .state(node, 0)
            .map(|state| (state.state_hash, state.entries))
    };
    assert_eq!(state(0), state(1));
    assert_eq!(state(1), state(2));
    for node in 0..3 {
        assert!(has_told(&world, node, |e| matches!(
            e,
            SyncEvent::AuthorForked { .. }
        )));
    }
}

/// IR-02: gossip drops messages and says so: a session brings them without another message.
#[test]
fn gossip_lag_leads_to_a_session() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    world.run_for(5 * SEC);
    world.deafen(1, true);
    world.publish(0, 0, 50);
    world.run_for(SEC);
    assert_eq!(entries(&world, 1), 0);
    world.tell_lagged(1);
    reaches(&mut world, 1, 50, 3 * SEC);
    let behind = |e: &SyncEvent| {
        matches!(
            e,
            SyncEvent::Behind {
                cause: BehindCause::GossipLagged,
                ..
            }
        )
    };
    assert!(has_told(&world, 1, behind));
}

/// GOS-10: what is of the moment reaches who is there, leaves no trace in anybody's state, and is
/// not there for who comes later.
#[test]
fn ephemeral_items_reach_who_is_there_and_stay_nowhere() {
    let specs = (0..5).map(|node| match node {
        0 => NodeSpec::archive(),
        _ => NodeSpec::peer(),
    });
    let mut world = world(specs.collect());
    (0..4).for_each(|node| world.start(node));
    world.publish(0, 0, 3);
    for node in 1..4 {
        reaches(&mut world, node, 3, 5 * SEC);
    }
    let states = |world: &World| {
        let state = |node| world.state(node, 0).map(|it| (it.state_hash, it.entries));
        (0..4).map(state).collect::<Vec<_>>()
    };
    let before = states(&world);
    (0..20_u8).for_each(|n| world.pass_on(1, 0, &[n; 100]));
    world.run_for(5 * SEC);
    for (node, heard) in [(0, 20), (1, 0), (2, 20), (3, 20)] {
        assert_eq!(world.heard_in_passing(node), heard, "node {node}");
    }
    assert_eq!(states(&world), before);
    world.start(4);
    reaches(&mut world, 4, 3, 5 * SEC);
    assert_eq!(world.heard_in_passing(4), 0);
    no_violation(&world);
}

#[test]
fn empty_topic_is_synced_at_once() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    reaches(&mut world, 0, 0, SEC);
    reaches(&mut world, 1, 0, 2 * SEC);
    assert!(coverages(&world, 1).iter().all(Coverage::is_complete));
}

/// PL-09: no network ends as "no provider" at the deadline; a provider that appears is used.
#[test]
fn no_network_then_network() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    world.start(0);
    world.publish(0, 0, 9);
    world.part(&[0], &[1]);
    world.start(1);
    world.run_for(12 * SEC);
    no_violation(&world);
    assert!(has_told(&world, 1, |e| matches!(
        e,
        SyncEvent::HistorySyncFailed { .. }
    )));
    world.join(&[0], &[1]);
    reaches(&mut world, 1, 9, 70 * SEC);
}

/// case PL-02: a session that breaks half-way on a link that is fine is told, tried again, and goes
/// on from what is stored.
#[test]
fn case_pl_02_a_session_that_breaks_half_way_goes_on() {
    let specs = vec![NodeSpec::archive(), NodeSpec::peer()];
    let mut world = tuned(specs, provider::slow);
    world.start(0);
    world.publish_large(0, 0, 100, 20_000);
    world.start(1);
    world.run_while(60 * SEC, |world| world.taken(1, 0) < 30);
    let before = world.taken(1, 0);
    assert!((30..90).contains(&before), "{before}");
    assert!(world.snap(0, 1));
    world.run_for(100 * MS);
    assert!(has_degraded(&world, 1, 0), "it is told at once");
    reaches(&mut world, 1, 100, 60 * SEC);
    assert!(modes(&world, 1).iter().any(|(_, resumed)| *resumed));
    assert_eq!(world.came_twice(1), 0);
}

/// Entries and the token that covers them are lost together or not at all.
#[test]
fn client_restarts_after_the_marker_and_before_persist() {
    let mut world = tuned(vec![NodeSpec::archive(), NodeSpec::peer()], |knobs| {
        knobs.disk_ms = 2_000;
    });
    world.start(0);
    world.publish(0, 0, 100);
    world.run_for(5 * SEC);
    world.deafen(1, true);
    for at in [30, 60, 90, 200, 700] {
        world.start(1);
        world.run_for(at * MS);
        world.crash(1);
        no_violation(&world);
    }
    world.start(1);
    reaches(&mut world, 1, 100, 60 * SEC);
}

/// A token of a store that is gone is an error with a next step, not an empty answer.
#[test]
fn token_of_a_wiped_provider() {
    let second = NodeSpec::archive().trusting(0, 10, Role::Archive);
    let first = NodeSpec::archive().trusting(1, 10, Role::Archive);
    let mut world = world(vec![first, second, NodeSpec::peer()]);
    start_all(&mut world);
    world.publish(0, 0, 30);
    reaches(&mut world, 1, 30, 10 * SEC);
    reaches(&mut world, 2, 30, 10 * SEC);
    world.stop(2);
    world.crash(0);
    world.wipe(0);
    world.start(0);
    reaches(&mut world, 0, 30, 70 * SEC);
    world.publish(1, 0, 10);
    world.run_for(5 * SEC);
    world.start(2);
    reaches(&mut world, 2, 40, 30 * SEC);
}

/// After a crash of either side the session goes on from the token.
#[test]
fn token_resumes_after_a_crash_of_either_node() {
    for crashed in [0, 1] {
        let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
        start_all(&mut world);
        world.run_for(SEC);
        world.deafen(1, true);
        world.publish(0, 0, 30);
        world.run_for(SEC);
        world.tell_lagged(1);
        reaches(&mut world, 1, 30, 10 * SEC);
        world.run_for(2 * SEC);
        if crashed == 1 {
            world.crash(1);
            world.publish(0, 0, 10);
            world.run_for(SEC);
            world.start(1);
        } else {
            world.crash(0);
            world.start(0);
            world.publish(0, 0, 10);
            world.run_for(3 * SEC);
            world.tell_lagged(1);
        }
        reaches(&mut world, 1, 40, 80 * SEC);
        let resumed = |world: &World| modes(world, 1).iter().any(|(_, resumed)| *resumed);
        let resumes = world.run_while(60 * SEC, |world| !resumed(world));
        assert!(resumes, "n{crashed} crashed: {:?}", modes(&world, 1));
    }
}
