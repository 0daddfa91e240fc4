//! Rule ids: each defined once, each cited.
//!
//! A rule of `specs/` starts a line with its id in bold, such as `**ZZZ-1**`. Code, or a test,
//! cites the id as a word. A rule that we deviate from is named in `specs/exceptions.md` with the
//! reason, which counts as a citation.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::{
    case,
    finding::{self, Finding},
    workspace::{Text, Workspace},
};

/// Where rules are defined.
const SPECS: &str = "specs";

/// The index of the specs.
const INDEX: &str = "specs/README.md";

/// Where a deviation is explained.
const EXCEPTIONS: &str = "specs/exceptions.md";

/// Where rules are cited. Our own folder is not among them: it speaks of ids in general.
const CITING: &[&str] = &["crates", "tests"];
const NOT_CITING: &str = "crates/xtask";

/// Checks definitions against citations.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let texts = workspace.texts()?;
    let count = definitions(&texts).len();
    let cases = case::count(&texts);
    println!("spec: {count} rules defined, {cases} cases listed");
    let mut findings = check(&texts);
    findings.extend(case::check(&texts));
    finding::report("spec", findings)
}

fn check(texts: &[Text]) -> Vec<Finding> {
    let defined = definitions(texts);
    let mut findings = repeated(&defined);
    findings.extend(undefined(texts, &defined));
    findings.extend(uncited(texts, &defined));
    findings.extend(unlisted(texts));
    findings
}

/// Where each rule is defined; more than one place is a mistake.
type Definitions<'a> = BTreeMap<&'a str, Vec<(&'a Text, usize)>>;

fn definitions(texts: &[Text]) -> Definitions<'_> {
    let mut defined = Definitions::new();
    for text in specs(texts) {
        for (number, line) in text.lines() {
            if let Some(id) = definition(line) {
                defined.entry(id).or_default().push((text, number));
            }
        }
    }
    defined
}

/// The id that `line` defines.
fn definition(line: &str) -> Option<&str> {
    let (id, _) = line.strip_prefix("**")?.split_once("**")?;
    (ids(id).eq([id])).then_some(id)
}

fn repeated(defined: &Definitions<'_>) -> Vec<Finding> {
    let later = defined.iter().flat_map(|(id, places)| {
        places.iter().skip(1).map(move |(text, line)| {
            Finding::at(
                &text.path,
                *line,
                format!("{id} is defined before: ids are never reused"),
            )
        })
    });
    later.collect()
}

/// Ids of a known prefix that no spec defines, wherever they are named.
fn undefined(texts: &[Text], defined: &Definitions<'_>) -> Vec<Finding> {
    let prefixes: BTreeSet<&str> = defined.keys().map(|id| prefix(id)).collect();
    let mut findings = Vec::new();
    let naming = texts
        .iter()
        .filter(|text| is_citing(text) || text.is_under(SPECS));
    for text in naming.filter(|text| !text.path.ends_with(INDEX)) {
        for (number, line) in text.lines() {
            for id in ids(line) {
                if prefixes.contains(prefix(id)) && !defined.contains_key(id) {
                    let what = format!("{id} is cited, but no spec defines it");
                    findings.push(Finding::at(&text.path, number, what));
                }
            }
        }
    }
    findings
}

/// Rules that neither code, nor a test, nor an exception names.
fn uncited(texts: &[Text], defined: &Definitions<'_>) -> Vec<Finding> {
    let citing = texts
        .iter()
        .filter(|text| is_citing(text) || text.path.ends_with(EXCEPTIONS));
    let cited: BTreeSet<&str> = citing.flat_map(|text| ids(&text.content)).collect();
    let missing = defined.iter().filter(|(id, _)| !cited.contains(*id));
    let findings = missing.filter_map(|(id, places)| {
        let (text, line) = places.first()?;
        let what = format!("{id} is cited by no code and no test");
        Some(Finding::at(&text.path, *line, what))
    });
    findings.collect()
}

