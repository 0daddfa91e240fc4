//! Every test, suite by suite.
//!
//! A suite is one or more commands, each shown before it runs. Nothing is skipped: a suite that
//! cannot run has failed. The last line printed sums all suites.

use std::{
    env, fmt,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::{
    browser,
    count::{Count, Runner},
    process::Cmd,
    system,
    workspace::Workspace,
};

/// Seeds that every run simulates: the same ones each time, so that a change can be compared.
const SIM_FIXED_SEEDS: u32 = 2_000;

/// How long the simulator looks for trouble with seeds that no run has tried before.
const SIM_FRESH_SECONDS: u32 = 60;

/// More than fits into [`SIM_FRESH_SECONDS`], so that the time ends the run and not the count.
const SIM_FRESH_SEEDS: u32 = 1_000_000;

/// A group of tests with one runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Unit and property tests of every crate
    Unit,
    /// Examples in the documentation
    Doc,
    /// End-to-end tests: real processes, real sockets on loopback
    It,
    /// The dashboard and the example page in a real browser; installs what it needs
    Browser,
    /// The simulator: fixed seeds, then seeds of this commit
    Sim,
    /// Nostr clients and a relay that others wrote, against a running node; installs what it needs
    Interop,
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            None => Ok(()),
        }
    }
}

/// One command of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) cmd: Cmd,
    /// Who prints the closing line; `None` for a command that only prepares.
    pub(crate) runner: Option<Runner>,
}

impl Step {
    /// A command that only prepares.
    pub(crate) fn prepare(cmd: Cmd) -> Self {
        Self { cmd, runner: None }
    }
}

/// How one suite went.
#[derive(Debug)]
struct Outcome {
    suite: Suite,
    count: Count,
    took: Duration,
}

/// Runs `suites` in order, or all of them if none is named.
///
/// A suite that fails does not stop the later ones: one run shows all that is broken.
pub(crate) fn run(workspace: &Workspace, suites: &[Suite]) -> Result<()> {
    let suites = if suites.is_empty() {
        Suite::value_variants()
    } else {
        suites
    };
    let nextest = Cmd::cargo("nextest --version", workspace.root()).works();
    if !nextest {
        println!("cargo-nextest is missing: `cargo test` runs the same tests with no time limit");
    }
    let mut outcomes = Vec::new();
    for suite in suites {
        println!("\n== suite {suite}: repeat with `cargo xtask test {suite}`");
        let start = Instant::now();
        let count = run_suite(workspace, *suite, nextest)?;
        outcomes.push(Outcome {
            suite: *suite,
            count,
            took: start.elapsed(),
        });
    }
    conclude(&outcomes)
}

fn run_suite(workspace: &Workspace, suite: Suite, nextest: bool) -> Result<Count> {
    let mut sum = Count::default();
    for step in steps(workspace, suite, nextest)? {
        let count = run_step(&step)?;
        sum += count;
        if step.runner.is_none() && count.failed > 0 {
            break;
        }
    }
    Ok(sum)
}

fn run_step(step: &Step) -> Result<Count> {
    let Some(runner) = step.runner else {
        let failed = u64::from(!step.cmd.run_reading(|_| {})?);
        return Ok(Count { passed: 0, failed });
    };
    let seen = Mutex::new(Count::default());
    let ok = step.cmd.run_reading(|line| {
        if let Some(count) = runner.read(line) {
            *seen.lock().unwrap_or_else(PoisonError::into_inner) += count;
        }
    })?;
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(settle(runner, seen, ok))
}

/// What a step counts for, given what its closing lines said and how it ended.
///
/// A command that failed counts at least one failure, so that a build error is not "0 failed". A
/// run with no closing line of its own is one test.
fn settle(runner: Runner, seen: Count, ok: bool) -> Count {
    match (ok, seen) {
        (false, Count { passed, failed: 0 }) => Count { passed, failed: 1 },
        (
            true,
            Count {
                passed: 0,
                failed: 0,
            },
        ) if runner == Runner::Plain => Count {
            passed: 1,
            failed: 0,
        },
        _ => seen,
    }
}

