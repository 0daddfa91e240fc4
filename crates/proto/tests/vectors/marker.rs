//! Markers (CMP-1, CMP-2, CMP-6): `marker.json`.

use osier_core::{
    Domain, EnvelopeError, KeyCache, Payload, Signed, decode_canonical, encode_canonical,
    testing::secret,
};
use osier_proto::{HistorySyncComplete, HistorySyncFailed};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    CLIENT, PROVIDER, head_fields, readable,
    support::{Fields, File, sized, unannotated, varint},
    vector,
};

const ABOUT: &[&str] = &[
    "Markers (specs/05-completion.md), in their envelopes. hex: one line a field, hex and then its",
    "name. yay: its signer and what it says; it is written again the same. nay: why it is refused.",
    "holes: the digest over holes in hash order.",
];

/// CMP-1, CMP-2.
#[test]
fn marker_vectors_hold() {
    let mut file = File::open("marker.json", ABOUT);
    let complete = complete_envelope();
    let many = sealed(&many());
    let vectors = vec![
        vector("nothing sent", &complete),
        vector("entries sent, of a ring, with holes", &many),
        vector(
            "another signer named",
            &complete.clone().with("signer", [7; 32]),
        ),
        vector("a failure marker in its place", &failed_envelope()),
        vector("payload changed", &changed(&complete)),
    ];
    file.list("complete", vectors, &judge::<HistorySyncComplete>);
    let failed = failed_envelope();
    let vectors = vec![
        vector("overloaded", &failed),
        vector("a completion marker in its place", &complete),
        vector("payload changed", &changed(&failed)),
    ];
    file.list("failed", vectors, &judge::<HistorySyncFailed>);
    file.list("holes", vec![json!({ "name": "none" })], &|vector| {
        vector["digest"] = crate::support::hex(Domain::Holes.hash(&[]));
    });
    file.close();
}

fn judge<T: Payload + Serialize + Clone>(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    let read = decode_canonical::<Signed<T>>(T::WHAT, &bytes, 40_000)
        .map_err(EnvelopeError::from)
        .and_then(|signed| {
            assert_eq!(encode_canonical(&signed), bytes, "{}", vector["name"]);
            signed.verify(&mut KeyCache::new())
        });
    match read {
        Ok(marker) => {
            let value = serde_json::to_value(&*marker).expect("markers are plain data");
            let signer = marker.signer().to_string();
            vector["yay"] = json!({ "signer": signer, "says": readable(value) });
        }
        Err(error) => vector["nay"] = json!(error.to_string()),
    }
}

fn binding() -> Fields {
    Fields::default()
        .field("topic", [9; 32])
        .field("session", [0x55; 16])
        .field("requester", secret(CLIENT).node_id().as_bytes())
        .field("request", [0x4e; 16])
}

fn nothing() -> Fields {
    binding()
        .field("streamed: nothing", [0])
        .field("set: count", [0])
        .field("sum", [0; 32])
        .field("state hash", [0x57; 32])
        .field("authors", [0])
        .field("no heads", [0])
        .field("coverage: complete", [0])
        .field("hole count", [0])
        .field("no holes", [0])
        .field("holes' digest", Domain::Holes.hash(&[]))
        .field("no window", [0])
        .field("token", sized(&[0x70; 20]))
}

fn many() -> Fields {
    let floor = Fields::default()
        .field("floor: time", varint(1_700_000_000_000))
        .field("hash", [0xf1; 32]);
    binding()
        .field("streamed: entries", [1])
        .field("count", varint(300))
        .field("last", [0xaa; 32])
        .field("set: count", varint(1000))
        .field("sum", [0x5e; 32])
        .field("state hash", [0x57; 32])
        .field("authors", [1])
        .field("one head", [1])
        .then(&head_fields(3, 300))
        .field("coverage: from", [1])
        .then(&floor)
        .field("hole count", [1])
        .field("one hole", [1])
        .field("hole", [0xbb; 32])
        .field("holes' digest", Domain::Holes.hash(&[&[0xbb; 32]]))
        .field("a window", [1])
        .then(&floor)
        .field("window's set: count", varint(900))
        .field("sum", [0x5e; 32])
        .field("token", sized(&[0x70; 20]))
}

/// The envelope around a payload: only the signature comes from the code under test.
pub(crate) fn enveloped<T: Payload>(payload: &Fields) -> Fields {
    let bytes = payload.bytes();
    let value: T = decode_canonical(T::WHAT, &bytes, 40_000).expect("the fields are a marker");
    let envelope = encode_canonical(&Signed::sign(&secret(PROVIDER), &value));
    let length = varint(bytes.len() as u64);
    let signature = &envelope[32..96];
    let fields = Fields::default()
        .field("signer", secret(PROVIDER).node_id().as_bytes())
        .field("signature", signature)
        .field("payload's length", length)
        .then(payload);
    assert_eq!(
        fields.bytes(),
        envelope,
        "an envelope is signer, signature, sized payload"
    );
    fields
}

fn sealed(payload: &Fields) -> Fields {
    enveloped::<HistorySyncComplete>(payload)
}

pub(crate) fn complete_envelope() -> Fields {
    sealed(&nothing())
}

pub(crate) fn failed_envelope() -> Fields {
    let payload = binding()
        .field("reason: overloaded", [2])
        .field("retry after, ms", varint(5000));
    enveloped::<HistorySyncFailed>(&payload)
}

fn changed(envelope: &Fields) -> Fields {
    envelope.clone().with("request", [0x4f; 16])
}
