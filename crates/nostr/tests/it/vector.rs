//! The golden vectors: `specs/vectors/nostr-{event,filter,message,hll}.json`.
//!
//! The inputs are made here, the outcomes are what the code says of them; both are compared with
//! the file. With `OSIER_BLESS=1` the file is written instead. The vectors of BIP-340 are read
//! where signatures are checked.

use std::{fs, path::PathBuf};

use osier_nostr::{
    ClientMessage, Filter, PublicKey, RelayMessage, Sketch, UnverifiedEvent,
    nip::nip45::{HllRule, Offset},
    testing,
};
use secp256k1::Secp256k1;
use serde_json::{Map, Value, json};

/// Compares lists of judged vectors with the file, or writes it.
fn check(name: &str, about: &str, lists: &[(&str, Vec<Value>)]) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../specs/vectors");
    let path = folder.join(name);
    let mut made = Map::from_iter([("about".to_owned(), json!(about))]);
    for (list, vectors) in lists {
        assert!(!vectors.is_empty(), "{list}");
        made.insert((*list).to_owned(), json!(vectors));
    }
    let made = Value::Object(made);
    if std::env::var_os("OSIER_BLESS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "the vectors are to be written")]
        fs::write(&path, format!("{made:#}\n")).expect("the vectors can be written");
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "a test reads its vectors")]
    let text = fs::read_to_string(&path).expect("the vectors are in the repository");
    let golden: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    for (list, vectors) in lists {
        for (at, vector) in vectors.iter().enumerate() {
            assert_eq!(
                *vector, golden[list][at],
                "{name}: {list}: {}",
                vector["text"]
            );
        }
    }
    assert_eq!(made, golden, "{name} holds nothing else");
}

/// NOS-2 to NOS-6.
#[test]
fn event_vectors_hold() {
    let secp = Secp256k1::verification_only();
    let judge = |(name, text): (&str, String)| {
        let verdict = match UnverifiedEvent::parse(&text) {
            Err(why) => json!({ "malformed": why.to_string() }),
            Ok(event) => match event.clone().verify(&secp) {
                Err(why) => json!({ "forged": why.to_string() }),
                Ok(event) => json!({ "id": event.id().to_string(), "canonical": event.json() }),
            },
        };
        json!({ "name": name, "text": text, "verdict": verdict })
    };
    let about = "Events (specs/07-nostr.md): a text, and its canonical form or why it is refused.";
    let vectors = event_texts().into_iter().map(judge).collect();
    check("nostr-event.json", about, &[("events", vectors)]);
}

fn event_texts() -> Vec<(&'static str, String)> {
    let escapes = "\u{1}\u{8}\u{c}\u{1f}\u{7f}\u{2028}/\"\\\n\r\t\u{1f469}\u{200d}\u{1f4bb}";
    let event = testing::event(1, 1_700_000_000, 1, &[&["t", "\u{2}", ""], &["e"]], escapes);
    let plain = testing::note(1, 1_700_000_000, "hello");
    let (json, plain) = (event.json().to_owned(), plain.json().to_owned());
    let other = testing::note(2, 1_700_000_000, "hello")
        .signature()
        .to_string();
    let own = testing::note(1, 1_700_000_000, "hello")
        .signature()
        .to_string();
    let with = |from: &str, to: &str| plain.replacen(from, to, 1);
    let time = "1700000000";
    vec![
        ("every escape", json.clone()),
        (
            "the same with other escapes",
            json.replace('/', "\\/").replace("\\n", "\\u000A"),
        ),
        (
            "a surrogate pair",
            json.replace('\u{1f469}', "\\uD83D\\udc69"),
        ),
        (
            "spaces and an unknown key",
            with("{", "{ \"x\" : [ {\"y\":1.5e3} ] , "),
        ),
        ("a changed content", with("hello", "hullo")),
        ("another's signature", with(&own, &other)),
        ("half a surrogate pair", with("hello", "\\ud83d")),
        ("a raw line break", with("hello", "a\nb")),
        ("a raw control character", with("hello", "\u{1}")),
        ("kind 65537", with("\"kind\":1", "\"kind\":65537")),
        ("kind -1", with("\"kind\":1", "\"kind\":-1")),
        ("a fraction", with(time, "1.5")),
        ("an exponent", with(time, "17e8")),
        ("2^63", with(time, "9223372036854775808")),
        ("a key twice", with("{", "{\"kind\":1,")),
        ("a key twice, once escaped", with("{", "{\"\\u006bind\":1,")),
        ("upper-case hex", with(&own, &own.to_uppercase())),
        ("an empty tag", with("\"tags\":[]", "\"tags\":[[]]")),
        (
            "a number in a tag",
            with("\"tags\":[]", "\"tags\":[[\"t\",1]]"),
        ),
        ("no content", with(",\"content\":\"hello\"", "")),
        ("more behind the end", format!("{plain} 1")),
        ("nothing", String::new()),
    ]
}

