//! What the stories need: a folder, a running node, a watcher with a time limit.

pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod node;
pub(crate) mod watcher;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use serde_json::Value;

/// No story waits longer than this for one thing; all of them are on loopback.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The `osier` binary that was built beside these tests.
pub(crate) fn binary() -> PathBuf {
    let test = env::current_exe().expect("a running test has a path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in PROFILE/deps");
    let binary = profile.join("osier");
    assert!(
        binary.exists(),
        "{} is missing: build it with `cargo build -p osier-cli`, or run `cargo xtask test it`",
        binary.display()
    );
    binary
}

/// A command of `osier` on a data folder, without colours or an environment of its own.
pub(crate) fn osier(data: &Path) -> Command {
    let mut command = Command::new(binary());
    command.env("NO_COLOR", "1").arg("--data-dir").arg(data);
    command
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn run(data: &Path, args: &[&str]) -> Output {
    osier(data).args(args).output().expect("osier starts")
}

/// Runs a command that must succeed and returns its standard output.
pub(crate) fn ok(data: &Path, args: &[&str]) -> String {
    let output = run(data, args);
    let (out, err) = texts(&output);
    assert!(
        output.status.success(),
        "osier {args:?} failed with {}: {err}",
        output.status
    );
    out
}

/// Runs a command with `--json` that must succeed and returns its one JSON document.
pub(crate) fn json(data: &Path, args: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend_from_slice(args);
    let out = ok(data, &all);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?} printed {out:?}: {error}"))
}

/// Runs a command that must fail; its exit code and what it said on standard error.
pub(crate) fn fails(data: &Path, args: &[&str]) -> (i32, String) {
    let output = run(data, args);
    let (out, err) = texts(&output);
    assert!(!output.status.success(), "osier {args:?} succeeded: {out}");
    assert!(!err.contains("panicked"), "osier {args:?} panicked: {err}");
    (output.status.code().unwrap_or(-1), err)
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
