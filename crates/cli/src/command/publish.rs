//! `osier publish`: append what a file or standard input holds.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use serde_json::json;

use super::Context;
use crate::{
    api::{Api, topic_path},
    args::PublishArgs,
    exit::Exit,
    failure::{Failure, Outcome},
    reach::{Missing, Reach},
};

/// Bytes of lines sent together, at most; a longer line goes alone.
const BATCH_BYTES: usize = 1024 * 1024;

/// Bytes of one entry: the node refuses more, so more is not read.
const ENTRY_BYTES_MAX: u64 = 1024 * 1024;

/// What is published, read ahead by a batch.
type Input = BufReader<Box<dyn Read>>;

pub(crate) fn run(context: &Context, args: &PublishArgs) -> Outcome {
    let mut input = open(args.file.as_deref())?;
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let path = format!("{}/entries", topic_path(&args.topic));
    // A wrong topic is told before standard input is waited for.
    reach.api.get(&topic_path(&args.topic))?;
    let (count, last) = if args.lines {
        publish_lines(&reach.api, &path, &mut input)?
    } else {
        publish_whole(&reach.api, &path, &mut input)?
    };
    let value = json!({ "entries": count, "last": last });
    let plural = if count == 1 { "entry" } else { "entries" };
    let last = last.unwrap_or_default();
    context.out.either(
        &value,
        &format!("published {count} {plural}; the last is {last}"),
    )
}

fn open(file: Option<&Path>) -> Outcome<Input> {
    let source: Box<dyn Read> = match file {
        None => Box::new(io::stdin()),
        Some(path) if path == Path::new("-") => Box::new(io::stdin()),
        Some(path) => Box::new(open_file(path)?),
    };
    Ok(BufReader::with_capacity(BATCH_BYTES, source))
}

/// Opens a file that a person named.
pub(super) fn open_file(path: &Path) -> Outcome<File> {
    File::open(path).map_err(|error| {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failure,
        };
        Failure::new(exit, format!("cannot open {}", path.display())).because(error)
    })
}

fn publish_whole(api: &Api, path: &str, input: &mut Input) -> Outcome<(u64, Option<String>)> {
    let mut bytes = Vec::new();
    input
        .take(ENTRY_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| read_failed(&error))?;
    if bytes.len() as u64 > ENTRY_BYTES_MAX {
        let failure = Failure::new(
            Exit::Usage,
            "the input is larger than an entry can be, 1 MiB",
        );
        return Err(failure.next("Use --lines for an entry a line, or split it"));
    }
    let answer = api.post_bytes(path, "application/octet-stream", &bytes)?;
    Ok((1, answer["hashes"][0].as_str().map(str::to_owned)))
}

fn publish_lines(api: &Api, path: &str, input: &mut Input) -> Outcome<(u64, Option<String>)> {
    let (mut count, mut last) = (0, None);
    loop {
        let batch = read_batch(input)?;
        if batch.is_empty() {
            return Ok((count, last));
        }
        let answer = api.post_bytes(path, "text/plain", &batch)?;
        count += answer["entries"].as_u64().unwrap_or(0);
        last = answer["last"].as_str().map(str::to_owned).or(last);
    }
}

/// Whole lines: at least one, and no more than have already come, so that the lines of a slow
/// writer are published as they come.
fn read_batch(input: &mut Input) -> Outcome<Vec<u8>> {
    let mut batch = Vec::new();
    while batch.len() < BATCH_BYTES {
        let more = read_line(input, &mut batch)?;
        if !more || !input.buffer().contains(&b'\n') {
            break;
        }
    }
    Ok(batch)
}

/// Adds the next line with its end; false at the end of the input.
pub(super) fn read_line(input: &mut impl BufRead, batch: &mut Vec<u8>) -> Outcome<bool> {
    let mut limited = input.take(ENTRY_BYTES_MAX + 2);
    let read = limited
        .read_until(b'\n', batch)
        .map_err(|error| read_failed(&error))?;
    if read as u64 > ENTRY_BYTES_MAX && batch.last() != Some(&b'\n') {
        let failure = Failure::new(Exit::Usage, "a line is larger than an entry can be, 1 MiB");
        return Err(failure.next("The lines before it are published"));
    }
    Ok(read > 0)
}

fn read_failed(error: &io::Error) -> Failure {
    Failure::other("cannot read the input").because(error)
}
