//! Envelopes and contexts: `envelope.json`.

use ed25519_dalek::{Signer, SigningKey};
use osier_core::{
    Domain, EnvelopeError, KeyCache, NodeSecret, Payload, Signed, decode_canonical,
    encode_canonical, limit,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Fields, File, hex, sized, unannotated};

const SECRET: [u8; 32] = [1; 32];
const ABOUT: &[&str] = &[
    "Envelopes (specs/02-envelope.md) around a payload: number (varint), text (sized), under",
    "the context of gossip. hex: one line a field, hex and then its name. yay: what it says; it is",
    "written again the same. nay: why it is refused. The signer's secret key is 01 32 times.",
    "contexts: every context string with the derived-key BLAKE3 hash of the three bytes 'abc'.",
];

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    number: u64,
    text: String,
}

impl Payload for Note {
    const DOMAIN: Domain = Domain::Gossip;
    const WHAT: &'static str = "note";
}

const DOMAINS: [Domain; 17] = [
    Domain::EntryHash,
    Domain::EntrySignature,
    Domain::Item,
    Domain::Body,
    Domain::Topic,
    Domain::GossipTopic,
    Domain::SessionProof,
    Domain::FrontierLeaf,
    Domain::FrontierBranch,
    Domain::FrontierRoot,
    Domain::Holes,
    Domain::Marker,
    Domain::MarkerFailed,
    Domain::Gossip,
    Domain::TokenSeal,
    Domain::PublicTopic,
    Domain::GrantedTopic,
];

/// ENV-1 to ENV-4: contexts, canonical form, and what verifying refuses.
#[test]
fn envelope_vectors_hold() {
    let mut file = File::open("envelope.json", ABOUT);
    file.list("envelopes", envelopes(), &judge);
    let contexts = DOMAINS.map(|domain| json!({ "name": format!("{domain:?}") }));
    file.list("contexts", contexts.to_vec(), &|vector| {
        let named = |domain: &&Domain| json!(format!("{domain:?}")) == vector["name"];
        let domain = DOMAINS.iter().find(named).expect("one of them");
        vector["context"] = json!(domain.context());
        vector["hash"] = hex(domain.hash(&[b"a", b"bc"]));
    });
    file.close();
}

/// ENV-1: no two uses share a context, and none starts with another, so that a context and what
/// follows it cannot be read as another context.
#[test]
fn the_context_vectors_are_free_of_prefixes() {
    for (at, one) in DOMAINS.iter().enumerate() {
        for (other_at, other) in DOMAINS.iter().enumerate() {
            let starts = other.context().starts_with(one.context());
            assert!(at == other_at || !starts, "{one:?} and {other:?}");
        }
    }
}

fn judge(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    let limit = limit::ENVELOPE_PAYLOAD_BYTES_MAX + 200;
    let outcome = decode_canonical::<Signed<Note>>("envelope", &bytes, limit)
        .map_err(EnvelopeError::from)
        .and_then(|signed| {
            assert_eq!(encode_canonical(&signed), bytes, "comes back equal");
            signed.verify(&mut KeyCache::new())
        });
    match outcome {
        Ok(note) => {
            vector["yay"] = json!({
                "signer": note.signer().to_string(),
                "number": note.number,
                "text": note.text,
            });
        }
        Err(error) => vector["nay"] = json!(error.to_string()),
    }
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&SECRET)
}

fn payload() -> Vec<u8> {
    let note = Note {
        number: 7,
        text: "hello".to_owned(),
    };
    encode_canonical(&note)
}

fn sealed(payload: &[u8], domain: Domain) -> Fields {
    let mut message = domain.context().as_bytes().to_vec();
    message.extend_from_slice(blake3::hash(payload).as_bytes());
    let signature = key().sign(&message).to_bytes();
    Fields::default()
        .field("signer", key().verifying_key().to_bytes())
        .field("signature R", &signature[..32])
        .field("signature s", &signature[32..])
        .field("payload", sized(payload))
}

fn envelopes() -> Vec<Value> {
    let good = sealed(&payload(), Domain::Gossip);
    let vector = |name: &str, fields: &Fields| json!({ "name": name, "hex": fields.annotated() });
    let of = |payload: &[u8]| sealed(payload, Domain::Gossip);
    let other = NodeSecret::from_bytes(&[2; 32]).node_id();
    let long = [&[0x87, 0], &payload()[1..]].concat();
    let more = [payload(), vec![0]].concat();
    let not_text = [7, 2, 0xff, 0xfe];
    vec![
        vector("good", &good),
        vector(
            "another signer named",
            &good.clone().with("signer", other.as_bytes()),
        ),
        vector(
            "signer not on the curve",
            &good.clone().with("signer", [2; 32]),
        ),
        vector(
            "another payload",
            &good.clone().with("payload", sized(&[8, 0])),
        ),
        vector("signed for a marker", &sealed(&payload(), Domain::Marker)),
        vector(
            "signed as an entry",
            &sealed(&payload(), Domain::EntrySignature),
        ),
        vector("no signature", &good.clone().with("signature s", [0; 32])),
        vector("signed, not canonical", &of(&long)),
        vector("signed, a byte too many", &of(&more)),
        vector("signed, cut", &of(&payload()[..3])),
        vector("signed, not text", &of(&not_text)),
        vector("a byte too many outside", &good.clone().field("more", [0])),
        vector("cut before the payload", &good.before("payload")),
    ]
}

/// ENV-3: the size is looked at before the signature, and the signature before the content.
#[test]
fn a_payload_too_long_for_a_vector_is_refused_unread() {
    let big = vec![0; limit::ENVELOPE_PAYLOAD_BYTES_MAX + 1];
    let bytes = sealed(&big, Domain::Gossip).bytes();
    let signed: Signed<Note> = decode_canonical("envelope", &bytes, bytes.len()).expect("form");
    let error = signed.verify(&mut KeyCache::new()).expect_err("too long");
    assert_eq!(
        error.to_string(),
        "note has 32769 bytes, the limit is 32768"
    );
}
