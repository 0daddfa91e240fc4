//! What the browser suite needs: Node.js, its npm packages, and a Chromium.
//!
//! On Debian, as root, what is missing is installed; elsewhere the suite fails and says how to.

use std::{env, path::Path};

use anyhow::{Result, bail};

use crate::{
    count::Runner, metadata::Metadata, process::Cmd, system, test::Step, workspace::Workspace,
};

/// Folder of the tests, in the workspace.
const FOLDER: &str = "tests/browser";

/// Names that Chromium goes by.
const CHROMIUM: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// Names the browser to use, in place of one on the PATH.
const CHROMIUM_SET: &str = "OSIER_CHROMIUM";

/// Debian's packages for a browser, and what a person would install elsewhere.
const CHROMIUM_PACKAGES: &[&str] = &["chromium", "fonts-dejavu-core"];

/// The commands that install what this machine lacks, and the npm packages.
pub(crate) fn prepare(root: &Path) -> Result<Vec<Step>> {
    let folder = root.join(FOLDER);
    if let Ok(version) = Cmd::new("node", &folder).args(["--version"]).output()
        && is_old(&version)
    {
        bail!(
            "Node.js is {}, and the browser suite needs 20.11 or newer; install one and put it \
             first on the PATH",
            version.trim()
        );
    }
    let mut missing = system::missing_node(root).to_vec();
    if !has_chromium(&folder) {
        missing.extend(CHROMIUM_PACKAGES);
    }
    let next =
        format!("install them (Node.js 20.11 or newer), or name a Chromium with {CHROMIUM_SET}");
    let mut steps = system::install("browser", &missing, &next, root)?;
    let words = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
    steps.push(Step::prepare(Cmd::new("npm", &folder).args(words)));
    Ok(steps)
}

/// The tests, against the binary that was just built.
pub(crate) fn tests(workspace: &Workspace) -> Result<Step> {
    let folder = workspace.root().join(FOLDER);
    let target = Metadata::load(workspace)?.target_directory;
    let words = ["--test", "--test-reporter=tap", "--test-concurrency=1"];
    let cmd = Cmd::new("node", &folder)
        .args(words)
        .env("OSIER_BINARY", format!("{target}/debug/osier"));
    Ok(Step {
        cmd,
        runner: Some(Runner::Node),
    })
}

/// Whether `node --version` printed one that is too old.
fn is_old(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.');
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    match (next(), next()) {
        (Some(major), Some(minor)) => (major, minor) < (20, 11),
        _ => false,
    }
}

fn has_chromium(folder: &Path) -> bool {
    let found = || CHROMIUM.iter().any(|name| system::works(name, folder));
    env::var_os(CHROMIUM_SET).is_some() || found()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_has_an_age() {
        assert!(is_old("v18.19.0\n"));
        assert!(is_old("v20.10.1"));
        assert!(!is_old("v20.11.0"));
        assert!(!is_old("v22.1.0"));
    }
}
