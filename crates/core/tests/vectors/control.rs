//! What an owner says of a topic: `control.json`.

use osier_core::{
    Control, EntryHash, Manifest, NodeId, NodeSecret, Role, Seq, Ticket, TopicSecret, Writing,
};
use serde_json::{Value, json};

use crate::support::{Fields, File, sized, unannotated};

const ABOUT: &[&str] = &[
    "The item of a control entry (specs/01-entry.md, ENT-30 to ENT-35). hex: its bytes, one line a",
    "field. yay: what it says; it is written again the same. nay: why it says nothing.",
];

/// ENT-30 to ENT-33, ENT-35.
#[test]
fn control_vectors_hold() {
    let mut file = File::open("control.json", ABOUT);
    file.list("control", controls(), &judge);
    file.close();
}

fn judge(vector: &mut Value) {
    let bytes = unannotated(&vector["hex"]);
    match Control::parse(&bytes) {
        Ok(control) => {
            assert_eq!(control.to_bytes(), bytes, "comes back equal");
            vector["yay"] = shown(&control);
        }
        Err(malformed) => vector["nay"] = json!(malformed.to_string()),
    }
}

fn shown(control: &Control) -> Value {
    match control {
        Control::Grant { node, rank, role } => json!({
            "grant": node.to_string(), "rank": rank, "role": role.as_str(),
        }),
        Control::Revoke { node, last: None } => json!({ "revoke": node.to_string() }),
        Control::Revoke {
            node,
            last: Some((seq, head)),
        } => json!({
            "revoke": node.to_string(), "after_seq": seq.get(), "head": head.to_string(),
        }),
        Control::Space(manifest) => json!({
            "version": manifest.version(),
            "topics": manifest
                .topics()
                .iter()
                .map(|topic| topic.ticket().expect("a legal name").topic().to_string())
                .collect::<Value>(),
        }),
    }
}

fn node(n: u8) -> NodeId {
    NodeSecret::from_bytes(&[n; 32]).node_id()
}

fn grant() -> Fields {
    Fields::default()
        .field("grant", [0])
        .field("node", node(2).as_bytes())
        .field("rank", [0xac, 0x02])
        .field("role", [1])
}

fn revoke() -> Fields {
    Fields::default()
        .field("revoke", [1])
        .field("node", node(2).as_bytes())
}

fn space() -> Fields {
    Fields::default()
        .field("space", [2])
        .field("version", [7])
        .field("topics", [1])
        .field("owner", node(1).as_bytes())
        .field("secret", [3; 32])
        .field("name", sized(b"lobby"))
}

fn revoke_after() -> Fields {
    Fields::default()
        .field("revoke after", [3])
        .field("node", node(2).as_bytes())
        .field("after_seq", [9])
        .field("head", [8; 32])
}

fn space_of_any() -> Fields {
    space().with("space", [4]).field("writing", [1])
}

/// As the code writes the words above.
fn check_forms() {
    let open = Ticket::new(node(1), TopicSecret::from_bytes([3; 32]), "lobby");
    let granted = Ticket::of(
        Writing::Granted,
        node(1),
        TopicSecret::from_bytes([3; 32]),
        "lobby",
    );
    let list = |ticket: Ticket| Control::Space(Manifest::new(7, &[ticket]).expect("one topic"));
    let revoked = |last| Control::Revoke {
        node: node(2),
        last,
    };
    let last = Seq::new(9).map(|seq| (seq, EntryHash::from_bytes([8; 32])));
    for (control, fields) in [
        (list(open.expect("a short name")), space()),
        (list(granted.expect("a short name")), space_of_any()),
        (revoked(None), revoke()),
        (revoked(last), revoke_after()),
    ] {
        assert_eq!(control.to_bytes(), fields.bytes());
    }
}

fn vector(name: &str, fields: &Fields) -> Value {
    json!({ "name": name, "hex": fields.annotated() })
}

fn controls() -> Vec<Value> {
    let topic = Fields::default()
        .field("owner", node(1).as_bytes())
        .field("secret", [3; 32])
        .field("name", sized(b"lobby"));
    check_forms();
    let granted = Control::Grant {
        node: node(2),
        rank: 300,
        role: Role::Replay,
    };
    assert_eq!(granted.to_bytes(), grant().bytes(), "as the code writes it");
    vec![
        vector("a grant", &grant()),
        vector("a revocation", &revoke()),
        vector("a revocation after an entry", &revoke_after()),
        vector(
            "a revocation after no entry",
            &revoke_after().with("after_seq", [0]),
        ),
        vector(
            "a revocation cut before its head",
            &revoke_after().before("head"),
        ),
        vector("a space", &space()),
        vector("a space with a granted topic", &space_of_any()),
        vector(
            "a space of open topics in the form for granted ones",
            &space_of_any().with("writing", [0]),
        ),
        vector(
            "a granted topic that nobody owns",
            &space_of_any().with("owner", NodeId::NOBODY.as_bytes()),
        ),
        vector(
            "a space without topics",
            &Fields::default()
                .field("space", [2])
                .field("version", [1])
                .field("topics", [0]),
        ),
        vector(
            "a space with a topic twice",
            &space().with("topics", [2]).then(&topic),
        ),
        vector("a topic without a name", &space().with("name", [0])),
        vector(
            "a rank with a needless byte",
            &grant().with("rank", [0x80, 0x00]),
        ),
        vector(
            "a rank beyond 65,535",
            &grant().with("rank", [0x80, 0x80, 0x04]),
        ),
        vector("a role that there is not", &grant().with("role", [3])),
        vector("a word of a later version", &revoke().with("revoke", [5])),
        vector("a byte too many", &revoke().field("more", [0])),
        vector(
            "cut before the node",
            &Fields::default().field("grant", [0]),
        ),
        vector("nothing", &Fields::default()),
    ]
}
