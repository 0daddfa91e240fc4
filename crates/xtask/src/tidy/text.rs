//! Rules of plain text.

use crate::{finding::Finding, workspace::Text};

/// Columns of a line of code. Prose in Markdown is not broken.
const COLUMNS_MAX: usize = 100;

/// Words that mark work left undone. Written in halves, so that this file does not hold them.
const LEFTOVERS: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
];

/// Folders of somebody's machine.
const MACHINE_PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
];

/// No line ends in a space.
pub(crate) fn trailing_space(text: &Text) -> Vec<Finding> {
    at_lines(text, |line| {
        (line.trim_end() != line).then(|| "space at the end of the line".to_owned())
    })
}

/// No path names a place on one machine.
pub(crate) fn absolute_path(text: &Text) -> Vec<Finding> {
    at_lines(text, |line| {
        let path = MACHINE_PATHS.iter().find(|path| names_path(line, path))?;
        Some(format!("{path} is a place on somebody's machine"))
    })
}

/// Whether `path` stands in `line` as the start of a path, and not in the middle of one.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || "._-}".contains(c))
    })
}

/// Code is at most 100 columns wide. A link that is longer cannot be broken.
pub(crate) fn wide_line(text: &Text) -> Vec<Finding> {
    if !is_code(text) {
        return Vec::new();
    }
    at_lines(text, |line| {
        let columns = line.chars().count();
        let wide = columns > COLUMNS_MAX && !line.contains("https://");
        wide.then(|| format!("{columns} columns; {COLUMNS_MAX} is the most"))
    })
}

/// Code is ASCII: what looks alike is alike.
pub(crate) fn non_ascii(text: &Text) -> Vec<Finding> {
    if !is_code(text) {
        return Vec::new();
    }
    at_lines(text, |line| {
        let odd = line.chars().find(|c| !c.is_ascii())?;
        Some(format!(
            "'{odd}' is not ASCII; write it as {}",
            odd.escape_unicode()
        ))
    })
}

/// No work is left undone.
pub(crate) fn leftover(text: &Text) -> Vec<Finding> {
    if text.has_extension("md") {
        return Vec::new();
    }
    at_lines(text, |line| {
        let word = LEFTOVERS.iter().find(|word| line.contains(*word))?;
        Some(format!("{word} marks work left undone: do it, or file it"))
    })
}

fn is_code(text: &Text) -> bool {
    text.has_extension("rs") || text.has_extension("toml")
}

fn at_lines(text: &Text, check: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let findings = text
        .lines()
        .filter_map(|(number, line)| Some(Finding::at(&text.path, number, check(line)?)));
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(check: fn(&Text) -> Vec<Finding>, path: &str, content: &str) -> Vec<usize> {
        check(&Text::new(path, content))
            .iter()
            .map(Finding::line)
            .collect()
    }

    #[test]
    fn a_space_at_the_end() {
        assert_eq!(
            lines_found(trailing_space, "a.md", "a\nb \nc\t\n\n"),
            [2, 3]
        );
    }

    #[test]
    fn a_place_on_a_machine() {
        let path = MACHINE_PATHS[0];
        let content = format!("cd {path}x\nhttps://a.example{path}x\n$T{path}\n\"{path}a\"");
        assert_eq!(lines_found(absolute_path, "a.md", &content), [1, 4]);
    }

    #[test]
    fn a_wide_line() {
        let (fits, wide) = ("a".repeat(100), "a".repeat(101));
        let content = format!("{fits}\n{wide}\n// https://{wide}");
        assert_eq!(lines_found(wide_line, "a.rs", &content), [2]);
        assert!(lines_found(wide_line, "a.md", &content).is_empty());
    }

    #[test]
    fn a_letter_beyond_ascii() {
        assert_eq!(lines_found(non_ascii, "a.rs", "a\n// \u{e9}"), [2]);
        assert!(lines_found(non_ascii, "a.md", "\u{e9}").is_empty());
    }

    #[test]
    fn work_left_undone() {
        let content = LEFTOVERS.join("\nfine\n");
        assert_eq!(lines_found(leftover, "a.rs", &content), [1, 3, 5, 7]);
    }
}
