//! Where the workspace is, and the text in it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Folders that hold nothing of ours: built, fetched, or a node's data.
const SKIPPED_FOLDERS: &[&str] = &[
    "target",
    ".git",
    "node_modules",
    ".venv",
    "osier-data",
    "mutants.out",
];

/// What counts as text by the end of its name. Files without an extension are looked at by name.
const TEXT_EXTENSIONS: &[&str] = &[
    "rs", "toml", "md", "sh", "py", "js", "mjs", "ts", "html", "css",
];

/// Text files without a telling extension.
const TEXT_NAMES: &[&str] = &["justfile", "run"];

/// The root folder of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the workspace that this task was started from.
    ///
    /// `cargo run` names this crate's folder; a binary that is started by hand falls back to the
    /// present folder.
    pub(crate) fn find() -> Result<Self> {
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => env::current_dir().context("cannot tell the present folder")?,
        };
        let root = start
            .ancestors()
            .find(|folder| folder.join("Cargo.lock").is_file())
            .with_context(|| format!("no workspace holds {}; go into one", start.display()))?;
        Ok(Self {
            root: root.to_path_buf(),
        })
    }

    /// A workspace at `root`, which need not exist.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Reads one file, named from the root.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| format!("cannot read {path}"))
    }

    /// Reads every text file of ours, in order of path.
    pub(crate) fn texts(&self) -> Result<Vec<Text>> {
        let mut texts = Vec::new();
        for path in self.files()?.into_iter().filter(|path| is_text(path)) {
            let content = fs::read_to_string(self.root.join(&path))
                .with_context(|| format!("cannot read {} as UTF-8 text", path.display()))?;
            texts.push(Text { path, content });
        }
        Ok(texts)
    }

    /// Every file of ours, named from the root, in order. Links are not followed.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder)
                .with_context(|| format!("cannot list {}", folder.display()))?;
            for entry in entries {
                let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
                let kind = entry
                    .file_type()
                    .context("cannot tell a file from a folder")?;
                if kind.is_file() {
                    files.push(self.relative(&entry.path()));
                } else if kind.is_dir() && !is_skipped(&entry.path()) {
                    folders.push(entry.path());
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_path_buf()
    }
}

/// A text file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// Named from the root of the workspace.
    pub(crate) path: PathBuf,
    /// The whole of it.
    pub(crate) content: String,
}

impl Text {
    /// A text at a path; for the tests of the checks.
    #[cfg(test)]
    pub(crate) fn new(path: &str, content: &str) -> Self {
        Self {
            path: PathBuf::from(path),
            content: content.to_owned(),
        }
    }

    /// Whether the name ends in `.extension`.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|it| it == extension)
    }

    /// Whether the file lies somewhere under `folder`, named from the root.
    pub(crate) fn is_under(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }

    /// Lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.content
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

fn is_text(path: &Path) -> bool {
    let known = |part: Option<&std::ffi::OsStr>, list: &[&str]| {
        part.and_then(|part| part.to_str())
            .is_some_and(|part| list.contains(&part))
    };
    known(path.extension(), TEXT_EXTENSIONS) || known(path.file_name(), TEXT_NAMES)
}

fn is_skipped(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_none_or(|name| SKIPPED_FOLDERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_finds_this_file_and_skips_what_is_built() {
        let files = Workspace::find().unwrap().files().unwrap();
        assert!(files.contains(&PathBuf::from("crates/xtask/src/workspace.rs")));
        assert!(
            !files
                .iter()
                .any(|file| file.starts_with("target") || file.starts_with(".git"))
        );
    }

    #[test]
    fn text_is_told_by_its_name() {
        assert!(is_text(Path::new("a/b.rs")) && is_text(Path::new(".ci/run")));
        assert!(!is_text(Path::new("a/b.png")) && !is_text(Path::new("LICENSE")));
    }
}
