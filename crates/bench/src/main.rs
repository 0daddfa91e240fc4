//! Benchmarks: every figure is a ratio against a limit measured in the same run, and every row
//! checks its own answer.
//!
//! `cargo xtask bench [ROW...]` runs the rows of `docs/performance.md` at several sizes, prints a
//! table and how the cost grows, and can write JSON and compare with an earlier run.
#![expect(clippy::print_stdout, reason = "the table is the product")]
#![expect(clippy::print_stderr, reason = "progress goes beside the table")]
#![expect(
    clippy::cast_precision_loss,
    reason = "figures are shown to four digits"
)]
#![expect(
    clippy::cast_possible_truncation,
    reason = "a logarithm has few digits"
)]

mod args;
mod dataset;
mod limits;
mod pair;
mod plot;
mod process;
mod relay;
mod report;
mod row;

use anyhow::Result;
use clap::Parser;

use crate::{args::Args, report::Report};

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(child) = &args.child {
        return match child.strip_prefix(relay::CHILD) {
            Some(folder) => relay::child(folder),
            None => row::p1::child(child),
        };
    }
    let mut report = Report::new();
    for row in args.rows() {
        row.run(&args, &mut report)?;
    }
    report.print();
    if let Some(path) = &args.write {
        report.write(path)?;
    }
    if let Some(path) = &args.baseline {
        report.compare(path)?;
    }
    report.verdict(args.strict)
}
