//! Bytes that arrive: at the door, or at a session.

use osier_core::KeyCache;
use osier_engine::{AskId, Input, SessionKey};
use osier_proto::{FrameDecoder, Message, Moved};

use super::{Work, World};
use crate::{
    event::{Event, NodeIndex},
    network::{Piece, Reader, pair},
    node::{Asked, Heard, Live},
};

impl World {
    /// Something of a stream may be there.
    pub(super) fn arrive(&mut self, id: u64, end: usize) {
        let Some(stream) = self.network.streams.get_mut(&id) else {
            return;
        };
        let (node, life) = (stream.ends[end].node, stream.ends[end].life);
        if self.nodes[node].life != life || self.nodes[node].up.is_none() {
            // Nobody is there; the sender learns it when the connection is given up.
            return;
        }
        match &stream.ends[end].reader {
            Reader::Session(key) => self.work.push_back(Work::Drive(node, *key)),
            Reader::Door(_) => self.at_the_door(id, end),
            Reader::Asked(_) | Reader::Gone => {}
        }
    }

    /// The next piece that is due and may be read.
    fn next_piece(&mut self, id: u64, end: usize) -> Option<Piece> {
        let stream = self.network.streams.get(&id)?;
        let (due, _) = stream.ends[end].pieces.front()?;
        if *due > self.now {
            return None;
        }
        let (from, to) = (stream.ends[1 - end].node, stream.ends[end].node);
        match self.network.may_read(self.now, from, to) {
            Ok(()) => {}
            Err(again) => {
                if let Some(at) = again {
                    self.queue.put(at, Event::Arrive { stream: id, end });
                }
                return None;
            }
        }
        let window = self.network.window_bytes;
        let delay = self.network.draw_delay();
        let stream = self.network.streams.get_mut(&id)?;
        let (_, piece) = stream.ends[end].pieces.pop_front()?;
        if let Piece::Bytes(bytes) = &piece {
            let before = stream.ends[end].unread_bytes;
            stream.ends[end].unread_bytes -= bytes.len();
            if before >= window {
                self.grant_room(id, 1 - end, delay);
            }
        }
        Some(piece)
    }

    /// The writer of a full stream learns that there is room.
    fn grant_room(&mut self, id: u64, end: usize, delay: u64) {
        let Some(stream) = self.network.streams.get(&id) else {
            return;
        };
        let (node, life) = (stream.ends[end].node, stream.ends[end].life);
        if let Reader::Session(key) = stream.ends[end].reader {
            self.queue
                .put(self.now + delay, Event::SessionWake { node, life, key });
        }
    }

    fn at_the_door(&mut self, id: u64, end: usize) {
        while let Some(piece) = self.next_piece(id, end) {
            let Piece::Bytes(bytes) = piece else {
                return self.close_end(id, end);
            };
            let Some(stream) = self.network.streams.get_mut(&id) else {
                return;
            };
            let Reader::Door(decoder) = &mut stream.ends[end].reader else {
                return;
            };
            decoder.push(&bytes);
            match decoder.next_message() {
                Ok(None) => {}
                Ok(Some(Message::Hello(hello))) => {
                    let rest = std::mem::take(decoder);
                    return self.put_ask(id, end, hello, rest);
                }
                Ok(Some(_)) | Err(_) => return self.close_end(id, end),
            }
        }
    }

    fn put_ask(&mut self, id: u64, end: usize, hello: osier_proto::Hello, rest: FrameDecoder) {
        let stream = self
            .network
            .streams
            .get_mut(&id)
            .expect("at the door of it");
        stream.ends[end].reader = Reader::Asked(rest);
        let (node, peer) = (stream.ends[end].node, stream.ends[1 - end].node);
        let connection = stream.connection;
        let known = self.network.connections.get(&pair(node, peer));
        let Some(known) = known.filter(|known| known.id == connection) else {
            return self.close_end(id, end);
        };
        let binding = known.binding;
        let peer_id = self.nodes[peer].id;
        let up = self.nodes[node].up.as_mut().expect("looked at in `arrive`");
        up.next_ask += 1;
        let ask = AskId(up.next_ask);
        let asked = Asked {
            stream: id,
            binding,
            peer,
            hello: hello.clone(),
        };
        up.asks.insert(ask, asked);
        let input = Input::SessionAsked {
            ask,
            peer: peer_id,
            binding,
            hello: Box::new(hello),
        };
        self.work.push_back(Work::Tell(node, Box::new(input)));
    }

    /// Feeds a session's machine with what has come, as far as it wants input.
    pub(super) fn read_stream(&mut self, index: NodeIndex, key: SessionKey, live: &mut Live) {
        let now = self.nodes[index].clock.read(self.now).at;
        let mut came = false;
        loop {
            while live.machine.session().wants_input() && !live.told_closed {
                match live.decoder.next_message() {
                    Ok(Some(message)) => {
                        note_heard(&mut live.heard, &message, live.machine.is_client());
                        if let Message::Entries(batch) = &message {
                            self.meter.read((live.peer, index), live.topic, batch);
                        }
                        live.machine.session().handle(message, now);
                    }
                    Ok(None) if !came => break,
                    Ok(None) => {
                        came = false;
                        let partial = live.decoder.partial_bytes();
                        let moved = Moved::Read { partial };
                        live.machine.session().stream_moved(moved, now);
                        self.drain(index, key, live);
                        break;
                    }
                    Err(error) => {
                        live.told_closed = true;
                        live.machine.session().fault(error.into(), now);
                    }
                }
                self.drain(index, key, live);
            }
            if live.told_closed || !live.machine.session().wants_input() {
                return;
            }
            match self.next_piece(live.stream, live.end) {
                Some(Piece::Bytes(bytes)) => {
                    live.decoder.push(&bytes);
                    came = true;
                }
                Some(Piece::Fin) => {
                    live.told_closed = true;
                    live.machine.session().stream_closed(now);
                    self.drain(index, key, live);
                }
                None => {
                    if !self.network.streams.contains_key(&live.stream) {
                        live.told_closed = true;
                        live.machine.session().stream_closed(now);
                        self.drain(index, key, live);
                    }
                    return;
                }
            }
        }
    }
}

/// The checker's own notes of what comes to a client.
fn note_heard(heard: &mut Heard, message: &Message, is_client: bool) {
    if !is_client {
        return;
    }
    match message {
        Message::HelloAck(ack) if heard.ack.is_none() => heard.ack = Some(ack.clone()),
        Message::Entries(entries) => {
            heard.count += entries.entries.len() as u64;
            heard.last = entries.entries.last().map(osier_core::WireEntry::hash);
        }
        Message::Complete(marker) => {
            if let Ok(marker) = marker.clone().verify(&mut KeyCache::new()) {
                heard.markers.push((marker.signer(), marker.into_inner()));
            }
        }
        _ => {}
    }
}