/// Prints how each suite went and, as the last line, the sum.
fn conclude(outcomes: &[Outcome]) -> Result<()> {
    let mut sum = Count::default();
    println!();
    for Outcome { suite, count, took } in outcomes {
        println!("suite {suite:<7} {count} in {} s", took.as_secs());
        sum += *count;
    }
    println!("{sum}");
    if sum.failed > 0 {
        let bad = outcomes.iter().filter(|outcome| outcome.count.failed > 0);
        let names: Vec<_> = bad.map(|outcome| outcome.suite.to_string()).collect();
        bail!(
            "tests failed; repeat them with `cargo xtask test {}`",
            names.join(" ")
        );
    }
    if sum.passed == 0 {
        bail!("no test ran; a suite without tests proves nothing");
    }
    Ok(())
}

/// The commands of a suite.
fn steps(workspace: &Workspace, suite: Suite, nextest: bool) -> Result<Vec<Step>> {
    let root = workspace.root();
    Ok(match suite {
        Suite::Unit => vec![unit(root, nextest)],
        Suite::Doc => vec![Step {
            cmd: Cmd::cargo("test --workspace --doc --no-fail-fast", root),
            runner: Some(Runner::Libtest),
        }],
        Suite::It => vec![
            build_osier(root),
            build_chat(root),
            end_to_end(root, nextest),
        ],
        Suite::Browser => {
            let mut steps = browser::prepare(root)?;
            steps.push(build_osier(root));
            steps.push(browser::tests(workspace)?);
            steps
        }
        Suite::Sim => vec![fixed_seeds(root), fresh_seeds(root)?],
        Suite::Interop => interop(root)?,
    })
}

/// Without nextest the same tests run, one process a crate instead of one a test.
fn unit(root: &Path, nextest: bool) -> Step {
    tests("--workspace --exclude osier-tests", root, nextest)
}

fn end_to_end(root: &Path, nextest: bool) -> Step {
    tests("--package osier-tests", root, nextest)
}

fn tests(packages: &str, root: &Path, nextest: bool) -> Step {
    let (words, runner) = if nextest {
        (
            format!("nextest run --profile ci {packages}"),
            Runner::Nextest,
        )
    } else {
        (
            format!("test --no-fail-fast --tests {packages}"),
            Runner::Libtest,
        )
    };
    Step {
        cmd: Cmd::cargo(&words, root),
        runner: Some(runner),
    }
}

/// The end-to-end tests start the real binary, which cargo does not build for them. With the
/// features of the whole workspace, as the other tests were: else all below is built twice.
fn build_osier(root: &Path) -> Step {
    Step::prepare(Cmd::cargo("build --workspace --bin osier", root))
}

/// They also run the example app.
fn build_chat(root: &Path) -> Step {
    Step::prepare(Cmd::cargo("build --workspace --example chat", root))
}

/// Clients from npm, from `PyPI` and from crates.io, and a relay from there as a peer, in the
/// versions that their lists name; they are installed into folders that are not kept.
fn interop(root: &Path) -> Result<Vec<Step>> {
    let missing = [system::missing_node(root), system::missing_python(root)].concat();
    let mut steps = system::install("interop", &missing, "install them", root)?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let osier = target.join("debug/osier").display().to_string();
    let prepares = |cmd| Step { cmd, runner: None };
    let node = root.join("tests/interop/node");
    let python = root.join("tests/interop/python");
    let venv = target.join("interop-python");
    let own = venv.join("bin/python").display().to_string();
    let npm = |words: &str| Cmd::new("npm", &node).args(words.split(' '));
    let pip = "-m pip install --quiet --disable-pip-version-check -r requirements.txt";
    steps.extend([
        build_osier(root),
        prepares(npm("ci --no-audit --no-fund")),
        Step {
            cmd: npm("test").env("OSIER_BIN", &osier),
            runner: Some(Runner::Node),
        },
        prepares(Cmd::new("python3", root).args(["-m", "venv", &venv.display().to_string()])),
        prepares(Cmd::new(&own, &python).args(pip.split(' '))),
        Step {
            cmd: Cmd::new(&own, &python)
                .args(["run.py"])
                .env("OSIER_BIN", &osier),
            runner: Some(Runner::Plain),
        },
        rust_peers(root, &target, &osier),
    ]);
    Ok(steps)
}

