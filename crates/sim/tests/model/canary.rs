//! The search finds bugs: three are kept in the light node, one for each promise, and the path that
//! it prints to the first is asserted word by word.

use osier_sim::model::{Broken, Budget, Canary, Setup};

use crate::search::{Found, search};

fn found(canary: Canary, budget: Budget) -> Found {
    let found = search(Setup {
        canary: Some(canary),
        budget,
        ..Setup::calm()
    });
    println!("{}", found.trace());
    found
}

/// `CMP-12`: a disk that forgets makes complete what is not.
#[test]
fn finds_a_false_complete() {
    let budget = Budget {
        disk_failures: 1,
        ..Budget::default()
    };
    let found = found(Canary::ForgetfulDisk, budget);
    assert!(matches!(found.broken, Some((Broken::FalseComplete(_), _))));
    let told = [
        " 0       0 ms  the client opens the topic",
        " 1       0 ms  Hello to archive A arrives",
        " 2       0 ms  HelloAck from archive A arrives -> ProviderUp, SyncStarted",
        " 3       0 ms  Entries from archive A arrives -> Progress",
        " 4       0 ms  the client's disk fails to write -> Appended",
        " 5       0 ms  Complete from archive A arrives -> SyncEnded, HistorySynced",
        "    complete is said and not true: 3 of 3 entries are not on disk",
    ];
    assert_eq!(found.trace(), told.join("\n"));
}

/// `POL-17`: an engine that nobody wakes leaves its application without a word.
#[test]
fn finds_a_wait_without_a_word() {
    let budget = Budget {
        losses: 1,
        quiets: 2,
        ..Budget::default()
    };
    let found = found(Canary::Deaf, budget);
    assert!(matches!(found.broken, Some((Broken::Overdue(_), _))));
}

/// `CMP-32`: a session whose end is not told.
#[test]
fn finds_a_session_without_an_end() {
    let found = found(Canary::LostEnd, Budget::default());
    assert!(matches!(found.broken, Some((Broken::Ends(_), _))));
}
