//! Developer tasks, run as `cargo xtask TASK`.
//!
//! | file | task |
//! | --- | --- |
//! | `test.rs` | every test, suite by suite |
//! | `count.rs` | what a runner's closing line says |
//! | `browser.rs` | what the browser suite needs |
//! | `system.rs` | what suites need of the machine, installed or named |
//! | `ci.rs` | every check, cheapest first |
//! | `format.rs` | rustfmt with the workspace's import style |
//! | `arrows.rs` | which crate may use which |
//! | `tidy.rs` | what the compiler does not check: text, modules, links, licences |
//! | `spec.rs` | rule ids: each defined once, each cited |
//! | `case.rs` | public faults: a test is named after each |
//! | `vector.rs` | golden vectors: check or write again |
//! | `forward.rs` | the simulator and the benchmarks |
//! | `process.rs`, `workspace.rs`, `metadata.rs`, `finding.rs` | what the tasks share |

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to a terminal"
)]

mod arrows;
mod browser;
mod case;
mod ci;
mod count;
mod finding;
mod format;
mod forward;
mod metadata;
mod process;
mod spec;
mod system;
mod test;
mod tidy;
mod vector;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{test::Suite, workspace::Workspace};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of the workspace")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every test, or only the suites named
    Test {
        /// Suites to run, in this order; all when none is named
        #[arg(value_enum)]
        suites: Vec<Suite>,
    },
    /// Run every check that is not a test, cheapest first
    Ci,
    /// Format all code, or only look
    Fmt {
        /// Change nothing; fail where something would change
        #[arg(long)]
        check: bool,
    },
    /// Check which crate uses which
    Arrows,
    /// Check text, modules, links, licences and sources
    Tidy,
    /// Check that every rule of the specs is defined once and cited, and every case shown
    Spec,
    /// Write the golden vectors again, or check them
    Vectors {
        /// Change nothing; fail where a vector differs
        #[arg(long)]
        check: bool,
    },
    /// Run the simulator, passing all arguments on
    Sim(forward::Forward),
    /// Run the benchmarks, passing all arguments on
    Bench(forward::Forward),
}

fn main() -> ExitCode {
    match run(Args::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Test { suites } => test::run(&workspace, &suites),
        Task::Ci => ci::run(&workspace),
        Task::Fmt { check } => format::run(&workspace, check),
        Task::Arrows => arrows::run(&workspace),
        Task::Tidy => tidy::run(&workspace),
        Task::Spec => spec::run(&workspace),
        Task::Vectors { check } => vector::run(&workspace, check),
        Task::Sim(forward) => forward::sim(&workspace, &forward),
        Task::Bench(forward) => forward::bench(&workspace, &forward),
    }
}
