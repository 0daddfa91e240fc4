//! Nostr events, a line each: verified and judged before they are written, so that sending them
//! twice writes nothing twice, and an import that was stopped is simply begun again.

use std::{
    fs::File,
    io::{BufReader, Seek},
};

use serde_json::{Value, json};

use super::{BATCH_BYTES, Line, unreadable};
use crate::{
    api::{Api, topic_path},
    command::publish::read_line,
    failure::{Failure, Outcome},
    output::Output,
    progress,
};

/// Whether the first line of a file that is not empty is a Nostr event. The file is read from its
/// start afterwards.
pub(super) fn begins_with_one(file: &mut File) -> Outcome<bool> {
    let first = Line::read(&mut BufReader::new(&*file))?;
    file.rewind().map_err(|error| unreadable(&error))?;
    let text = first
        .as_ref()
        .and_then(|line| std::str::from_utf8(line.text()).ok());
    Ok(text.is_some_and(|text| osier_relay::is_event(text.trim())))
}

/// Sends every line.
pub(super) fn run(out: Output, api: &Api, topic: &str, file: File) -> Outcome {
    let bytes = file.metadata().map_err(|error| unreadable(&error))?.len();
    let bar = progress::bytes(out, "import", bytes);
    let mut input = BufReader::with_capacity(BATCH_BYTES, file);
    let mut sum = Sum::default();
    let path = format!("{}/nostr", topic_path(topic));
    loop {
        let (mut batch, mut lines) = (Vec::new(), 0);
        while batch.len() < BATCH_BYTES && read_line(&mut input, &mut batch)? {
            lines += 1;
        }
        if lines == 0 {
            break;
        }
        let answer = api.post_bytes(&path, "application/x-ndjson", &batch)?;
        bar.suspend(|| sum.add(out, &answer));
        sum.lines += lines;
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    sum.report(out)
}

/// What became of all lines so far.
#[derive(Debug, Default)]
struct Sum {
    lines: u64,
    stored: u64,
    held: u64,
    refused: u64,
}

impl Sum {
    fn add(&mut self, out: Output, answer: &Value) {
        let number = |key: &str| answer[key].as_u64().unwrap_or(0);
        self.stored += number("stored");
        self.held += number("held");
        self.refused += number("refused");
        let reasons = answer["reasons"].as_array().map(Vec::as_slice);
        for reason in reasons.unwrap_or_default() {
            let line = self.lines + reason["line"].as_u64().unwrap_or(0) + 1;
            let why = reason["why"].as_str().unwrap_or_default();
            out.note(&format!("line {line} is refused: {why}"));
        }
    }

    fn report(&self, out: Output) -> Outcome {
        let Self {
            stored,
            held,
            refused,
            ..
        } = self;
        let held_too = match held {
            0 => String::new(),
            _ => format!("; {held} were held already"),
        };
        let refused_too = match refused {
            0 => String::new(),
            _ => format!("; {refused} lines were refused"),
        };
        let text = format!("imported {stored} Nostr events{held_too}{refused_too}");
        out.either(
            &json!({ "stored": stored, "held": held, "refused": refused }),
            &text,
        )?;
        if stored + held == 0 && *refused > 0 {
            return Err(Failure::other("no line was taken")
                .next("The reasons are above; --plain appends lines as they are"));
        }
        Ok(())
    }
}
