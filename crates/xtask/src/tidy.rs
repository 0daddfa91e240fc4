//! What the compiler does not check: text, modules, links, licences and sources.
//!
//! Each check is a function from what it reads to findings, and has its own tests.

mod code;
mod dependency;
mod licence;
mod lint;
mod list;
mod markdown;
mod module;
mod rust;
mod text;
mod vector;

use anyhow::Result;

use crate::{
    finding::{self, Finding},
    metadata::Metadata,
    tidy::list::Lists,
    workspace::{Text, Workspace},
};

/// Checks that look at one file at a time.
const OF_FILE: &[fn(&Text) -> Vec<Finding>] = &[
    text::trailing_space,
    text::absolute_path,
    text::wide_line,
    text::non_ascii,
    text::leftover,
    rust::long_file,
    rust::long_function,
    rust::undocumented_module,
    rust::unwrap,
    markdown::title,
];

/// Runs all of them.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let texts = workspace.texts()?;
    let files = workspace.files()?;
    let mut findings: Vec<_> = texts
        .iter()
        .flat_map(|text| OF_FILE.iter().flat_map(move |check| check(text)))
        .collect();
    findings.extend(module::undeclared(&texts));
    findings.extend(lint::differing(&texts));
    findings.extend(vector::unread(&files, &texts));
    findings.extend(markdown::broken_link(&texts, &files));
    let lists = Lists::parse(&workspace.read("deny.toml")?)?;
    findings.extend(dependency::check(&Metadata::load(workspace)?, &lists));
    finding::report("tidy", findings)
}
