//! Golden vectors of the sync wire: `specs/vectors/message.json`, `marker.json`, `gossip.json` and
//! `token.json`.
//!
//! The bytes are put together field by field, without the encoder under test. With `OSIER_BLESS=1`
//! the files are written.

mod gossip;
mod marker;
mod message;
#[path = "../../../core/tests/vectors/support.rs"]
#[expect(dead_code, reason = "shared: not every file of vectors uses all of it")]
mod support;
mod token;

use osier_core::testing::secret;
use serde_json::{Value, json};
use support::{Fields, sized, varint};

/// The client of every vector; the provider is the next test node.
const CLIENT: u64 = 1;
const PROVIDER: u64 = 2;

/// A value as it reads in a vector: bytes in hex, whatever holds them.
fn readable(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
            match bytes.filter(|bytes| bytes.len() > 8) {
                Some(bytes) => support::hex(bytes),
                None => items.into_iter().map(readable).collect(),
            }
        }
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name, readable(value)));
            Value::Object(fields.collect())
        }
        other => other,
    }
}

fn byte(value: &Value) -> Option<u8> {
    value.as_u64().and_then(|number| u8::try_from(number).ok())
}

/// Bytes as they are with what is wrong in the name, and what they came from.
fn vector(name: &str, fields: &Fields) -> Value {
    json!({ "name": name, "hex": fields.annotated() })
}

/// An entry of test author 3, and its fields on the wire.
fn entry() -> (osier_core::WireEntry, Fields) {
    let entry = osier_core::testing::Chain::new(3).next(b"hi");
    let fields = Fields::default()
        .field("header, sized", sized(entry.header_bytes()))
        .field("signature", entry.signature())
        .field("one item", [1])
        .field("held", [0])
        .field("its bytes, sized", sized(b"hi"));
    (entry.to_wire(), fields)
}

/// A summary of 300 entries: a number of two bytes.
fn summary_fields() -> Fields {
    Fields::default()
        .field("summary: count", varint(300))
        .field("sum", [0x5e; 32])
        .field("state hash", [0x57; 32])
        .field("authors", varint(2))
}

fn head_fields(author: u64, seq: u64) -> Fields {
    Fields::default()
        .field("author", secret(author).node_id().as_bytes())
        .field("seq", varint(seq))
        .field("hash", [0xaa; 32])
}
