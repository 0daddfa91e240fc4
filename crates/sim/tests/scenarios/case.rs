//! Faults that others had in public, each as a story that must end well here.

use std::collections::BTreeMap;

use osier_core::{
    Entry, EntryHash, Role, Timestamp, Verified,
    testing::{Chain, with_bad_signature},
};
use osier_engine::{SyncEvent, TopicPhase, limit};
use osier_proto::Lsn;
use osier_sim::{Action, Knobs, MS, NodeSpec, SEC, World};

use crate::{
    provider,
    support::{
        entries, has_degraded, has_told, joined_through, no_violation, phase, reaches, seeded,
        sessions_begun, start_all, synced, tuned, vouchers, world,
    },
};

fn pair() -> World {
    world(vec![NodeSpec::archive(), NodeSpec::peer()])
}

/// case IR-06: what is written while a node joins is not lost to it, whether its session or gossip
/// has to bring it, however messages race.
#[test]
fn case_ir_06_what_is_written_during_a_join_arrives() {
    for seed in 0..20 {
        let specs = vec![NodeSpec::archive(), NodeSpec::peer()];
        let mut world = seeded(seed, specs, &[0], |knobs| {
            knobs.delay_ms = 5 + 10 * (seed % 5);
            knobs.jitter_ms = 40;
            knobs.gossip_jitter_ms = 200;
        });
        world.start(0);
        for written in 0..150 {
            if written == 30 {
                world.start(1);
            }
            world.publish(0, 0, 1);
            world.run_for((3 + seed) * MS);
        }
        reaches(&mut world, 1, 150, 3 * SEC);
    }
}

/// case IR-09: no stamp is refused, none drags another clock along, none before 1970 is a panic.
#[test]
fn case_ir_09_a_wrong_clock_shuts_nobody_out() {
    let day_ms = 86_400_000_i64;
    let jumps = [1_000, 540_000, 660_000, 400_000 * day_ms];
    for by_ms in jumps.into_iter().flat_map(|by_ms| [by_ms, -by_ms]) {
        let mut world = pair();
        start_all(&mut world);
        world.publish(0, 0, 1);
        reaches(&mut world, 1, 1, 20 * SEC);
        world.act(&Action::WallJump { node: 1, by_ms });
        world.publish(1, 0, 3);
        reaches(&mut world, 0, 4, 20 * SEC);
        stamps_stay_right(&mut world, 4, Some(by_ms));
    }
}

/// case IR-09: nor does the last stamp that there is.
#[test]
fn case_ir_09_the_last_stamp_of_all_drags_no_clock_along() {
    let mut world = pair();
    start_all(&mut world);
    world.publish(0, 0, 1);
    reaches(&mut world, 1, 1, 20 * SEC);
    let mut chain = Chain::in_topic(2_000, world.topic(0));
    let last = chain.at(u64::MAX).next(b"of the end of time");
    world.deliver(0, [last]);
    reaches(&mut world, 1, 2, 20 * SEC);
    stamps_stay_right(&mut world, 2, None);
}

/// Node 0, whose clock is right and which wrote the first entry, writes on in order and by its own
/// clock, though entries with other stamps came between; node 1 by its own, which is off by that.
fn stamps_stay_right(world: &mut World, held: u64, off_ms: Option<i64>) {
    let (right, wrong) = (world.node_id(0), world.node_id(1));
    let (_, first) = world.stamps(0, 0)[0];
    world.publish(0, 0, 4);
    reaches(world, 1, held + 4, 20 * SEC);
    let elapsed_ms = i64::try_from(world.now() / MS).expect("a short story");
    let since_first = |stamp: Timestamp| {
        let ms = |stamp: Timestamp| i64::try_from(stamp.as_millis()).expect("not that late");
        ms(stamp) - ms(first)
    };
    let stamps = world.stamps(1, 0);
    let of = |node| stamps.iter().filter(move |(author, _)| *author == node);
    assert_eq!(of(right).count(), 5);
    for (_, stamp) in of(right) {
        assert!(
            (0..=elapsed_ms).contains(&since_first(*stamp)),
            "{stamps:?}"
        );
    }
    for (_, stamp) in of(wrong) {
        let by_ms = off_ms.expect("it has written only after its clock was set");
        let is_own = stamp.as_millis() == 0 || (since_first(*stamp) - by_ms).abs() <= elapsed_ms;
        assert!(is_own, "{stamps:?}");
    }
    let states = [0, 1].map(|node| world.state(node, 0).expect("it runs"));
    assert_eq!(states[0].state_hash, states[1].state_hash);
    assert_eq!(states.map(|state| state.holes), [0, 0]);
}

