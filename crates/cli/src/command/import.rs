//! `osier import`: every line of a file as an entry, going on where an import was stopped.
//!
//! A batch of lines is sent, and when the node has answered that it is durable, the place in the
//! file is noted in the data directory. An import that was killed between the two finds out from
//! the log which lines of its last batch arrived: no line is lost, none is written twice.

mod mark;

use std::{
    fs::File,
    io::{BufReader, Seek, SeekFrom},
};

use indicatif::ProgressBar;
use serde_json::{Value, json};

use self::mark::Mark;
use super::{
    Context,
    publish::{open_file, read_line},
};
use crate::{
    api::{Api, topic_path},
    args::ImportArgs,
    failure::{Failure, Outcome},
    output::Output,
    progress,
    reach::{Missing, Reach},
};

/// Bytes of lines in one request: small enough that progress moves, large enough that a request
/// costs nothing beside its signatures.
const BATCH_BYTES: usize = 512 * 1024;

/// Lines in one request.
const BATCH_LINES: usize = 2048;

pub(crate) fn run(context: &Context, args: &ImportArgs) -> Outcome {
    let file = open_file(&args.file)?;
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let topic = reach.api.get(&topic_path(&args.topic))?;
    let id = topic["id"].as_str().unwrap_or_default().to_owned();
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
        let read = |error| Failure::other("cannot read the file").because(error);
        let bytes = self.input.get_ref().metadata().map_err(read)?.len();
        let bar = progress::bytes(out, "import", bytes);
        self.mark.load(bytes);
        if self.mark.lines == 0 && self.mark.before.is_none() {
            return Ok(bar);
        }
        self.input
            .seek(SeekFrom::Start(self.mark.bytes))
            .map_err(read)?;
        let arrived = self.settle_last_batch()?;
        self.skipped = self.mark.lines;
        out.note(&format!(
            "an earlier import of this file was stopped after line {}{}; going on there \
             (--restart begins at line 1)",
            self.mark.lines,
            if arrived > 0 {
                " (its last lines had arrived)"
            } else {
                ""
            },
        ));
        bar.set_position(self.mark.bytes);
        Ok(bar)
    }

    /// Passes over the lines of the batch in flight that the log holds; returns how many.
    fn settle_last_batch(&mut self) -> Outcome<u64> {
        let Some(before) = self.mark.before.clone() else {
            return Ok(0);
        };
        let me = self.api.get("/v1/node")?["node"].clone();
        let arrived = self.own_texts_after(&before, &me)?;
        let mut found = 0;
        for text in arrived {
            let mut line = Vec::new();
            if !read_line(&mut self.input, &mut line)? {
                break;
            }
            let read = line.len() as u64;
            if trimmed(&line) != text.as_slice() {
                // Somebody wrote in between: the rest of the batch cannot be told from it.
                let at = SeekFrom::Start(self.mark.bytes);
                self.input
                    .seek(at)
                    .map_err(|error| Failure::other("cannot read the file").because(error))?;
                break;
            }
            found += 1;
            self.mark.lines += 1;
            self.mark.bytes += read;
        }
        Ok(found)
    }

    /// What this node wrote after a position, as bytes, up to one batch.
    fn own_texts_after(&self, before: &str, me: &Value) -> Outcome<Vec<Vec<u8>>> {
        let mut texts = Vec::new();
        let mut after = before.to_owned();
        while texts.len() < BATCH_LINES {
            let path = format!(
                "{}/entries?after={after}&limit=1000",
                topic_path(&self.topic)
            );
            let page = self.api.get(&path)?;
            let entries = page["entries"].as_array().cloned().unwrap_or_default();
            let own = entries.iter().filter(|entry| &entry["author"] == me);
            texts.extend(own.filter_map(|entry| super::export::item_bytes(&entry["items"][0])));
            if page["done"].as_bool() != Some(false) {
                break;
            }
            page["next"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut after);
        }
        Ok(texts)
    }

    /// Sends the rest of the file.
    fn copy(&mut self, bar: &ProgressBar) -> Outcome {
        let path = format!("{}/entries", topic_path(&self.topic));
        loop {
            let mut batch = Vec::new();
            let mut lines = 0;
            while lines < BATCH_LINES && batch.len() < BATCH_BYTES {
                if !read_line(&mut self.input, &mut batch)? {
                    break;
                }
                lines += 1;
            }
            if lines == 0 {
                return Ok(());
            }
            let end = self.api.get(&topic_path(&self.topic))?["position"].clone();
            self.mark.before = end.as_str().map(str::to_owned);
            self.mark.save()?;
            let answer = self.api.post_bytes(&path, "application/x-ndjson", &batch)?;
            self.written += answer["entries"].as_u64().unwrap_or(0);
            self.mark.lines += lines as u64;
            self.mark.bytes += batch.len() as u64;
            self.mark.before = None;
            self.mark.save()?;
            bar.set_position(self.mark.bytes);
        }
    }
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
}
