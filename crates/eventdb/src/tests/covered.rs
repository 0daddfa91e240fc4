//! What was read of other relays.

use osier_core::testing::topic;
use osier_nostr::{Coverage, Span, testing};
use osier_store::testing::SimDisk;

use super::support::{Bench, filter, seconds};
use crate::{CoveredKey, Settings};

const RELAY: &str = "wss://relay.example";

fn span(since: u64, until: u64) -> Span {
    Span::between(seconds(since), seconds(until)).unwrap()
}

fn key(text: &str) -> CoveredKey {
    CoveredKey::new(RELAY, &topic(), &filter(text), None)
}

/// NOS-73, NOS-101: what is noted is there after the store was closed, under its own name only.
#[test]
fn what_was_read_is_remembered() {
    let disk = SimDisk::new();
    let bench = Bench::on(&disk, Settings::default());
    let (notes, all) = (key(r#"{"kinds":[1]}"#), key("{}"));
    assert_eq!(bench.index.coverage(notes).unwrap(), Coverage::none());
    bench.index.cover(&[notes, all], span(10, 20)).unwrap();
    bench.index.cover(&[notes], span(40, 50)).unwrap();
    bench.index.cover(&[notes], span(21, 30)).unwrap();
    drop(bench);
    let bench = Bench::on(&disk, Settings::default());
    let spans = |key| bench.index.coverage(key).unwrap().spans().to_vec();
    assert_eq!(spans(notes), [span(10, 30), span(40, 50)]);
    assert_eq!(spans(all), [span(10, 20)]);
    let same = key(r#"{"kinds":[1],"since":3,"until":9,"limit":5}"#);
    assert_eq!(same, notes, "times take no part");
    let of = |relay, who| CoveredKey::new(relay, &topic(), &filter(r#"{"kinds":[1]}"#), who);
    assert_eq!(of(RELAY, None), notes);
    assert_ne!(of(RELAY, Some(testing::pubkey(1))), notes, "as whom");
    assert_ne!(of("wss://b.example", None), notes);
    bench.check();
}
