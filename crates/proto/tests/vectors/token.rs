//! Resume tokens (CMP-20): `token.json`. They are read by their maker alone, so they bind nobody
//! else; the vectors keep a node's own tokens good across its updates.

use osier_core::{Domain, keyed_hash, testing::secret};
use osier_proto::{Token, TokenSeal};
use serde_json::{Value, json};

use crate::{
    PROVIDER,
    support::{Fields, File, unannotated, varint},
    vector,
};

const ABOUT: &[&str] = &[
    "Resume tokens (specs/05-completion.md, CMP-20) sealed by test node 2. hex: one line a field,",
    "hex and then its name. yay: the point in the log; it is sealed again the same. nay: not one",
    "of this node's, whatever the reason.",
];

/// CMP-20.
#[test]
fn token_vectors_hold() {
    let mut file = File::open("token.json", ABOUT);
    let good = sealed(PROVIDER, point());
    let cut = Fields::default().field("cut off", &good.bytes()[..40]);
    let vectors = vec![
        vector("a point", &good),
        vector("sealed by another node", &sealed(9, point())),
        vector(
            "another place in the log",
            &good.clone().with("lsn", varint(301)),
        ),
        vector("cut off", &cut),
        vector(
            "sealed, but longer than its content",
            &sealed(PROVIDER, point().field("more", [0])),
        ),
        vector("no bytes", &Fields::default()),
    ];
    file.list("tokens", vectors, &judge);
    file.close();
}

fn judge(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    let seal = TokenSeal::new(&secret(PROVIDER));
    match seal.open(&Token(bytes.clone())) {
        Some(point) => {
            assert_eq!(seal.seal(&point).0, bytes, "{}", vector["name"]);
            vector["yay"] = json!({
                "lsn": point.lsn.get(),
                "prefix entries": point.prefix.count(),
                "pruned": point.pruned,
                "topic": point.topic.to_string(),
            });
        }
        None => vector["nay"] = json!("not one of this node's tokens"),
    }
}

fn point() -> Fields {
    Fields::default()
        .field("store", [0x11; 16])
        .field("topic", [9; 32])
        .field("lsn", varint(300))
        .field("prefix: count", varint(290))
        .field("sum", [0x5e; 32])
        .field("pruned", varint(10))
}

fn sealed(node: u64, content: Fields) -> Fields {
    let key = secret(node).derive(Domain::TokenSeal);
    let mac = keyed_hash(&key, &[&content.bytes()]);
    content.field("seal", &mac[..16])
}
