//! Decoders of `osier-proto` and `osier-reconcile`.

use osier_core::{
    KeyCache, NodeSecret, Payload, Signed, decode_canonical, encode_canonical, limit,
};
use osier_proto::{
    FrameDecoder, HistorySyncComplete, HistorySyncFailed, Token, TokenSeal, decode_gossip,
    encode_frame,
};
use osier_reconcile::Frame;

/// Bytes of a gossip message.
const ROOM: usize = 4096 - 39;

/// Markers and gossip messages in their envelopes (ENV-2, ENV-3, GOS-4).
///
/// A fuzzer cannot sign. So the bytes are read as an envelope, which must refuse or be canonical,
/// and also as a payload that somebody does sign, which must be refused or mean what it says.
pub fn envelope(bytes: &[u8]) {
    unsigned::<HistorySyncComplete>(bytes);
    unsigned::<HistorySyncFailed>(bytes);
    let _ = decode_gossip(bytes, ROOM, &mut KeyCache::new());
}

fn unsigned<T: Payload + PartialEq>(bytes: &[u8]) {
    let limit = limit::ENVELOPE_PAYLOAD_BYTES_MAX + 256;
    if let Ok(envelope) = decode_canonical::<Signed<T>>("envelope", bytes, limit) {
        assert_eq!(encode_canonical(&envelope), bytes, "comes back equal");
        let claimed = envelope.claimed_signer();
        if let Ok(verified) = envelope.verify(&mut KeyCache::new()) {
            assert_eq!(verified.signer(), claimed, "the identity is the signer");
        }
    }
    if let Ok(payload) = decode_canonical::<T>(T::WHAT, bytes, limit::ENVELOPE_PAYLOAD_BYTES_MAX) {
        let secret = NodeSecret::from_bytes(&[1; 32]);
        let signed = Signed::sign(&secret, &payload);
        let read = signed
            .verify(&mut KeyCache::new())
            .expect("signed just now");
        assert!(read.into_inner() == payload, "comes back equal");
    }
}

/// A stream of frames. The first byte says how the stream is cut into pieces, which must not
/// matter.
pub fn frame(bytes: &[u8]) {
    let Some((&cut, stream)) = bytes.split_first() else {
        return;
    };
    let whole = read(stream, stream.len().max(1));
    let pieces = read(stream, usize::from(cut).max(1));
    assert_eq!(whole, pieces, "cuts do not matter");
    assert!(stream.starts_with(&whole), "frames come back equal");
}

/// All whole frames, written again.
fn read(stream: &[u8], piece: usize) -> Vec<u8> {
    let mut decoder = FrameDecoder::new();
    let mut again = Vec::new();
    for piece in stream.chunks(piece) {
        decoder.push(piece);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => again.extend_from_slice(&encode_frame(&message)),
                Ok(None) => break,
                Err(_) => return again,
            }
        }
    }
    again
}

/// A resume token that a client shows: opened only if this node sealed it.
pub fn token(bytes: &[u8]) {
    let seal = TokenSeal::new(&NodeSecret::from_bytes(&[1; 32]));
    let token = Token(bytes.to_vec());
    if let Some(point) = seal.open(&token) {
        assert_eq!(seal.seal(&point), token, "comes back equal");
        let other = TokenSeal::new(&NodeSecret::from_bytes(&[2; 32]));
        assert!(other.open(&token).is_none(), "nobody else opens it");
    }
}

/// A negentropy frame (REC-1 to REC-4): all ranges are walked, and they ascend.
pub fn range(bytes: &[u8]) {
    let Ok(frame) = Frame::decode(bytes) else {
        return;
    };
    let mut ranges = frame.ranges();
    let mut count = 0;
    while let Some(range) = ranges.next_range().expect("the frame was checked") {
        assert!(range.upper.prefix().len() <= 32);
        count += 1;
    }
    assert!(count <= bytes.len(), "a range takes bytes");
    assert_eq!(frame.as_bytes(), bytes);
}
