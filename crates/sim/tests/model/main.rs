//! Every path of a small world, tried: one client, two archives, a network that loses, doubles and
//! reorders, archives that lie or die, a disk that fails. See `osier_sim::model` for what a state
//! is and why the search is sound.
//!
//! Each search has a budget of things that go wrong and ends when all paths within it are tried. In
//! all of them nothing is complete that is not (`CMP-12`), nobody waits past its deadline without a
//! word (`POL-17`), each start has one end (`CMP-32`), and complete can be reached.
//!
//! `OSIER_MODEL_DEEP=1` lets one thing more of each kind go wrong; that takes minutes to hours.

#![expect(
    clippy::print_stdout,
    reason = "figures and traces are what it is run for"
)]

mod canary;
mod search;

use osier_engine::Rule;
use osier_sim::{
    ALL_LIES, Lie,
    model::{Budget, Setup},
};
use search::search;

/// A search that finds nothing broken, and is not vacuous.
fn clean(name: &str, setup: Setup) {
    let found = search(setup);
    println!("{name}: {} states, {} steps", found.states, found.steps);
    assert!(found.broken.is_none(), "{name}:\n{}", found.trace());
    assert!(found.synced, "{name}: complete is never reached");
}

/// One thing more of each kind that may go wrong at all, if that is asked for.
fn deep(budget: Budget) -> Budget {
    let more = u8::from(std::env::var_os("OSIER_MODEL_DEEP").is_some());
    let raise = |n: u8| if n > 0 { n + more } else { 0 };
    Budget {
        losses: raise(budget.losses),
        doubles: raise(budget.doubles),
        overtakes: raise(budget.overtakes),
        crashes: raise(budget.crashes),
        disk_failures: raise(budget.disk_failures),
        writes: raise(budget.writes),
        waits: raise(budget.waits),
        quiets: raise(budget.quiets),
    }
}

fn calm_with(budget: Budget) -> Setup {
    Setup {
        budget: deep(budget),
        ..Setup::calm()
    }
}

/// Messages are lost, doubled and reordered.
#[test]
fn a_bad_network() {
    let budget = Budget {
        losses: 1,
        doubles: 1,
        overtakes: 1,
        quiets: 1,
        ..Budget::default()
    };
    clean("a bad network", calm_with(budget));
}

/// All that is under way waits while time passes, then arrives.
#[test]
fn a_slow_network() {
    let budget = Budget {
        waits: 1,
        quiets: 1,
        ..Budget::default()
    };
    clean("a slow network", calm_with(budget));
}

/// An archive dies at any moment, and may come back.
#[test]
fn an_archive_dies() {
    let budget = Budget {
        losses: 1,
        crashes: 1,
        quiets: 2,
        ..Budget::default()
    };
    clean("an archive dies", calm_with(budget));
}

/// The client's disk fails.
#[test]
fn the_disk_fails() {
    let budget = Budget {
        losses: 1,
        disk_failures: 1,
        quiets: 2,
        ..Budget::default()
    };
    clean("the disk fails", calm_with(budget));
}

/// An archive gets an entry at any moment: a marker speaks of what was there before.
#[test]
fn an_archive_writes() {
    let budget = Budget {
        losses: 1,
        writes: 1,
        quiets: 1,
        ..Budget::default()
    };
    clean("an archive writes", calm_with(budget));
}

/// All three hold something else, and the client has an entry of its own. Who asks for agreement
/// asks those who differ once more, which makes paths longer and more: there nothing is lost.
#[test]
fn three_histories() {
    let rules = [Rule::StorageFirst, Rule::FirstTrusted, Rule::StrictMajority];
    for (rule, (losses, quiets)) in rules.into_iter().zip([(1, 1), (1, 1), (0, 2)]) {
        let budget = Budget {
            losses,
            quiets,
            ..Budget::default()
        };
        let setup = Setup {
            rule,
            holds: [0b1000, 0b0011, 0b0111],
            ..calm_with(budget)
        };
        clean(&format!("three histories, {rule:?}"), setup);
    }
}

/// An archive tells any of the lies. Those that are messages without end, or hundreds of them, have
/// no end of paths either; scenarios show them.
fn every_lie_of(liar: usize) {
    let endless = |lie: &Lie| matches!(lie, Lie::NeverEnds | Lie::FloodsMarkers | Lie::Murmurs);
    for lie in ALL_LIES.into_iter().filter(|lie| !endless(lie)) {
        let budget = Budget {
            quiets: 2,
            ..Budget::default()
        };
        let setup = Setup {
            liar: Some((liar, lie)),
            ..calm_with(budget)
        };
        clean(&format!("archive {liar} {lie:?}"), setup);
    }
}

#[test]
fn every_lie_of_the_best_archive() {
    every_lie_of(0);
}

#[test]
fn every_lie_of_the_other_archive() {
    every_lie_of(1);
}

/// The worst of them, on a network that loses and doubles, under the rule that asks for agreement.
#[test]
fn a_liar_and_a_bad_network() {
    for lie in [Lie::Withholds, Lie::EarlyMarker, Lie::Drips] {
        let budget = Budget {
            losses: 1,
            doubles: 1,
            quiets: 1,
            ..Budget::default()
        };
        let setup = Setup {
            rule: Rule::StrictMajority,
            holds: [0b0000, 0b0011, 0b0011],
            liar: Some((0, lie)),
            ..calm_with(budget)
        };
        clean(&format!("{lie:?} and a bad network"), setup);
    }
}
