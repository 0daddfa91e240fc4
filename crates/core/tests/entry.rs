//! Entries as a whole: what is signed comes back equal, what is bent is told (`ENT-1` to `ENT-9`).

use bytes::Bytes;
use osier_core::{
    DropReason, Duration, Entry, EntryDraft, EntryHash, Instant, Item, KeyCache, Kind, OrderKey,
    Seq, SignedEntry, Timestamp, TopicId, Verified, WireEntry, decode_canonical, encode_canonical,
    limit,
    testing::{Chain, secret},
};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Option<SignedEntry> {
    let wire: WireEntry = decode_canonical("entry", bytes, limit::ENTRY_WIRE_BYTES_MAX).ok()?;
    SignedEntry::parse(wire).ok()
}

fn position() -> impl Strategy<Value = (Seq, Option<EntryHash>)> {
    let later = (2..=u64::MAX, any::<[u8; 32]>());
    prop_oneof![
        Just((Seq::FIRST, None)),
        later.prop_map(|(seq, prev)| {
            let seq = Seq::new(seq).expect("not 0");
            (seq, Some(EntryHash::from_bytes(prev)))
        }),
    ]
}

prop_compose! {
    fn draft()(
        topic in any::<[u8; 32]>(),
        (seq, prev) in position(),
        deps in prop::collection::vec(any::<[u8; 32]>(), 0..80),
        time in any::<u64>(),
        kind in any::<u16>(),
        items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20),
    ) -> EntryDraft {
        EntryDraft {
            topic: TopicId::from_bytes(topic),
            seq,
            prev,
            deps: deps.into_iter().map(EntryHash::from_bytes).collect(),
            time: Timestamp::from_millis(time),
            kind: Kind::from_u16(kind),
            items: items.into_iter().map(Bytes::from).collect(),
        }
    }
}

proptest! {
    /// Any legal draft signs, encodes, is read again equal, and verifies.
    #[test]
    fn a_signed_draft_comes_back_equal(draft in draft(), author in 0..9_u64) {
        let made = draft.sign(&secret(author)).expect("a legal draft");
        let bytes = encode_canonical(&made.to_wire());
        let read = read(&bytes).expect("own entries parse");
        prop_assert_eq!(read.hash(), made.hash());
        let read = read.verify(&mut KeyCache::new()).expect("own entries verify");
        prop_assert_eq!(&read, &made);
        prop_assert_eq!(read.signer(), secret(author).node_id());
        prop_assert!(read.header().deps().len() <= limit::ENTRY_DEPS_MAX);
    }

    /// Dropping any items changes neither hash nor authenticity (ENT-7).
    #[test]
    fn dropped_items_leave_the_entry_what_it_is(draft in draft(), drop in any::<u32>()) {
        let made = draft.sign(&secret(1)).expect("a legal draft");
        let items = made.items().iter().enumerate().map(|(at, item)| match item {
            Item::Held(_) if drop >> at & 3 == 3 => item.gone(DropReason::Replaced),
            Item::Held(_) if drop >> at & 1 == 1 => Item::Dropped(item.hash()),
            held => held.clone(),
        });
        let left =
            WireEntry::from_parts(made.header_bytes().clone(), &made.signature(), items.collect());
        let read = read(&encode_canonical(&left)).expect("form is kept");
        prop_assert_eq!(read.hash(), made.hash());
        prop_assert!(read.verify(&mut KeyCache::new()).is_ok());
    }

    /// Whatever the bytes, reading ends, and what is read is written again the same.
    #[test]
    fn noise_is_refused_or_canonical(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Some(entry) = read(&bytes) {
            prop_assert_eq!(encode_canonical(&entry.trust_stored().to_wire()), bytes);
        }
    }
}