/// case PL-01: "synced" is no final word: who was away is behind, asks again and is complete.
#[test]
fn case_pl_01_who_was_away_is_behind_and_then_complete() {
    let mut world = pair();
    start_all(&mut world);
    world.publish(0, 0, 5);
    reaches(&mut world, 1, 5, 5 * SEC);
    let cut = world.now();
    world.part(&[0], &[1]);
    for _ in 0..30 {
        world.publish(0, 0, 1);
        world.run_for(10 * SEC);
    }
    assert_ne!(phase(&world, 1), Some(TopicPhase::Synced));
    let healed = world.now();
    world.join(&[0], &[1]);
    reaches(&mut world, 1, 35, 20 * SEC);
    assert!(sessions_begun(&world, 1, healed) > 0, "a new round");
    let told = world.told(1, 0).into_iter().filter(|(at, _)| *at > cut);
    let told: Vec<_> = told.collect();
    let place = |what: fn(&SyncEvent) -> bool| told.iter().position(|(_, event)| what(event));
    let behind = place(|event| matches!(event, SyncEvent::Behind { .. }));
    let synced = place(|event| matches!(event, SyncEvent::HistorySynced(_)));
    assert!(behind.is_some() && behind < synced, "{told:?}");
}

/// case PL-02: a session that breaks each time is tried with growing pauses, each end is told, and
/// what one brought the next does not bring again.
#[test]
fn case_pl_02_a_session_that_always_breaks_is_tried_less_and_less() {
    let slow = |knobs: &mut Knobs| {
        knobs.bandwidth_kib = 60;
        knobs.window_kib = 8;
    };
    let mut world = tuned(vec![NodeSpec::archive(), NodeSpec::peer()], slow);
    world.start(0);
    world.publish_large(0, 0, 400, 2_000);
    world.deafen(1, true);
    world.start(1);
    let until = world.now() + 60 * SEC;
    let mut broken = 0;
    while world.now() < until {
        let left = until - world.now();
        if world.run_while(left, |world| sessions_begun(world, 1, 0) == broken) {
            broken += 1;
            world.run_for(300 * MS);
            assert!(world.snap(0, 1), "it is under way");
        }
    }
    no_violation(&world);
    let told = world.told(1, 0).into_iter();
    let told = told.filter(
        |(_, event)| matches!(event, SyncEvent::SyncEnded { outcome, .. } if *outcome == "lost"),
    );
    assert_eq!(told.count(), broken);
    assert!((3..=12).contains(&broken), "{broken} sessions in a minute");
    assert!(has_degraded(&world, 1, 0));
    assert_eq!(synced(&world, 1), []);
    reaches(&mut world, 1, 400, 120 * SEC);
    assert!(world.came_twice(1) <= 5 * broken as u64, "it resumes");
}

/// case PL-05: both entries of a fork are at everybody and told as such, before anything that holds
/// both is called complete; what others wrote comes meanwhile.
#[test]
fn case_pl_05_both_entries_of_a_fork_are_held_and_told() {
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    start_all(&mut world);
    let mut chain = Chain::in_topic(2_000, world.topic(0));
    let common: Vec<_> = (0..4).map(|_| chain.next(b"common")).collect();
    world.deliver(1, common);
    (0..3).for_each(|node| reaches(&mut world, node, 4, 20 * SEC));
    world.part(&[0, 1], &[2]);
    let pair = [chain.clone().next(b"one"), chain.next(b"other")];
    let mut hashes = pair.clone().map(|entry| entry.hash());
    hashes.sort_unstable();
    let [one, other] = pair;
    world.deliver(1, [one]);
    world.deliver(2, [other]);
    world.publish(1, 0, 3);
    reaches(&mut world, 0, 8, 20 * SEC);
    world.join(&[0, 1], &[2]);
    for node in 0..3 {
        reaches(&mut world, node, 9, 60 * SEC);
        let log = world.read_log(node, 0, Lsn::START);
        let holds = |hash: &EntryHash| log.iter().any(|(_, held)| held == hash);
        assert!(hashes.iter().all(holds), "n{node}");
        let told = world.told(node, 0).into_iter().map(|(_, event)| event);
        let told: Vec<_> = told.collect();
        let forks = told.iter().filter_map(|event| match event {
            SyncEvent::AuthorForked { one, other, .. } => Some([*one.min(other), *one.max(other)]),
            _ => None,
        });
        assert_eq!(forks.collect::<Vec<_>>(), [hashes], "n{node}");
        let place = |what: fn(&SyncEvent) -> bool| told.iter().position(|event| what(event));
        let forked = place(|event| matches!(event, SyncEvent::AuthorForked { .. }));
        let whole =
            |said: &SyncEvent| matches!(said, SyncEvent::HistorySynced(said) if said.entries == 9);
        let synced = told.iter().position(|event| whole(event));
        assert!(
            synced.is_none_or(|synced| forked < Some(synced)),
            "{told:?}"
        );
    }
    let states = [0, 1, 2].map(|node| world.state(node, 0).map(|state| state.state_hash));
    assert!(states.iter().all(|state| *state == states[0]));
}

