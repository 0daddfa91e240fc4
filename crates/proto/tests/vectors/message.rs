//! Every message of the wire (SES-1), and frames (SES-3): `message.json`.

use osier_core::decode_canonical;
use osier_proto::{FrameDecoder, Message, encode_frame, limit::FRAME_BYTES_MAX};
use serde_json::{Value, json};

use crate::{
    entry, head_fields, marker, readable, summary_fields,
    support::{Fields, File, sized, unannotated, varint},
    vector,
};

const ABOUT: &[&str] = &[
    "Messages of a session's stream (specs/03-session.md). hex: one line a field, hex and then its",
    "name. yay: what it says; it is written again the same. nay: why it is refused.",
    "frames: a message and the length before it; what is left is what a reader still waits for.",
];

/// SES-1, SES-3.
#[test]
fn message_vectors_hold() {
    let mut file = File::open("message.json", ABOUT);
    let mut vectors = good();
    let names: Vec<String> = vectors.iter().map(name_of).collect();
    let kinds: std::collections::BTreeSet<&str> = names
        .iter()
        .map(|name| name.split(',').next().unwrap_or_default())
        .collect();
    assert_eq!(kinds.len(), 14, "every variant has a vector");
    vectors.extend(bad());
    file.list("messages", vectors, &judge);
    file.list("frames", frames(), &judge_frame);
    file.close();
}

fn name_of(vector: &Value) -> String {
    vector["name"].as_str().unwrap_or_default().to_owned()
}

fn judge(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    match decode_canonical::<Message>("sync message", &bytes, FRAME_BYTES_MAX) {
        Ok(message) => {
            assert_eq!(
                osier_core::encode_canonical(&message),
                bytes,
                "{}",
                vector["name"]
            );
            assert!(
                name_of(vector).starts_with(message.name()),
                "{}",
                vector["name"]
            );
            let value = serde_json::to_value(&message).expect("messages are plain data");
            vector["yay"] = readable(value);
        }
        Err(error) => vector["nay"] = json!(error.to_string()),
    }
}

fn judge_frame(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    let mut decoder = FrameDecoder::new();
    decoder.push(&bytes);
    match decoder.next_message() {
        Ok(Some(message)) => {
            vector["yay"] = json!(message.name());
            if !decoder.is_mid_frame() {
                assert_eq!(encode_frame(&message), bytes, "{}", vector["name"]);
            }
        }
        Ok(None) => vector["yay"] = json!("more is awaited"),
        Err(error) => vector["nay"] = json!(error.to_string()),
    }
}

fn kind(number: u8) -> Fields {
    Fields::default().field("kind", [number])
}

fn hello() -> Fields {
    kind(0)
        .field("versions", [1, 1])
        .field("request", [0x4e; 16])
        .field("proof", [0x9f; 32])
        .field("role: peer", [2])
        .then(&summary_fields())
        .field("coverage: complete", [0])
        .field("no token", [0])
}

fn ack() -> Fields {
    kind(1)
        .field("version", [1])
        .field("session", [0x55; 16])
        .field("proof", [0x9f; 32])
        .field("role: archive", [0])
        .then(&summary_fields())
        .field("coverage: complete", [0])
        .field("mode: ranges", [4])
        .field("token unserviceable: no", [0])
        .field("no window", [0])
}

fn good() -> Vec<Value> {
    let floor = Fields::default()
        .field("floor: time", varint(1_700_000_000_000))
        .field("hash", [0xf1; 32]);
    let (_, wire) = entry();
    let ring = ack()
        .before("coverage: complete")
        .field("coverage: from", [1])
        .then(&floor)
        .field("mode: heads", [3])
        .field("token unserviceable: yes", [1])
        .field("a window", [1])
        .then(&floor)
        .field("set: count", varint(7))
        .field("sum", [0x5e; 32]);
    let with_token = hello()
        .with("no token", [1])
        .field("token", sized(&[0x70; 20]));
    let heads = kind(3)
        .field("two heads", [2])
        .then(&head_fields(3, 1))
        .then(&head_fields(4, 300))
        .field("surplus: count", [5])
        .field("sum", [0x5e; 32]);
    let entries = kind(7).field("one entry", [1]).then(&wire);
    vec![
        vector("Hello", &hello()),
        vector("Hello, with a token", &with_token),
        vector("HelloAck", &ack()),
        vector("HelloAck, of a ring", &ring),
        vector(
            "Refuse",
            &kind(2)
                .field("request", [0x4e; 16])
                .field("reason: overloaded", [2])
                .field("retry after, ms", varint(5000)),
        ),
        vector("Heads", &heads),
        vector(
            "Range",
            &kind(4).field("negentropy frame, sized", sized(&[0x61, 0, 0, 2, 0])),
        ),
        vector(
            "Want",
            &kind(5)
                .field("one hash", [1])
                .field("hash", [0xaa; 32])
                .field("the last", [1]),
        ),
        vector("Expect", &kind(6).field("entries", varint(300))),
        vector("Entries", &entries.clone().field("no token", [0])),
        vector(
            "Entries, with a token",
            &entries
                .field("a token", [1])
                .field("token", sized(&[0x70; 20])),
        ),
        vector(
            "Holes",
            &kind(8).field("one hash", [1]).field("hash", [0xaa; 32]),
        ),
        vector(
            "Alive",
            &kind(9)
                .field("phase: sending", [1])
                .field("sent", varint(300)),
        ),
        vector("Complete", &kind(10).then(&marker::complete_envelope())),
        vector("Failed", &kind(11).then(&marker::failed_envelope())),
        vector(
            "Received",
            &kind(12)
                .field("session", [0x55; 16])
                .field("verdict: drained", [0])
                .field("state hash", [0x57; 32]),
        ),
        vector("UploadEnd", &kind(13)),
    ]
}

fn bad() -> Vec<Value> {
    let expect = kind(6).field("entries", varint(300));
    vec![
        vector("no bytes", &Fields::default()),
        vector("a kind that is not", &kind(14)),
        vector("a role that is not", &hello().with("role: peer", [3])),
        vector("a mode that is not", &ack().with("mode: ranges", [5])),
        vector(
            "a truth that is neither",
            &ack().with("token unserviceable: no", [2]),
        ),
        vector("cut off", &hello().before("no token")),
        vector(
            "bytes behind the end",
            &expect.clone().field("one more", [0]),
        ),
        vector("a long number", &expect.with("entries", [0xac, 0x82, 0x00])),
        vector(
            "more hashes than there are bytes for",
            &kind(8)
                .field("2^32 hashes", varint(1 << 32))
                .field("hash", [0xaa; 32]),
        ),
    ]
}

fn frames() -> Vec<Value> {
    let framed = |length: u32, body: &Fields| {
        Fields::default()
            .field("length", length.to_be_bytes())
            .then(body)
    };
    let end = kind(13);
    let over = u32::try_from(FRAME_BYTES_MAX + 1).expect("fits");
    vec![
        vector("a frame", &framed(1, &end)),
        vector(
            "a frame and the start of another",
            &framed(1, &end).field("length's start", [0]),
        ),
        vector("a length and nothing yet", &framed(1, &Fields::default())),
        vector("an empty frame", &framed(0, &Fields::default())),
        vector(
            "a frame longer than its message",
            &framed(2, &end.clone().field("more", [0])),
        ),
        vector(
            "a length over the bound, before its bytes",
            &framed(over, &Fields::default()),
        ),
    ]
}
