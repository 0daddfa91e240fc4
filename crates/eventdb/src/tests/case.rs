//! Public faults that this layer must not repeat; the names are those of the list of cases.

use osier_nostr::{Filter, Hidden, Page, Published, nip::nip77::NegSession};
use osier_store::Storage;

use super::support::{Bench, author, event, filter, page, scan, seconds, viewer};
use crate::{Admission, Budget};

fn hex(n: u8) -> String {
    author(n).to_string()
}

/// A filter with `limit: 0` reads nothing; another one beside it does.
#[test]
fn case_nr_01_limit_zero_reads_no_stored_event() {
    let mut bench = Bench::new();
    bench.commit(&[
        event(1, 1, 1, &[], ""),
        event(1, 2, 1, &[], ""),
        event(1, 3, 1, &[], ""),
    ]);
    let nobody = viewer(&[]);
    let none = page(r#"{"kinds":[1],"limit":0}"#);
    let two = page(r#"{"kinds":[1],"limit":2}"#);
    assert_eq!(
        bench.req(std::slice::from_ref(&none), &nobody, 9).0.len(),
        0
    );
    assert_eq!(bench.req(&[none, two], &nobody, 9).0.len(), 2);
    assert_eq!(bench.count(r#"{"kinds":[1],"limit":0}"#, &nobody, 9), 0);
}

/// `{}` gives everything, an empty list nothing.
#[test]
fn case_nr_02_and_nr_03_nothing_asked_is_everything_and_an_empty_list_is_nothing() {
    let mut bench = Bench::new();
    let note = event(1, 1, 1, &[&["e", &"ab".repeat(32)]], "");
    bench.commit_one(&note);
    let nobody = viewer(&[]);
    assert_eq!(bench.ids("{}", &nobody, 9), [note.id()]);
    let by_tag = format!(r##"{{"#e":["{}"],"kinds":[1]}}"##, "ab".repeat(32));
    for text in [
        r##"{"#a":[],"kinds":[1]}"##,
        r#"{"ids":[]}"#,
        r#"{"kinds":[]}"#,
    ] {
        assert_eq!(bench.ids(text, &nobody, 9), []);
        assert_eq!(bench.count(text, &nobody, 9), 0);
        let records = bench
            .view()
            .records(&filter(text), &nobody, seconds(9), 10)
            .unwrap();
        assert_eq!(records.len().unwrap(), 0);
        let (found, drained) = bench.req(&[page(text), page(&by_tag)], &nobody, 9);
        assert_eq!((found.len(), drained), (1, true));
    }
}

/// Filters are OR, each with its own limit, each event once.
#[test]
fn case_nr_04_filters_add_up_each_with_its_own_limit() {
    let mut bench = Bench::new();
    let own: Vec<_> = (0..4).map(|at| event(1, at, 1, &[], "")).collect();
    let other = event(2, 9, 1, &[], "");
    bench.commit(&own);
    bench.commit_one(&other);
    let nobody = viewer(&[]);
    let one = r#"{"kinds":[1],"limit":1}"#;
    let two = format!(r#"{{"authors":["{}"],"limit":2}}"#, hex(1));
    let (found, drained) = bench.req(&[page(one), page(&two)], &nobody, 99);
    assert_eq!(found, [other.clone(), own[3].clone(), own[2].clone()]);
    assert!(!drained);
    let overlapping = r#"{"kinds":[1],"limit":3}"#;
    let (found, _) = bench.req(&[page(overlapping), page(&two)], &nobody, 99);
    assert_eq!(found, [other, own[3].clone(), own[2].clone()]);
}

/// In one second the lowest id comes first, whatever index is read.
#[test]
fn case_nr_05_ties_are_broken_by_id_in_every_plan() {
    let mut bench = Bench::new();
    let p = hex(7);
    let tags: &[&[&str]] = &[&["t", "x"], &["p", &p], &["t", "y"]];
    let mut events: Vec<_> = (0..700)
        .map(|n| event(1, 5, 1, tags, &n.to_string()))
        .collect();
    events.sort_unstable_by_key(|event| std::cmp::Reverse(event.id()));
    for part in events.chunks(70) {
        bench.commit(part);
    }
    let right: Vec<_> = events.iter().rev().map(osier_nostr::Event::id).collect();
    let author = hex(1);
    for conditions in [
        String::new(),
        r#""kinds":[1],"#.to_owned(),
        r#""kinds":[1,7],"#.to_owned(),
        format!(r#""authors":["{author}"],"#),
        format!(r#""authors":["{author}","{p}"],"kinds":[1],"#),
        r##""#t":["x"],"##.to_owned(),
        r##""#t":["y","x"],"##.to_owned(),
        format!(r##""#t":["x"],"#p":["{p}"],"##),
        r#""since":5,"until":5,"#.to_owned(),
    ] {
        let text = format!(r#"{{{conditions}"limit":2}}"#);
        for _ in 0..10 {
            assert_eq!(bench.ids(&text, &viewer(&[]), 9), right[..2], "{text}");
        }
        let all = page(&format!(r#"{{{conditions}"limit":500}}"#));
        let found = bench.req(&[all], &viewer(&[]), 9).0;
        assert!(
            found
                .iter()
                .map(osier_nostr::Event::id)
                .eq(right[..500].iter().copied())
        );
    }
    let cut = Page {
        filter: Filter::default(),
        events_max: 3,
        whole_second: true,
    };
    let (found, drained) = bench.req(&[cut], &viewer(&[]), 9);
    assert_eq!(
        (found.len(), drained),
        (700, true),
        "the last second is whole"
    );
}

/// Of two versions in one second the lower id wins on both nodes, and the next comparison finds no
/// difference. The first `d` tag counts.
#[test]
fn case_nr_08_equal_times_converge_and_the_first_d_counts() {
    let mut versions = [event(1, 5, 10_002, &[], "a"), event(1, 5, 10_002, &[], "b")].to_vec();
    versions.sort_unstable_by_key(osier_nostr::Event::id);
    let (low, high) = (versions[0].clone(), versions[1].clone());
    let (mut one, mut two) = (Bench::new(), Bench::new());
    one.commit_one(&low);
    one.commit_one(&high);
    two.commit_one(&high);
    two.commit_one(&low);
    let nobody = viewer(&[]);
    for bench in [&one, &two] {
        assert_eq!(bench.ids("{}", &nobody, 9), [low.id()]);
        assert_eq!(
            bench.view().admit(&low, seconds(9)).unwrap(),
            Admission::Held
        );
        let replaced = bench.view().admit(&high, seconds(9)).unwrap();
        assert_eq!(replaced, Admission::Hidden(Hidden::Replaced));
        let text = format!(r#"{{"ids":["{}"]}}"#, high.id());
        assert_eq!(bench.ids(&text, &nobody, 9), []);
    }
    let length = |bench: &Bench| {
        let records = bench
            .view()
            .records(&filter("{}"), &nobody, seconds(9), 10)
            .unwrap();
        records.summary(0..records.len().unwrap()).unwrap()
    };
    assert_eq!(length(&one), length(&two), "nothing to transfer");
    let b = event(1, 6, 30_000, &[&["d", "b"], &["d", "a"]], "");
    let a = event(1, 7, 30_000, &[&["d", "a"]], "");
    one.commit(&[b.clone(), a.clone()]);
    assert_eq!(
        one.ids(r#"{"kinds":[30000]}"#, &nobody, 9),
        [a.id(), b.id()]
    );
    assert_eq!(one.ids(r##"{"#d":["a"]}"##, &nobody, 9), [a.id(), b.id()]);
    one.check();
}

/// A deletion by address reaches as far as its own time; by id it may come first; it is served.
#[test]
fn case_nr_10_deletions_apply_whenever_they_come_and_are_served() {
    let mut bench = Bench::new();
    let nobody = viewer(&[]);
    let at = |at| event(1, at, 30_000, &[&["d", "x"]], "");
    let address = format!("30000:{}:x", hex(1));
    let deletion = event(1, 20, 5, &[&["a", &address]], "");
    bench.commit(&[at(10)]);
    bench.commit_one(&deletion);
    assert_eq!(bench.ids("{}", &nobody, 99), [deletion.id()]);
    let again = bench.view().admit(&at(10), seconds(99)).unwrap();
    assert_eq!(again, Admission::Hidden(Hidden::Deleted));
    assert!(matches!(again.answer(), Some(Published::Refused(_))));
    bench.commit(&[at(30)]);
    assert_eq!(
        bench.ids(r#"{"kinds":[30000]}"#, &nobody, 99),
        [at(30).id()]
    );
    let target = event(2, 5, 1, &[], "target");
    let first = event(2, 4, 5, &[&["e", &target.id().to_string()]], "");
    bench.commit_one(&first);
    bench.commit_one(&target);
    assert_eq!(bench.fresh(5, 99), [], "it is not fanned out");
    assert_eq!(bench.ids(r#"{"kinds":[1]}"#, &nobody, 99), []);
    assert_eq!(
        bench.ids(r#"{"kinds":[5]}"#, &nobody, 99),
        [deletion.id(), first.id()]
    );
    bench.check();
}

/// Expired events are on no path before they are purged; the purge spares the others.
#[test]
fn case_nr_12_expired_events_are_on_no_path() {
    let mut bench = Bench::new();
    let nobody = viewer(&[]);
    let expiring = |at: u64| {
        event(
            1,
            1,
            1,
            &[&["expiration", &at.to_string()], &["t", "x"]],
            "",
        )
    };
    let (soon, week) = (expiring(102), expiring(700_000));
    bench.commit(&[soon.clone(), week.clone()]);
    assert_eq!(bench.fresh(1, 103), [week.id()]);
    let by_id = format!(r#"{{"ids":["{}"]}}"#, soon.id());
    let on_paths = |bench: &Bench, now: u64| {
        let view = bench.view();
        let records = view
            .records(&filter("{}"), &nobody, seconds(now), 10)
            .unwrap();
        (
            bench.ids("{}", &nobody, now).len(),
            bench.ids(r##"{"#t":["x"]}"##, &nobody, now).len(),
            bench.ids(&by_id, &nobody, now).len(),
            bench.count("{}", &nobody, now),
            bench.count(r#"{"kinds":[1]}"#, &nobody, now),
            records.len().unwrap(),
            view.get(&soon.id(), &nobody, seconds(now))
                .unwrap()
                .is_some(),
        )
    };
    assert_eq!(on_paths(&bench, 101), (2, 2, 1, 2, 2, 2, true));
    assert_eq!(on_paths(&bench, 102), (1, 1, 0, 1, 1, 1, false));
    assert_eq!(bench.index.purge(seconds(103)).unwrap(), 1);
    assert_eq!(bench.index.purge(seconds(103)).unwrap(), 0);
    assert_eq!(on_paths(&bench, 103), (1, 1, 0, 1, 1, 1, false));
    assert_eq!(
        bench.view().admit(&soon, seconds(103)).unwrap(),
        Admission::Hidden(Hidden::Expired)
    );
    bench.commit_one(&soon);
    assert_eq!(bench.fresh(2, 103), []);
    assert_eq!(on_paths(&bench, 103), (1, 1, 0, 1, 1, 1, false));
    bench.check();
}

/// Ephemeral events that a peer put into an entry are not stored.
#[test]
fn case_nr_13_ephemeral_events_are_not_stored() {
    let mut bench = Bench::new();
    bench.commit(&[event(1, 1, 20_001, &[], ""), event(1, 1, 22_242, &[], "")]);
    assert_eq!(bench.ids("{}", &viewer(&[]), 9), []);
    assert_eq!(bench.count("{}", &viewer(&[]), 9), 0);
    bench.check();
}

/// Numbers out of range match nothing and end.
#[test]
fn case_nr_21_numbers_out_of_range_match_nothing() {
    let mut bench = Bench::new();
    bench.commit(&[event(1, 1_700_000_000, 1, &[], "")]);
    for text in [
        r#"{"since":1700000000000}"#,
        r#"{"until":-1}"#,
        r#"{"kinds":[9999999999]}"#,
        r#"{"kinds":[65537]}"#,
        r#"{"since":9223372036854775807}"#,
    ] {
        let (found, drained) = bench.req(&[page(text)], &viewer(&[]), 9);
        assert_eq!((found.len(), drained), (0, true), "{text}");
        assert_eq!(bench.count(text, &viewer(&[]), 9), 0, "{text}");
    }
    let latest = event(2, u64::MAX >> 1, 1, &[], "");
    bench.commit_one(&latest);
    assert_eq!(bench.ids(r#"{"limit":1}"#, &viewer(&[]), 9), [latest.id()]);
    assert_eq!(
        bench.count(r#"{"since":9223372036854775807}"#, &viewer(&[]), 9),
        1
    );
    bench.check();
}

/// What is gated appears to those involved and to nobody else, on no path.
#[test]
fn case_nr_26_gated_events_are_for_those_involved_on_every_path() {
    let mut bench = Bench::new();
    let (wrap, note) = (
        event(9, 5, 1059, &[&["p", &hex(1)]], ""),
        event(2, 6, 1, &[], ""),
    );
    let direct = event(1, 7, 4, &[&["p", &hex(3)]], "");
    bench.commit(&[wrap.clone(), note.clone(), direct.clone()]);
    let by_id = format!(r#"{{"ids":["{}"]}}"#, wrap.id());
    let by_tag = format!(r##"{{"#p":["{}"]}}"##, hex(1));
    let by_author = format!(r#"{{"authors":["{}"]}}"#, hex(9));
    for (keys, all) in [
        (&[][..], vec![note.id()]),
        (&[2], vec![note.id()]),
        (&[1], vec![direct.id(), note.id(), wrap.id()]),
        (&[3], vec![direct.id(), note.id()]),
        (&[9, 3], vec![direct.id(), note.id(), wrap.id()]),
    ] {
        let viewer = viewer(keys);
        let sees = all.contains(&wrap.id());
        let view = bench.view();
        assert_eq!(bench.ids("{}", &viewer, 9), all);
        assert_eq!(bench.count("{}", &viewer, 9), all.len() as u64);
        let expected = if sees { vec![wrap.id()] } else { Vec::new() };
        for text in [&by_id, &by_tag, &by_author, r#"{"kinds":[1059]}"#] {
            assert_eq!(bench.ids(text, &viewer, 9), expected, "{text}");
            assert_eq!(
                bench.count(text, &viewer, 9),
                expected.len() as u64,
                "{text}"
            );
            let records = view
                .records(&filter(text), &viewer, seconds(9), 10)
                .unwrap();
            assert_eq!(records.len().unwrap(), expected.len() as u64, "{text}");
        }
        let records = view
            .records(&filter("{}"), &viewer, seconds(9), 10)
            .unwrap();
        assert_eq!(records.len().unwrap(), all.len() as u64);
        assert_eq!(
            view.get(&wrap.id(), &viewer, seconds(9)).unwrap().is_some(),
            sees
        );
    }
    assert_eq!(
        bench.fresh(1, 9),
        [wrap.id(), note.id(), direct.id()],
        "the fan-out looks who"
    );
    bench.check();
}

/// NOS-81: a set over the cap that would have to be gathered is refused and never cut; one that is
/// read from its index has no cap.
#[test]
fn case_ng_03_a_set_over_the_cap_is_refused_with_the_cap() {
    let mut bench = Bench::new();
    let events: Vec<_> = (0..40).map(|at| event(1, at, 1, &[], "")).collect();
    bench.commit(&events);
    let view = bench.view();
    for (text, refused) in [
        ("{}", false),
        (r#"{"kinds":[1]}"#, true),
        (r#"{"kinds":[1],"limit":10}"#, false),
        (r#"{"since":35}"#, false),
    ] {
        let records = view
            .records(&filter(text), &viewer(&[]), seconds(99), 10)
            .unwrap();
        assert_eq!(records.gathered().is_none(), refused, "{text}");
        let start = osier_core::Instant::START;
        let opened = NegSession::open(&records, 10, start);
        let is_long = refused || text == "{}";
        assert_eq!(opened.is_err(), is_long, "{text}: it is not cut");
        if text == "{}" {
            assert_eq!(records.gathered(), Some(0), "it costs no memory");
            assert!(NegSession::open(&records, u64::MAX, start).is_ok());
        }
    }
}

/// An event that is found twice counts once towards the cap.
#[test]
fn case_ng_03_what_is_found_twice_counts_once() {
    let mut bench = Bench::new();
    let tags: &[&[&str]] = &[&["t", "x"], &["t", "y"]];
    let events: Vec<_> = (0..8).map(|at| event(1, at, 1, tags, "")).collect();
    bench.commit(&events);
    let both = filter(r##"{"#t":["x","y"]}"##);
    let records = bench
        .view()
        .records(&both, &viewer(&[]), seconds(99), 10)
        .unwrap();
    assert!(NegSession::open(&records, 10, osier_core::Instant::START).is_ok());
    assert_eq!(records.len().unwrap(), 8);
}

/// A deleted event is offered to nobody, and does not come back.
#[test]
fn case_ng_05_a_deleted_event_does_not_come_back() {
    let (mut a, mut b) = (Bench::new(), Bench::new());
    let x = event(1, 5, 1, &[], "x");
    let deletion = event(1, 6, 5, &[&["e", &x.id().to_string()]], "");
    a.commit_one(&x);
    a.commit_one(&deletion);
    b.commit_one(&x);
    let nobody = viewer(&[]);
    let notes = filter(r#"{"kinds":[1]}"#);
    let records = |bench: &Bench| {
        bench
            .view()
            .records(&notes, &nobody, seconds(9), 10)
            .unwrap()
            .len()
            .unwrap()
    };
    assert_eq!((records(&a), records(&b)), (0, 1));
    a.commit_one(&x);
    assert_eq!(records(&a), 0, "it is not stored again");
    b.commit(&[deletion]);
    assert_eq!(records(&b), 0, "it goes when the deletion comes");
}

/// In one second records are ordered by unsigned bytes.
#[test]
fn case_ng_09_records_of_one_second_are_ordered_by_unsigned_bytes() {
    let mut bench = Bench::new();
    let events: Vec<_> = (0..60)
        .map(|n| event(1, 5, 1, &[], &n.to_string()))
        .collect();
    bench.commit(&events);
    let mut ids: Vec<_> = events.iter().map(|event| *event.id().as_bytes()).collect();
    ids.sort_unstable();
    assert!(ids.first().unwrap()[0] < 0x80 && ids.last().unwrap()[0] >= 0x80);
    for text in ["{}", r#"{"kinds":[1]}"#] {
        let records = bench
            .view()
            .records(&filter(text), &viewer(&[]), seconds(9), 99)
            .unwrap();
        let mut found = Vec::new();
        records
            .items(0..60, &mut |item| found.push(item.id))
            .unwrap();
        assert_eq!(found, ids);
    }
}

/// A count has nothing to do with pages; filters that overlap are not added; a limit bounds.
#[test]
fn case_ct_01_a_count_is_the_size_of_the_union() {
    let mut bench = Bench::new();
    let events: Vec<_> = (0..1200)
        .map(|at| event(1, at, 1, &[&["t", "x"]], ""))
        .collect();
    for part in events.chunks(200) {
        bench.commit(part);
    }
    let nobody = viewer(&[]);
    assert_eq!(bench.count(r#"{"kinds":[1]}"#, &nobody, 9), 1200);
    assert_eq!(bench.count("{}", &nobody, 9), 1200);
    assert_eq!(bench.count(r#"{"kinds":[1],"limit":10}"#, &nobody, 9), 10);
    let filters = [
        filter(r#"{"kinds":[1],"since":600}"#),
        filter(r##"{"#t":["x"],"until":700}"##),
    ];
    let count = bench
        .view()
        .count(&filters, &nobody, seconds(9))
        .unwrap()
        .count;
    assert_eq!(count, 1200);
    let filters = [
        filter(r#"{"kinds":[1],"limit":10}"#),
        filter(r#"{"kinds":[1],"limit":25}"#),
    ];
    assert_eq!(
        bench
            .view()
            .count(&filters, &nobody, seconds(9))
            .unwrap()
            .count,
        25
    );
}

/// A request that is read in small steps gives what it gives at once.
#[test]
fn a_scan_is_paced_and_pinned_to_its_snapshot() {
    let mut bench = Bench::new();
    let events: Vec<_> = (0..90)
        .map(|at| event(1, at / 9, 1, &[], &at.to_string()))
        .collect();
    bench.commit(&events);
    let view = bench.view();
    bench.commit(&[
        event(1, 99, 1, &[], "later"),
        event(1, 98, 62, &[&["relay", "ALL_RELAYS"]], ""),
    ]);
    let pages = [page("{}")];
    let tiny = Budget {
        events: 1,
        bytes: 1,
        rows: 1,
    };
    let (found, outcome) = scan(&view, &pages, &viewer(&[]), 9, tiny);
    assert_eq!(found.len(), 90);
    assert!(outcome.drained && !outcome.more);
    assert_eq!(bench.req(&pages, &viewer(&[]), 9).0.len(), 2);
}
