//! Golden vectors of keys and rows: `specs/vectors/nostr-index.json` (`NOS-101`).

use std::{fs, path::PathBuf};

use data_encoding::HEXLOWER;
use osier_nostr::{
    Address, Commit, EventId, EventKind, Letter, PublicKey, Sketch, nip::nip01::Version,
};
use osier_store::{ItemPlace, Lsn, TopicNo};
use serde_json::{Value, json};

use super::support::{event, seconds};
use crate::{
    key,
    row::{self, EntryRow, EventRow, Expires, FacetRow, SketchRow},
};

const PUBKEY: PublicKey = PublicKey::from_bytes([0xcd; 32]);
const ID: EventId = EventId::from_bytes([0xab; 32]);
const PLACE: ItemPlace = ItemPlace {
    topic: TopicNo::new(3),
    lsn: Lsn::new(0x0102_0304_0506_0708),
    item: 255,
};

fn hex(bytes: &[u8]) -> Value {
    HEXLOWER.encode(bytes).into()
}

fn expires(at: &str) -> Expires {
    Expires::of(&event(1, 1, 1, &[&["expiration", at]], ""))
}

fn facets() -> Value {
    let d = "a:b".into();
    let address = Address {
        kind: EventKind::new(30_000),
        pubkey: PUBKEY,
        d,
    };
    json!({
        "author cd": hex(&key::author(&PUBKEY)),
        "kind 7": hex(&key::kind(EventKind::REACTION)),
        "tag e ab": hex(&key::tag(Letter::E, &ID.to_string())),
        "tag t, empty": hex(&key::tag(Letter::new(b't').unwrap(), "")),
        "involved cd": hex(&key::involved(&PUBKEY)),
        "address 30000 cd a:b": hex(&key::address(&address)),
        "deletion of ab by cd": hex(&key::deletion(&ID, &PUBKEY)),
    })
}

fn keys() -> Value {
    let facet = [0x5a; 16];
    json!({
        "facet": hex(&key::facet(&facet, seconds(1_700_000_000), ID.as_bytes())),
        "expiry": hex(&key::expiry(seconds(1_700_000_000), &ID)),
        "copy": hex(&key::copy(&ID, &PLACE)),
        "entry": hex(&key::entry(PLACE.topic, PLACE.lsn)),
        "sketch, all": hex(&key::sketch(0, &facet)),
        "sketch, followers": hex(&key::sketch(6, &facet)),
    })
}

fn event_row() -> EventRow {
    EventRow {
        time: seconds(1_700_000_000),
        kind: EventKind::REACTION,
        expires: expires("1700000001"),
        place: PLACE,
    }
}

fn facet_row() -> FacetRow {
    FacetRow {
        kind: EventKind::REACTION,
        expires: expires("never"),
        register: 9,
        rank: 4,
    }
}

fn sketch_row() -> SketchRow {
    let mut sketch = Sketch::empty();
    sketch.raise(1, 2);
    SketchRow {
        count: 3,
        lowered: 1,
        sketch,
    }
}

fn rows() -> Value {
    let version = Version {
        created_at: seconds(1_700_000_000),
        id: ID,
    };
    let first = vec![0, 2];
    json!({
        "event": hex(&event_row().encode()),
        "facet": hex(&facet_row().encode()),
        "newest": hex(&row::encode_version(&version)),
        "entry": hex(&EntryRow { commit: Commit(5), first }.encode()),
        "sketch": hex(&sketch_row().encode()),
    })
}

#[test]
fn encodings_are_those_of_the_vectors() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../specs/vectors/nostr-index.json");
    let current = json!({
        "about": "Keys and rows of the event index (specs/07-nostr.md, NOS-101).",
        "facets": facets(),
        "keys": keys(),
        "rows": rows(),
    });
    let text = format!("{}\n", serde_json::to_string_pretty(&current).unwrap());
    if std::env::var_os("OSIER_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn what_is_written_is_read_back() {
    assert_eq!(
        EventRow::decode(&event_row().encode()).unwrap(),
        event_row()
    );
    assert_eq!(FacetRow::decode(&facet_row().encode()), facet_row());
    assert_eq!(SketchRow::decode(&sketch_row().encode()), sketch_row());
    let entry = EntryRow {
        commit: Commit(5),
        first: vec![0, 2],
    };
    assert_eq!(EntryRow::decode(&entry.encode()).unwrap(), entry);
    assert!(EntryRow::decode(&[0; 7]).is_err());
    assert_eq!(key::of_copy(&key::copy(&ID, &PLACE)), PLACE);
    let key = key::facet(&[1; 16], seconds(5), ID.as_bytes());
    assert_eq!(key::of_facet(&key), Some((seconds(5), ID)));
    assert_eq!(key::of_facet(&[0; 56]), None, "a time past the end");
    // 1970 is a time, the last that fits is, and what is later is never.
    assert_eq!(expires("0").get(), Some(seconds(0)));
    assert_eq!(
        expires("1099511627774").get(),
        Some(seconds(1_099_511_627_774))
    );
    assert_eq!(expires("1099511627775").get(), None);
    let mut row = event_row();
    row.expires = expires("1099511627774");
    assert_eq!(EventRow::decode(&row.encode()).unwrap(), row);
}
