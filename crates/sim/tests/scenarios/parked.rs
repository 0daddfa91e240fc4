//! Markers of providers that are not trusted yet, and trust that changes under way (`POL-1`,
//! `POL-22`).

use osier_core::{Control, NodeId, Role, SessionId};
use osier_engine::{SyncEvent, TopicPhase};
use osier_sim::{MS, NodeSpec, SEC, Time, World};

use crate::support::{entries, joined_through, no_violation, phase};

/// The owner, an archive that nobody has granted, and a joiner that distrusts the owner: both are
/// strangers to it, and the owner's words count all the same.
fn strangers() -> World {
    let specs = vec![NodeSpec::archive(), NodeSpec::archive(), NodeSpec::peer()];
    let mut world = joined_through(&[0, 1], specs);
    world.start(0);
    world.start(1);
    world.publish(0, 0, 8);
    world.run_for(5 * SEC);
    world.start(2);
    world.trust(2, 0, 0, None);
    world
}

fn grant(world: &mut World, node: usize) {
    let control = Control::Grant {
        node: world.node_id(node),
        rank: 10,
        role: Role::Archive,
    };
    world.decree(0, 0, &control).expect("the owner runs");
}

/// Sessions of a node with a provider that were told to have begun, with their times.
fn sessions(world: &World, node: usize, provider: NodeId) -> Vec<(Time, SessionId)> {
    let told = world.told(node, 0);
    let begun = told.into_iter().filter_map(|(at, event)| match event {
        SyncEvent::SyncStarted {
            provider: with,
            session,
            ..
        } if *with == provider => Some((at, *session)),
        _ => None,
    });
    begun.collect()
}

fn vouched(world: &World, node: usize) -> Option<(NodeId, Option<SessionId>)> {
    let told = world.told(node, 0);
    let mut synced = told.into_iter().filter_map(|(_, event)| match event {
        SyncEvent::HistorySynced(synced) => Some((synced.provider, synced.session)),
        _ => None,
    });
    synced.next()
}

/// When the stranger's session drained, and its name.
fn drained(world: &mut World, node: usize, provider: NodeId) -> (Time, SessionId) {
    let ended = |world: &World| {
        let told = world.told(node, 0);
        told.into_iter().find_map(|(at, event)| match event {
            SyncEvent::SyncEnded {
                provider: with,
                session,
                outcome: "drained",
            } if *with == provider => Some((at, *session)),
            _ => None,
        })
    };
    let done = world.run_while(30 * SEC, |world| ended(world).is_none());
    no_violation(world);
    assert!(done, "{:?}", world.told(node, 0));
    ended(world).expect("just seen")
}

/// Within 10 s node 2 is synced by this provider, and by another session than this one.
fn is_vouched_anew(world: &mut World, provider: NodeId, session: SessionId) {
    let done = world.run_while(10 * SEC, |world| vouched(world, 2).is_none());
    no_violation(world);
    assert!(done, "{:?}", world.state(2, 0));
    let (by, with) = vouched(world, 2).expect("just seen");
    assert_eq!(by, provider);
    assert_ne!(with, Some(session), "another session vouches");
}

/// `POL-22`: a marker that came before its signer was trusted counts for 60 s.
#[test]
fn a_grant_after_59_seconds_finds_the_marker() {
    let mut world = strangers();
    let archive = world.node_id(1);
    let (at, session) = drained(&mut world, 2, archive);
    world.run_until(at + 59 * SEC);
    assert_eq!(vouched(&world, 2), None, "a stranger's word does not count");
    grant(&mut world, 1);
    world.run_for(900 * MS);
    no_violation(&world);
    assert_eq!(vouched(&world, 2), Some((archive, Some(session))));
}

/// `POL-22`: after that it is dropped, and the provider is asked again.
#[test]
fn a_grant_after_61_seconds_asks_again() {
    let mut world = strangers();
    let archive = world.node_id(1);
    let (at, session) = drained(&mut world, 2, archive);
    world.run_until(at + 61 * SEC);
    let before = sessions(&world, 2, archive).len();
    grant(&mut world, 1);
    is_vouched_anew(&mut world, archive, session);
    assert!(sessions(&world, 2, archive).len() > before);
}

