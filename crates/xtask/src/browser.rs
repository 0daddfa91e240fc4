//! What the browser suite needs: Node.js, its npm packages, and a Chromium.
//!
//! On Debian, as root, what is missing is installed; elsewhere the suite fails and says how to.

use std::{env, path::Path};

use anyhow::{Result, bail};

use crate::{count::Runner, metadata::Metadata, process::Cmd, test::Step, workspace::Workspace};

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

/// Debian's packages for what is missing, and what a person would install elsewhere.
const NODE_PACKAGES: &[&str] = &["nodejs", "npm"];
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
    let mut missing = Vec::new();
    if !(works("node", &folder) && works("npm", &folder)) {
        missing.extend(NODE_PACKAGES);
    }
    if !has_chromium(&folder) {
        missing.extend(CHROMIUM_PACKAGES);
    }
    let mut steps = install(&missing, root, can_install(root))?;
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

fn works(program: &str, folder: &Path) -> bool {
    Cmd::new(program, folder).args(["--version"]).works()
}

fn has_chromium(folder: &Path) -> bool {
    env::var_os(CHROMIUM_SET).is_some() || CHROMIUM.iter().any(|name| works(name, folder))
}

/// Whether this is root on a Debian.
fn can_install(root: &Path) -> bool {
    let id = Cmd::new("id", root).args(["-u"]).output();
    let is_root = id.is_ok_and(|id| id.trim() == "0");
    is_root && Cmd::new("apt-get", root).args(["--version"]).works()
}

fn install(missing: &[&str], root: &Path, can_install: bool) -> Result<Vec<Step>> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    if !can_install {
        bail!(
            "the browser suite lacks {}; install them (Node.js 20.11 or newer), or name a Chromium \
             with {CHROMIUM_SET}",
            missing.join(", ")
        );
    }
    let update = Cmd::new("apt-get", root).args(["update", "-qq"]);
    let words = ["install", "-y", "-qq", "--no-install-recommends"];
    let install = Cmd::new("apt-get", root)
        .args(words)
        .args(missing.iter().copied())
        .env("DEBIAN_FRONTEND", "noninteractive");
    Ok(vec![Step::prepare(update), Step::prepare(install)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_missing_is_nothing_to_install() {
        assert_eq!(install(&[], Path::new("."), false).unwrap(), []);
    }

    #[test]
    fn what_is_missing_is_installed_or_named() {
        let steps = install(CHROMIUM_PACKAGES, Path::new("."), true).unwrap();
        let shown: Vec<String> = steps.iter().map(|step| step.cmd.to_string()).collect();
        assert_eq!(shown[0], "apt-get update -qq");
        assert!(
            shown[1].ends_with("--no-install-recommends chromium fonts-dejavu-core"),
            "{shown:?}"
        );
        let refused = install(CHROMIUM_PACKAGES, Path::new("."), false).unwrap_err();
        let said = refused.to_string();
        assert!(
            said.contains("chromium") && said.contains(CHROMIUM_SET),
            "{said}"
        );
    }

    #[test]
    fn node_has_an_age() {
        assert!(is_old("v18.19.0\n"));
        assert!(is_old("v20.10.1"));
        assert!(!is_old("v20.11.0"));
        assert!(!is_old("v22.1.0"));
    }
}
