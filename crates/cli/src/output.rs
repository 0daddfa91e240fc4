//! All printing: data on standard output, everything else on standard error.

use std::{
    io::{self, IsTerminal, Write},
    process,
};

use serde_json::Value;

use crate::failure::{self, Failure, Outcome};

/// How this run prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON value (or one a line) in place of tables.
    pub(crate) json: bool,
    colour: bool,
    progress: bool,
}

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Needs a look.
    Warn,
    /// Wrong.
    Bad,
    /// Less important.
    Faint,
}

#[expect(
    clippy::unused_self,
    reason = "all that is printed goes through an output"
)]
impl Output {
    /// From the flags and what the process is attached to. `NO_COLOR` set to anything but the empty
    /// text turns colour off (no-color.org).
    pub(crate) fn detect(json: bool) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            json,
            colour: !json && !no_colour && io::stdout().is_terminal(),
            progress: io::stderr().is_terminal(),
        }
    }

    /// Without colour or bars, for tests.
    #[cfg(test)]
    pub(crate) const fn plain(json: bool) -> Self {
        Self {
            json,
            colour: false,
            progress: false,
        }
    }

    /// Whether bars may be drawn: standard error is a terminal.
    pub(crate) const fn draws(self) -> bool {
        self.progress
    }

    /// `text` in a colour, where there is colour.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => 32,
            Tone::Warn => 33,
            Tone::Bad => 31,
            Tone::Faint => 2,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A line of data.
    pub(crate) fn line(self, line: &str) -> Outcome {
        let mut out = io::stdout().lock();
        let written = out
            .write_all(line.as_bytes())
            .and_then(|()| out.write_all(b"\n"));
        written
            .and_then(|()| out.flush())
            .map_err(|error| closed(&error))
    }

    /// A JSON value on a line of its own.
    pub(crate) fn value(self, value: &Value) -> Outcome {
        self.line(&value.to_string())
    }

    /// A JSON value for a program, or `text` for people.
    pub(crate) fn either(self, value: &Value, text: &str) -> Outcome {
        if self.json {
            self.value(value)
        } else {
            self.line(text.trim_end())
        }
    }

    /// Raw bytes of data, as an export writes them.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Outcome {
        let mut out = io::stdout().lock();
        out.write_all(bytes).map_err(|error| closed(&error))
    }

    /// Hands everything written to whoever reads it.
    pub(crate) fn flush(self) -> Outcome {
        io::stdout().lock().flush().map_err(|error| closed(&error))
    }

    /// A line for people that is not data.
    pub(crate) fn note(self, line: &str) {
        // Nobody is there to be told when standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// A failure, as the last thing that a command says.
    pub(crate) fn failure(self, failure: &Failure) {
        self.note(&format!("osier: {failure}"));
    }
}

/// What to do when standard output cannot be written: end quietly if the reader has gone.
fn closed(error: &io::Error) -> Failure {
    if failure::is_closed_pipe(error) {
        process::exit(0);
    }
    Failure::other("cannot write to standard output").because(error)
}
