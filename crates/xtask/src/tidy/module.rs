//! Rust files that no module declares: cargo ignores them, and so would we.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{finding::Finding, workspace::Text};

/// Every `.rs` file is the root of a target or declared by a module that is reached from one.
pub(crate) fn undeclared(texts: &[Text]) -> Vec<Finding> {
    let files: BTreeMap<&Path, &Text> = texts
        .iter()
        .filter(|text| text.has_extension("rs"))
        .map(|text| (text.path.as_path(), text))
        .collect();
    let reached = reach(&files, roots(texts, &files));
    let strays = files.keys().filter(|path| !reached.contains(**path));
    strays
        .map(|path| Finding::of(path, "is declared by no module: cargo ignores it"))
        .collect()
}

/// The files that cargo compiles by itself.
fn roots(texts: &[Text], files: &BTreeMap<&Path, &Text>) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for manifest in texts
        .iter()
        .filter(|text| text.path.ends_with("Cargo.toml"))
    {
        let folder = manifest.path.parent().unwrap_or(Path::new(""));
        let of_package = files
            .keys()
            .filter_map(|path| path.strip_prefix(folder).ok());
        roots.extend(
            of_package
                .filter(|path| is_conventional(path))
                .map(|path| folder.join(path)),
        );
        let named = manifest
            .content
            .lines()
            .filter_map(|line| quoted_after(line, "path = "));
        roots.extend(named.map(|path| folder.join(path)));
    }
    roots
}

/// Whether cargo finds this file, named from the package's folder, without being told.
fn is_conventional(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["src", "bin", rest @ ..] | ["tests" | "benches" | "examples", rest @ ..] => {
            matches!(rest, [_] | [_, "main.rs"])
        }
        _ => false,
    }
}

fn reach(files: &BTreeMap<&Path, &Text>, roots: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<_> = roots.into_iter().map(|path| (path, true)).collect();
    while let Some((path, is_root)) = open.pop() {
        let Some(text) = files.get(path.as_path()) else {
            continue;
        };
        if reached.insert(path.clone()) {
            let folder = folder_of_children(&path, is_root);
            let found = declared(text)
                .into_iter()
                .flat_map(|module| module.places(&path, &folder));
            open.extend(found.map(|path| (path, false)));
        }
    }
    reached
}

/// Where the modules that a file declares are.
fn folder_of_children(path: &Path, is_root: bool) -> PathBuf {
    if is_root || path.ends_with("mod.rs") {
        path.parent().unwrap_or(Path::new("")).to_path_buf()
    } else {
        path.with_extension("")
    }
}

/// `mod name;`, with the path that an attribute may give.
struct Declared<'a> {
    name: &'a str,
    path: Option<&'a str>,
}

impl Declared<'_> {
    fn places(&self, declaring: &Path, folder: &Path) -> Vec<PathBuf> {
        match self.path {
            Some(path) => vec![declaring.with_file_name(path)],
            None => vec![
                folder.join(format!("{}.rs", self.name)),
                folder.join(self.name).join("mod.rs"),
            ],
        }
    }
}

fn declared(text: &Text) -> Vec<Declared<'_>> {
    let mut path = None;
    let mut found = Vec::new();
    for line in text.content.lines().map(str::trim) {
        if let Some(name) = module_name(line) {
            found.push(Declared {
                name,
                path: path.take(),
            });
        } else if let Some(named) = quoted_after(line, "#[path = ") {
            path = Some(named);
        }
    }
    found
}

fn module_name(line: &str) -> Option<&str> {
    let (before, name) = line
        .strip_prefix("mod ")
        .map(|it| ("", it))
        .or(line.split_once(" mod "))?;
    let visible = before.is_empty() || before.starts_with("pub");
    visible.then(|| name.strip_suffix(';'))?
}

/// What stands in quotes after `head`, at the start of `line`.
fn quoted_after<'a>(line: &'a str, head: &str) -> Option<&'a str> {
    line.trim()
        .strip_prefix(head)?
        .strip_prefix('"')?
        .split('"')
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strays(files: &[(&str, &str)]) -> Vec<String> {
        let texts: Vec<_> = files
            .iter()
            .map(|(path, text)| Text::new(path, text))
            .collect();
        undeclared(&texts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn declared_modules_are_reached_at_any_depth() {
        let files = [
            ("c/Cargo.toml", ""),
            ("c/src/lib.rs", "pub mod a;\n"),
            (
                "c/src/a.rs",
                "pub(crate) mod b;\n#[cfg(test)]\nmod tests;\n",
            ),
            ("c/src/a/b.rs", ""),
            ("c/src/a/tests.rs", ""),
        ];
        assert!(strays(&files).is_empty());
    }

    #[test]
    fn a_file_that_nothing_declares() {
        let files = [
            ("c/Cargo.toml", ""),
            ("c/src/lib.rs", "// mod a;"),
            ("c/src/a.rs", ""),
        ];
        assert_eq!(
            strays(&files),
            ["c/src/a.rs: is declared by no module: cargo ignores it"]
        );
    }

    #[test]
    fn roots_may_be_named_in_the_manifest() {
        let files = [
            ("t/Cargo.toml", "[[test]]\npath = \"it/main.rs\"\n"),
            ("t/it/main.rs", "mod story;"),
            ("t/it/story.rs", ""),
        ];
        assert!(strays(&files).is_empty());
    }

    #[test]
    fn a_module_may_have_its_own_path() {
        let files = [
            ("c/Cargo.toml", ""),
            ("c/src/main.rs", "#[path = \"x/y.rs\"]\nmod a;"),
            ("c/src/x/y.rs", ""),
            ("c/tests/it.rs", ""),
        ];
        assert!(strays(&files).is_empty());
    }
}