/// Every bit of an entry counts: flipped, the entry is refused, or is another that its author did
/// not sign.
#[test]
fn every_flipped_bit_is_refused_or_changes_the_hash() {
    let mut chain = Chain::new(1);
    chain.next(b"first");
    let made = chain.next_with(b"second", vec![EntryHash::from_bytes([4; 32])]);
    let bytes = encode_canonical(&made.to_wire());
    for bit in 0..bytes.len() * 8 {
        let mut bent = bytes.clone();
        bent[bit / 8] ^= 1 << (bit % 8);
        if let Some(entry) = read(&bent) {
            assert_ne!(entry.hash(), made.hash(), "bit {bit}");
            assert!(entry.verify(&mut KeyCache::new()).is_err(), "bit {bit}");
        }
    }
}

fn sized(items: usize, bytes: usize) -> Result<Verified<Entry>, String> {
    let draft = EntryDraft {
        topic: TopicId::MIN,
        seq: Seq::FIRST,
        prev: None,
        deps: Vec::new(),
        time: Timestamp::default(),
        kind: Kind::APPLICATION,
        items: vec![Bytes::from(vec![1; bytes]); items],
    };
    draft.sign(&secret(1)).map_err(|error| error.to_string())
}

/// The bounds are exact, and the largest entry fits its frame.
#[test]
fn limits_hold_to_the_item_and_the_byte() {
    let mib = limit::ENTRY_BODY_BYTES_MAX;
    let largest = sized(256, mib / 256).expect("both bounds at once");
    let bytes = encode_canonical(&largest.to_wire());
    assert!(bytes.len() <= limit::ENTRY_WIRE_BYTES_MAX);
    assert!(read(&bytes).is_some());
    assert!(sized(1, mib).is_ok());
    assert!(sized(1, mib + 1).unwrap_err().contains("ENT-6"));
    assert!(sized(257, 1).unwrap_err().contains("ENT-5"));
    assert!(sized(0, 0).unwrap_err().contains("ENT-5"));
    assert!(
        sized(70_000, 0).unwrap_err().contains("ENT-5"),
        "more than the field can say"
    );
}

/// More items than the bound are not even made: two bytes each would fill memory.
#[test]
fn a_flood_of_items_is_refused_while_it_is_read() {
    let items = vec![Item::Held(Bytes::new()); 257];
    let wire = WireEntry::from_parts(Bytes::new(), &[0; 64], items);
    let refused = decode_canonical::<WireEntry>("entry", &encode_canonical(&wire), 4096);
    assert!(refused.is_err());
}

/// ENT-9: no stamp is refused, whatever the clock it came from (a clock before 1970 stamps 0).
#[test]
fn no_clock_makes_an_entry_invalid_or_stops_the_next() {
    let mut chain = Chain::new(1);
    let mut keys = KeyCache::new();
    let mut orders = Vec::new();
    for time in [u64::MAX, 0, 1, u64::MAX - 1, 1_700_000_000_000] {
        let entry = chain
            .at(time)
            .signed(b"x")
            .verify(&mut keys)
            .expect("whatever the clock");
        assert_eq!(entry.header().time().as_millis(), time);
        orders.push(entry.order_key());
    }
    orders.sort_unstable();
    let times: Vec<u64> = orders.iter().map(|key| key.time.as_millis()).collect();
    let last = u64::MAX - 1;
    assert_eq!(
        times,
        [0, 1, 1_700_000_000_000, last, last],
        "ENT-13: the end is kept free"
    );
    assert_eq!(OrderKey::TIME_MAX.as_millis(), last);
}

/// Spans and instants stop at the ends of their numbers.
#[test]
fn times_at_the_ends_do_not_overflow() {
    let end = Instant::from_nanos(u64::MAX);
    assert_eq!(end.after(Duration::from_secs(u64::MAX)), end);
    assert_eq!(Instant::START.since(end), Duration::ZERO);
    assert_eq!(
        Duration::from_millis(u64::MAX).times(u64::MAX).as_nanos(),
        u64::MAX
    );
    assert_eq!(Seq::new(u64::MAX).and_then(Seq::next), None);
}
