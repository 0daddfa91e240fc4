//! The golden vectors, `specs/vectors/reconcile.json`.
//!
//! The file holds inputs and outputs; the outputs are computed here and compared. With
//! `OSIER_BLESS=1` they are written instead.

use std::{fs, ops::Range, path::PathBuf};

use data_encoding::HEXLOWER_PERMISSIVE as HEX;
use osier_reconcile::{Frame, FrameWriter, Id, Item, Opening, Payload, VectorStorage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Engine, Sets, assert_difference, limit, run};

#[test]
fn vectors_hold() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../specs/vectors/reconcile.json");
    #[expect(clippy::disallowed_methods, reason = "a test reads its vectors")]
    let text = fs::read_to_string(&path).expect("the vectors are in the repository");
    let golden: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let mut actual = golden.clone();
    each(&mut actual, "accept", accept);
    each(&mut actual, "reject", reject);
    each(&mut actual, "exchange", exchange);

    if std::env::var_os("OSIER_BLESS").is_some() {
        let text = format!("{actual:#}\n");
        #[expect(clippy::disallowed_methods, reason = "the vectors are to be written")]
        fs::write(&path, text).expect("the vectors can be written");
        return;
    }
    for part in ["accept", "reject", "exchange"] {
        let vectors = actual[part].as_array().expect("a list of vectors");
        for (index, vector) in vectors.iter().enumerate() {
            assert_eq!(*vector, golden[part][index], "{part}: {}", vector["name"]);
        }
    }
}

fn each(vectors: &mut Value, part: &str, compute: fn(&mut Value)) {
    let list = vectors[part].as_array_mut().expect("a list of vectors");
    assert!(!list.is_empty());
    list.iter_mut().for_each(compute);
}

/// What the frame says; it comes out the same when written again.
fn accept(vector: &mut Value) {
    let bytes = bytes(&vector["frame"]);
    let frame = Frame::decode(&bytes);
    let frame = frame.unwrap_or_else(|fault| panic!("{}: {fault}", vector["name"]));
    let mut writer = FrameWriter::new();
    let mut said = Vec::new();
    let mut ranges = frame.ranges();
    while let Some(range) = ranges.next_range().expect("the frame was checked") {
        let upper = range.upper;
        let mut line = json!({ "time": upper.time(), "prefix": HEX.encode(upper.prefix()) });
        match range.payload {
            Payload::Skip => {
                line["skip"] = json!(true);
                writer.skip(&upper);
            }
            Payload::Fingerprint(fingerprint) => {
                line["fingerprint"] = json!(HEX.encode(&fingerprint));
                writer.fingerprint(&upper, &fingerprint);
            }
            Payload::Ids(ids) => {
                line["ids"] = hex_list(ids);
                writer.ids(&upper, ids);
            }
        }
        said.push(line);
    }
    // The writer spells bounds as the frame did, zero bytes included.
    assert_eq!(writer.finish(), bytes, "{}", vector["name"]);
    vector["ranges"] = Value::Array(said);
}

/// Why the frame is refused.
fn reject(vector: &mut Value) {
    let bytes = bytes(&vector["frame"]);
    match Frame::decode(&bytes) {
        Ok(_) => panic!("{} was accepted", vector["name"]),
        Err(fault) => {
            vector["reason"] = json!(fault.reason());
            vector["error"] = json!(fault.to_string());
        }
    }
}

/// What both ends say and what the initiator finds. The `negentropy` crate says the same.
fn exchange(vector: &mut Value) {
    let sets = Sets {
        left: set(&vector["initiator"]),
        right: set(&vector["responder"]),
    };
    let bytes = vector["limit"].as_u64().expect("a limit");
    let limit = limit(usize::try_from(bytes).expect("a small limit"));
    let buckets = vector["buckets"].as_u64().expect("a number of parts");
    let opening = Opening {
        buckets: u32::try_from(buckets).expect("a small number"),
        ..Opening::new(limit)
    };
    let outcome = run(&sets, (Engine::Ours, &opening), (Engine::Ours, limit));
    assert_difference(&sets, &outcome);
    if buckets == 16 {
        let reference = run(&sets, (Engine::Crate, &opening), (Engine::Crate, limit));
        assert_eq!(outcome.frames, reference.frames, "{}", vector["name"]);
    }
    vector["frames"] = hex_list(&outcome.frames);
    vector["have"] = hex_list(&outcome.have);
    vector["need"] = hex_list(&outcome.need);
}

fn set(lines: &Value) -> VectorStorage {
    let lines = lines.as_array().expect("a list of items");
    let lines = lines.iter().map(|line| line.as_str().expect("a text"));
    lines.flat_map(items).collect()
}

/// One item, or many that are numbered.
fn items(line: &str) -> Vec<Item> {
    let (time, id) = line.split_once(' ').expect("two words");
    if time == "n" {
        return range(id).map(numbered).collect();
    }
    let id: Id = hex(id).try_into().expect("32 bytes");
    vec![Item::new(number(time), id)]
}

fn numbered(n: u64) -> Item {
    let n_bytes = u32::try_from(n).expect("a small number").to_be_bytes();
    Item::new(1000 + n / 4, Sha256::digest(n_bytes).into())
}

fn range(text: &str) -> Range<u64> {
    let (from, to) = text.split_once("..").expect("a range");
    number(from)..number(to)
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

fn bytes(value: &Value) -> Vec<u8> {
    hex(value.as_str().expect("hex"))
}

fn hex(text: &str) -> Vec<u8> {
    HEX.decode(text.as_bytes()).expect("hex")
}

fn hex_list<T: AsRef<[u8]>>(list: &[T]) -> Value {
    list.iter()
        .map(|bytes| HEX.encode(bytes.as_ref()))
        .collect()
}
