//! Rules of Rust files.

use std::path::Path;

use crate::{arrows, finding::Finding, tidy::code, workspace::Text};

/// Beyond this, a file holds more than one concept.
const FILE_LINES_MAX: usize = 700;

/// Beyond this, a function of a pure crate cannot be read at a glance.
const FUNCTION_LINES_MAX: usize = 70;

/// Crates that run for developers only; a panic there is a report.
const MAY_UNWRAP: &[&str] = &["tests", "crates/sim", "crates/xtask", "crates/bench"];

/// Names of the files, and folders, that hold test code.
const TEST_NAMES: &[&str] = &["tests", "testing", "benches"];

/// A file is at most 700 lines long.
pub(crate) fn long_file(text: &Text) -> Vec<Finding> {
    let lines = text.content.lines().count();
    let long = text.has_extension("rs") && lines > FILE_LINES_MAX;
    let what = format!("{lines} lines; {FILE_LINES_MAX} is the most: split it by concept");
    long.then(|| Finding::of(&text.path, what))
        .into_iter()
        .collect()
}

/// A function of a pure crate is at most 70 lines long. Tests may be longer.
pub(crate) fn long_function(text: &Text) -> Vec<Finding> {
    let pure = arrows::PURE
        .iter()
        .any(|name| text.is_under(&format!("crates/{name}")));
    if !pure || !text.has_extension("rs") || is_test(&text.path) {
        return Vec::new();
    }
    let functions = code::functions(&code::without_tests(&text.content));
    let long = functions
        .into_iter()
        .filter(|(_, _, lines)| *lines > FUNCTION_LINES_MAX);
    let findings = long.map(|(number, name, lines)| {
        let what = format!("`{name}` has {lines} lines; {FUNCTION_LINES_MAX} is the most");
        Finding::at(&text.path, number, what)
    });
    findings.collect()
}

/// A module says at its head what it is about.
pub(crate) fn undocumented_module(text: &Text) -> Vec<Finding> {
    let head = text.content.lines().find(|line| !line.trim().is_empty());
    let documented = head.is_some_and(|line| line.starts_with("//!"));
    let missing = text.has_extension("rs") && !documented;
    let what = "starts without `//!`: say what the module is about";
    missing
        .then(|| Finding::of(&text.path, what))
        .into_iter()
        .collect()
}

/// `unwrap` is for tests: elsewhere `expect` says why it cannot fail.
pub(crate) fn unwrap(text: &Text) -> Vec<Finding> {
    let exempt = MAY_UNWRAP.iter().any(|folder| text.is_under(folder)) || is_test(&text.path);
    if exempt || !text.has_extension("rs") {
        return Vec::new();
    }
    let lines = code::without_tests(&text.content).into_iter();
    let found = lines
        .filter(|(_, line)| line.contains(".unwrap()") && !line.trim_start().starts_with("//"));
    let what = "`unwrap` outside a test: return an error, or `expect` with the invariant";
    found
        .map(|(number, _)| Finding::at(&text.path, number, what))
        .collect()
}

fn is_test(path: &Path) -> bool {
    let mut names = path
        .components()
        .filter_map(|part| part.as_os_str().to_str());
    names.any(|name| TEST_NAMES.contains(&name.strip_suffix(".rs").unwrap_or(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(check: fn(&Text) -> Vec<Finding>, path: &str, content: &str) -> usize {
        check(&Text::new(path, content)).len()
    }

    #[test]
    fn a_file_that_is_too_long() {
        assert_eq!(count(long_file, "a.rs", &"a\n".repeat(700)), 0);
        assert_eq!(count(long_file, "a.rs", &"a\n".repeat(701)), 1);
        assert_eq!(count(long_file, "a.md", &"a\n".repeat(701)), 0);
    }

    #[test]
    fn a_function_that_is_too_long() {
        let function = |lines: usize| format!("fn a() {{\n{}}}\n", "    x();\n".repeat(lines - 2));
        let path = "crates/core/src/a.rs";
        assert_eq!(count(long_function, path, &function(70)), 0);
        assert_eq!(count(long_function, path, &function(71)), 1);
        assert_eq!(
            count(long_function, "crates/core/src/a/tests.rs", &function(71)),
            0
        );
        assert_eq!(
            count(long_function, "crates/node/src/a.rs", &function(71)),
            0
        );
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            "    x();\n".repeat(71)
        );
        assert_eq!(count(long_function, path, &tests), 0);
    }

    #[test]
    fn a_module_without_a_word() {
        assert_eq!(count(undocumented_module, "a.rs", "//! About.\n"), 0);
        assert_eq!(
            count(undocumented_module, "a.rs", "use std::fmt;\n//! About.\n"),
            1
        );
        assert_eq!(count(undocumented_module, "a.rs", ""), 1);
    }

    #[test]
    fn an_unwrap_outside_a_test() {
        let path = "crates/core/src/a.rs";
        assert_eq!(count(unwrap, path, "    a.unwrap();\n"), 1);
        assert_eq!(
            count(unwrap, path, "    /// a.unwrap();\n    a.unwrap_or(1)\n"),
            0
        );
        let test = "#[cfg(test)]\nmod tests {\n    fn a() {\n        a.unwrap();\n    }\n}\n";
        assert_eq!(count(unwrap, path, test), 0);
        assert_eq!(
            count(unwrap, "crates/core/src/testing.rs", "a.unwrap();"),
            0
        );
        assert_eq!(count(unwrap, "crates/sim/src/a.rs", "a.unwrap();"), 0);
    }
}
