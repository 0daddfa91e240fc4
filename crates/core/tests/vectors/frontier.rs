//! State hashes, fingerprints of sets: `frontier.json`.

use osier_core::{AuthorTips, EntryHash, NodeId, Seq, SetSum, StateHash, state_hash};
use serde_json::{Value, json};

use crate::support::{File, hex, unhex};

const ABOUT: &[&str] = &[
    "State hashes (specs/01-entry.md, ENT-14): authors with their tips, each '[seq, hash]'.",
    "numbered: so many authors instead, the n-th of them, from 0, with the id BLAKE3 of n as 4",
    "big-endian bytes and one tip of seq n + 1 whose hash is BLAKE3 of the id.",
    "sums: count and sum of hashes (ENT-12), the sum as 32 little-endian bytes.",
];

/// ENT-12, ENT-14 and ENT-15.
#[test]
fn frontier_vectors_hold() {
    let mut file = File::open("frontier.json", ABOUT);
    file.list("states", states(), &|vector| {
        vector["state_hash"] = json!(state_hash(&authors(vector)).to_string());
    });
    file.list("sums", sums(), &|vector| {
        let hashes = vector["hashes"].as_array().expect("a list");
        let sum: SetSum = hashes.iter().map(entry_hash).collect();
        vector["count"] = json!(sum.count());
        vector["sum"] = hex(sum.sum());
    });
    file.close();
}

/// The tree of two authors, put together by hand.
#[test]
fn a_frontier_vector_is_computed_by_hand() {
    let derive = |context: &str, bytes: &[u8]| blake3::derive_key(context, bytes);
    let leaf = |author: u8, seq: u64| {
        let bytes = [&[author; 32][..], &seq.to_be_bytes(), &[7; 32]].concat();
        derive("osier 2026 frontier leaf v1", &bytes)
    };
    let branch = |children: &[[u8; 32]; 16]| {
        derive("osier 2026 frontier branch v1", children.as_flattened())
    };
    // Ids 0x11 and 0x12 part at their second nibble.
    let mut lower = [[0; 32]; 16];
    lower[1] = leaf(0x11, 1);
    lower[2] = leaf(0x12, 2);
    let mut upper = [[0; 32]; 16];
    upper[1] = branch(&lower);
    let root = [&2_u64.to_be_bytes()[..], &branch(&upper)].concat();
    let expected = StateHash::from_bytes(derive("osier 2026 frontier root v1", &root));
    let tips = |author: u8, seq| AuthorTips {
        author: NodeId::from_bytes([author; 32]),
        tips: vec![(
            Seq::new(seq).expect("not 0"),
            EntryHash::from_bytes([7; 32]),
        )],
    };
    assert_eq!(state_hash(&[tips(0x11, 1), tips(0x12, 2)]), expected);
}

fn authors(vector: &Value) -> Vec<AuthorTips> {
    let mut authors: Vec<_> = match vector["numbered"].as_u64() {
        Some(n) => (0..n).map(numbered).collect(),
        None => listed(&vector["authors"]),
    };
    authors.sort_by_key(|author| author.author);
    authors
}

fn numbered(n: u64) -> AuthorTips {
    let n_bytes = u32::try_from(n).expect("a small number").to_be_bytes();
    let author = *blake3::hash(&n_bytes).as_bytes();
    let tip = *blake3::hash(&author).as_bytes();
    AuthorTips {
        author: NodeId::from_bytes(author),
        tips: vec![(Seq::new(n + 1).expect("not 0"), EntryHash::from_bytes(tip))],
    }
}

fn listed(authors: &Value) -> Vec<AuthorTips> {
    let authors = authors.as_array().expect("a list").iter();
    let author = |author: &Value| AuthorTips {
        author: author["id"].as_str().expect("hex").parse().expect("an id"),
        tips: author["tips"]
            .as_array()
            .expect("a list")
            .iter()
            .map(tip)
            .collect(),
    };
    authors.map(author).collect()
}

fn tip(tip: &Value) -> (Seq, EntryHash) {
    let seq = Seq::new(tip[0].as_u64().expect("a number")).expect("not 0");
    (seq, entry_hash(&tip[1]))
}

fn entry_hash(hash: &Value) -> EntryHash {
    let bytes = unhex(hash.as_str().expect("hex"));
    EntryHash::from_bytes(bytes.try_into().expect("32 bytes"))
}

fn states() -> Vec<Value> {
    let author = |id: [u8; 32], tips: &[(u64, u8)]| {
        let tips = tips.iter().map(|&(seq, n)| json!([seq, hex([n; 32])]));
        json!({ "id": hex(id), "tips": tips.collect::<Value>() })
    };
    let state = |name: &str, authors: &[Value]| json!({ "name": name, "authors": authors });
    let of = |name: &str, n: u32| json!({ "name": name, "numbered": n });
    // Ids that part at their last nibble only: the deepest tree.
    let (mut low, mut high) = ([4; 32], [4; 32]);
    (low[31], high[31]) = (0x40, 0x41);
    vec![
        state("no author", &[]),
        state("one author", &[author([1; 32], &[(1, 7)])]),
        state("one author, a later entry", &[author([1; 32], &[(2, 7)])]),
        state("the greatest seq", &[author([1; 32], &[(u64::MAX, 7)])]),
        state(
            "two authors that part at the first nibble",
            &[author([0x11; 32], &[(1, 7)]), author([0x21; 32], &[(2, 7)])],
        ),
        state(
            "two authors that part at the last nibble",
            &[author(low, &[(1, 7)]), author(high, &[(1, 8)])],
        ),
        state("a fork at one seq", &[author([1; 32], &[(3, 7), (3, 8)])]),
        state(
            "a forked author among others",
            &[
                author([1; 32], &[(1, 7)]),
                author([2; 32], &[(2, 9), (5, 1), (5, 2)]),
                author([0xff; 32], &[(1, 7)]),
            ],
        ),
        of("2 numbered authors", 2),
        of("17 numbered authors", 17),
        of("300 numbered authors", 300),
    ]
}

fn sums() -> Vec<Value> {
    let one = hex({
        let mut one = [0; 32];
        one[0] = 1;
        one
    });
    let all = hex([0xff; 32]);
    vec![
        json!({ "name": "the empty set", "hashes": [] }),
        json!({ "name": "one entry", "hashes": [hex([7; 32])] }),
        json!({ "name": "a carry through every byte", "hashes": [all.clone(), one] }),
        json!({ "name": "past 2^256", "hashes": [all, hex([2; 32])] }),
    ]
}
