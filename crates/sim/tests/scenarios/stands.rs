//! What was told stands while its voucher does, and is in doubt only for a reason (`CMP-41`).

use osier_core::Role;
use osier_engine::SyncEvent;
use osier_sim::{Lie, NodeSpec, SEC};

use crate::support::{coverages, has_told, no_violation, reaches, world};

/// A ring vouches; the only archive fails again and again. Each time that it is asked again the
/// application must not be told that it has fallen behind: it has not.
#[test]
fn a_provider_that_fails_again_takes_nothing_back() {
    let ring = NodeSpec::replay(100).trusting(0, 10, Role::Archive);
    let liar = NodeSpec::archive()
        .lying(Lie::NeverAnswers)
        .trusting(0, 10, Role::Archive);
    let joiner = NodeSpec::peer()
        .trusting(1, 20, Role::Replay)
        .trusting(2, 10, Role::Archive);
    let mut world = world(vec![NodeSpec::archive(), ring, liar, joiner]);
    world.start(0);
    world.publish(0, 0, 9);
    world.start(1);
    world.start(2);
    reaches(&mut world, 1, 9, 10 * SEC);
    reaches(&mut world, 2, 9, 10 * SEC);
    world.stop(0);
    world.start(3);
    world.run_for(60 * SEC);
    no_violation(&world);
    assert!(!coverages(&world, 3).is_empty(), "the ring's word is told");
    let degraded = |e: &SyncEvent| matches!(e, SyncEvent::HistorySyncDegraded { .. });
    assert!(has_told(&world, 3, degraded), "the archive fails");
    let behind = |e: &SyncEvent| matches!(e, SyncEvent::Behind { .. });
    assert!(!has_told(&world, 3, behind), "{:?}", world.told(3, 0));
}
