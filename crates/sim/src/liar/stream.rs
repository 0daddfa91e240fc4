//! Lies in what comes before the marker.

use bytes::Bytes;
use osier_core::WireEntry;
use osier_proto::{Entries, Message, encode_frame};

use super::{Lie, Said, Telling};
use crate::{clock::MS, dice::Dice};

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
            (Lie::Truncates, Message::Entries(_)) => Vec::new(),
            (Lie::Withholds | Lie::WithholdsAndCounts, Message::Entries(entries)) => {
                without_some(entries, dice).into_iter().collect()
            }
            (Lie::BentEntries, Message::Entries(entries)) => vec![bent(entries)],
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
    entries.token = None;
    (!entries.entries.is_empty()).then_some(Message::Entries(entries))
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
