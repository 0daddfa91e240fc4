//! Markers that lie, come early, late, twice, never or in floods (`CMP-6` to `CMP-12`).

use osier_engine::SyncEvent;
use osier_sim::{Lie, NodeSpec, SEC, World};

use crate::support::{
    alone_with_liar, entries, has_degraded, has_told, no_violation, reaches, start_all, synced,
    vouchers, with_liar, world,
};

/// The joiner ranks the liar first, and is complete on the honest provider's word. It says why the
/// liar does not count. Later the liar may have nothing to send, and so no lie to tell.
fn never_counts(lie: Lie) -> World {
    let mut world = with_liar(lie);
    world.start(2);
    reaches(&mut world, 2, 30, 30 * SEC);
    world.run_for(5 * SEC);
    no_violation(&world);
    assert_eq!(vouchers(&world, 2)[0], world.node_id(0));
    assert!(synced(&world, 2).iter().all(|(_, said)| said.entries == 30));
    assert!(has_degraded(&world, 2, 1));
    world
}

/// The liar's marker is true in the end: it counts, and everything is here when it does.
fn counts_when_all_is_here(lie: Lie) -> World {
    let mut world = with_liar(lie);
    world.start(2);
    reaches(&mut world, 2, 30, 30 * SEC);
    world.run_for(12 * SEC);
    no_violation(&world);
    assert!(synced(&world, 2).iter().all(|(_, said)| said.entries == 30));
    world
}

/// case WI-07: a marker that overtakes its entries is looked at again when they land.
#[test]
fn case_wi_07_marker_before_entries() {
    let world = counts_when_all_is_here(Lie::EarlyMarker);
    assert_eq!(vouchers(&world, 2)[0], world.node_id(1), "it is parked");
}

#[test]
fn marker_after_all() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    world.start(0);
    world.publish(0, 0, 30);
    world.start(1);
    reaches(&mut world, 1, 30, 10 * SEC);
    let told = world.told(1, 0).into_iter().map(|(_, event)| event);
    let told: Vec<_> = told.collect();
    let place = |what: fn(&SyncEvent) -> bool| told.iter().position(|event| what(event));
    let came = place(|event| matches!(event, SyncEvent::Appended { .. }));
    let said = place(|event| matches!(event, SyncEvent::HistorySynced(_)));
    assert!(came.is_some() && came < said, "{told:?}");
}

/// "Nothing" is a statement: a provider without entries says it, and that completes.
#[test]
fn marker_with_no_entries() {
    let mut world = world(vec![NodeSpec::archive(), NodeSpec::peer()]);
    start_all(&mut world);
    reaches(&mut world, 1, 0, 5 * SEC);
    let said = synced(&world, 1);
    assert_eq!(said.len(), 1);
    assert_eq!(
        (said[0].1.entries, said[0].1.provider),
        (0, world.node_id(0))
    );
}

#[test]
fn marker_twice() {
    let world = counts_when_all_is_here(Lie::MarkerTwice);
    let liar = world.node_id(1);
    let of_liar = synced(&world, 2).into_iter();
    let mut sessions: Vec<_> = of_liar
        .filter(|(_, said)| said.provider == liar)
        .map(|(_, said)| (said.session, said.convergence))
        .collect();
    let all = sessions.len();
    sessions.dedup();
    assert_eq!(sessions.len(), all, "each word is told once");
}

#[test]
fn marker_of_another_session() {
    never_counts(Lie::OtherSession);
}

#[test]
fn marker_of_another_topic() {
    never_counts(Lie::OtherTopic);
}

#[test]
fn marker_of_another_requester() {
    never_counts(Lie::OtherRequester);
}

#[test]
fn marker_of_another_request() {
    never_counts(Lie::OtherRequest);
}

#[test]
fn marker_of_another_signer() {
    never_counts(Lie::OtherSigner);
}

/// The first session's marker is shown again in each that follows: it completes nothing there.
#[test]
fn marker_replayed_after_reconnect() {
    let mut world = alone_with_liar(Lie::Replays, |_| {});
    reaches(&mut world, 1, 40, 10 * SEC);
    let first = synced(&world, 1).len();
    world.publish(0, 0, 5);
    world.stop(1);
    let before = world.now();
    world.start(1);
    world.run_for(20 * SEC);
    no_violation(&world);
    assert_eq!(first, 1);
    assert!(synced(&world, 1).iter().all(|(at, _)| *at < before));
    assert!(has_degraded(&world, 1, 0));
}

