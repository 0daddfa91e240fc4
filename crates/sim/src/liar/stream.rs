//! Lies in what comes before the marker.

use bytes::Bytes;
use osier_core::{KeyCache, SetSum, TopicId, WireEntry, testing::Chain};
use osier_proto::{Alive, Entries, Message, Mode, Phase, Token, encode_frame};

use super::{Lie, Said, Telling};
use crate::{
    clock::{MS, SEC},
    dice::Dice,
};

/// Who signs what a liar makes up: no node and no other author of a run.
const MAKER: u64 = 3_000;

/// Entries that it makes up in a session: two minutes' worth, longer than a run looks on.
const MADE_UP: u64 = 400;

impl Telling {
    /// Holds entries back until the marker has gone.
    pub(super) fn marker_first(&mut self, message: Message) -> Vec<Message> {
        match message {
            Message::Entries(_) => {
                self.held.push(message);
                Vec::new()
            }
            Message::Complete(_) => {
                let mut all = vec![message];
                all.append(&mut self.held);
                all
            }
            other => vec![other],
        }
    }

    pub(super) fn bend_stream(&mut self, message: Message, dice: &mut Dice) -> Vec<Message> {
        match (self.lie, message) {
            (Lie::Stalls, Message::Entries(entries)) => {
                self.silent = true;
                first_part(entries, 2).into_iter().collect()
            }
            (Lie::NeverAnswers, _) | (Lie::Stalls, Message::Complete(_)) => {
                self.silent = true;
                Vec::new()
            }
            (Lie::Truncates, Message::Entries(entries)) if self.sent == 0 => {
                first_part(entries, 2).into_iter().collect()
            }
            (Lie::Truncates, Message::Entries(_)) | (Lie::NoMarker, Message::Complete(_)) => {
                Vec::new()
            }
            (Lie::Withholds | Lie::WithholdsAndCounts, Message::Entries(entries)) => {
                without_some(entries, dice).into_iter().collect()
            }
            (Lie::BentEntries, Message::Entries(entries)) => vec![bent(entries)],
            (Lie::DropsBatch, Message::Entries(entries)) => {
                self.batches += 1;
                let kept = (self.batches != 2).then_some(Message::Entries(entries));
                kept.into_iter().collect()
            }
            (_, other) => vec![other],
        }
    }

    /// Entries one by one, each a while after the one before.
    pub(super) fn drip(message: Message) -> Vec<Said> {
        let Message::Entries(batch) = message else {
            return vec![Said::Message(message)];
        };
        let one = |(at, entry): (usize, WireEntry)| {
            let (entries, token) = (vec![entry], batch.token.clone());
            let message = Message::Entries(Entries { entries, token });
            Said::Later(message, (at as u64 + 1) * 400 * MS)
        };
        batch.entries.into_iter().enumerate().map(one).collect()
    }

    /// The marker comes when nobody waits for it any more.
    pub(super) fn late(message: Message) -> Vec<Said> {
        match message {
            Message::Complete(_) => vec![Said::Later(message, 8 * SEC)],
            other => vec![Said::Message(other)],
        }
    }

    /// Signs of life for half a minute, each half second more bytes than progress has at least.
    pub(super) fn murmur(message: Message) -> Vec<Said> {
        let Message::Complete(_) = message else {
            return vec![Said::Message(message)];
        };
        let alive = Message::Alive(Alive {
            phase: Phase::Sending,
            sent: 0,
        });
        let one = |at: u64| Said::Later(alive.clone(), at * 4 * MS);
        (1..=7_500).map(one).collect()
    }

    /// To a client that has nothing it announces more entries than there are, and instead of a
    /// marker it sends one that it has made up every now and then.
    pub(super) fn never_ends(&mut self, message: Message) -> Vec<Said> {
        match message {
            Message::HelloAck(mut ack) if ack.mode == Mode::Empty => {
                self.batches = 1;
                ack.summary.set = SetSum::from_parts(u64::MAX / 2, *ack.summary.set.sum());
                vec![Said::Message(Message::HelloAck(ack))]
            }
            Message::Complete(marker) if self.batches == 1 => {
                self.silent = true;
                let topic = marker.verify(&mut KeyCache::new());
                made_up(topic.expect("an own marker holds").topic)
            }
            other => vec![Said::Message(other)],
        }
    }

    /// The grant is honest; then bytes that are no frame.
    pub(super) fn garbage(&mut self, message: Message, dice: &mut Dice) -> Vec<Said> {
        if matches!(message, Message::HelloAck(_)) {
            return vec![Said::Message(message)];
        }
        self.silent = true;
        let bytes = match dice.below(3) {
            0 => Bytes::from(dice.bytes::<64>().to_vec()),
            1 => Bytes::from_static(&[0xff; 4]),
            _ => {
                let mut frame = encode_frame(&message).to_vec();
                let at = 4 + dice.index(frame.len() - 4);
                frame[at] ^= 1 << dice.below(8);
                frame.into()
            }
        };
        vec![Said::Raw(bytes)]
    }
}

/// The first of so many parts of a batch; none if that is nothing.
fn first_part(mut entries: Entries, parts: usize) -> Option<Message> {
    entries.entries.truncate(entries.entries.len() / parts);
    (!entries.entries.is_empty()).then_some(Message::Entries(entries))
}

/// Entries without end, as far as a run goes.
fn made_up(topic: TopicId) -> Vec<Said> {
    let mut chain = Chain::in_topic(MAKER, topic);
    let one = |at: u64| {
        let entries = vec![chain.next(b"made up").to_wire()];
        let token = Some(Token(vec![0; 16]));
        Said::Later(Message::Entries(Entries { entries, token }), at * 300 * MS)
    };
    (1..=MADE_UP).map(one).collect()
}

fn without_some(mut entries: Entries, dice: &mut Dice) -> Option<Message> {
    let at = dice.index(entries.entries.len());
    entries.entries.remove(at);
    (!entries.entries.is_empty()).then_some(Message::Entries(entries))
}

/// One entry of the batch gets a signature that its author never made.
fn bent(mut entries: Entries) -> Message {
    if let Some(entry) = entries.entries.pop() {
        let parsed = osier_core::SignedEntry::parse(entry).expect("an own entry parses");
        let honest = parsed.trust_stored();
        let mut signature = honest.signature();
        signature[3] ^= 0x10;
        let header = honest.header_bytes().clone();
        let items = honest.items().to_vec();
        entries
            .entries
            .push(WireEntry::from_parts(header, &signature, items));
    }
    Message::Entries(entries)
}
