//! One thing that a check has to say.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: PathBuf,
    /// Counted from 1; 0 means the whole file.
    line: usize,
    what: String,
}

impl Finding {
    /// A finding at one line, counted from 1.
    pub(crate) fn at(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_path_buf(),
            line,
            what: what.into(),
        }
    }

    /// A finding about a whole file.
    pub(crate) fn of(path: &Path, what: impl Into<String>) -> Self {
        Self::at(path, 0, what)
    }

    /// What is wrong.
    #[cfg(test)]
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The line, counted from 1; 0 for the whole file.
    #[cfg(test)]
    pub(crate) fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.line {
            0 => write!(f, "{path}: {}", self.what),
            line => write!(f, "{path}:{line}: {}", self.what),
        }
    }
}

/// Prints all findings of a check and fails if there are any.
pub(crate) fn report(check: &str, mut findings: Vec<Finding>) -> Result<()> {
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("{check}: ok");
            Ok(())
        }
        1 => bail!("{check} found one problem; it is listed above"),
        count => bail!("{check} found {count} problems; they are listed above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_its_place() {
        let path = Path::new("a/b.rs");
        assert_eq!(
            Finding::at(path, 3, "too long").to_string(),
            "a/b.rs:3: too long"
        );
        assert_eq!(
            Finding::of(path, "too long").to_string(),
            "a/b.rs: too long"
        );
    }

    #[test]
    fn a_finding_fails_the_check() {
        assert!(report("none", Vec::new()).is_ok());
        assert!(report("one", vec![Finding::of(Path::new("a"), "bad")]).is_err());
    }
}