/// `CMP-33`: nor does it count when gossip was lost after its session began, although nobody was
/// trusted then who could have been asked.
#[test]
fn a_parked_marker_does_not_count_over_a_doubt() {
    let mut world = strangers();
    let archive = world.node_id(1);
    let (_, session) = drained(&mut world, 2, archive);
    world.run_for(SEC);
    world.tell_lagged(2);
    world.run_for(SEC);
    grant(&mut world, 1);
    is_vouched_anew(&mut world, archive, session);
}

/// A parked marker is in memory only: after a restart the provider is asked again, and a grant
/// that comes then counts.
#[test]
fn a_client_restarts_with_a_parked_marker() {
    let mut world = strangers();
    let archive = world.node_id(1);
    let (_, session) = drained(&mut world, 2, archive);
    world.crash(2);
    world.start(2);
    world.run_for(2 * SEC);
    grant(&mut world, 1);
    let done = world.run_while(20 * SEC, |world| {
        phase(world, 2) != Some(TopicPhase::Synced)
    });
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    assert_ne!(
        vouched(&world, 2).map(|(_, with)| with),
        Some(Some(session))
    );
    assert_eq!(entries(&world, 2), 9);
}

/// A long session, and what is told of its provider when trust changes in the middle of it.
fn under_way() -> World {
    let specs = vec![NodeSpec::archive(), NodeSpec::archive(), NodeSpec::peer()];
    let mut world = crate::support::tuned(specs, |knobs| knobs.bandwidth_kib = 64);
    world.start(0);
    world.start(1);
    world.publish(0, 0, 3000);
    world.run_for(60 * SEC);
    world
}

/// `POL-1`: a grant in the middle of the session of a stranger makes its end count.
#[test]
fn a_grant_during_a_session_counts() {
    let mut world = under_way();
    world.start(2);
    world.trust(2, 0, 0, None);
    let archive = world.node_id(1);
    let begun = world.run_while(30 * SEC, |world| sessions(world, 2, archive).is_empty());
    assert!(begun, "{:?}", world.told(2, 0));
    grant(&mut world, 1);
    let done = world.run_while(60 * SEC, |world| vouched(world, 2).is_none());
    no_violation(&world);
    assert!(done, "{:?}", world.state(2, 0));
    assert_eq!(vouched(&world, 2).map(|(by, _)| by), Some(archive));
}

/// `POL-1`: what is taken back in the middle of a session does not count at its end; the same by
/// the node's own list, edited twice.
#[test]
fn trust_taken_back_during_a_session_does_not_count() {
    for by_owner in [true, false] {
        let mut world = under_way();
        if by_owner {
            grant(&mut world, 1);
            world.run_for(5 * SEC);
        }
        world.start(2);
        world.trust(2, 0, 0, None);
        if !by_owner {
            world.trust(2, 0, 1, Some((5, Role::Archive)));
        }
        let archive = world.node_id(1);
        let begun = world.run_while(30 * SEC, |world| sessions(world, 2, archive).is_empty());
        assert!(begun, "{:?}", world.told(2, 0));
        if by_owner {
            let node = world.node_id(1);
            let control = Control::Revoke { node, last: None };
            world.decree(0, 0, &control).expect("the owner runs");
        } else {
            world.trust(2, 0, 1, None);
        }
        world.run_for(60 * SEC);
        no_violation(&world);
        assert_eq!(vouched(&world, 2), None, "by the owner: {by_owner}");
        // Given back it counts again.
        world.trust(2, 0, 1, Some((5, Role::Archive)));
        let done = world.run_while(30 * SEC, |world| vouched(world, 2).is_none());
        no_violation(&world);
        assert!(done, "{:?}", world.state(2, 0));
    }
}
