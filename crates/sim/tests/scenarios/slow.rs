//! Providers that are silent, and those that are only slow (`POL-17`, `SES-16`).

use osier_core::Role;
use osier_engine::{DegradedReason, SyncEvent};
use osier_sim::{Knobs, Lie, MS, NodeSpec, SEC};

use crate::support::{alone_with_liar, entries, has_told, no_violation, reaches, start_all, tuned};

/// A provider that never answers is given up after five seconds, with a word.
#[test]
fn provider_never_answers() {
    let mut world = alone_with_liar(Lie::NeverAnswers, |_| {});
    world.run_for(6 * SEC);
    no_violation(&world);
    assert!(has_told(&world, 1, |e| matches!(
        e,
        SyncEvent::HistorySyncDegraded {
            reason: DegradedReason::Timeout,
            ..
        }
    )));
    assert!(has_told(&world, 1, |e| matches!(
        e,
        SyncEvent::HistorySyncFailed { .. }
    )));
}

/// One that answers and then stalls keeps nobody waiting either; what came stays.
#[test]
fn provider_answers_then_stalls() {
    let mut world = alone_with_liar(Lie::Stalls, |_| {});
    world.run_for(7 * SEC);
    no_violation(&world);
    assert!(entries(&world, 1) >= 20);
    assert!(has_told(&world, 1, |e| matches!(
        e,
        SyncEvent::HistorySyncDegraded { .. }
    )));
}

/// A slow but steady stream is never cut off, however long it takes.
#[test]
fn one_entry_each_400_ms() {
    let mut world = alone_with_liar(Lie::Drips, |_| {});
    world.run_for(30 * SEC);
    no_violation(&world);
    assert_eq!(entries(&world, 1), 40);
    assert!(!has_told(&world, 1, |e| matches!(
        e,
        SyncEvent::HistorySyncDegraded { .. }
    )));
}

/// SES-16: a whole batch in one frame takes longer than a provider may be silent. Its bytes move,
/// so it is not.
#[test]
fn a_batch_on_a_slow_link_is_no_silence() {
    let slow = |knobs: &mut Knobs| {
        knobs.bandwidth_kib = 20;
        knobs.window_kib = 1024;
    };
    let mut world = tuned(vec![NodeSpec::archive(), NodeSpec::peer()], slow);
    world.start(0);
    world.publish(0, 0, 1_500);
    world.run_for(SEC);
    world.start(1);
    reaches(&mut world, 1, 1_500, 60 * SEC);
    assert!(world.now() > 12 * SEC, "{}", world.now() / MS);
    assert!(!has_told(&world, 1, |e| matches!(
        e,
        SyncEvent::HistorySyncDegraded { .. }
    )));
}

/// SES-16: comparing heads takes longer than a provider may be silent, on either side. Who compares
/// says so, and nobody is given up. Takes seconds: a long comparison needs a long history.
#[test]
fn a_slow_comparison_is_no_silence() {
    for writer in [0, 1] {
        let slow = |knobs: &mut Knobs| knobs.work_ms = 400;
        let other = NodeSpec::archive().trusting(0, 10, Role::Archive);
        let specs = vec![NodeSpec::archive().trusting(1, 10, Role::Archive), other];
        let mut world = tuned(specs, slow);
        start_all(&mut world);
        world.publish(0, 0, 1);
        world.publish(1, 0, 1);
        for node in 0..2 {
            reaches(&mut world, node, 2, 20 * SEC);
        }
        world.part(&[0], &[1]);
        world.run_for(20 * SEC);
        for _ in 0..2 {
            world.publish(writer, 0, 7_500);
            world.run_for(SEC);
        }
        let before = world.now();
        world.join(&[0], &[1]);
        for node in 0..2 {
            reaches(&mut world, node, 15_002, 90 * SEC);
            let told = world.told(node, 0);
            let silent = told.into_iter().filter(|(at, event)| {
                let timeout = matches!(
                    event,
                    SyncEvent::HistorySyncDegraded {
                        session: Some(_),
                        reason: DegradedReason::Timeout,
                        ..
                    }
                );
                *at > before && timeout
            });
            assert_eq!(silent.count(), 0);
        }
    }
}

/// `CMP-40`: a writer whom gossip cannot follow, for 20 s. The other says that it is behind, and so
/// again after each time that it has caught up, but not ten times a second; and it has all soon
/// after the last entry.
#[test]
fn a_long_burst_is_caught_up_on_now_and_then() {
    let mut world = tuned(vec![NodeSpec::archive(), NodeSpec::peer()], |_| {});
    start_all(&mut world);
    world.run_for(5 * SEC);
    for _ in 0..400 {
        world.publish(0, 0, 1);
        world.tell_lagged(1);
        world.run_for(50 * MS);
    }
    reaches(&mut world, 1, 400, 5 * SEC);
    let told = world.told(1, 0).into_iter();
    let behind = told.filter(|(_, event)| matches!(event, SyncEvent::Behind { .. }));
    let times = behind.count();
    assert!((3..=20).contains(&times), "told behind {times} times");
}
