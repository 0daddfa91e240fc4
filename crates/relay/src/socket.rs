//! One WebSocket: frames out in order as the client takes them, frames in as they come.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{Sink, Stream};
use osier_nostr::{Frame, limit as nostr_limit};
use tokio::{io::AsyncReadExt, net::TcpStream};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message, Utf8Bytes,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

use crate::{gather::Gather, limit};

/// A WebSocket, with what waits to be written to it.
pub(crate) struct Socket {
    stream: WebSocketStream<Gather<TcpStream>>,
    waiting: VecDeque<Frame>,
    waiting_bytes: usize,
    ping: bool,
    unflushed: bool,
}

/// What came of trying to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wrote {
    /// Whether frames have gone on their way.
    pub(crate) some: bool,
    /// Whether everything is written.
    pub(crate) all: bool,
}

impl Socket {
    /// A socket after its handshake; `read` has been read already.
    pub(crate) async fn new(stream: TcpStream, read: Vec<u8>) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(limit::READ_BYTES)
            // Gathering is done below, where the buffer can be given back.
            .write_buffer_size(0)
            .max_message_size(Some(nostr_limit::MESSAGE_BYTES_MAX))
            .max_frame_size(Some(nostr_limit::MESSAGE_BYTES_MAX));
        let stream = Gather::new(stream);
        let stream =
            WebSocketStream::from_partially_read(stream, read, Role::Server, Some(config)).await;
        Self {
            stream,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            ping: false,
            unflushed: false,
        }
    }

    /// Puts a frame behind the others.
    pub(crate) fn push(&mut self, frame: Frame) {
        self.waiting_bytes += frame.bytes();
        self.waiting.push_back(frame);
    }

    /// Asks for a sign of life, before other frames.
    pub(crate) fn ping(&mut self) {
        self.ping = true;
    }

    /// Bytes of frames that wait.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Writes as much as the client takes. Wakes when it takes more.
    ///
    /// # Errors
    /// The connection is over.
    pub(crate) fn write(&mut self, cx: &mut Context<'_>) -> Result<Wrote, Error> {
        let mut some = false;
        while let Some(ready) = self.ready(cx) {
            ready?;
            let Some(message) = self.next() else { break };
            Pin::new(&mut self.stream).start_send(message)?;
            self.unflushed = true;
            some = true;
        }
        if self.unflushed
            && let Poll::Ready(flushed) = Pin::new(&mut self.stream).poll_flush(cx)
        {
            flushed?;
            self.unflushed = false;
        }
        let all = !self.unflushed && self.waiting.is_empty();
        Ok(Wrote { some, all })
    }

    /// Whether a frame can be taken; none if not now, or if there is none.
    fn ready(&mut self, cx: &mut Context<'_>) -> Option<Result<(), Error>> {
        if !self.ping && self.waiting.is_empty() {
            return None;
        }
        match Pin::new(&mut self.stream).poll_ready(cx) {
            Poll::Ready(ready) => Some(ready),
            Poll::Pending => None,
        }
    }

    fn next(&mut self) -> Option<Message> {
        if std::mem::take(&mut self.ping) {
            return Some(Message::Ping(bytes::Bytes::new()));
        }
        let frame = self.waiting.pop_front()?;
        self.waiting_bytes -= frame.bytes();
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        Some(message(frame))
    }

    /// The next message of the client; none at the end.
    pub(crate) fn read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        Pin::new(&mut self.stream).poll_next(cx)
    }

    /// Ends a connection that the client has closed: the library's answer to its close frame still
    /// waits to be written (`NOS-49`).
    pub(crate) async fn end(mut self) {
        let _ = tokio::time::timeout(limit::CLOSE_WITHIN, hang_up(self.stream.get_mut())).await;
    }

    /// Says why, and closes. What the client still sends is read and dropped for a moment: closing
    /// over unread bytes would reset the connection, and the reason would be lost.
    pub(crate) async fn close(mut self, code: u16, sentence: &'static str) {
        let frame = CloseFrame {
            code: CloseCode::from(code),
            reason: Utf8Bytes::from_static(sentence),
        };
        let farewell = async {
            use futures_util::SinkExt;
            self.stream.send(Message::Close(Some(frame))).await.ok()?;
            hang_up(self.stream.get_mut()).await
        };
        // A client that does not read its reason has had its time.
        let _ = tokio::time::timeout(limit::CLOSE_WITHIN, farewell).await;
    }
}

/// Writes what waits, ends our side, and reads on until the client has ended its own.
async fn hang_up(socket: &mut Gather<TcpStream>) -> Option<()> {
    use tokio::io::AsyncWriteExt;
    socket.shutdown().await.ok()?;
    let mut left = limit::CLOSE_BYTES_MAX;
    let mut dropped = vec![0; limit::READ_BYTES];
    while left > 0 {
        let count = socket.read(&mut dropped).await.ok()?;
        if count == 0 {
            break;
        }
        left = left.saturating_sub(count);
    }
    Some(())
}

/// A frame as the library takes it.
fn message(frame: Frame) -> Message {
    match frame {
        Frame::Text(text) | Frame::Answer { text, .. } => Message::Text(text.into()),
        Frame::Event { .. } => Message::Text(frame.to_text().into()),
    }
}