/// case PL-06: a provider that has just started serves what it holds, never an empty view, whoever
/// of the two is there first and whatever the disk takes for its time.
#[test]
fn case_pl_06_a_provider_that_starts_never_serves_nothing() {
    for (first, then) in [(0, 1), (1, 0)] {
        for apart_ms in [0, 3, 15, 40, 300, 2_000] {
            let specs = vec![NodeSpec::archive(), NodeSpec::peer()];
            let mut world = tuned(specs, |knobs| knobs.disk_ms = 50);
            world.start(0);
            world.publish(0, 0, 50);
            world.run_for(SEC);
            world.crash(0);
            let crashed = world.now();
            world.start(first);
            world.run_for(apart_ms * MS);
            world.start(then);
            reaches(&mut world, 1, 50, 20 * SEC);
            world.run_for(2 * SEC);
            for node in [0, 1] {
                let said = synced(&world, node).into_iter();
                let said = said.filter(|(at, _)| *at >= crashed);
                let said: Vec<_> = said.map(|(_, said)| said.entries).collect();
                assert!(!said.is_empty(), "n{node} says that it is synced");
                assert!(said.iter().all(|held| *held == 50), "n{node}: {said:?}");
            }
        }
    }
}

/// case PL-10: a token that was just given means "wait": an idle topic costs no sessions.
#[test]
fn case_pl_10_a_token_that_was_just_given_is_not_shown_at_once() {
    let mut world = pair();
    world.start(0);
    world.publish(0, 0, 10);
    world.start(1);
    reaches(&mut world, 1, 10, 20 * SEC);
    world.run_for(20 * SEC);
    let before = world.now();
    world.run_for(100 * SEC);
    no_violation(&world);
    assert!(sessions_begun(&world, 1, before) <= 1, "it hammers");
}

/// case PL-11: a provider that restarts is not hammered, and everybody is synced again.
#[test]
fn case_pl_11_a_restart_is_met_with_few_sessions() {
    let clients = 20;
    let mut specs = vec![NodeSpec::archive()];
    specs.extend((0..clients).map(|_| NodeSpec::peer()));
    let mut world = world(specs);
    start_all(&mut world);
    world.publish(0, 0, 10);
    for node in 1..=clients {
        reaches(&mut world, node, 10, 30 * SEC);
    }
    let before = world.now();
    world.crash(0);
    world.run_for(2 * SEC);
    world.start(0);
    world.run_for(90 * SEC);
    no_violation(&world);
    for node in 1..=clients {
        assert_eq!(phase(&world, node), Some(TopicPhase::Synced), "n{node}");
        let owner = world.node_id(0);
        let told = world.told(node, 0).into_iter();
        let with_owner = told.filter(|(at, event)| {
            let begun =
                matches!(event, SyncEvent::SyncStarted { provider, .. } if *provider == owner);
            *at >= before && begun
        });
        let begun = with_owner.count();
        assert!(
            begun <= 4,
            "n{node} began {begun} sessions with the provider"
        );
    }
}

