//! A stream between the client and an archive, as a bag of messages each way.

use osier_engine::SessionKey;
use osier_proto::{Message, encode_frame};

use super::End;

/// One message on its way.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a stream ends once, and has many messages"
)]
pub(super) enum Item {
    Message(Message),
    /// Nothing comes after this.
    Fin,
}

impl Item {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Message(message) => message.name(),
            Self::Fin => "the end of the stream",
        }
    }

    /// Its bytes, which tell it from all others.
    pub(super) fn hash(&self) -> [u8; 32] {
        match self {
            Self::Message(message) => *blake3::hash(&encode_frame(message)).as_bytes(),
            Self::Fin => [0; 32],
        }
    }
}

/// One stream.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) server: usize,
    /// The client's session.
    pub(super) key: SessionKey,
    /// The archive's, once it has granted.
    pub(super) session: Option<u64>,
    to: [Vec<Item>; 2],
    gone: [bool; 2],
}

impl Line {
    pub(super) fn new(server: usize, key: SessionKey) -> Self {
        Self {
            server,
            key,
            session: None,
            to: [Vec::new(), Vec::new()],
            gone: [false; 2],
        }
    }

    /// On their way to an end, oldest first.
    pub(super) fn items(&self, to: End) -> &[Item] {
        &self.to[to as usize]
    }

    /// Sends to an end. What goes to one that is gone is gone, too, and so is a sign of life: time
    /// only passes when nothing else happens.
    pub(super) fn send(&mut self, to: End, item: Item) {
        let idle = matches!(item, Item::Message(Message::Alive(_)));
        if !idle && !self.gone[to as usize] {
            self.to[to as usize].push(item);
        }
    }

    /// Takes a message off.
    pub(super) fn take(&mut self, to: End, at: usize) -> Item {
        self.to[to as usize].remove(at)
    }

    /// Makes a message arrive twice, the second time after all that is on its way now.
    pub(super) fn double(&mut self, to: End, at: usize) {
        let copy = self.to[to as usize][at].clone();
        self.to[to as usize].push(copy);
    }

    /// An end is done: it hears nothing more, and the other end is told so.
    pub(super) fn leave(&mut self, end: End) {
        if !self.is_gone(end) {
            self.gone[end as usize] = true;
            self.to[end as usize].clear();
            self.send(end.other(), Item::Fin);
        }
    }

    /// An end dies: what it has sent and has not arrived is lost with it.
    pub(super) fn die(&mut self, end: End) {
        self.to[end.other() as usize].clear();
        self.leave(end);
    }

    pub(super) fn is_gone(&self, end: End) -> bool {
        self.gone[end as usize]
    }
}

impl End {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}
