//! One session's stream as messages: frames in, frames out.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use iroh::endpoint::{RecvStream, SendStream};
use osier_proto::{CloseCode, FrameDecoder, FrameError, Message, encode_frame};
use tokio::time::timeout;

use crate::{
    limit::{FLUSH_WITHIN, READ_BYTES},
    metric::SharedCounters,
};

/// Bytes that a stream may carry before the hello is read: a hello has under 1 KiB, and until it
/// is read nobody has proven anything.
const HELLO_BYTES_MAX: usize = 4096;

/// Both directions of a session's stream.
#[derive(Debug)]
pub(crate) struct Wire {
    send: SendStream,
    recv: RecvStream,
    decoder: FrameDecoder,
    outbox: VecDeque<Bytes>,
    outbox_bytes: usize,
    /// The peer's side has ended, by a finish or by a reset.
    ended: bool,
    /// The peer takes nothing more.
    deaf: bool,
    counters: SharedCounters,
}

/// What came of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchanged {
    /// So many bytes were taken by the peer; none when it takes nothing more.
    Wrote(usize),
    /// Some bytes came, for [`Wire::next_message`].
    Read,
    /// Nothing more will come.
    End,
}

impl Wire {
    /// A stream at its start.
    pub(crate) fn new(send: SendStream, recv: RecvStream, counters: SharedCounters) -> Self {
        Self {
            send,
            recv,
            decoder: FrameDecoder::new(),
            outbox: VecDeque::new(),
            outbox_bytes: 0,
            ended: false,
            deaf: false,
            counters,
        }
    }

    /// The first message of a stream that a peer has opened, while nobody has proven anything.
    /// None if the stream ends, or carries something too long, before it.
    pub(crate) async fn first_message(&mut self) -> Option<Message> {
        let mut bytes = 0;
        loop {
            let max = HELLO_BYTES_MAX.checked_sub(bytes).filter(|max| *max > 0)?;
            let chunk = self.recv.read_chunk(max).await.ok()??;
            bytes += chunk.len();
            self.decoder.push(&chunk);
            if let Some(message) = self.decoder.next_message().ok()? {
                return Some(message);
            }
        }
    }

    /// Reads some of what has come, or writes some of what waits, whichever can be done first.
    /// Waits for ever if neither is wanted. Cancel-safe.
    pub(crate) async fn exchange(&mut self, reads: bool, writes: bool) -> Exchanged {
        let front = self.outbox.front().cloned().unwrap_or_default();
        let writes = writes && !front.is_empty();
        tokio::select! {
            written = self.send.write(&front), if writes => {
                let written = written.ok();
                self.wrote(written);
                Exchanged::Wrote(written.unwrap_or_default())
            }
            chunk = self.recv.read_chunk(READ_BYTES), if reads => self.took(chunk.ok().flatten()),
            () = std::future::pending() => Exchanged::Wrote(0),
        }
    }

    fn took(&mut self, chunk: Option<Bytes>) -> Exchanged {
        let Some(chunk) = chunk else {
            self.ended = true;
            return Exchanged::End;
        };
        self.counters.session_received_bytes.add(chunk.len() as u64);
        self.decoder.push(&chunk);
        Exchanged::Read
    }

    /// Takes note of bytes written; with none, that the peer takes nothing more.
    fn wrote(&mut self, written: Option<usize>) {
        let (Some(written), Some(front)) = (written, self.outbox.front_mut()) else {
            self.deaf = true;
            self.outbox.clear();
            self.outbox_bytes = 0;
            return;
        };
        front.advance(written);
        self.outbox_bytes -= written;
        self.counters.session_sent_bytes.add(written as u64);
        if front.is_empty() {
            self.outbox.pop_front();
        }
    }

    /// The next message of what was read.
    pub(crate) fn next_message(&mut self) -> Result<Option<Message>, FrameError> {
        self.decoder.next_message()
    }

    /// Bytes of a message that has not come whole.
    pub(crate) fn partial_bytes(&self) -> usize {
        self.decoder.partial_bytes()
    }

    /// Whether nothing more can be read.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Puts a message behind those that wait.
    pub(crate) fn push(&mut self, message: &Message) {
        if !self.deaf {
            let frame = encode_frame(message);
            self.outbox_bytes += frame.len();
            self.outbox.push_back(frame);
        }
    }

    /// Bytes that wait to be written.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.outbox_bytes
    }

    /// Whether the peer would take a message now or later.
    pub(crate) fn is_deaf(&self) -> bool {
        self.deaf
    }

    /// Writes what waits within a time limit, then closes both directions; the peer sees the code
    /// on what it still sends, or in place of what it would not take.
    pub(crate) async fn close(mut self, code: CloseCode) {
        let flush = async {
            while self.outbox_bytes > 0 {
                self.exchange(false, true).await;
            }
        };
        let flushed = timeout(FLUSH_WITHIN, flush).await.is_ok() && !self.deaf;
        if !self.ended {
            let _ = self.recv.stop(code.get().into());
        }
        if flushed && self.send.finish().is_ok() {
            // Whoever closes the connection next must not take the last word with it.
            let _ = timeout(FLUSH_WITHIN, self.send.stopped()).await;
        } else {
            let _ = self.send.reset(code.get().into());
        }
    }

    /// Ends both directions without another word.
    pub(crate) fn abort(mut self, code: CloseCode) {
        let _ = self.send.reset(code.get().into());
        let _ = self.recv.stop(code.get().into());
    }
}
