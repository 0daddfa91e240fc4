//! Entries on the wire: `entry.json`.

use ed25519_dalek::{Signer, SigningKey};
use osier_core::{
    Domain, Item, KeyCache, SignedEntry, WireEntry, decode_canonical, encode_canonical, limit,
};
use serde_json::{Value, json};

use crate::{
    crafted,
    support::{Fields, File, hex, sized, unannotated, varint},
};

const SECRET: [u8; 32] = [1; 32];
const ABOUT: &[&str] = &[
    "Entries as they travel (specs/01-entry.md). hex: one line a field, hex and then its name.",
    "yay: what the entry says; it is written again the same. 'authentic' is whether its own",
    "signature holds under strict verification (ENT-8). nay: why it is refused.",
    "'of' and 'keep': the first bytes of another vector. The author's secret key is 01 32 times.",
];

/// ENT-1 to ENT-10: what is read, what is refused, and why.
#[test]
fn entry_vectors_hold() {
    let mut file = File::open("entry.json", ABOUT);
    let entries = [accepted(), crafted::vectors(), refused()].concat();
    file.list("entries", entries, &judge);
    file.list("cut", cut(), &judge);
    file.close();
}

fn judge(vector: &mut Value) {
    let bytes = if let Some(keep) = vector["keep"].as_u64() {
        minimal().bytes()[..usize::try_from(keep).expect("small")].to_vec()
    } else {
        unannotated(&vector["hex"])
    };
    let outcome = decode_canonical::<WireEntry>("entry", &bytes, limit::ENTRY_WIRE_BYTES_MAX)
        .and_then(SignedEntry::parse);
    match outcome {
        Ok(entry) => vector["yay"] = described(entry, &bytes),
        Err(malformed) => vector["nay"] = json!(malformed.to_string()),
    }
}

fn described(entry: SignedEntry, bytes: &[u8]) -> Value {
    let authentic = entry.clone().verify(&mut KeyCache::new()).is_ok();
    let entry = entry.trust_stored();
    assert_eq!(
        encode_canonical(&entry.to_wire()),
        bytes,
        "comes back equal"
    );
    let header = entry.header();
    let items = entry.items().iter().map(|item| match item {
        Item::Held(bytes) => json!(bytes.len()),
        Item::Dropped(_) => json!("dropped"),
        Item::Gone(_, reason) => json!(reason.as_str()),
    });
    json!({
        "hash": entry.hash().to_string(),
        "author": header.author().to_string(),
        "topic": header.topic().to_string(),
        "seq": header.seq().get(),
        "prev": header.prev().map(|hash| hash.to_string()),
        "deps": header.deps().len(),
        "time_ms": header.time().as_millis(),
        "kind": header.kind().get(),
        "body_len": header.body_len(),
        "items": items.collect::<Value>(),
        "order_time_ms": entry.order_key().time.as_millis(),
        "authentic": authentic,
    })
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_bytes(&SECRET)
}

pub(crate) fn vector(name: &str, wire: &Fields) -> Value {
    json!({ "name": name, "hex": wire.annotated() })
}

/// The header of an entry with these items, all held, with nothing else of note.
pub(crate) fn header(items: &[&[u8]]) -> Fields {
    let length: usize = items.iter().map(|item| item.len()).sum();
    Fields::default()
        .field("version", [1])
        .field("topic", [9; 32])
        .field("author", key().verifying_key().to_bytes())
        .field("seq", varint(1))
        .field("prev", [0])
        .field("deps", [0])
        .field("time_ms", varint(1_700_000_000_000))
        .field("kind", varint(0))
        .field("items", varint(items.len() as u64))
        .field("body_len", varint(length as u64))
        .field("body_hash", body_hash(items))
}

fn body_hash(items: &[&[u8]]) -> [u8; 32] {
    let hashes: Vec<_> = items
        .iter()
        .flat_map(|item| Domain::Item.hash(&[item]))
        .collect();
    Domain::Body.hash(&[&hashes])
}

