//! A body of lines, each an entry, appended as they arrive.

use axum::body::BodyDataStream;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use osier::{EntryHash, Topic};

use crate::{
    error::{ApiError, ApiResult},
    limit,
    shape::{Written, hex},
};

/// Appends every line that is not empty. A failure says how many lines were durable before it.
pub(crate) async fn append(topic: &Topic, mut body: BodyDataStream) -> ApiResult<Written> {
    let mut writer = Writer {
        topic,
        batch: Vec::new(),
        bytes: 0,
        written: 0,
        last: None,
    };
    let mut lines = Lines::default();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| {
            let error = format!(
                "the body broke off after {} entries: {error}",
                writer.written
            );
            ApiError::bad(
                error,
                "send what is missing again, at most 16 MiB a request",
            )
        })?;
        lines.push(&chunk);
        while let Some(line) = lines.next() {
            writer.add(line).await?;
        }
    }
    if let Some(line) = lines.rest() {
        writer.add(line).await?;
    }
    writer.flush().await?;
    Ok(Written::Lines {
        entries: writer.written,
        last: writer.last.map(hex),
        position: topic.info().await?.end.to_string(),
    })
}

struct Writer<'a> {
    topic: &'a Topic,
    batch: Vec<Bytes>,
    bytes: usize,
    written: u64,
    last: Option<EntryHash>,
}

impl Writer<'_> {
    async fn add(&mut self, line: Bytes) -> ApiResult<()> {
        let full = self.bytes + line.len() > limit::LINES_BYTES_AT_ONCE;
        if !self.batch.is_empty() && (full || self.batch.len() == limit::LINES_AT_ONCE) {
            self.flush().await?;
        }
        self.bytes += line.len();
        self.batch.push(line);
        Ok(())
    }

    async fn flush(&mut self) -> ApiResult<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let hashes = self
            .topic
            .publish_many(std::mem::take(&mut self.batch))
            .await?;
        self.bytes = 0;
        self.written += hashes.len() as u64;
        self.last = hashes.last().copied();
        Ok(())
    }
}

/// Cuts chunks into lines. Holds one chunk and one unfinished line, both bounded by the request.
#[derive(Debug, Default)]
struct Lines {
    held: BytesMut,
    /// Bytes of `held` that are known to hold no line end.
    seen: usize,
}

impl Lines {
    fn push(&mut self, chunk: &[u8]) {
        self.held.extend_from_slice(chunk);
    }

    /// The next whole line that is not empty, without its end.
    fn next(&mut self) -> Option<Bytes> {
        loop {
            let found = self.held[self.seen..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(at) = found else {
                self.seen = self.held.len();
                return None;
            };
            let line = self.held.split_to(self.seen + at + 1).freeze();
            self.seen = 0;
            if let Some(line) = trim(line) {
                return Some(line);
            }
        }
    }

    /// What follows the last line end.
    fn rest(&mut self) -> Option<Bytes> {
        trim(self.held.split().freeze())
    }
}

/// The line without its end; none if nothing is left.
fn trim(mut line: Bytes) -> Option<Bytes> {
    for end in [b'\n', b'\r'] {
        if line.last() == Some(&end) {
            line.truncate(line.len() - 1);
        }
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_across_chunks() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for chunk in ["ab", "c\n\nde", "f\r\n", "\ng\nlast"] {
            lines.push(chunk.as_bytes());
            while let Some(line) = lines.next() {
                found.push(line);
            }
        }
        found.extend(lines.rest());
        assert_eq!(found, ["abc", "def", "g", "last"]);
        assert_eq!(lines.rest(), None);
    }
}
