//! `osier import`: every line of a file as an entry, going on where an import was stopped. A file
//! of Nostr events is taken in as such: see `events`.
//!
//! Each batch of lines is written only if this node has written nothing else since what was
//! accounted for; how far that is, is noted in the data directory before the batch is sent. So an
//! import that was killed finds out from the log which lines arrived, and a batch that arrives late
//! is refused: no line is lost, none is written twice.

mod events;
mod mark;

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Seek, SeekFrom},
};

use indicatif::ProgressBar;
use serde_json::json;

use self::mark::{Anchor, Mark};
use super::{
    Context,
    publish::{open_file, read_line},
};
use crate::{
    api::{Api, topic_path},
    args::ImportArgs,
    failure::{Failure, Outcome},
    output::Output,
    page::Pages,
    progress,
    reach::{Missing, Reach},
};

/// Bytes of lines in one request: small enough that progress moves, large enough that a request
/// costs nothing beside its signatures.
const BATCH_BYTES: usize = 512 * 1024;

/// Lines in one request.
const BATCH_LINES: u64 = 2048;

pub(crate) fn run(context: &Context, args: &ImportArgs) -> Outcome {
    let mut file = open_file(&args.file)?;
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let topic = reach.api.get(&topic_path(&args.topic))?;
    let id = topic["id"].as_str().unwrap_or_default().to_owned();
    if !args.plain && events::begins_with_one(&mut file)? {
        return events::run(context.out, &reach.api, &id, file);
    }
    let path = std::path::absolute(&args.file).unwrap_or_else(|_| args.file.clone());
    let mark = Mark::at(&context.config.data_dir, &id, &path);
    let mut import = Import {
        api: &reach.api,
        topic: id,
        input: BufReader::with_capacity(BATCH_BYTES, file),
        mark,
        skipped: 0,
        written: 0,
    };
    if args.restart {
        import.mark.clear()?;
    }
    let bar = import.resume(context.out)?;
    import.copy(&bar)?;
    bar.finish_and_clear();
    import.mark.clear()?;
    report(context.out, &import)
}

fn report(out: Output, import: &Import<'_>) -> Outcome {
    let (written, before) = (import.written, import.skipped);
    let text = match before {
        0 => format!("imported {written} lines"),
        _ => format!("imported {written} lines; {before} were there from an earlier import"),
    };
    out.either(
        &json!({ "entries": written, "lines_before": before }),
        &text,
    )
}

struct Import<'a> {
    api: &'a Api,
    topic: String,
    input: BufReader<File>,
    mark: Mark,
    /// Lines that an earlier import had done.
    skipped: u64,
    written: u64,
}