/// Specs that the index leaves out.
fn unlisted(texts: &[Text]) -> Vec<Finding> {
    let Some(index) = texts.iter().find(|text| text.path.ends_with(INDEX)) else {
        return Vec::new();
    };
    let name_of = |text: &Text| Some(format!("`{}`", text.path.file_name()?.to_str()?));
    let missing =
        specs(texts).filter(|text| name_of(text).is_none_or(|name| !index.content.contains(&name)));
    missing
        .map(|text| Finding::of(&text.path, format!("is missing from {INDEX}")))
        .collect()
}

/// The files that define rules.
fn specs(texts: &[Text]) -> impl Iterator<Item = &Text> {
    let files = texts
        .iter()
        .filter(|text| text.is_under(SPECS) && text.has_extension("md"));
    files.filter(|text| !text.path.ends_with("README.md"))
}

fn is_citing(text: &Text) -> bool {
    CITING.iter().any(|folder| text.is_under(folder)) && !text.is_under(NOT_CITING)
}

fn prefix(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// All words of `text` that look like a rule id: capitals, a dash, digits.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split(move |c| !is_word(c)).filter(|word| is_id(word))
}

fn is_id(word: &str) -> bool {
    let Some((prefix, number)) = word.split_once('-') else {
        return false;
    };
    let all = |part: &str, ok: fn(&char) -> bool| !part.is_empty() && part.chars().all(|c| ok(&c));
    all(prefix, char::is_ascii_uppercase) && all(number, char::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[Text]) -> Vec<String> {
        check(texts).iter().map(ToString::to_string).collect()
    }

    fn spec(content: &str) -> Text {
        Text::new("specs/09-zzz.md", content)
    }

    #[test]
    fn an_id_is_a_whole_word() {
        let found: Vec<_> = ids("(ZZZ-1), ZZZ-12: xZZZ-3 ZZZ-4a A-ZZZ-5 ZZZ-").collect();
        assert_eq!(found, ["ZZZ-1", "ZZZ-12"]);
    }

    #[test]
    fn a_definition_starts_its_line() {
        assert_eq!(definition("**ZZZ-1** An entry has a size."), Some("ZZZ-1"));
        assert_eq!(definition("see **ZZZ-1**"), None);
        assert_eq!(definition("**Note** that"), None);
    }

    #[test]
    fn a_cited_rule_passes() {
        let code = Text::new("crates/core/src/a.rs", "/// ZZZ-1 of the spec.");
        assert!(said(&[spec("**ZZZ-1** a"), code]).is_empty());
    }

    #[test]
    fn an_exception_is_a_citation() {
        let exception = Text::new("specs/exceptions.md", "- ZZZ-1: not yet, because");
        assert!(said(&[spec("**ZZZ-1** a"), exception]).is_empty());
    }

    #[test]
    fn an_uncited_rule_fails() {
        let said = said(&[spec("intro\n**ZZZ-1** a")]);
        assert_eq!(
            said,
            ["specs/09-zzz.md:2: ZZZ-1 is cited by no code and no test"]
        );
    }

    #[test]
    fn an_undefined_rule_fails() {
        let code = Text::new("tests/it/a.rs", "// ZZZ-1\n// ZZZ-2, NIP-01");
        let said = said(&[spec("**ZZZ-1** a"), code]);
        assert_eq!(
            said,
            ["tests/it/a.rs:2: ZZZ-2 is cited, but no spec defines it"]
        );
    }

    #[test]
    fn a_rule_defined_twice_fails() {
        let code = Text::new("crates/core/src/a.rs", "// ZZZ-1");
        let said = said(&[spec("**ZZZ-1** a\n**ZZZ-1** b"), code]);
        assert_eq!(
            said,
            ["specs/09-zzz.md:2: ZZZ-1 is defined before: ids are never reused"]
        );
    }

    #[test]
    fn a_spec_that_the_index_leaves_out_fails() {
        let index = |content| Text::new(INDEX, content);
        assert!(said(&[spec(""), index("| `09-zzz.md` |")]).is_empty());
        let said = said(&[spec(""), index("")]);
        assert_eq!(said, ["specs/09-zzz.md: is missing from specs/README.md"]);
    }
}