/// NOS-11 to NOS-15.
#[test]
fn filter_vectors_hold() {
    let hex = "ab".repeat(32);
    let e = format!(r##"{{"#e":["{hex}"],"kinds":[7,1,7],"limit":5}}"##);
    let upper = format!(r#"{{"ids":["{}"]}}"#, hex.to_uppercase());
    let texts = [
        "{}",
        &e,
        r##"{"#t":["b","a"],"#a":["x"],"#E":["y"],"until":9,"since":1}"##,
        r#"{"ids":[]}"#,
        r#"{"kinds":[65536,-1]}"#,
        r#"{"kinds":[65536,1]}"#,
        r#"{"since":-5}"#,
        r#"{"since":9223372036854775808}"#,
        r#"{"until":-1}"#,
        r#"{"until":99999999999999999999}"#,
        r#"{"limit":0}"#,
        r#"{"limit":99999999999999999999}"#,
        r#"{"limit":-1}"#,
        r#"{"kind":3,"tags":[]}"#,
        r##"{"#ab":["x"]}"##,
        r#"{"search":"x"}"#,
        r#"{"kinds":[1],"kinds":[2]}"#,
        r#"{"kinds":["1"]}"#,
        r#"{"since":1.5}"#,
        &upper,
        r##"{"#p":["x"]}"##,
        "[]",
    ];
    let judge = |text: &&str| match Filter::parse(text) {
        Ok(filter) => json!({
            "text": text,
            "canonical": filter.to_json(),
            "matches_nothing": filter.matches_nothing(),
        }),
        Err(why) => json!({ "text": text, "refused": why.reason().text() }),
    };
    let about = "Filters (specs/07-nostr.md): a text, and its canonical form or why it is refused.";
    let vectors = texts.iter().map(judge).collect();
    check("nostr-filter.json", about, &[("filters", vectors)]);
}

/// NOS-40 to NOS-42, NOS-60 and NOS-61.
#[test]
fn message_vectors_hold() {
    let event = testing::note(1, 1_700_000_000, "hello").json().to_owned();
    let id = "5c".repeat(32);
    let client = [
        format!(r#"["EVENT",{event}]"#),
        format!(r#"["AUTH",{event}]"#),
        r#"["REQ","a\"b\\",{},{"kinds":[1],"limit":0}]"#.to_owned(),
        r#"[ "COUNT" , "c" , {} ]"#.to_owned(),
        r#"["CLOSE","s"]"#.to_owned(),
        r#"["NEG-OPEN","n",{},"6100000200"]"#.to_owned(),
        r#"["NEG-MSG","n","61AB"]"#.to_owned(),
        r#"["NEG-CLOSE","n"]"#.to_owned(),
        format!(r#"["EVENT",{{"content":"\ud800","id":"{id}"}}]"#),
        r#"["EVENT",{}]"#.to_owned(),
        r#"["REQ","s"]"#.to_owned(),
        r#"["REQ","s",{"kind":1}]"#.to_owned(),
        format!(r#"["REQ","{}",{{}}]"#, "x".repeat(65)),
        r#"["REQ","",{}]"#.to_owned(),
        r#"["NEG-OPEN","n",{},"610"]"#.to_owned(),
        r#"["HELLO"]"#.to_owned(),
        "not json".to_owned(),
    ];
    let judge = |text: String| match ClientMessage::parse(&text) {
        Ok(message) => json!({ "text": text, "canonical": message.to_json() }),
        Err(refusal) => json!({ "text": text, "answer": refusal.into_message().to_json() }),
    };
    let client = client.into_iter().map(judge).collect();
    let relay = [
        format!(r#"["EVENT","s",{event}]"#),
        format!(r#"["OK","{id}",true,""]"#),
        format!(r#"["OK","{id}",false,"blocked: no"]"#),
        r#"["EOSE","s"]"#.to_owned(),
        r#"["EOSE","s",[]]"#.to_owned(),
        r#"["EOSE","s",["auth","x","finish"]]"#.to_owned(),
        r#"["EOSE","s",{"debug":[]}]"#.to_owned(),
        r#"["CLOSED","s","error: no"]"#.to_owned(),
        r#"["CLOSED","s"]"#.to_owned(),
        r#"["NOTICE","hello"]"#.to_owned(),
        r#"["COUNT","c",{"count":5,"x":[]}]"#.to_owned(),
        r#"["COUNT","c",{"approximate":true,"count":5}]"#.to_owned(),
        r#"["COUNT","c",{"count":-5}]"#.to_owned(),
        r#"["AUTH","challenge"]"#.to_owned(),
        r#"["NEG-MSG","n","61"]"#.to_owned(),
        r#"["NEG-ERR","n","blocked: too big",1000]"#.to_owned(),
        r#"["NEG-ERR","n","closed: x","1000"]"#.to_owned(),
        r#"["HELLO","n"]"#.to_owned(),
    ];
    let judge = |text: String| match RelayMessage::parse(&text) {
        Ok(message) => json!({ "text": text, "canonical": message.to_json() }),
        Err(why) => json!({ "text": text, "refused": why.to_string() }),
    };
    let relay = relay.into_iter().map(judge).collect();
    let about =
        "Messages (specs/07-nostr.md): a text, and how we write it, answer it or refuse it.";
    check(
        "nostr-message.json",
        about,
        &[("client", client), ("relay", relay)],
    );
}

/// NOS-64 and NOS-65.
#[test]
fn hll_vectors_hold() {
    let hex = format!("{}c{}", "0".repeat(32), "0".repeat(31));
    let offsets = [
        format!(r##"{{"#e":["{hex}"],"kinds":[7]}}"##),
        format!(r##"{{"#p":["{}","{hex}"]}}"##, "f".repeat(64)),
        format!(r##"{{"#a":["30023:{hex}:d:e"]}}"##),
        r##"{"#t":["nostr"],"#l":["x"]}"##.to_owned(),
        r##"{"#l":["x"],"#t":["nostr"]}"##.to_owned(),
        r##"{"#t":["a text of more than thirty-two bytes"]}"##.to_owned(),
        r#"{"kinds":[1]}"#.to_owned(),
    ];
    let offsets = offsets.into_iter().map(|text| {
        let filter = Filter::parse(&text).expect("a filter");
        let offset = |rule: HllRule| rule.offset(&filter).map(Offset::get);
        let (merged, draft) = (offset(HllRule::Merged), offset(HllRule::Draft));
        json!({ "filter": text, "merged": merged, "draft": draft })
    });
    let key = |byte_9: u8, rest: u8| {
        let mut bytes = [rest; 32];
        (bytes[8], bytes[9]) = (0x2a, byte_9);
        PublicKey::from_bytes(bytes)
    };
    let keys = [
        key(0x80, 0xff),
        key(0x01, 0xff),
        key(0x00, 0xff),
        key(0x00, 0x00),
    ];
    let filter = Filter::parse(&format!(r##"{{"#p":["{}"]}}"##, "0".repeat(64))).expect("a filter");
    let registers = keys.into_iter().map(|key| {
        let raised = |rule: HllRule| {
            let mut sketch = Sketch::empty();
            // Offset 8 by both rules would hide a mix-up; the draft's is 0 here.
            rule.add(&mut sketch, rule.offset(&filter).expect("a tag"), &key);
            let raised = sketch
                .registers()
                .iter()
                .enumerate()
                .filter(|(_, rank)| **rank > 0);
            raised
                .map(|(register, rank)| json!([register, rank]))
                .collect::<Vec<_>>()
        };
        json!({
            "key": key.to_string(),
            "merged": raised(HllRule::Merged),
            "draft": raised(HllRule::Draft),
        })
    });
    let about = "Sketches (specs/07-nostr.md): the offset of a filter by either rule; with a `#p` \
                 of zeros, the register that a key raises and to what.";
    let lists = [
        ("offsets", offsets.collect()),
        ("registers", registers.collect()),
    ];
    check("nostr-hll.json", about, &lists);
}