impl Import<'_> {
    /// Goes to where the last import of this file into this topic stopped, and says so.
    fn resume(&mut self, out: Output) -> Outcome<ProgressBar> {
        let bytes = self
            .input
            .get_ref()
            .metadata()
            .map_err(|error| unreadable(&error))?
            .len();
        let bar = progress::bytes(out, "import", bytes);
        if self.mark.load(bytes) {
            self.account()?;
            self.skipped = self.mark.lines;
            out.note(&format!(
                "an earlier import of this file was stopped after line {}; going on there \
                 (--restart begins at line 1)",
                self.mark.lines,
            ));
        } else {
            self.mark.anchor = self.present_end()?;
        }
        bar.set_position(self.mark.bytes);
        Ok(bar)
    }

    /// Sends the rest of the file.
    fn copy(&mut self, bar: &ProgressBar) -> Outcome {
        loop {
            let (batch, lines) = self.read_batch()?;
            if lines == 0 {
                return Ok(());
            }
            self.mark.save()?;
            let own_seq = self.mark.anchor.own_seq;
            let path = format!("{}/entries?own_seq={own_seq}", topic_path(&self.topic));
            let Some(answer) = self
                .api
                .post_bytes_if(&path, "application/x-ndjson", &batch)?
            else {
                self.find_out()?;
                continue;
            };
            let entries = answer["entries"].as_u64().unwrap_or(0);
            self.written += entries;
            self.mark.lines += lines;
            self.mark.bytes += batch.len() as u64;
            self.mark.anchor.own_seq += entries;
            if let Some(at) = answer["position"].as_str() {
                at.clone_into(&mut self.mark.anchor.position);
            }
            bar.set_position(self.mark.bytes);
        }
    }

    fn read_batch(&mut self) -> Outcome<(Vec<u8>, u64)> {
        let (mut batch, mut lines) = (Vec::new(), 0);
        while lines < BATCH_LINES
            && batch.len() < BATCH_BYTES
            && read_line(&mut self.input, &mut batch)?
        {
            lines += 1;
        }
        Ok((batch, lines))
    }

    /// This node has written what is not accounted for: by an import that was stopped, or by
    /// somebody else.
    fn find_out(&mut self) -> Outcome {
        let (before, lines) = (self.mark.anchor.clone(), self.mark.lines);
        self.account()?;
        self.skipped += self.mark.lines - lines;
        if self.mark.anchor == before {
            // The log is not the one that was noted: it was removed, or restored from a backup.
            self.mark.anchor = self.present_end()?;
        }
        Ok(())
    }

    /// Passes over the lines that this node has written behind the anchor, and moves it there.
    fn account(&mut self) -> Outcome {
        self.seek()?;
        let me = self.api.get("/v1/node")?["node"].clone();
        let after = self.mark.anchor.position.clone();
        let mut pages = Pages::new(self.api, &self.topic, "arrival", Some(&after));
        let mut next = self.next_line()?;
        while let Some(entries) = pages.next()? {
            for entry in entries.iter().filter(|entry| entry["author"] == me) {
                let seq = entry["seq"].as_u64().unwrap_or(0);
                if seq <= self.mark.anchor.own_seq {
                    continue;
                }
                self.mark.anchor.own_seq = seq;
                let at = entry["position"].as_str().unwrap_or_default();
                at.clone_into(&mut self.mark.anchor.position);
                let item = super::export::item_bytes(&entry["items"][0]);
                if let Some(line) = next
                    .as_ref()
                    .filter(|line| item.as_deref() == Some(line.text()))
                {
                    self.mark.lines += line.lines;
                    self.mark.bytes += line.bytes.len() as u64;
                    next = self.next_line()?;
                }
            }
        }
        self.seek()
    }

    fn next_line(&mut self) -> Outcome<Option<Line>> {
        Line::read(&mut self.input)
    }

    fn seek(&mut self) -> Outcome {
        let at = self.input.seek(SeekFrom::Start(self.mark.bytes));
        at.map(|_| ()).map_err(|error| unreadable(&error))
    }

    fn present_end(&self) -> Outcome<Anchor> {
        let topic = self.api.get(&topic_path(&self.topic))?;
        Ok(Anchor {
            position: topic["position"].as_str().unwrap_or("0").to_owned(),
            own_seq: topic["own_seq"].as_u64().unwrap_or(0),
        })
    }
}

/// A line that makes an entry, with the empty ones before it.
struct Line {
    bytes: Vec<u8>,
    lines: u64,
    start: usize,
}

impl Line {
    fn read(input: &mut impl BufRead) -> Outcome<Option<Self>> {
        let (mut bytes, mut lines) = (Vec::new(), 0);
        loop {
            let start = bytes.len();
            if !read_line(input, &mut bytes)? {
                return Ok(None);
            }
            lines += 1;
            if !trimmed(&bytes[start..]).is_empty() {
                let line = Self {
                    bytes,
                    lines,
                    start,
                };
                return Ok(Some(line));
            }
        }
    }

    /// What its entry holds.
    fn text(&self) -> &[u8] {
        trimmed(&self.bytes[self.start..])
    }
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::other("cannot read the file").because(error)
}

/// A line without its end.
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends() {
        for line in [&b"a"[..], b"a\n", b"a\r\n"] {
            assert_eq!(trimmed(line), b"a");
        }
    }

    #[test]
    fn empty_lines_go_with_the_next_that_is_not() {
        let mut input = &b"a\n\n\r\nb\n\n"[..];
        let line = Line::read(&mut input).unwrap().unwrap();
        assert_eq!((line.text(), line.lines), (&b"a"[..], 1));
        let line = Line::read(&mut input).unwrap().unwrap();
        assert_eq!(
            (line.text(), line.lines, line.bytes.len()),
            (&b"b"[..], 3, 5)
        );
        assert!(Line::read(&mut input).unwrap().is_none());
    }
}
