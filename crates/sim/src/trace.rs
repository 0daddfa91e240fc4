//! The trace of a run: one line a transition. Two runs of one seed give the same bytes.

use std::fmt::{self, Write};

use crate::clock::Time;

/// What to do with the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceMode {
    /// Nothing: lines are not even made.
    Off,
    /// Hash them, to compare two runs.
    Hash,
    /// Hash and print them.
    Print,
}

/// Takes the lines of one run.
#[derive(Debug)]
pub(crate) struct Trace {
    mode: TraceMode,
    hasher: blake3::Hasher,
    line: String,
    lines: u64,
}

impl Trace {
    /// An empty trace.
    pub(crate) fn new(mode: TraceMode) -> Self {
        Self {
            mode,
            hasher: blake3::Hasher::new(),
            line: String::new(),
            lines: 0,
        }
    }

    /// One transition.
    pub(crate) fn note(&mut self, now: Time, node: usize, what: fmt::Arguments<'_>) {
        if self.mode == TraceMode::Off {
            return;
        }
        self.line.clear();
        let (ms, us) = (now / 1_000_000, now / 1_000 % 1_000);
        writeln!(self.line, "{ms:>7}.{us:03} n{node} {what}").expect("a string takes all");
        self.hasher.update(self.line.as_bytes());
        self.lines += 1;
        if self.mode == TraceMode::Print {
            print(&self.line);
        }
    }

    /// Number of lines, and the hash over all of them.
    pub(crate) fn digest(&self) -> (u64, [u8; 32]) {
        (self.lines, *self.hasher.finalize().as_bytes())
    }
}

#[expect(clippy::print_stdout, reason = "asked for on the command line")]
fn print(line: &str) {
    print!("{line}");
}
