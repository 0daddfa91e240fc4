//! Frames (`SES-3`): a big-endian 32-bit length, then that many bytes of one canonical message.

use bytes::{Buf, Bytes, BytesMut};
use osier_core::{Malformed, decode_canonical, encode_canonical};

use crate::{limit::FRAME_BYTES_MAX, message::Message};

/// Bytes of the length before each message.
const LENGTH_BYTES: usize = 4;

/// A frame that cannot be read; whoever sent it is at fault and the stream is of no further use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length is over the bound.
    #[error("a frame of {bytes} bytes, the limit is {FRAME_BYTES_MAX}")]
    TooLong {
        /// What the length field says.
        bytes: usize,
    },
    /// The content is not one canonical message.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// The bytes of one message on the stream.
///
/// # Panics
/// If the message is over the frame bound: the machines keep theirs under it.
pub fn encode_frame(message: &Message) -> Bytes {
    let body = encode_canonical(message);
    assert!(
        body.len() <= FRAME_BYTES_MAX,
        "machines bound what they send"
    );
    let length = u32::try_from(body.len()).expect("bounded above");
    let mut frame = Vec::with_capacity(LENGTH_BYTES + body.len());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&body);
    frame.into()
}

/// Cuts a byte stream into messages. Holds at most one frame and what was pushed with it.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: BytesMut,
}

impl FrameDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message; none until more bytes are pushed.
    ///
    /// # Errors
    /// The sender is at fault; the decoder is of no further use.
    pub fn next_message(&mut self) -> Result<Option<Message>, FrameError> {
        let Some(length) = self.buffer.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let bytes = u32::from_be_bytes(*length) as usize;
        if bytes > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong { bytes });
        }
        if self.buffer.len() < LENGTH_BYTES + bytes {
            return Ok(None);
        }
        self.buffer.advance(LENGTH_BYTES);
        let body = self.buffer.split_to(bytes);
        Ok(Some(decode_canonical(
            "sync message",
            &body,
            FRAME_BYTES_MAX,
        )?))
    }

    /// Bytes of a message that has not come whole; after [`FrameDecoder::next_message`] gave none.
    pub fn partial_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Whether the stream ends inside a frame if it ends now.
    pub fn is_mid_frame(&self) -> bool {
        !self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Expect;

    #[test]
    fn frames_come_back_whatever_the_cuts() {
        let messages = [Message::Expect(Expect { entries: 7 }), Message::UploadEnd];
        let stream: Vec<u8> = messages
            .iter()
            .flat_map(|m| encode_frame(m).to_vec())
            .collect();
        for cut in 1..=stream.len() {
            let mut decoder = FrameDecoder::new();
            let mut read = Vec::new();
            for piece in stream.chunks(cut) {
                decoder.push(piece);
                while let Some(message) = decoder.next_message().unwrap() {
                    read.push(message);
                }
            }
            assert_eq!(read, messages);
            assert!(!decoder.is_mid_frame());
        }
    }

    #[test]
    fn an_oversize_length_is_refused_before_its_bytes_come() {
        let mut decoder = FrameDecoder::new();
        decoder.push(&u32::MAX.to_be_bytes());
        assert_eq!(
            decoder.next_message(),
            Err(FrameError::TooLong {
                bytes: u32::MAX as usize
            })
        );
    }
}
