//! Golden vectors: check them, or write them again from the code.
//!
//! The tests own the vectors. Each test with `vector` in its name reads a file of
//! `specs/vectors`; with `OSIER_BLESS=1` it writes that file instead. A change there is a change of
//! the wire or of the disk and needs its own commit.

use anyhow::{Context, Result};

use crate::{process::Cmd, workspace::Workspace};

/// The crates that own an encoding.
const OWNERS: &[&str] = &[
    "osier-core",
    "osier-reconcile",
    "osier-policy",
    "osier-proto",
    "osier-store",
    "osier-nostr",
    "osier-eventdb",
];

/// Runs the vector tests; without `check` they write.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<()> {
    command(workspace, check).run().context(if check {
        "a vector differs; if that is meant, `cargo xtask vectors` writes it again"
    } else {
        "a vector could not be written"
    })
}

fn command(workspace: &Workspace, check: bool) -> Cmd {
    let packages = OWNERS.iter().flat_map(|owner| ["--package", owner]);
    let cmd = Cmd::cargo("test --no-fail-fast --tests", workspace.root());
    let cmd = cmd.args(packages).args(["vector"]);
    if check {
        cmd
    } else {
        cmd.env("OSIER_BLESS", "1")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_a_check_leaves_the_files_alone() {
        let workspace = Workspace::at(Path::new("."));
        assert!(
            command(&workspace, false)
                .to_string()
                .starts_with("OSIER_BLESS=1 cargo test")
        );
        assert!(
            command(&workspace, true)
                .to_string()
                .starts_with("cargo test")
        );
    }
}
