//! The index answers like the slow relay in memory, whatever came, in whatever order.

use std::collections::BTreeSet;

use osier_core::{TopicId, testing::topic};
use osier_nostr::{CanonicalQuestion, Event, EventId, Fanout, Filter, Page, testing::Oracle};
use osier_store::{Lsn, Storage, VectorStorage, testing::SimDisk};
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseResult, TestRunner},
};

use super::{
    generate::{TIMES, arrange, arrival, filter_draft, history, page},
    support::{Bench, author, dump, filter, scan, seconds, viewer},
};
use crate::{Budget, Settings};

/// Events of a history, where there are some histories, and where there are ten thousand.
const MOST: usize = 24;
const FEW: usize = 16;

/// Random histories of what is promised; of the rest, some.
const CASES: u32 = 10_000;
const SOME_CASES: u32 = 1_700;

/// A property as so many tests, each with its share of the cases: every history has a store of its
/// own, and side by side they use all cores.
macro_rules! in_shares {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($pattern:pat in $strategy:expr),+ $(,)?) $body:block
    )+) => {
        $($(#[$doc])* mod $name {
            use super::*;

            const SHARES: u32 = 10;

            fn share() {
                let all = ($($strategy,)+);
                let mut runner = TestRunner::new(cases(CASES / SHARES));
                let ran = runner.run(&all, |($($pattern,)+)| -> TestCaseResult { $body; Ok(()) });
                assert!(ran.is_ok(), "{}\n{runner}", ran.unwrap_err());
            }

            in_shares!(one two three four five six seven eight nine ten);
        })+
    };
    ($($share:ident)+) => { $(#[test] fn $share() { share(); })+ };
}

fn cases(least: u32) -> Config {
    let mut config = Config::default();
    config.cases = config.cases.max(least);
    config
}

/// A set for `{}`, one for a kind, one for an author, one for a tag.
fn settings() -> Settings {
    let by_author = format!(r#"{{"authors":["{}"],"kinds":[1,7]}}"#, author(1));
    let texts = [r#"{"kinds":[1]}"#, &by_author, r##"{"#t":["1","0"]}"##];
    // Counts are kept of whatever is there twice.
    Settings {
        compared: texts.map(filter).into(),
        kept_events_min: 2,
        ..Settings::default()
    }
}

fn items(storage: &impl Storage<Error = impl std::fmt::Debug>) -> Vec<osier_store::Item> {
    let mut items = Vec::new();
    let all = 0..storage.len().unwrap();
    storage.items(all, &mut |item| items.push(item)).unwrap();
    items
}

/// A storage answers like the sorted vector of what it should hold.
fn same_storage(
    storage: &impl Storage<Error = impl std::fmt::Debug>,
    right: &VectorStorage,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(items(storage), right.as_slice());
    let length = right.as_slice().len() as u64;
    for start in 0..=length {
        for end in start..=length {
            let found = storage.summary(start..end).unwrap();
            prop_assert_eq!(found, right.summary(start..end).unwrap());
        }
        if start < length {
            prop_assert_eq!(storage.at(start).unwrap(), right.at(start).unwrap());
            let mut some = Vec::new();
            storage
                .items(start..length, &mut |item| some.push(item))
                .unwrap();
            prop_assert_eq!(
                &some[..],
                &right.as_slice()[usize::try_from(start).unwrap()..]
            );
        }
    }
    for time in 0..TIMES {
        let bound = osier_store::Bound::at_time(time);
        prop_assert_eq!(storage.rank(&bound).unwrap(), right.rank(&bound).unwrap());
    }
    Ok(())
}

/// The questions of NIP-45, and those of one author, kind or tag, are counted right.
fn same_questions(bench: &Bench, events: &[Event]) -> Result<(), TestCaseError> {
    let (view, nobody) = (bench.view(), viewer(&[]));
    let ids = events.iter().take(4).map(|event| event.id().to_string());
    for value in ids.chain((0..4).map(|n| author(n).to_string())) {
        let questions = CanonicalQuestion::ALL.map(|question| question.filter_text(&value));
        let single = [
            format!(r##"{{"#p":["{value}"]}}"##),
            format!(r##"{{"#e":["{value}"]}}"##),
            format!(r#"{{"authors":["{value}"]}}"#),
            r#"{"kinds":[1]}"#.to_owned(),
        ];
        for text in questions.iter().chain(&single) {
            let asked = [filter(text)];
            for now in [0, 12] {
                let found = view.count(&asked, &nobody, seconds(now)).unwrap().count;
                prop_assert_eq!(
                    found,
                    bench.oracle.count(&asked, &nobody, seconds(now)),
                    "{}",
                    text
                );
            }
        }
    }
    Ok(())
}

in_shares! {
    /// NOS-16, NOS-27, NOS-109: every plan gives what a walk over all events gives, in order, with
    /// the same end, however the reading is cut into chunks.
    fn a_plan_is_the_full_scan(
        events in history(FEW), arrival in arrival(FEW),
        requests in prop::collection::vec(
            (prop::collection::vec(filter_draft(), 1..3), prop::collection::vec(0_u8..4, 0..2),
             1_u64..9, 4_u64..22, 1_usize..9, 1_usize..30), 3),
    ) {
        let mut bench = Bench::with(settings());
        for entry in arrange(&events, &arrival) {
            bench.commit(&entry);
        }
        let view = bench.view();
        for (drafts, keys, cap, now, step, rows) in requests {
            let viewer = viewer(&keys);
            let pages: Vec<Page> =
                drafts.iter().map(|draft| page(&draft.build(&events), cap)).collect();
            let budget = Budget { events: step, bytes: 400 * step, rows };
            let (found, outcome) = scan(&view, &pages, &viewer, now, budget);
            let right = bench.oracle.answer(&pages, &viewer, seconds(now));
            prop_assert_eq!(&found, &right.events, "{:?}", pages);
            prop_assert_eq!(outcome.drained, right.drained, "{:?}", pages);
            prop_assert_eq!(outcome.more, !right.drained, "{:?}", pages);
        }
    }

    /// NOS-67, NOS-110: a count is what a request without bounds would get, and its sketch is that
    /// of who signed it.
    fn a_count_is_what_a_request_gets(
        events in history(FEW), arrival in arrival(FEW),
        requests in prop::collection::vec(
            (prop::collection::vec(filter_draft(), 1..4), prop::collection::vec(0_u8..4, 0..2),
             4_u64..22), 3),
        kept_events_min in prop::sample::select(vec![2, 2048]),
    ) {
        let mut bench = Bench::with(Settings { kept_events_min, ..settings() });
        for entry in arrange(&events, &arrival) {
            bench.commit(&entry);
        }
        let view = bench.view();
        for (drafts, keys, now) in requests {
            let viewer = viewer(&keys);
            let filters: Vec<Filter> = drafts.iter().map(|draft| draft.build(&events)).collect();
            let answer = view.count(&filters, &viewer, seconds(now)).unwrap();
            let right = bench.oracle.count(&filters, &viewer, seconds(now));
            prop_assert_eq!(answer.count, right, "{:?}", filters);
            let pages: Vec<Page> = filters.iter().map(|filter| page(filter, u64::MAX)).collect();
            let (found, _) = scan(&view, &pages, &viewer, now, Budget::default());
            prop_assert_eq!(found.len() as u64, right, "{:?}", filters);
            let rule = view.inner().db.settings().hll_rule;
            let offset = match &filters[..] {
                [one] if one.limit().is_none() && !one.tags().is_empty() => rule.offset(one),
                _ => None,
            };
            let sketch = offset.map(|offset| {
                let mut sketch = osier_nostr::Sketch::empty();
                for event in &found {
                    rule.add(&mut sketch, offset, &event.pubkey());
                }
                sketch
            });
            // A kept one may also know of what has gone.
            let both = sketch.clone().zip(answer.sketch.clone()).map(|(mut both, found)| {
                both.merge(&found);
                both
            });
            prop_assert_eq!(&answer.sketch, &both);
            prop_assert!(kept_events_min == 2 || answer.sketch == sketch);
        }
        same_questions(&bench, &events)?;
    }

    /// NOS-10, NOS-108: who was subscribed from the start has been told once of every event that a
    /// request finds now, and of nothing else but what has been hidden since.
    fn stored_is_live(
        events in history(FEW), arrival in arrival(FEW),
        requests in prop::collection::vec(
            (prop::collection::vec(filter_draft(), 1..3), prop::collection::vec(0_u8..4, 0..2)), 3),
        now in 4_u64..22,
    ) {
        let mut bench = Bench::new();
        let (mut fanout, mut asked) = (Fanout::new(), Vec::new());
        for (at, (drafts, keys)) in requests.iter().enumerate() {
            let filters = drafts.iter().map(|draft| draft.build(&events).with_limit(None));
            let filters: Vec<Filter> = filters.collect();
            fanout.insert(at, filters.iter().cloned());
            asked.push((filters, viewer(keys)));
        }
        let mut told: Vec<Vec<Event>> = vec![Vec::new(); asked.len()];
        for (entry, lsn) in arrange(&events, &arrival).into_iter().zip(1..) {
            bench.commit(&entry);
            let fresh = bench.index.fresh(topic(), Lsn::new(lsn), seconds(now));
            for event in fresh.unwrap().unwrap().events {
                for at in fanout.matching(&event) {
                    if asked[at].1.sees(&event) {
                        told[at].push(event.clone());
                    }
                }
            }
        }
        let view = bench.view();
        for ((filters, viewer), mut told) in asked.into_iter().zip(told) {
            let pages: Vec<Page> = filters.iter().map(|filter| page(filter, u64::MAX)).collect();
            let (found, _) = scan(&view, &pages, &viewer, now, Budget::default());
            let found: BTreeSet<EventId> = found.iter().map(Event::id).collect();
            let count = told.len();
            told.retain(|event| bench.oracle.fate(event, seconds(now)).is_none());
            let live: BTreeSet<EventId> = told.iter().map(Event::id).collect();
            prop_assert_eq!(live.len(), told.len(), "each once, of {}", count);
            prop_assert_eq!(&live, &found, "{:?}", filters);
        }
    }

    /// NOS-29, NOS-104: deletions, replacements, expirations and requests to vanish converge: the
    /// index is a function of the set of events, however they came, in however many topics, and
    /// agrees with the log. What was fanned out as fresh came once.
    fn any_order_of_arrival_gives_the_same_index(
        events in history(FEW), one in arrival(FEW), two in arrival(FEW), three in arrival(FEW),
        purge in any::<bool>(),
    ) {
        let mut first = Bench::with(settings());
        let mut told: Vec<EventId> = Vec::new();
        for (entry, lsn) in arrange(&events, &one).into_iter().zip(1..) {
            first.commit(&entry);
            let fresh = first.fresh(lsn, 0);
            prop_assert!(fresh.iter().all(|id| entry.iter().any(|event| event.id() == *id)));
            told.extend(fresh);
        }
        told.sort_unstable();
        let length = told.len();
        told.dedup();
        prop_assert_eq!(told.len(), length, "each once");
        let mut second = Bench::with(settings());
        for entry in arrange(&events, &two) {
            second.commit(&entry);
        }
        // In two topics, from a disk, and purged between two entries.
        let disk = SimDisk::new();
        let mut third = Bench::on(&disk, settings());
        for (at, entry) in arrange(&events, &three).into_iter().enumerate() {
            let place = TopicId::from_bytes([u8::from(at % 2 == 0); 32]);
            third.commit_in(place, &entry);
            if purge && at == 2 {
                third.index.purge(seconds(12)).unwrap();
            }
        }
        if purge {
            for bench in [&first, &second, &third] {
                bench.index.purge(seconds(12)).unwrap();
            }
        }
        for bench in [&first, &second, &third] {
            let shown = bench.ids("{}", &viewer(&[0, 1, 2, 3]), 12);
            let everything = filter("{}");
            let right = bench.oracle.matching(&everything, &viewer(&[0, 1, 2, 3]), seconds(12));
            let right: Vec<EventId> = right.into_iter().map(Event::id).collect();
            prop_assert_eq!(shown, right);
        }
        // Places depend on the log; all else on the set.
        let without_places = |bench: &Bench| {
            let mut dump = dump(&bench.view());
            dump.remove("copy");
            let events = dump.get_mut("event").unwrap();
            for (_, row) in events.iter_mut() {
                row.truncate(15);
            }
            dump
        };
        prop_assert_eq!(without_places(&first), without_places(&second));
        prop_assert_eq!(without_places(&first), without_places(&third));
        first.check();
    }
}

proptest! {
    #![proptest_config(cases(SOME_CASES))]

    /// NOS-80, NOS-105: what is compared is what matches and may be seen, whether it is gathered or
    /// read from a set.
    #[test]
    fn records_are_what_can_be_fetched(
        events in history(MOST), arrival in arrival(MOST),
        requests in prop::collection::vec(
            (filter_draft(), 0_u8..6, prop::collection::vec(0_u8..4, 0..2), 4_u64..22), 6),
    ) {
        let settings = settings();
        let compared = settings.compared.clone();
        let mut bench = Bench::with(settings);
        for entry in arrange(&events, &arrival) {
            bench.commit(&entry);
        }
        let view = bench.view();
        for (draft, shape, keys, now) in requests {
            let viewer = viewer(&keys);
            let any = draft.build(&events);
            let filter = match (shape, compared.get(usize::from(shape))) {
                (3, _) => Filter::default(),
                (_, Some(own)) => own.clone(),
                _ => any.clone(),
            };
            let filter = filter.with_since(any.since()).with_until(any.until());
            let right = bench.oracle.records(&filter, &viewer, seconds(now));
            let found = view.records(&filter, &viewer, seconds(now), 1000).unwrap();
            same_storage(&found, &right)?;
            if right.as_slice().len() > 2 {
                let few = view.records(&filter, &viewer, seconds(now), 2).unwrap();
                prop_assert!(few.len().unwrap() > 2, "never cut to what is allowed");
            }
        }
    }

    /// NOS-100: what is built from the log is what was built as it came.
    #[test]
    fn a_rebuilt_index_is_the_same(events in history(MOST), arrival in arrival(MOST)) {
        let mut bench = Bench::with(settings());
        for entry in arrange(&events, &arrival) {
            bench.commit(&entry);
        }
        let before = dump(&bench.view());
        bench.vouch_again();
        // Looked at ahead of the transaction, then in it.
        bench.index.rebuild(&mut |_, _| {}).unwrap();
        prop_assert_eq!(dump(&bench.view()), before);
        bench.check();
    }

    /// NOS-32: a publisher is told what the oracle says, and admitted events are shown.
    #[test]
    fn admission_is_that_of_the_oracle(
        events in history(MOST), arrival in arrival(MOST), now in 4_u64..22,
    ) {
        let mut bench = Bench::new();
        let entries = arrange(&events, &arrival);
        let (known, asked) = entries.split_at(entries.len() / 2);
        for entry in known {
            bench.commit(entry);
        }
        let view = bench.view();
        let oracle: &Oracle = &bench.oracle;
        for event in asked.iter().flatten() {
            let answer = view.admit(event, seconds(now)).unwrap().answer();
            let right = oracle.clone().publish(event, seconds(now));
            let expected = Some(right).filter(|it| *it != osier_nostr::Published::Stored);
            prop_assert_eq!(answer, expected);
        }
    }
}
