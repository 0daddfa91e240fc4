//! Tickets and the keys that follow from them: `ticket.json`.

use data_encoding::BASE32_NOPAD;
use osier_core::{NodeId, NodeSecret, RequestId, Ticket, TopicSecret, encode_canonical};
use serde_json::{Value, json};

use crate::support::{Fields, File, hex, sized, unannotated};

const ABOUT: &[&str] = &[
    "Tickets (specs/01-entry.md, ENT-20 to ENT-23, ENT-40). text: as pasted; hex: its bytes, one a",
    "line, without the check sum. yay: what it says and what follows from it; it is written again",
    "the same but for case and space around it. nay: why it is refused.",
    "proof: of holding the secret of the first ticket, for a connection and a request.",
];

/// ENT-20 to ENT-23, and SES-2 for the proof.
#[test]
fn ticket_vectors_hold() {
    let mut file = File::open("ticket.json", ABOUT);
    file.list("tickets", tickets(), &judge);
    let proof = json!({
        "name": "a proof",
        "prover": node(3).to_string(),
        "verifier": node(4).to_string(),
        "binding": hex([5; 32]),
        "request": RequestId::from_bytes([6; 16]).to_string(),
    });
    file.list("proof", vec![proof], &|vector| {
        let keys = ticket().keys();
        let request = RequestId::from_bytes([6; 16]);
        vector["proof"] = hex(keys.proof(node(3), node(4), &[5; 32], request));
    });
    file.close();
}

fn judge(vector: &mut Value) {
    let text = vector["text"].as_str().expect("a text").to_owned();
    match text.parse::<Ticket>() {
        Ok(ticket) => {
            assert_eq!(
                ticket.to_string(),
                text.trim().to_lowercase(),
                "comes back equal"
            );
            if vector["hex"].is_array() {
                assert_eq!(unannotated(&vector["hex"]), encode_canonical(&ticket));
            }
            vector["yay"] = json!({
                "owner": ticket.owner().to_string(),
                "name": ticket.name(),
                "bootstrap": ticket
                    .bootstrap()
                    .map(|(node, address)| json!([node.to_string(), address]))
                    .collect::<Value>(),
                "topic": ticket.topic().to_string(),
                "writing": ticket.writing().as_str(),
                "gossip_topic": hex(ticket.keys().gossip_topic()),
            });
        }
        Err(invalid) => vector["nay"] = json!(invalid.to_string()),
    }
}

fn node(n: u8) -> NodeId {
    NodeSecret::from_bytes(&[n; 32]).node_id()
}

fn ticket() -> Ticket {
    let ticket = Ticket::new(node(1), TopicSecret::from_bytes([3; 32]), "lobby");
    ticket
        .expect("a short name")
        .with_address(node(2), "127.0.0.1:4000")
}

fn fields() -> Fields {
    Fields::default()
        .field("version", [1])
        .field("owner", node(1).as_bytes())
        .field("secret", [3; 32])
        .field("name", sized(b"lobby"))
        .field("addresses", [1])
        .field("node", node(2).as_bytes())
        .field("address", sized(b"127.0.0.1:4000"))
}

fn granted() -> Fields {
    fields().with("version", [2]).field("writing", [1])
}

fn text(bytes: &[u8]) -> String {
    let check = blake3::hash(bytes);
    let all = [bytes, &check.as_bytes()[..4]].concat();
    format!("osier1{}", BASE32_NOPAD.encode(&all).to_lowercase())
}

fn vector(name: &str, fields: &Fields) -> Value {
    json!({ "name": name, "text": text(&fields.bytes()), "hex": fields.annotated() })
}

fn tickets() -> Vec<Value> {
    let only = |name: &str, text: String| json!({ "name": name, "text": text });
    let good = text(&fields().bytes());
    let public = Ticket::public("commons").expect("a short name");
    let nine = (0..9).fold(
        fields().with("addresses", [9]).before("node"),
        |fields, _| fields.field("node", [0; 32]).field("address", [0]),
    );
    let mut changed = good.clone();
    changed.replace_range(20..21, if &good[20..21] == "a" { "b" } else { "a" });
    vec![
        vector("good", &fields()),
        only(
            "upper case, space around",
            format!(" osier1{}\n", good[6..].to_uppercase()),
        ),
        only("public", public.to_string()),
        vector("granted", &granted()),
        vector(
            "granted in so many words, and open",
            &granted().with("writing", [0]),
        ),
        vector("granted by something else", &granted().with("writing", [2])),
        vector(
            "granted by nobody",
            &granted().with("owner", NodeId::NOBODY.as_bytes()),
        ),
        vector("granted in version 1", &granted().with("version", [1])),
        vector("version 2 without writing", &fields().with("version", [2])),
        vector("version 3", &fields().with("version", [3])),
        vector("no name", &fields().with("name", [0])),
        vector(
            "a name of 128 bytes",
            &fields().with("name", sized(&[b'n'; 128])),
        ),
        vector(
            "a name of 129 bytes",
            &fields().with("name", sized(&[b'n'; 129])),
        ),
        vector("a name that is not text", &fields().with("name", [1, 0xff])),
        vector(
            "an address of 257 bytes",
            &fields().with("address", sized(&[b'a'; 257])),
        ),
        vector("nine addresses", &nine),
        vector(
            "more addresses than bytes",
            &fields().with("addresses", [0xff; 9]),
        ),
        vector(
            "a length with a needless byte",
            &fields().with("addresses", [0x81, 0]),
        ),
        vector("a byte too many", &fields().field("more", [0])),
        vector("cut before the addresses", &fields().before("addresses")),
        vector("over 4,096 bytes", &fields().field("more", [0; 4000])),
        only("a letter changed", changed),
        only("the end missing", good[..good.len() - 3].to_owned()),
        only("nothing but the start", "osier1".to_owned()),
        only("no start", good[6..].to_owned()),
        only("nothing", String::new()),
    ]
}
