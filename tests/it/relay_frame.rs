//! Frames that are not what they should be, and what comes before a WebSocket.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use osier_nostr::{limit, testing};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use crate::support::{
    client::{Client, ids},
    node::{Folder, Node},
};

/// case NR-31: no frame within the size limit costs the connection, and each is answered.
#[test]
fn case_nr_31_a_bad_frame_is_answered_and_the_connection_stays() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    for text in [
        "not json",
        "[]",
        "[\"EVENT\"]",
        "{}",
        "[\"WHAT\",1]",
        "\u{0}",
    ] {
        client.text(text);
        let notice = client.next();
        assert_eq!(notice[0], "NOTICE", "{text}: {notice}");
    }
    client.message(Message::binary(b"[\"REQ\",\"s\",{}]".to_vec()));
    assert_eq!(client.next()[0], "NOTICE");

    let event = testing::note(1, 5, "in three pieces");
    let text = format!("[\"EVENT\",{}]", event.json());
    let (first, rest) = text.as_bytes().split_at(7);
    let (second, third) = rest.split_at(100);
    let piece =
        |part: &[u8], opcode, last| Frame::message(part.to_vec(), OpCode::Data(opcode), last);
    client.frame(piece(first, Data::Text, false));
    client.frame(piece(second, Data::Continue, false));
    client.message(Message::Ping(vec![1].into()));
    client.frame(piece(third, Data::Continue, true));
    let ok = client.expect("OK", &event.id().to_string());
    assert_eq!(ok[2], true, "{ok}");
    assert_eq!(
        client.req("s", &[json!({ "kinds": [1] })]).ids,
        ids([&event])
    );
}

/// Over the limit of NIP-11 the connection is closed with 1009; at the limit it is not.
#[test]
fn a_message_over_the_limit_closes_the_connection() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let long = |bytes: usize| format!("[\"X\",\"{}\"]", "x".repeat(bytes - 8));
    client.text(&long(limit::MESSAGE_BYTES_MAX));
    assert_eq!(client.next()[0], "NOTICE");
    client.text(&long(limit::MESSAGE_BYTES_MAX + 1));
    let frame = client.closed().expect("a reason");
    assert_eq!(u16::from(frame.code), 1009, "{frame:?}");
    // In fragments too.
    let mut client = Client::connect(&node);
    let half = vec![b'x'; limit::MESSAGE_BYTES_MAX / 2 + 1];
    client.frame(Frame::message(
        half.clone(),
        OpCode::Data(Data::Text),
        false,
    ));
    client.frame(Frame::message(half, OpCode::Data(Data::Continue), true));
    assert_eq!(u16::from(client.closed().expect("a reason").code), 1009);
}

/// cases NR-02, NR-03, NR-21, NR-22: what is not understood is refused with its id, and what is
/// understood is not widened.
#[test]
fn case_nr_22_refusals_carry_the_id() {
    let node = Node::start();
    let mut client = Client::connect(&node);
    let tagged = testing::event(1, 5, 1, &[&["e", &"a".repeat(64)]], "");
    client.publish_all([&tagged]);
    for filter in [
        json!({ "kind": 3, "tags": [] }),
        json!({ "kinds": "1" }),
        json!(7),
    ] {
        let reason = client.refused("REQ", "bad", std::slice::from_ref(&filter));
        assert!(reason.starts_with("invalid: "), "{filter}: {reason}");
    }
    let reason = client.refused("REQ", "none", &[]);
    assert!(reason.starts_with("invalid: "), "{reason}");
    let reason = client.refused("REQ", "search", &[json!({ "search": "x" })]);
    assert!(reason.starts_with("unsupported: "), "{reason}");
    let long = "l".repeat(1_000);
    client.ask("REQ", &long, &[json!({})]);
    client.expect("CLOSED", &long[..64]);
    let fits = "f".repeat(64);
    assert_eq!(
        client.req(&fits, &[json!({ "kinds": [1] })]).ids,
        ids([&tagged])
    );

    let empty_and_not = [
        json!({ "#a": [], "kinds": [1] }),
        json!({ "#e": ["a".repeat(64)], "kinds": [1] }),
    ];
    assert_eq!(client.req("e", &empty_and_not).ids, ids([&tagged]));
    for filter in [
        json!({ "kinds": [1], "since": 1_700_000_000_000_u64 }),
        json!({ "until": -1 }),
        json!({ "kinds": [9_999_999_999_u64] }),
    ] {
        assert!(
            client
                .req("n", std::slice::from_ref(&filter))
                .ids
                .is_empty(),
            "{filter}"
        );
    }
}

/// One HTTP exchange; status, head in lower case, body.
pub(crate) fn http(node: &Node, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(node.relay()).expect("the relay listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it closes");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head[9..12].parse().expect("a status");
    (status, head.to_lowercase(), body.to_owned())
}

/// case NR-27: readable from any page; what it says is what is enforced.
#[test]
fn case_nr_27_the_document_is_true() {
    let settings = [
        ("OSIER_RELAY_NEGENTROPY", "false"),
        ("OSIER_RELAY_PAGE_EVENTS_MAX", "3"),
    ];
    let node = Node::start_with(Folder::new(), &settings);
    let get = "GET / HTTP/1.1\r\nHost: x\r\nOrigin: https://other.example\r\n\
               Accept: application/nostr+json, */*\r\n\r\n";
    let (status, head, body) = http(&node, get);
    assert_eq!(status, 200);
    assert!(head.contains("access-control-allow-origin: *"), "{head}");
    assert!(
        head.contains("content-type: application/nostr+json"),
        "{head}"
    );
    let document: Value = serde_json::from_str(&body).unwrap();
    let nips = document["supported_nips"].as_array().unwrap();
    assert!(
        nips.contains(&json!(1)) && !nips.contains(&json!(77)),
        "{nips:?}"
    );
    assert_eq!(document["limitation"]["max_limit"], 3);
    assert_eq!(
        document["limitation"]["max_message_length"],
        limit::MESSAGE_BYTES_MAX
    );
    assert_eq!(
        document["topics"],
        json!([{ "name": "lobby", "state": "sole" }])
    );
    let options = get.replacen("GET", "OPTIONS", 1);
    let (status, head, _) = http(&node, &options);
    assert_eq!(status, 204);
    for name in ["allow-origin: *", "allow-headers: *", "allow-methods: "] {
        assert!(head.contains(&format!("access-control-{name}")), "{head}");
    }
    let (status, _, body) = http(&node, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(status == 200 && body.contains("Nostr relay"), "{body}");
    let (status, _, _) = http(&node, "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(status, 405);

    let mut client = Client::connect(&node);
    client.publish_all(&(0..5).map(|n| testing::note(1, n, "")).collect::<Vec<_>>());
    assert_eq!(
        client
            .req("s", &[json!({ "kinds": [1], "limit": 99_999 })])
            .ids
            .len(),
        3
    );
    client.send(&json!(["NEG-OPEN", "n", {}, "6100"]));
    let end = client.expect("NEG-ERR", "n");
    assert!(
        end[2].as_str().unwrap().starts_with("unsupported: "),
        "{end}"
    );
}
