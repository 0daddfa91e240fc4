//! Server-sent events, read line by line (the part of the format that our server writes).

use std::io::{self, BufRead};

/// One message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// Where to go on from, as `Last-Event-ID`.
    pub(crate) id: Option<String>,
    /// The content.
    pub(crate) data: String,
}

/// Longest line that is read, in bytes: an entry of a mebibyte in base64 and JSON has room.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads messages until the stream ends.
#[derive(Debug)]
pub(crate) struct Messages<R> {
    reader: R,
}

impl<R: BufRead> Messages<R> {
    /// Over the body of a response.
    pub(crate) fn new(reader: R) -> Self {
        Self { reader }
    }

    /// A line without its end; none at the end of the stream.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut limited = io::Read::take(&mut self.reader, LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == LINE_BYTES_MAX {
            return Err(io::Error::other("a line of the event stream is too long"));
        }
        let text = String::from_utf8_lossy(&line);
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    fn message(&mut self) -> io::Result<Option<Message>> {
        let mut message = Message::default();
        let mut lines = 0;
        while let Some(line) = self.line()? {
            if line.is_empty() {
                if lines > 0 {
                    return Ok(Some(message));
                }
                continue;
            }
            if let Some(data) = line.strip_prefix("data:") {
                if lines > 0 {
                    message.data.push('\n');
                }
                message
                    .data
                    .push_str(data.strip_prefix(' ').unwrap_or(data));
                lines += 1;
            } else if let Some(id) = line.strip_prefix("id:") {
                message.id = Some(id.trim_start().to_owned());
            }
        }
        // A message without the empty line after it was cut off: it is sent again on resume.
        Ok(None)
    }
}

impl<R: BufRead> Iterator for Messages<R> {
    type Item = io::Result<Message>;

    fn next(&mut self) -> Option<io::Result<Message>> {
        self.message().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Message> {
        Messages::new(text.as_bytes()).map(Result::unwrap).collect()
    }

    #[test]
    fn messages_ids_comments_and_a_cut_end() {
        let text =
            ": hello\n\nid: 7\ndata: {\"a\":\ndata: 1}\n\nevent: x\ndata:b\n\nid:9\ndata: cut";
        let first = Message {
            id: Some("7".into()),
            data: "{\"a\":\n1}".into(),
        };
        let second = Message {
            id: None,
            data: "b".into(),
        };
        assert_eq!(read(text), [first, second]);
    }
}
