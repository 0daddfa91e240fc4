//! Every check that is not a test, cheapest first.
//!
//! The cheap ones all run, so that one look shows all they have to say; the dear ones start only
//! when the cheap ones have passed. No check exists only in CI.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::{arrows, format, metadata::Metadata, process::Cmd, spec, tidy, workspace::Workspace};

/// The version that `.ci/run` installs; a newer one may know more words.
const TYPOS_HINT: &str = "`.ci/run` installs it under the target folder; by hand: python3 -m venv \
    target/tools && target/tools/bin/pip install typos";

/// A name, and what it runs.
type Check = (&'static str, fn(&Workspace) -> Result<()>);

/// Seconds.
const CHEAP: &[Check] = &[
    ("fmt", |workspace| format::run(workspace, true)),
    ("typos", typos),
    ("tidy", tidy::run),
    ("arrows", arrows::run),
    ("spec", spec::run),
];

/// Minutes: these compile.
const DEAR: &[Check] = &[("clippy", clippy), ("doc", doc)];

/// Runs all checks.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let failed: Vec<_> = CHEAP
        .iter()
        .filter(|check| !passes(workspace, check))
        .collect();
    if let Some((first, _)) = failed.first() {
        let names: Vec<_> = failed.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        bail!("checks failed: {names}; what {first} said is above; mend these before clippy runs");
    }
    for (name, check) in DEAR {
        println!("\n== {name}");
        check(workspace).with_context(|| format!("check {name}"))?;
    }
    println!("\nall checks passed");
    Ok(())
}

fn passes(workspace: &Workspace, (name, check): &Check) -> bool {
    println!("\n== {name}");
    match check(workspace) {
        Ok(()) => true,
        Err(error) => {
            println!("{name}: {error:#}");
            false
        }
    }
}

fn typos(workspace: &Workspace) -> Result<()> {
    let typos = find_typos(workspace)?;
    Cmd::new(typos, workspace.root())
        .run()
        .context("a word is misspelt, or is missing from _typos.toml")
}

/// The tool on the `PATH`, or the one in the target folder.
fn find_typos(workspace: &Workspace) -> Result<String> {
    let target = PathBuf::from(Metadata::load(workspace)?.target_directory);
    let own = target.join("tools/bin/typos").display().to_string();
    let found = [own, "typos".to_owned()]
        .into_iter()
        .find(|path| Cmd::new(path, workspace.root()).args(["--version"]).works());
    found.with_context(|| format!("the spell checker `typos` is missing: {TYPOS_HINT}"))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    Cmd::cargo(
        "clippy --workspace --all-targets -- -D warnings",
        workspace.root(),
    )
    .run()
}

/// The library and the binary are both called `osier`, and both are written to one folder: the
/// library, written last, is what stays.
fn doc(workspace: &Workspace) -> Result<()> {
    for words in [
        "doc --no-deps --package osier-cli",
        "doc --no-deps --workspace --exclude osier-cli",
    ] {
        Cmd::cargo(words, workspace.root())
            .env("RUSTDOCFLAGS", "-D warnings")
            .run()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_check_runs_twice() {
        let mut names: Vec<_> = CHEAP.iter().chain(DEAR).map(|(name, _)| *name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
