//! Every entry once, after what it names, whatever the order of arrival.

use std::collections::BTreeSet;

use osier_core::{
    EntryHash,
    testing::{Chain, topic},
};
use osier_proto::testing::MemorySource;

use super::*;
use crate::page::Order;

/// Some entries of three authors who name each other's, with ends in a random order of arrival.
fn tangle(seed: u64, count: usize) -> Vec<Verified<Entry>> {
    let mut state = seed;
    let mut draw = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut chains = [Chain::new(1), Chain::new(2), Chain::new(3)];
    let mut entries: Vec<Verified<Entry>> = Vec::new();
    for _ in 0..count {
        let mut deps: Vec<EntryHash> = Vec::new();
        if !entries.is_empty() && draw(2) == 0 {
            deps.push(entries[draw(entries.len())].hash());
        }
        let author = draw(3);
        entries.push(chains[author].next_with(b"x", deps));
    }
    for at in (1..entries.len()).rev() {
        entries.swap(at, draw(at + 1));
    }
    entries
}

fn next_page(source: &MemorySource, after: CausalMark, limit: usize) -> (Page, CausalMark) {
    // A mark travels as text.
    let after = after.to_string().parse().unwrap();
    let page = page(&source.snapshot(topic()), after, limit).unwrap();
    assert!(page.entries.len() <= limit);
    let Order::Causal { after } = page.next else {
        panic!("another order");
    };
    (page, after)
}

fn read_on(
    source: &MemorySource,
    mut mark: CausalMark,
    limit: usize,
) -> (Vec<Verified<Entry>>, CausalMark) {
    let mut all = Vec::new();
    loop {
        let (page, next) = next_page(source, mark, limit);
        mark = next;
        all.extend(page.entries.into_iter().map(|(_, entry)| entry));
        if page.done {
            return (all, mark);
        }
    }
}

fn assert_causal(read: &[Verified<Entry>], held: &BTreeSet<EntryHash>) {
    let mut shown = BTreeSet::new();
    for entry in read {
        for link in entry.header().links().filter(|link| held.contains(link)) {
            assert!(shown.contains(&link), "an entry came before what it names");
        }
        assert!(shown.insert(entry.hash()), "an entry came twice");
    }
    assert_eq!(&shown, held, "an entry was left out");
}

#[test]
fn every_entry_once_and_after_what_it_names() {
    for seed in 0..30 {
        let entries = tangle(seed, 60);
        // Some are not held: what names them waits for nobody.
        let source = MemorySource::with(1, entries.iter().skip(usize::try_from(seed % 5).unwrap()));
        let limit = usize::try_from(seed % 7).unwrap() + 1;
        let (read, _) = read_on(&source, CausalMark::START, limit);
        assert_causal(&read, &source.hashes(topic()));
    }
}

#[test]
fn what_arrives_meanwhile_comes_after() {
    for seed in 0..20 {
        let entries = tangle(seed, 60);
        let (before, later) = entries.split_at(40);
        let source = MemorySource::with(1, before);
        let (first, mark) = next_page(&source, CausalMark::START, 7);
        for entry in later {
            source.insert(entry);
        }
        let (rest, mark) = read_on(&source, mark, 7);
        let mut seen = BTreeSet::new();
        let first = first.entries.into_iter().map(|(_, entry)| entry);
        for entry in first.chain(rest) {
            assert!(seen.insert(entry.hash()), "an entry came twice");
        }
        assert_eq!(seen, source.hashes(topic()));
        let (nothing, again) = next_page(&source, mark, 7);
        assert!(nothing.done && nothing.entries.is_empty());
        assert_eq!(again, mark);
    }
}

#[test]
fn pruning_under_a_listing_is_said() {
    let mut chain = Chain::new(1);
    let entries: Vec<_> = (0..9).map(|_| chain.next(b"x")).collect();
    // The third waits for the second, which comes last.
    let order = [0, 2, 3, 4, 5, 6, 7, 8, 1];
    let source = MemorySource::with(1, order.iter().map(|at| &entries[*at]));
    let (page, mark) = next_page(&source, CausalMark::START, 1);
    assert_eq!(page.entries[0].1.hash(), entries[0].hash());
    let (_, waits) = next_page(&source, mark, 1);
    source.prune(topic(), entries[4].order_key());
    let view = source.snapshot(topic());
    assert!(matches!(
        super::page(&view, waits, 1),
        Err(Error::Causal(_))
    ));
}

#[test]
fn other_texts_are_no_marks() {
    for text in [
        "",
        "1",
        "1-0-2-3-0",
        "5-0-0-4-0",
        "a-0-0-0-0",
        "0-0-0-0-0-0",
    ] {
        assert!(text.parse::<CausalMark>().is_err(), "{text}");
    }
}