/// case PL-13: progress reaches what it announces and never goes back, also while more is written
/// and when the client comes back half-way.
#[test]
fn case_pl_13_progress_is_monotone_and_reaches_its_end() {
    let specs = vec![NodeSpec::archive(), NodeSpec::peer()];
    let mut world = tuned(specs, provider::slow);
    world.start(0);
    world.publish_large(0, 0, 100, 20_000);
    world.run_for(SEC);
    world.start(1);
    world.run_while(20 * SEC, |world| world.taken(1, 0) < 30);
    let before = world.taken(1, 0);
    assert!((30..60).contains(&before), "{before}");
    world.crash(1);
    world.start(1);
    for _ in 0..10 {
        world.run_for(SEC / 5);
        world.publish(0, 0, 50);
    }
    reaches(&mut world, 1, 600, 90 * SEC);
    assert_eq!(world.came_twice(1), 0, "nothing begins again");
    let mut last = BTreeMap::new();
    let (mut reached, mut steps) = (Vec::new(), 0);
    for (_, event) in world.told(1, 0) {
        match event {
            SyncEvent::Progress {
                session,
                received,
                expected,
                ..
            } => {
                steps += 1;
                let before = last.insert(*session, (*received, *expected));
                let (before, target) = before.unwrap_or_default();
                assert!(*received >= before, "{received} after {before}");
                assert!(expected.is_none_or(|expected| *received <= expected));
                assert!(target.is_none() || target == *expected, "a target stays");
            }
            SyncEvent::SyncEnded {
                session, outcome, ..
            } if *outcome == "drained" || *outcome == "overtaken" => {
                reached.extend(last.get(session).copied());
            }
            _ => {}
        }
    }
    assert!(steps > 8, "{steps}");
    let is_there = |(received, expected): &(u64, Option<u64>)| *expected == Some(*received);
    assert!(reached.iter().all(is_there), "{reached:?}");
    assert!(reached.iter().any(|(received, _)| *received >= 40));
}

/// case WI-01: the owner serves and counts without any grant. A plain member serves as well, and
/// its word does not count: what it sends is held and nothing is vouched for.
#[test]
fn case_wi_01_an_owner_needs_no_grant() {
    let specs = vec![NodeSpec::archive(), NodeSpec::peer(), NodeSpec::peer()];
    let mut world = joined_through(&[0, 1], specs);
    world.start(0);
    world.publish(0, 0, 5);
    world.start(1);
    reaches(&mut world, 1, 5, 20 * SEC);
    let (owner, member) = (world.node_id(0), world.node_id(1));
    assert!(vouchers(&world, 1).contains(&owner));
    world.stop(0);
    world.start(2);
    world.run_for(20 * SEC);
    no_violation(&world);
    assert_eq!(entries(&world, 2), 5);
    assert_eq!(world.entries_sent(1, 2), 5, "the member has served");
    let drained = |event: &SyncEvent| {
        matches!(event, SyncEvent::SyncEnded { provider, outcome: "drained", .. }
            if *provider == member)
    };
    assert!(has_told(&world, 2, drained), "with a marker at the end");
    assert_eq!(synced(&world, 2), [], "a plain member vouches for nobody");
    let shown = world.state(2, 0).expect("it runs").providers;
    let shown = shown.iter().find(|provider| provider.node == member);
    assert!(shown.is_some_and(|member| !member.trusted));
    assert!(has_told(&world, 2, |event| matches!(
        event,
        SyncEvent::HistorySyncFailed { .. }
    )));
    world.start(0);
    reaches(&mut world, 2, 5, 70 * SEC);
    assert!(vouchers(&world, 2).iter().all(|voucher| *voucher == owner));
}

/// case WI-02: whatever the way in which a difference was found, there is a word at its end.
#[test]
fn case_wi_02_every_way_ends_with_a_word() {
    // Nothing on either side; everything on one; the same; a little more; some on each side.
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::archive().trusting(0, 10, Role::Archive),
    ]);
    start_all(&mut world);
    reaches(&mut world, 1, 0, 20 * SEC);
    world.stop(1);
    world.publish(0, 0, 20);
    world.start(1);
    reaches(&mut world, 1, 20, 20 * SEC);
    world.stop(1);
    world.start(1);
    reaches(&mut world, 1, 20, 20 * SEC);
    world.part(&[0], &[1]);
    world.publish(0, 0, 3);
    world.publish(1, 0, 4);
    world.run_for(40 * SEC);
    world.join(&[0], &[1]);
    reaches(&mut world, 1, 27, 90 * SEC);
    reaches(&mut world, 0, 27, 90 * SEC);
}

