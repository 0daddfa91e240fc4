//! Restart storms: a thousand clients of one archive; either side restarts, or both.
//!
//! Each takes some 20 s of CPU without optimisation: a thousand engines and their sessions. What is
//! asserted is listed in `docs/testing.md`.

#![expect(clippy::print_stdout, reason = "figures are what it is run for")]

use osier_engine::limit::SESSIONS_SERVED_MAX;
use osier_sim::{
    MS, SEC, Time,
    crowd::{Crowd, CrowdSpec},
};

const CLIENTS: usize = 1_000;

/// Within this all are synced again.
const SYNCED_WITHIN: Time = 15 * SEC;

/// Requests for sessions that the archive gets in the worst minute: two and a half a client.
const ASKED_A_MINUTE_MAX: u64 = 2_500;

/// Clients that are synced by token with one archive, no swarm.
fn settled() -> Crowd {
    let mut crowd = Crowd::new(CrowdSpec {
        seed: 7,
        archives: 1,
        clients: CLIENTS,
        entries: 12,
        equal: false,
        swarm: false,
    });
    crowd.start_at(0, 0);
    for client in 1..=CLIENTS {
        crowd.start_at(client, SEC + client as Time * 20 * MS);
    }
    crowd.run_until(60 * SEC);
    assert_eq!(crowd.unsynced(), 0, "everybody is synced before the storm");
    crowd
}

/// These stop at once and start again after a while; the figures until a minute after all are
/// synced. Nobody waits past its deadline without a word, or the crowd would say so.
fn storm(name: &str, who: std::ops::RangeInclusive<usize>, away: Time) {
    let mut crowd = settled();
    crowd.count_afresh();
    let now = crowd.now();
    for node in who {
        crowd.stop(node);
        crowd.start_at(node, now + away);
    }
    crowd.run_for(away);
    let begun = crowd.now();
    while crowd.unsynced() > 0 {
        let waited = crowd.now() - begun;
        assert!(waited < SYNCED_WITHIN, "{} wait still", crowd.unsynced());
        crowd.run_for(100 * MS);
    }
    let took = (crowd.now() - begun) / MS;
    crowd.run_for(60 * SEC);
    assert_eq!(crowd.unsynced(), 0, "nobody is taken back");
    let figures = crowd.figures();
    let (asked, refused) = (figures.asked_within(0, 60), figures.refused);
    let at_once = figures.served_at_once(0);
    let by_token = figures.sessions.get(&("equal", true)).copied();
    println!(
        "{name}: all synced {took} ms after the restart; the archive was asked {asked} times, \
         refused {refused}, served {at_once} at once"
    );
    assert!(at_once <= SESSIONS_SERVED_MAX);
    assert!(asked <= ASKED_A_MINUTE_MAX);
    assert_eq!(by_token, Some(CLIENTS as u64), "{:?}", figures.sessions);
}

/// `POL-20`, `POL-21`: those who lost their archive ask again spread, and as it tells them.
#[test]
fn the_archive_restarts() {
    storm("the archive restarts", 0..=0, 3 * SEC);
}

/// `POL-28`: those who start again ask spread, by token.
#[test]
fn all_clients_restart() {
    storm("all clients restart", 1..=CLIENTS, 2 * SEC);
}

/// All of it together.
#[test]
fn all_restart() {
    storm("all restart", 0..=CLIENTS, 2 * SEC);
}
