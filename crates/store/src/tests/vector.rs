//! Golden vectors of keys and rows: `specs/vectors/store.json` (`STO-2`, `STO-3`).

use std::{fs, path::PathBuf};

use data_encoding::HEXLOWER;
use osier_core::{
    Cut, DropReason, EntryHash, NodeId, OrderKey, Role, Seq, SetSum, SignedEntry, StateHash,
    Timestamp, WireEntry,
    testing::{Chain, secret},
};
use osier_proto::Lsn;
use osier_reconcile::{Sum, Summary};
use serde_json::{Value, json};

use crate::{
    Retention, TopicRecord, TrustRow,
    frontier_tree::{Leaf, rows_of},
    key::{self, AuthorNo, TopicNo},
    log, row, trust,
    waiting::Share,
    writer::Writer,
};

const NO: TopicNo = TopicNo(7);
const AUTHOR: AuthorNo = AuthorNo(9);
const LSN: Lsn = Lsn::new(0x0102_0304_0506_0708);

fn hash(n: u8) -> EntryHash {
    EntryHash::from_bytes([n; 32])
}

fn place(time: u64) -> OrderKey {
    OrderKey {
        time: Timestamp::from_millis(time),
        hash: hash(0xab),
    }
}

fn seq(n: u64) -> Seq {
    Seq::new(n).unwrap()
}

fn hex(bytes: &[u8]) -> Value {
    HEXLOWER.encode(bytes).into()
}

fn keys() -> Value {
    let node = NodeId::from_bytes([0xcd; 32]);
    json!({
        "topic": hex(&key::topic(NO)),
        "log": hex(&key::log(NO, LSN)),
        "body": hex(&key::body(NO, LSN, 3)),
        "by_hash": hex(&key::by_hash(NO, &hash(0xab), LSN)),
        "chain": hex(&key::chain(NO, AUTHOR, 5, LSN)),
        "order": hex(&key::order(NO, &place(1_700_000_000_000))),
        "order, time past the end": hex(&key::order(NO, &place(u64::MAX))),
        "head, token, trust, writer, waiting_share": hex(&key::node(NO, &node)),
        "control": hex(&key::control(NO, seq(5), &hash(0xab))),
        "tip": hex(&key::tip(NO, AUTHOR, seq(5), &hash(0xab))),
        "hole": hex(&key::hole(NO, &hash(0xab))),
        "awaited": hex(&key::awaited(NO, &hash(0xab), &node)),
        "frontier": hex(&key::frontier(NO, 2, &[0x12; 32])),
        "waiting": hex(&key::waiting(NO, &node, 5, &hash(0xab))),
        "spare": hex(&key::spare(NO, AUTHOR)),
    })
}

fn point(floor: Option<OrderKey>) -> row::Point {
    row::Point {
        last: Lsn::new(12),
        set: SetSum::from_parts(3, [1; 32]),
        state: StateHash::from_bytes([2; 32]),
        authors: 4,
        holes: 5,
        hole_rows: 6,
        pruned: 7,
        version: 8,
        floor,
    }
}

fn head(fork: bool) -> row::HeadRow {
    let fork = fork.then(|| row::Fork {
        seq: seq(2),
        first: hash(1),
        second: hash(2),
    });
    let tips = vec![(seq(2), hash(1)), (seq(3), hash(4))];
    row::HeadRow {
        number: AUTHOR,
        max_seq: 3,
        dropped_seq: 1,
        overflow: 0,
        fork,
        tips,
    }
}

fn writer(cut: Option<Cut>) -> Writer {
    Writer {
        word: (3, hash(2)),
        cut,
        far: (6, hash(7)),
    }
}

fn share() -> Share {
    Share {
        entries: 2,
        bytes: 300,
        missed: true,
    }
}

fn without_item() -> Vec<u8> {
    let entry = Chain::new(1).next(b"body");
    let items = vec![entry.items()[0].gone(DropReason::Expired)];
    let header = entry.header_bytes().clone();
    let wire = WireEntry::from_parts(header, &entry.signature(), items);
    let left = SignedEntry::parse(wire).expect("an entry").trust_stored();
    let mut row = Vec::new();
    assert!(!log::encode(&left, &mut row));
    let read = log::decode(&row, &|_| Ok(None)).expect("a row");
    assert_eq!(read, left.to_wire());
    row
}

