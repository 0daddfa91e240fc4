//! Every message of a swarm (GOS-1, GOS-4, GOS-10): `gossip.json`.

use osier_core::{KeyCache, encode_canonical};
use osier_proto::{
    GossipMessage, decode_gossip,
    limit::{EPHEMERAL_BYTES_MAX, GOSSIP_PAYLOAD_BYTES_MAX},
};
use serde_json::{Value, json};

use crate::{
    CLIENT, entry,
    marker::enveloped,
    readable, summary_fields,
    support::{Fields, File, sized, unannotated, varint},
    vector,
};

const ABOUT: &[&str] = &[
    "Messages of a topic's swarm (specs/04-gossip.md), in their envelopes, by test node 2.",
    "hex: one line a field, hex and then its name. yay: its signer and what it says; it is written",
    "again the same. nay: why it is refused.",
];

/// GOS-1, GOS-4, GOS-10.
#[test]
fn gossip_vectors_hold() {
    let mut file = File::open("gossip.json", ABOUT);
    let mut vectors = good();
    assert_eq!(vectors.len(), 5, "every body has a vector");
    vectors.extend(bad());
    file.list("messages", vectors, &judge);
    file.close();
}

fn judge(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    match decode_gossip(&bytes, GOSSIP_PAYLOAD_BYTES_MAX, &mut KeyCache::new()) {
        Ok(message) => {
            let payload = encode_canonical(&*message);
            assert!(bytes.ends_with(&payload), "{}", vector["name"]);
            let value = serde_json::to_value(&*message).expect("messages are plain data");
            let signer = message.signer().to_string();
            vector["yay"] = json!({ "signer": signer, "says": readable(value) });
        }
        Err(error) => vector["nay"] = json!(error.to_string()),
    }
}

/// A message with this body.
fn message(body: &Fields) -> Fields {
    let payload = Fields::default()
        .field("topic", [9; 32])
        .field("sequence", varint(300))
        .then(body);
    enveloped::<GossipMessage>(&payload)
}

fn body(number: u8) -> Fields {
    Fields::default().field("body", [number])
}

fn announce(seq: u64) -> Fields {
    let author = osier_core::testing::secret(CLIENT).node_id();
    body(1)
        .field("hash", [0xaa; 32])
        .field("author", author.as_bytes())
        .field("seq", varint(seq))
        .field("length", varint(70_000))
}

fn ephemeral(item: &[u8]) -> Fields {
    body(4)
        .field("kind: Nostr events", [1])
        .field("item, sized", sized(item))
}

fn good() -> Vec<Value> {
    let (_, wire) = entry();
    let watermark = body(2)
        .then(&summary_fields())
        .field("coverage: complete", [0])
        .field("last place", varint(300));
    vec![
        vector("Live", &message(&body(0).then(&wire))),
        vector("Announce", &message(&announce(300))),
        vector("Watermark", &message(&watermark)),
        vector("Provider", &message(&body(3).field("role: archive", [0]))),
        vector("Ephemeral", &message(&ephemeral(b"{}"))),
    ]
}

fn bad() -> Vec<Value> {
    let heard = message(&ephemeral(b"{}"));
    let long = vec![b'x'; EPHEMERAL_BYTES_MAX + 1];
    vec![
        vector("Announce, seq 0", &message(&announce(0))),
        vector("Ephemeral, over its bound", &message(&ephemeral(&long))),
        vector(
            "Ephemeral, carried to another topic",
            &heard.clone().with("topic", [8; 32]),
        ),
        vector("a body that is not", &heard.clone().with("body", [5])),
        vector("bytes behind the end", &heard.field("one more", [0])),
    ]
}
