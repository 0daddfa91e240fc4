//! rustfmt with the workspace's import style.
//!
//! The two import options are not stable, so `rustfmt.toml` cannot hold them without a warning
//! from every run; passed on the command line, they work on a stable toolchain.

use anyhow::{Context, Result};

use crate::{process::Cmd, workspace::Workspace};

const IMPORTS: &str = "imports_granularity=Crate,group_imports=StdExternalCrate";

/// Formats every file, or with `check` fails where one would change.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<()> {
    let cmd = Cmd::cargo("fmt --all", workspace.root())
        .args(check.then_some("--check"))
        .args([
            "--",
            "--config",
            "unstable_features=true",
            "--config",
            IMPORTS,
        ]);
    cmd.run()
        .context("formatting; `cargo xtask fmt` writes what is asked for")
}