pub(crate) fn held(items: &[&[u8]]) -> Fields {
    let start = Fields::default().field("number of items", varint(items.len() as u64));
    items.iter().enumerate().fold(start, |fields, (at, item)| {
        let fields = fields.field(&format!("item {at} is held"), [0]);
        fields.field(&format!("item {at}"), sized(item))
    })
}

pub(crate) fn signed_message(header: &[u8]) -> Vec<u8> {
    let mut message = Domain::EntrySignature.context().as_bytes().to_vec();
    message.extend_from_slice(blake3::hash(header).as_bytes());
    message
}

fn signed(header: &Fields, body: &Fields) -> Fields {
    let signature = key().sign(&signed_message(&header.bytes())).to_bytes();
    with_signature(header, &signature, body)
}

pub(crate) fn with_signature(header: &Fields, signature: &[u8; 64], body: &Fields) -> Fields {
    let length = header.bytes().len() as u64;
    let start = Fields::default().field("header length", varint(length));
    let wire = start.then(header);
    let wire = wire.field("signature R", &signature[..32]);
    wire.field("signature s", &signature[32..]).then(body)
}

fn minimal() -> Fields {
    signed(&header(&[b"x"]), &held(&[b"x"]))
}

/// The header of the minimal entry with one field changed, signed afresh.
fn bent(name: &str, bytes: impl AsRef<[u8]>) -> Fields {
    signed(&header(&[b"x"]).with(name, bytes), &held(&[b"x"]))
}

fn hashes(list: &[u8]) -> Vec<u8> {
    let mut bytes = varint(list.len() as u64);
    bytes.extend(list.iter().flat_map(|&n| [n; 32]));
    bytes
}

fn prev() -> Vec<u8> {
    [vec![1], vec![5; 32]].concat()
}

fn accepted() -> Vec<Value> {
    let second = header(&[b"x"]).with("seq", [2]).with("prev", prev());
    let many: Vec<[u8; 1]> = (0..=255).map(|n| [n]).collect();
    let many: Vec<&[u8]> = many.iter().map(|item| &item[..]).collect();
    let last = second.clone().with("seq", varint(u64::MAX));
    let sixty_four: Vec<u8> = (1..=64).collect();
    let dropped = Fields::default()
        .field("number of items", [2])
        .field("item 0 is dropped", [1])
        .field("hash of item 0", Domain::Item.hash(&[b"gone"]))
        .field("item 1 is held", [0])
        .field("item 1", sized(b"here"));
    let expired = Fields::default()
        .field("number of items", [2])
        .field("item 0 is gone", [2])
        .field("hash of item 0", Domain::Item.hash(&[b"gone"]))
        .field("reason: expired", [3])
        .field("item 1 is held", [0])
        .field("item 1", sized(b"here"));
    let x = held(&[b"x"]);
    vec![
        vector("minimal", &minimal()),
        vector("an empty item", &signed(&header(&[b""]), &held(&[b""]))),
        vector("second of its chain", &signed(&second, &x)),
        vector("with deps", &bent("deps", hashes(&[1, 2, 200]))),
        vector("64 deps", &bent("deps", hashes(&sixty_four))),
        vector("256 items", &signed(&header(&many), &held(&many))),
        vector(
            "a dropped item",
            &signed(&header(&[b"gone", b"here"]), &dropped),
        ),
        vector(
            "the same, gone for a reason",
            &signed(&header(&[b"gone", b"here"]), &expired),
        ),
        vector("the greatest seq", &signed(&last, &x)),
        vector("a Nostr event", &bent("kind", varint(1))),
        vector("control", &bent("kind", varint(2))),
        vector("a kind nobody knows", &bent("kind", varint(65_535))),
        vector("stamped at the start of 1970", &bent("time_ms", [0])),
        vector(
            "stamped at the end of time",
            &bent("time_ms", varint(u64::MAX)),
        ),
        vector(
            "unsigned: authentic only by a link",
            &with_signature(&header(&[b"x"]), &[0; 64], &x),
        ),
    ]
}

