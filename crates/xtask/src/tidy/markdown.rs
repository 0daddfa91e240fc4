//! Rules of Markdown files.

use std::path::{Component, Path, PathBuf};

use crate::{finding::Finding, workspace::Text};

/// A document has one title.
pub(crate) fn title(text: &Text) -> Vec<Finding> {
    if !text.has_extension("md") {
        return Vec::new();
    }
    let titles: Vec<_> = prose(text)
        .filter(|(_, line)| line.starts_with("# "))
        .collect();
    match titles.as_slice() {
        [_] => Vec::new(),
        [] => vec![Finding::of(
            &text.path,
            "has no title: one line starts with `# `",
        )],
        [_, second, ..] => vec![Finding::at(&text.path, second.0, "is a second title")],
    }
}

/// A link to a file of ours leads to one. Links to other places are not followed.
pub(crate) fn broken_link(texts: &[Text], files: &[PathBuf]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for text in texts.iter().filter(|text| text.has_extension("md")) {
        for (number, line) in prose(text) {
            for target in links(&without_code(line))
                .into_iter()
                .filter(|it| !leads_to(text, it, files))
            {
                let what = format!("links to {target}, which does not exist");
                findings.push(Finding::at(&text.path, number, what));
            }
        }
    }
    findings
}

/// The lines that are not inside a fence.
fn prose(text: &Text) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// `line` without what stands between backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The targets of the relative links in `line`, without their anchors.
fn links(line: &str) -> Vec<&str> {
    let inline = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let by_name = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "));
    let targets = inline.chain(by_name.map(|(_, target)| target));
    let files = targets.filter_map(|target| target.split(['#', ' ']).next());
    files
        .filter(|file| !file.is_empty() && !file.contains(':'))
        .collect()
}

/// Whether `target`, as written in `text`, is a file or a folder of ours.
fn leads_to(text: &Text, target: &str, files: &[PathBuf]) -> bool {
    let folder = text.path.parent().unwrap_or(Path::new(""));
    let Some(path) = joined(folder, target) else {
        return false;
    };
    files.iter().any(|file| file.starts_with(&path))
}

/// `target` from `folder`, with each `..` taken; `None` if it leaves the workspace.
fn joined(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = folder.to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_one_title() {
        let count = |content| title(&Text::new("a.md", content)).len();
        assert_eq!(count("# A\n\n## B\n\n```\n# not a title\n```\n"), 0);
        assert_eq!(count("# A\n# B\n"), 1);
        assert_eq!(count("## B\n"), 1);
    }

    fn broken(line: &str) -> usize {
        let text = Text::new("docs/a.md", line);
        let files = ["docs/a.md", "docs/guide/b.md", "README.md"].map(PathBuf::from);
        broken_link(&[text], &files).len()
    }

    #[test]
    fn a_link_leads_somewhere() {
        assert_eq!(
            broken("[b](guide/b.md#top), [r](../README.md), [g](guide)"),
            0
        );
        assert_eq!(
            broken("[x](https://a.example/), [y](#anchor), `[z](no.md)`"),
            0
        );
        assert_eq!(
            broken("[b](guide/c.md), [up](../../README.md), [root](/README.md)"),
            3
        );
        assert_eq!(broken("[name]: gone.md"), 1);
    }
}
