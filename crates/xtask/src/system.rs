//! What a suite needs of the machine. On Debian, as root, what is missing is installed; elsewhere
//! the suite fails and says what it lacks.

use std::path::Path;

use anyhow::{Error, Result, anyhow};

use crate::{process::Cmd, test::Step};

/// Debian's packages for Node.js with npm.
const NODE_PACKAGES: &[&str] = &["nodejs", "npm"];

/// Debian's packages for Python with virtual environments.
const PYTHON_PACKAGES: &[&str] = &["python3", "python3-venv"];

/// Whether the program can be started.
pub(crate) fn works(program: &str, root: &Path) -> bool {
    Cmd::new(program, root).args(["--version"]).works()
}

/// The packages of Node.js and npm, if one of them is missing.
pub(crate) fn missing_node(root: &Path) -> &'static [&'static str] {
    if works("node", root) && works("npm", root) {
        return &[];
    }
    NODE_PACKAGES
}

/// The packages of Python, if it is missing or can make no virtual environment.
pub(crate) fn missing_python(root: &Path) -> &'static [&'static str] {
    let words = ["-c", "import ensurepip, venv"];
    if Cmd::new("python3", root).args(words).works() {
        return &[];
    }
    PYTHON_PACKAGES
}

/// The commands that install Debian's packages `missing` for a suite. Elsewhere they are named, and
/// `next` says what to do.
pub(crate) fn install(suite: &str, missing: &[&str], next: &str, root: &Path) -> Result<Vec<Step>> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    if !can_install(root) {
        return Err(lacking(suite, missing, next));
    }
    Ok(apt_get(missing, root))
}

fn lacking(suite: &str, missing: &[&str], next: &str) -> Error {
    let missing = missing.join(", ");
    anyhow!("the {suite} suite lacks {missing}; {next}")
}

/// Whether this is root on a Debian.
fn can_install(root: &Path) -> bool {
    let id = Cmd::new("id", root).args(["-u"]).output();
    let is_root = id.is_ok_and(|id| id.trim() == "0");
    is_root && works("apt-get", root)
}

fn apt_get(packages: &[&str], root: &Path) -> Vec<Step> {
    let update = Cmd::new("apt-get", root).args(["update", "-qq"]);
    let words = ["install", "-y", "-qq", "--no-install-recommends"];
    let install = Cmd::new("apt-get", root)
        .args(words)
        .args(packages.iter().copied())
        .env("DEBIAN_FRONTEND", "noninteractive");
    vec![Step::prepare(update), Step::prepare(install)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_missing_is_nothing_to_install() {
        let steps = install("interop", &[], "install them", Path::new(".")).unwrap();
        assert_eq!(steps, []);
    }

    #[test]
    fn what_is_missing_is_installed_or_named() {
        let steps = apt_get(PYTHON_PACKAGES, Path::new("."));
        let shown: Vec<String> = steps.iter().map(|step| step.cmd.to_string()).collect();
        assert_eq!(shown[0], "apt-get update -qq");
        assert!(
            shown[1].ends_with("--no-install-recommends python3 python3-venv"),
            "{shown:?}"
        );
        let refused = lacking("interop", PYTHON_PACKAGES, "install them").to_string();
        let said = "the interop suite lacks python3, python3-venv; install them";
        assert_eq!(refused, said);
    }
}