fn refused() -> Vec<Value> {
    let second = header(&[b"x"]).with("seq", [2]);
    let many: Vec<&[u8]> = vec![b""; 257];
    let sixty_five: Vec<u8> = (1..=65).collect();
    let x = held(&[b"x"]);
    let gone = |hash: [u8; 32]| {
        let body = Fields::default().field("number of items", [1]);
        body.field("item 0 is dropped", [1])
            .field("hash of item 0", hash)
    };
    let no_reason = Fields::default()
        .field("number of items", [1])
        .field("item 0 is gone", [2])
        .field("hash of item 0", Domain::Item.hash(&[b"x"]))
        .field("reason", [4]);
    let no_reason = signed(&header(&[b"x"]), &no_reason);
    let short = header(&[b"x"]).before("body_hash");
    vec![
        vector("version 2", &bent("version", [2])),
        vector("seq 0", &bent("seq", [0])),
        vector("prev at seq 1", &bent("prev", prev())),
        vector("no prev at seq 2", &signed(&second, &x)),
        vector("prev neither there nor absent", &bent("prev", [2])),
        vector("unsorted deps", &bent("deps", hashes(&[2, 1]))),
        vector("a dep twice", &bent("deps", hashes(&[1, 1]))),
        vector("65 deps", &bent("deps", hashes(&sixty_five))),
        vector("no items", &signed(&header(&[]), &held(&[]))),
        vector("257 items", &signed(&header(&many), &held(&many))),
        vector("fewer items than the header says", &bent("items", [2])),
        vector("a body longer than its items", &bent("body_len", [2])),
        vector("a body shorter than its items", &bent("body_len", [0])),
        vector(
            "a body claimed too long",
            &bent("body_len", varint(1024 * 1024 + 1)),
        ),
        vector("a body hash of something else", &bent("body_hash", [0; 32])),
        vector(
            "another item than signed",
            &signed(&header(&[b"x"]), &held(&[b"y"])),
        ),
        vector(
            "the wrong item dropped",
            &signed(&header(&[b"x"]), &gone([0; 32])),
        ),
        vector("seq with a needless byte", &bent("seq", [0x81, 0])),
        vector(
            "time over 64 bits",
            &bent("time_ms", [[0xff; 9].as_slice(), &[2]].concat()),
        ),
        vector("kind over 16 bits", &bent("kind", varint(65_536))),
        vector("header one field short", &signed(&short, &x)),
        vector(
            "header with a byte too many",
            &signed(&header(&[b"x"]).field("more", [0]), &x),
        ),
        vector("a byte too many", &minimal().field("more", [0])),
        vector(
            "header length with a needless byte",
            &minimal().with("header length", long()),
        ),
        vector(
            "an item neither held nor dropped",
            &minimal().with("item 0 is held", [3]),
        ),
        vector("gone for a reason that is not", &no_reason),
        vector(
            "an item longer than all bytes",
            &minimal().with("item 0", varint(1 << 40)),
        ),
        vector("header over 2,304 bytes", &bent("deps", vec![0; 2400])),
    ]
}

/// The minimal entry's header length with a needless last byte.
fn long() -> Vec<u8> {
    let length = varint(header(&[b"x"]).bytes().len() as u64);
    let [only]: [u8; 1] = length.try_into().expect("one byte");
    vec![only | 0x80, 0]
}

fn cut() -> Vec<Value> {
    let minimal = minimal();
    let starts = minimal.starts();
    let cuts = starts.map(
        |(at, field)| json!({ "name": format!("cut before {field}"), "of": "minimal", "keep": at }),
    );
    cuts.collect()
}

/// ENT-4: the hash is over header bytes and signature, and nothing else.
#[test]
fn the_entry_vector_of_the_hash_is_computed_by_hand() {
    let wire = minimal().bytes();
    let entry: WireEntry = decode_canonical("entry", &wire, wire.len()).expect("decodes");
    let header = header(&[b"x"]).bytes();
    let signature = key().sign(&signed_message(&header)).to_bytes();
    let mut hasher = blake3::Hasher::new_derive_key("osier 2026 entry v1");
    hasher.update(&header).update(&signature);
    assert_eq!(
        hex(hasher.finalize().as_bytes()),
        json!(entry.hash().to_string())
    );
}
