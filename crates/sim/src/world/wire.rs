//! What sessions put on their streams, and what liars make of it.

use osier_proto::{Message, encode_frame};

use super::World;
use crate::{
    event::{Event, NodeIndex},
    liar::Said,
    network::{Piece, Reader},
    node::Live,
};

impl World {
    /// Puts a message on the wire, or what a liar makes of it.
    pub(super) fn say(&mut self, index: NodeIndex, live: &mut Live, message: Message) {
        if matches!(message, Message::Want(_)) && !live.heard.markers.is_empty() {
            live.heard.repaired = true;
        }
        let to_end = 1 - live.end;
        let Some(telling) = &mut live.telling else {
            self.write_message(live.stream, to_end, &message);
            return;
        };
        let memory = &mut self.nodes[index].memory;
        for said in telling.say(message, memory, &mut self.dice.liar) {
            match said {
                Said::Message(message) => self.write_message(live.stream, to_end, &message),
                Said::Later(message, wait) => {
                    let piece = Piece::Bytes(encode_frame(&message));
                    self.network.hold_back(live.stream, to_end, self.now + wait);
                    self.write_piece(live.stream, to_end, piece);
                }
                Said::Raw(bytes) => self.write_piece(live.stream, to_end, Piece::Bytes(bytes)),
            }
        }
    }

    pub(super) fn write_message(&mut self, stream: u64, to_end: usize, message: &Message) {
        self.trace.note(
            self.now,
            self.network
                .streams
                .get(&stream)
                .map_or(0, |s| s.ends[1 - to_end].node),
            format_args!("-> stream {stream} {}", message.name()),
        );
        self.write_piece(stream, to_end, Piece::Bytes(encode_frame(message)));
    }

    pub(super) fn write_piece(&mut self, stream: u64, to_end: usize, piece: Piece) {
        if let (Piece::Bytes(bytes), Some(open)) = (&piece, self.network.streams.get(&stream)) {
            let [from, to] = [1 - to_end, to_end].map(|end| open.ends[end].node);
            self.meter.wrote(from, to, bytes.len());
        }
        for at in self.network.write(self.now, stream, to_end, piece) {
            self.queue.put(
                at,
                Event::Arrive {
                    stream,
                    end: to_end,
                },
            );
        }
    }

    /// This end reads and writes nothing more.
    pub(super) fn close_end(&mut self, stream: u64, end: usize) {
        self.write_piece(stream, 1 - end, Piece::Fin);
        if let Some(open) = self.network.streams.get_mut(&stream) {
            open.ends[end].reader = Reader::Gone;
            open.ends[end].pieces.clear();
        }
        self.network.sweep(stream);
    }
}
