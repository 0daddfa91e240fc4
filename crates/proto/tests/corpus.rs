//! Replays the corpora of the fuzz targets that are about the wire.
//!
//! With `OSIER_BLESS=1` it writes the seeds first: messages, markers, hints and tokens.

use std::fs;

use osier_core::{
    Coverage, Domain, EntryHash, Kind, NodeSecret, OrderKey, RequestId, SessionId, SetSum, Signed,
    StateHash, Timestamp, encode_canonical,
    testing::{Chain, secret, topic},
};
use osier_proto::{
    Alive, Entries, Expect, FailureReason, Gossip, GossipMessage, Heads, HistorySyncComplete,
    HistorySyncFailed, Lsn, Message, Phase, RangeFrame, Refuse, RefuseReason, ResumePoint, StoreId,
    Streamed, Summary, TokenSeal, Vouched, Watermark, encode_frame, encode_gossip,
};

#[path = "../../../tests/fuzz/src/wire.rs"]
pub mod wire;

#[path = "../../../tests/fuzz/src/replay.rs"]
pub mod replay;

#[expect(clippy::disallowed_methods, reason = "the seeds are to be written")]
fn replay(target: &str, body: fn(&[u8]), seeds: &[(&str, Vec<u8>)]) {
    if std::env::var_os("OSIER_BLESS").is_some() {
        let folder = replay::corpus(target);
        fs::create_dir_all(&folder).expect("a folder");
        for (name, bytes) in seeds {
            fs::write(folder.join(name), bytes).expect("a seed can be written");
        }
    }
    replay::replay(target, body);
    for (_, bytes) in seeds {
        body(bytes);
    }
}

fn complete() -> HistorySyncComplete {
    let floor = OrderKey {
        time: Timestamp::from_millis(5),
        hash: EntryHash::MIN,
    };
    HistorySyncComplete {
        topic: topic(),
        session: SessionId::from_bytes([2; 16]),
        requester: secret(2).node_id(),
        request: RequestId::from_bytes([3; 16]),
        streamed: Streamed::Entries {
            count: 9,
            last: EntryHash::MAX,
        },
        covers: Vouched {
            set: SetSum::from_parts(9, [4; 32]),
            state: StateHash::empty(),
            authors: 1,
            heads: Vec::new(),
            coverage: Coverage::From { floor },
            hole_count: 1,
            holes: vec![EntryHash::MIN],
            holes_digest: Domain::Holes.hash(&[EntryHash::MIN.as_bytes()]),
            window: None,
        },
        resume: TokenSeal::new(&secret(1)).seal(&point()),
    }
}

fn failed() -> HistorySyncFailed {
    let complete = complete();
    HistorySyncFailed {
        topic: complete.topic,
        session: complete.session,
        requester: complete.requester,
        request: complete.request,
        reason: FailureReason::Overloaded {
            retry_after_ms: 2000,
        },
    }
}

fn point() -> ResumePoint {
    ResumePoint {
        store: StoreId::from_bytes([1; 16]),
        topic: topic(),
        lsn: Lsn::new(70),
        prefix: SetSum::from_parts(70, [6; 32]),
        pruned: 0,
    }
}

#[test]
fn the_corpus_of_envelope_holds() {
    let entry = Chain::new(1).next(b"hello");
    let gossip = |body| {
        let message = GossipMessage {
            topic: topic(),
            sequence: 1,
            body,
        };
        encode_gossip(&secret(1), &message, 4057)
            .expect("fits")
            .to_vec()
    };
    let watermark = Watermark {
        summary: Summary::empty(),
        last: Lsn::new(7),
    };
    let ephemeral = Gossip::Ephemeral {
        kind: Kind::NOSTR,
        item: b"{}".as_slice().into(),
    };
    let signed = encode_canonical(&Signed::sign(&secret(1), &complete()));
    let signed_failed = encode_canonical(&Signed::sign(&secret(1), &failed()));
    let seeds = [
        ("complete", signed),
        ("complete-payload", encode_canonical(&complete())),
        ("failed", signed_failed),
        ("failed-payload", encode_canonical(&failed())),
        ("live", gossip(Gossip::Live(entry.to_wire()))),
        ("watermark", gossip(Gossip::Watermark(watermark))),
        ("ephemeral", gossip(ephemeral)),
    ];
    replay("envelope", wire::envelope, &seeds);
}

fn messages() -> Vec<Message> {
    let entry = Chain::new(1).next(b"hello");
    vec![
        Message::Refuse(Refuse {
            request: RequestId::from_bytes([3; 16]),
            reason: RefuseReason::Overloaded,
            retry_after_ms: 2000,
        }),
        Message::Heads(Heads {
            heads: Vec::new(),
            surplus: SetSum::EMPTY,
        }),
        Message::Range(RangeFrame(vec![0x61, 0, 0, 2, 0].into())),
        Message::Expect(Expect { entries: 1 }),
        Message::Entries(Entries {
            entries: vec![entry.to_wire()],
            token: None,
        }),
        Message::Holes(vec![EntryHash::MIN]),
        Message::Alive(Alive {
            phase: Phase::Sending,
            sent: 3,
        }),
        Message::Complete(Signed::sign(&secret(1), &complete())),
        Message::Failed(Signed::sign(&secret(1), &failed())),
        Message::UploadEnd,
    ]
}

#[test]
fn the_corpus_of_frame_holds() {
    let frames: Vec<Vec<u8>> = messages()
        .iter()
        .map(|message| encode_frame(message).to_vec())
        .collect();
    let stream = |cut: u8, frames: &[Vec<u8>]| [vec![cut], frames.concat()].concat();
    let all = stream(7, &frames);
    let mut seeds = vec![
        ("mid-frame", all[..60].to_vec()),
        ("all-in-pieces-of-7", all),
        ("oversize", vec![1, 0xff, 0xff, 0xff, 0xff, 0]),
    ];
    for (message, frame) in messages().iter().zip(frames) {
        seeds.push((message.name(), stream(1, &[frame])));
    }
    replay("frame", wire::frame, &seeds);
}

#[test]
fn the_corpus_of_token_holds() {
    let own = TokenSeal::new(&NodeSecret::from_bytes(&[1; 32])).seal(&point());
    let foreign = TokenSeal::new(&secret(9)).seal(&point());
    let mut bent = own.0.clone();
    bent[20] ^= 1;
    let seeds = [
        ("cut", own.0[..own.0.len() - 1].to_vec()),
        ("own", own.0),
        ("bent", bent),
        ("foreign", foreign.0),
        ("short", vec![0; 15]),
    ];
    replay("token", wire::token, &seeds);
}

#[test]
fn the_corpus_of_range_holds() {
    replay("range", wire::range, &[]);
}