/// case WI-09: a joiner with nothing, and one with half, reach all, however much that is.
#[test]
fn case_wi_09_more_than_one_page_is_reached() {
    let mut world = world(vec![
        NodeSpec::archive(),
        NodeSpec::peer(),
        NodeSpec::peer(),
    ]);
    world.start(0);
    world.publish(0, 0, 600);
    world.start(1);
    reaches(&mut world, 1, 600, 30 * SEC);
    world.stop(1);
    world.publish(0, 0, 600);
    world.run_for(SEC);
    world.start(1);
    world.start(2);
    reaches(&mut world, 1, 1_200, 30 * SEC);
    reaches(&mut world, 2, 1_200, 30 * SEC);
    assert_eq!(entries(&world, 2), 1_200);
}

/// A chain of so many badly signed entries, each vouched for by the next, and the last signed well.
fn badly_signed(world: &World, author: u64, bad: usize) -> Vec<Verified<Entry>> {
    let mut chain = Chain::in_topic(author, world.topic(0));
    let mut entries = Vec::new();
    for _ in 0..bad {
        let entry = with_bad_signature(chain.signed(b"badly signed"));
        chain.follow(&entry);
        entries.push(entry.trust_stored());
    }
    entries.push(chain.next(b"vouches"));
    entries
}

/// case WI-10: thousands of orphans by one author take no other author's place: what must wait for
/// its successor waits, and what comes out of order is taken in.
#[test]
fn case_wi_10_orphans_by_one_author_take_nobody_elses_place() {
    let mut world = pair();
    start_all(&mut world);
    world.run_for(3 * SEC);
    world.part(&[0], &[1]);
    world.flood_with_orphans(1, 6_000);
    assert_eq!(entries(&world, 1), 0);
    let waits = badly_signed(&world, 2_002, 3);
    world.deliver(1, waits);
    let mut chain = Chain::in_topic(2_003, world.topic(0));
    let mut late: Vec<_> = (0..3).map(|_| chain.next(b"late")).collect();
    late.reverse();
    world.deliver(1, late);
    world.run_for(SEC);
    let state = world.state(1, 0).expect("it runs");
    assert_eq!((state.entries, state.holes), (7, 0));
    world.join(&[0], &[1]);
    reaches(&mut world, 0, 7, 60 * SEC);
    reaches(&mut world, 1, 7, 60 * SEC);
}

/// case WI-12: a long chain that comes in reverse, genesis last, and then again: all of it is held,
/// linked, and there once.
#[test]
fn case_wi_12_a_chain_in_reverse_is_taken_in_once() {
    let mut world = pair();
    start_all(&mut world);
    world.run_for(3 * SEC);
    let mut chain = Chain::in_topic(2_002, world.topic(0));
    let mut all: Vec<_> = (0..2_000).map(|_| chain.next(b"in order")).collect();
    all.reverse();
    for _ in 0..2 {
        world.deliver(1, all.clone());
        for node in [1, 0] {
            reaches(&mut world, node, 2_000, 30 * SEC);
            assert_eq!(world.state(node, 0).map(|state| state.holes), Some(0));
            assert_eq!(world.read_log(node, 0, Lsn::START).len(), 2_000);
        }
    }
}

/// case WI-12: as many badly signed entries as may wait are taken in with the one that vouches for
/// them. One more is dropped, known to be missing, and fetched again.
#[test]
fn case_wi_12_what_may_not_wait_is_fetched_again() {
    let share = limit::GOSSIP_UNAUTHENTIC_PER_AUTHOR_MAX;
    for (waiting, at_once) in [(share, share + 1), (share + 1, 1)] {
        let mut world = pair();
        let all = badly_signed(&world, 2_002, waiting);
        world.preload(0, all.clone());
        world.part(&[0], &[1]);
        start_all(&mut world);
        world.run_for(3 * SEC);
        world.deliver(1, all.clone());
        world.run_for(SEC);
        let state = world.state(1, 0).expect("it runs");
        assert_eq!(state.entries, at_once as u64);
        assert_eq!(state.holes > 0, waiting > share, "it knows what is missing");
        world.join(&[0], &[1]);
        reaches(&mut world, 1, all.len() as u64, 60 * SEC);
        assert_eq!(world.state(1, 0).map(|state| state.holes), Some(0));
    }
}