/// A workspace of its own: it brings other versions of what we use.
fn rust_peers(root: &Path, target: &Path, osier: &str) -> Step {
    let words = "test --locked --no-fail-fast --manifest-path tests/interop/rust/Cargo.toml";
    Step {
        cmd: Cmd::cargo(words, root)
            .env(
                "CARGO_TARGET_DIR",
                target.join("interop-rust").display().to_string(),
            )
            .env("OSIER_BIN", osier),
        runner: Some(Runner::Libtest),
    }
}

fn fixed_seeds(root: &Path) -> Step {
    sim(root, &format!("--seeds {SIM_FIXED_SEEDS}"))
}

fn fresh_seeds(root: &Path) -> Result<Step> {
    let from = seed_of_commit(root)?;
    let words = format!("--seeds {SIM_FRESH_SEEDS} --seconds {SIM_FRESH_SECONDS} --from {from}");
    Ok(sim(root, &words))
}

fn sim(root: &Path, words: &str) -> Step {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let words = format!("run --package osier-sim --bin sim -- {words} --jobs {jobs}");
    Step {
        cmd: Cmd::cargo(&words, root),
        runner: Some(Runner::Plain),
    }
}

/// The seed that this commit starts from: new with each commit, the same for ever after.
fn seed_of_commit(root: &Path) -> Result<u64> {
    // A clone that another user made is fine: nothing in it is run by git.
    let words = ["-c", "safe.directory=*", "rev-parse", "HEAD"];
    let hash = Cmd::new("git", root).args(words).output().context(
        "the simulator takes its fresh seeds from the commit, so the workspace must be a git \
         clone with at least one commit",
    )?;
    parse_seed(&hash)
}

/// The first 48 bits of a commit hash: short enough to type, far apart from each other.
fn parse_seed(hash: &str) -> Result<u64> {
    let digits = hash.get(..12).context("git printed no commit hash")?;
    u64::from_str_radix(digits, 16).with_context(|| format!("{digits} is no commit hash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(step: &Step) -> String {
        step.cmd.to_string()
    }

    #[test]
    fn an_unknown_suite_names_the_nearest() {
        use clap::Parser;
        let error = crate::Args::try_parse_from(["xtask", "test", "untt"]).unwrap_err();
        assert!(error.to_string().contains("'unit'"), "{error}");
    }

    #[test]
    fn nextest_is_used_where_it_is_installed() {
        let root = Path::new(".");
        let with = shown(&unit(root, true));
        let without = shown(&unit(root, false));
        assert_eq!(
            with,
            "cargo nextest run --profile ci --workspace --exclude osier-tests"
        );
        assert_eq!(
            without,
            "cargo test --no-fail-fast --tests --workspace --exclude osier-tests"
        );
    }

    #[test]
    fn a_failed_command_is_never_without_a_failure() {
        let none = Count::default();
        assert_eq!(
            settle(Runner::Nextest, none, false),
            Count {
                passed: 0,
                failed: 1
            }
        );
        let one = Count {
            passed: 3,
            failed: 2,
        };
        assert_eq!(settle(Runner::Nextest, one, false), one);
    }

    #[test]
    fn a_run_without_a_closing_line_is_one_test() {
        let none = Count::default();
        assert_eq!(
            settle(Runner::Plain, none, true),
            Count {
                passed: 1,
                failed: 0
            }
        );
        assert_eq!(settle(Runner::Libtest, none, true), none);
    }

    #[test]
    fn a_run_of_no_test_fails() {
        assert!(conclude(&[]).is_err());
    }

    #[test]
    fn the_seed_is_the_head_of_the_hash() {
        let hash = "0000000000ff1234567890abcdef1234567890ab";
        assert_eq!(parse_seed(hash).unwrap(), 255);
        assert!(parse_seed("main").is_err());
    }
}
