//! Asking again when nothing hints at it (`GOS-9`).

use osier_core::Role;
use osier_engine::SyncEvent;
use osier_sim::{NodeSpec, SEC};

use crate::support::{entries, no_violation, reaches, sessions_begun, start_all, world};

/// GOS-9: a swarm that has fallen into two, each of which agrees with itself. Nothing lags, nobody
/// loses a link to a provider, no hint crosses: an audit finds it within a minute.
#[test]
fn islands_of_gossip_are_joined_by_an_audit() {
    for writer in [1, 4] {
        let specs = (0..6).map(|node| match node {
            0 => NodeSpec::archive().trusting(3, 20, Role::Archive),
            3 => NodeSpec::archive().trusting(0, 20, Role::Archive),
            _ => NodeSpec::peer(),
        });
        let mut world = world(specs.collect());
        start_all(&mut world);
        world.run_for(10 * SEC);
        world.split_swarm(0, &[0, 1, 2], &[3, 4, 5]);
        world.publish(writer, 0, 3);
        world.run_for(2 * SEC);
        let there = if writer == 1 { 5 } else { 2 };
        assert_eq!(entries(&world, there), 0, "the islands are apart");
        for node in 0..6 {
            reaches(&mut world, node, 3, 70 * SEC);
        }
    }
}

/// An audit is silent while all agree, and where gossip shows that they do there is none.
#[test]
fn an_idle_topic_costs_no_sessions() {
    let specs = vec![NodeSpec::archive(), NodeSpec::peer(), NodeSpec::peer()];
    let mut world = world(specs);
    start_all(&mut world);
    world.publish(0, 0, 5);
    world.run_for(600 * SEC);
    let before = world.now();
    world.run_for(1_800 * SEC);
    no_violation(&world);
    for node in 1..3 {
        assert_eq!(sessions_begun(&world, node, before), 0);
    }
}

/// Where gossip does not reach, half an hour of agreement costs a few round trips and no word.
#[test]
fn a_deaf_client_audits_ever_less_often() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    world.publish(0, 0, 5);
    reaches(&mut world, 1, 5, 5 * SEC);
    world.deafen(1, true);
    world.run_for(600 * SEC);
    let before = world.now();
    world.run_for(1_800 * SEC);
    no_violation(&world);
    let begun = sessions_begun(&world, 1, before);
    assert!((2..=8).contains(&begun), "{begun} audits");
    let told = world.told(1, 0);
    let news = told.into_iter().filter(|(at, event)| {
        let of_session = matches!(
            event,
            SyncEvent::SyncStarted { .. } | SyncEvent::SyncEnded { .. }
        );
        *at >= before && !of_session
    });
    assert_eq!(news.collect::<Vec<_>>(), []);
}