#[test]
fn count_off_by_one_with_the_right_last() {
    never_counts(Lie::CountsOneMore);
    never_counts(Lie::CountsOneLess);
}

#[test]
fn right_count_with_the_wrong_last() {
    never_counts(Lie::WrongLast);
}

#[test]
fn wrong_heads() {
    never_counts(Lie::WrongHeads);
}

#[test]
fn wrong_state_hash() {
    never_counts(Lie::WrongState);
}

/// case WI-07: what came of the other batches stays, what is missing comes from elsewhere.
#[test]
fn case_wi_07_dropped_batch_in_the_middle() {
    let mut world = with_liar(Lie::DropsBatch);
    world.publish_large(0, 0, 12, 80_000);
    reaches(&mut world, 1, 42, 10 * SEC);
    world.start(2);
    reaches(&mut world, 2, 42, 30 * SEC);
    world.run_for(5 * SEC);
    no_violation(&world);
    assert_eq!(vouchers(&world, 2)[0], world.node_id(0));
    assert!(world.entries_sent(1, 2) > 20, "the liar has sent most");
    assert!(world.entries_sent(0, 2) < 12, "and the other the rest");
}

/// Its marker vouches for what it leaves out: never "synced" on its word while that is missing.
#[test]
fn withheld_entries() {
    for lie in [Lie::Withholds, Lie::WithholdsAndCounts] {
        let mut world = with_liar(lie);
        world.start(2);
        reaches(&mut world, 2, 30, 30 * SEC);
        no_violation(&world);
        assert!(synced(&world, 2).iter().all(|(_, said)| said.entries == 30));
    }
}

#[test]
fn truncated_as_complete() {
    never_counts(Lie::Truncates);
}

/// CMP-12, POL-18: a marker that comes when nobody waits any more is welcome.
#[test]
fn marker_that_is_late() {
    let mut world = alone_with_liar(Lie::LateMarker, |_| {});
    world.run_for(7 * SEC);
    no_violation(&world);
    assert_eq!(synced(&world, 1), [], "nothing is synced without a marker");
    assert!(has_degraded(&world, 1, 0));
    reaches(&mut world, 1, 40, 5 * SEC);
}

#[test]
fn marker_that_never_comes() {
    let mut world = alone_with_liar(Lie::NoMarker, |_| {});
    world.run_for(40 * SEC);
    no_violation(&world);
    assert_eq!(entries(&world, 1), 40, "what came stays");
    assert_eq!(synced(&world, 1), []);
    assert!(has_told(&world, 1, |event| matches!(
        event,
        SyncEvent::HistorySyncFailed { .. }
    )));
}

/// SES-16: signs of life are no progress, however many come in place of the marker.
#[test]
fn marker_that_gives_way_to_signs_of_life() {
    let mut world = alone_with_liar(Lie::Murmurs, |_| {});
    world.run_for(10 * SEC);
    no_violation(&world);
    assert_eq!(synced(&world, 1), []);
    assert!(has_degraded(&world, 1, 0), "{:?}", world.state(1, 0));
}

#[test]
fn flood_of_markers() {
    let world = counts_when_all_is_here(Lie::FloodsMarkers);
    assert!(world.bytes_sent(1, 2) < 1_000_000, "a session ends at once");
}

/// Bytes that are no frames, entries that nobody signed, and half of a history as if it were all.
#[test]
fn garbage_and_bent_entries_blame_the_liar() {
    for lie in [Lie::Garbage, Lie::BentEntries] {
        never_counts(lie);
    }
}

/// What it signs is true of the half that it shows: only the next provider can tell, and does.
#[test]
fn half_of_a_history_as_if_it_were_all() {
    let mut world = with_liar(Lie::Stale);
    world.start(2);
    reaches(&mut world, 2, 30, 10 * SEC);
    world.run_for(5 * SEC);
    no_violation(&world);
    let liar = world.node_id(1);
    let camps = world.state(2, 0).expect("it runs").camps;
    assert!(
        camps.iter().any(|(_, members)| *members == [liar]),
        "{camps:?}"
    );
}