fn rows() -> Value {
    let mut small = Vec::new();
    let mut large = Vec::new();
    assert!(!log::encode(&Chain::new(1).next(b"body"), &mut small));
    assert!(log::encode(
        &Chain::new(1).next(&vec![7; log::INLINE_BODY_BYTES_MAX + 1]),
        &mut large
    ));
    let leaf = |n: u8| Leaf {
        author: NodeId::from_bytes([n; 32]),
        hash: [n; 32],
        new: true,
    };
    let branches = rows_of(NO, &[leaf(0x11), leaf(0x12), leaf(0x21)]);
    let branches: Vec<Value> = branches
        .iter()
        .map(|(key, row)| json!({ "key": hex(key), "row": hex(row) }))
        .collect();
    let chunk = Summary {
        count: 300,
        sum: Sum::from_le_bytes(&[9; 32]),
    };
    let hole = row::HoleRow {
        refs: 2,
        since: Lsn::new(3),
        boundary: true,
    };
    let node = secret(1).node_id();
    let record = TopicRecord {
        ticket: vec![1, 2],
        role: Role::Replay,
        retention: Retention::Newest { entries: 1000 },
        policy: vec![3],
    };
    json!({
        "point, complete": hex(&point(None).encode()),
        "point, ring": hex(&point(Some(place(5))).encode()),
        "log": hex(&small),
        "log, body apart": hex(&large),
        "log, its item gone": hex(&without_item()),
        "head": hex(&head(false).encode()),
        "head, forked": hex(&head(true).encode()),
        "chunk": hex(&row::encode_chunk(&chunk)),
        "hole": hex(&hole.encode()),
        "trust": hex(&trust::encode(&TrustRow { node, rank: 2, role: Role::Peer })),
        "writer, granted": hex(&writer(None).encode()),
        "writer, revoked": hex(&writer(Some(Cut::from_parts(4, hash(5)))).encode()),
        "waiting_share": hex(&share().encode()),
        "topic": hex(&osier_core::encode_canonical(&(1_u8, record))),
        "frontier": branches,
    })
}

#[test]
fn vectors_of_keys_and_rows() {
    let made = json!({
        "about": [
            "Keys and rows of the store (specs/06-store.md), in hex.",
            "Topic number 7, author number 9, lsn 0x0102030405060708, seq 5; hashes repeat a byte."
        ],
        "keys": keys(),
        "rows": rows(),
    });
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../specs/vectors/store.json");
    if std::env::var_os("OSIER_BLESS").is_some() {
        let text = serde_json::to_string_pretty(&made).unwrap();
        return fs::write(&path, text + "\n").unwrap();
    }
    let read: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(read, made, "an encoding on disk has changed");
}

/// Rows come back as they were, and not with a byte less or more.
#[test]
fn rows_return_and_cut_rows_are_refused() {
    for floor in [None, Some(place(5))] {
        assert_eq!(
            row::Point::decode(&point(floor).encode()).unwrap(),
            point(floor)
        );
    }
    for fork in [false, true] {
        let bytes = head(fork).encode();
        assert_eq!(row::HeadRow::decode(&bytes).unwrap(), head(fork));
        for length in 0..bytes.len() {
            assert!(row::HeadRow::decode(&bytes[..length]).is_err());
        }
        assert!(row::HeadRow::decode(&[&bytes[..], &[0]].concat()).is_err());
    }
    for cut in [None, Some(Cut::from_parts(4, hash(5)))] {
        let mut bytes = writer(cut).encode();
        assert_eq!(Writer::decode(&bytes).unwrap(), writer(cut));
        bytes[0] = 2;
        assert!(Writer::decode(&bytes).is_err());
    }
    let mut bytes = share().encode();
    assert_eq!(Share::decode(&bytes).unwrap(), share());
    bytes[12] = 2;
    assert!(Share::decode(&bytes).is_err());
    let entry = Chain::new(1).next(b"body");
    let mut bytes = Vec::new();
    log::encode(&entry, &mut bytes);
    assert_eq!(log::decode(&bytes, &|_| Ok(None)).unwrap(), entry.to_wire());
    assert_eq!(log::hash(&bytes).unwrap(), entry.hash());
    for length in 0..bytes.len() {
        assert!(log::decode(&bytes[..length], &|_| Ok(None)).is_err());
    }
}
