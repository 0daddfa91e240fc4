//! The encoder of frames.

use crate::{Bound, Fingerprint, Id, VERSION, varint};

/// Writes one frame, range by range, in ascending order of their upper bounds.
///
/// It writes what it is told: keeping the order is the caller's part, and a simulated liar's
/// freedom. A frame that holds no range but skips says nothing; the exchange leaves them out.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    bytes: Vec<u8>,
    last_time: u64,
}

/// A point to come back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    last_time: u64,
}

impl Mark {
    /// How many bytes stood before the mark.
    pub(crate) const fn length(self) -> usize {
        self.length
    }
}

impl Default for FrameWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameWriter {
    /// A frame of version 1 without ranges.
    pub fn new() -> Self {
        Self {
            bytes: vec![VERSION],
            last_time: 0,
        }
    }

    /// A range that needs no more work.
    pub fn skip(&mut self, upper: &Bound) {
        self.bound(upper);
        varint::write(&mut self.bytes, 0);
    }

    /// A range and the digest of what is held in it.
    pub fn fingerprint(&mut self, upper: &Bound, fingerprint: &Fingerprint) {
        self.bound(upper);
        varint::write(&mut self.bytes, 1);
        self.bytes.extend(fingerprint);
    }

    /// A range and the ids of what is held in it.
    pub fn ids(&mut self, upper: &Bound, ids: &[Id]) {
        self.bound(upper);
        varint::write(&mut self.bytes, 2);
        let count = u64::try_from(ids.len()).expect("a list has fewer than 2^64 ids");
        varint::write(&mut self.bytes, count);
        self.bytes.extend(ids.as_flattened());
    }

    /// Bytes so far, the version included.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no range has been written.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == 1
    }

    /// The frame.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) const fn mark(&self) -> Mark {
        Mark {
            length: self.bytes.len(),
            last_time: self.last_time,
        }
    }

    /// Forgets what was written since the mark.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        self.last_time = mark.last_time;
    }

    fn bound(&mut self, bound: &Bound) {
        let time = bound.time();
        let code = if time == u64::MAX {
            0
        } else {
            // Below infinity, so there is room for the one.
            time.saturating_sub(self.last_time) + 1
        };
        self.last_time = time;
        varint::write(&mut self.bytes, code);
        let prefix = bound.prefix();
        let length = u64::try_from(prefix.len()).expect("at most 32");
        varint::write(&mut self.bytes, length);
        self.bytes.extend(prefix);
    }
}
