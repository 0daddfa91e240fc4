//! Cases: public faults that a test is named after, each.
//!
//! `specs/cases.md` lists them in tables whose rows start with an id, such as `| ZZ-01 |`. The test
//! of that one is called `case_zz_01_...`.

use std::collections::BTreeSet;

use crate::{finding::Finding, workspace::Text};

/// Where cases are listed.
const CASES: &str = "specs/cases.md";

/// Where their tests are.
const TESTING: &[&str] = &["crates", "tests"];
const NOT_TESTING: &str = "crates/xtask";

/// How many cases are listed.
pub(crate) fn count(texts: &[Text]) -> usize {
    list(texts).map_or(0, |list| {
        list.lines().filter_map(|(_, line)| row(line)).count()
    })
}

/// Cases that are listed and not shown, or shown and not listed, or listed twice.
pub(crate) fn check(texts: &[Text]) -> Vec<Finding> {
    let Some(list) = list(texts) else {
        return Vec::new();
    };
    let shown: BTreeSet<String> = tests(texts).map(|(_, _, case)| case).collect();
    let mut listed = BTreeSet::new();
    let mut findings = Vec::new();
    for (number, line) in list.lines() {
        let Some(id) = row(line) else { continue };
        let name = name_of(id);
        if !shown.contains(&name) {
            let what = format!("no test is called {name}_...");
            findings.push(Finding::at(&list.path, number, what));
        }
        if !listed.insert(name) {
            let what = format!("{id} is listed twice");
            findings.push(Finding::at(&list.path, number, what));
        }
    }
    let areas: BTreeSet<&str> = listed.iter().map(|name| area(name)).collect();
    for (text, number, case) in tests(texts) {
        if areas.contains(area(&case)) && !listed.contains(&case) {
            let what = format!("{case} is no case of {CASES}");
            findings.push(Finding::at(&text.path, number, what));
        }
    }
    findings
}

fn list(texts: &[Text]) -> Option<&Text> {
    texts.iter().find(|text| text.path.ends_with(CASES))
}

/// The id of a row of the list.
fn row(line: &str) -> Option<&str> {
    let (id, _) = line.strip_prefix("| ")?.split_once(" |")?;
    let (area, number) = id.split_once('-')?;
    let is_id = area.len() == 2
        && area.chars().all(|c| c.is_ascii_uppercase())
        && number.len() == 2
        && number.chars().all(|c| c.is_ascii_digit());
    is_id.then_some(id)
}

/// How tests of a case are called, up to the words that follow.
fn name_of(id: &str) -> String {
    format!("case_{}", id.to_ascii_lowercase().replace('-', "_"))
}

/// `case_zz_` of a test's name.
fn area(name: &str) -> &str {
    name.get(.."case_zz_".len()).unwrap_or(name)
}

/// Test functions that are named after a case: where, and the part that names it.
fn tests(texts: &[Text]) -> impl Iterator<Item = (&Text, usize, String)> {
    let testing = texts.iter().filter(|text| {
        let under = TESTING.iter().any(|folder| text.is_under(folder));
        under && !text.is_under(NOT_TESTING) && text.has_extension("rs")
    });
    testing.flat_map(|text| {
        let named = move |(number, line)| Some((text, number, case(line)?));
        text.lines().filter_map(named)
    })
}

/// `case_zz_01` of a line that begins a function of that name.
fn case(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("fn case_")?;
    let mut parts = rest.split('_');
    let (area, number) = (parts.next()?, parts.next()?);
    let is_case = number.len() == 2 && number.chars().all(|c| c.is_ascii_digit());
    is_case.then(|| format!("case_{area}_{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(list: &str, code: &str) -> Vec<String> {
        let texts = [
            Text::new("specs/cases.md", list),
            Text::new("tests/it/a.rs", code),
        ];
        check(&texts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_case_with_a_test_passes() {
        let code = "fn case_zz_01_this_is_so() {\n    async fn case_yy_02_other() {";
        assert!(said("| id | x |\n| ZZ-01 | a |", code).is_empty());
        assert_eq!(count(&[Text::new(CASES, "| ZZ-01 | a |\n| id |")]), 1);
    }

    #[test]
    fn a_case_without_a_test_fails() {
        let said = said("| ZZ-01 | a |", "// case ZZ-01\nfn case_zz_011() {");
        assert_eq!(said, ["specs/cases.md:1: no test is called case_zz_01_..."]);
    }

    #[test]
    fn a_test_of_no_case_of_its_area_fails() {
        let code = "fn case_zz_01_a() {}\nfn case_zz_02_b() {}";
        let said = said("| ZZ-01 | a |", code);
        assert_eq!(
            said,
            ["tests/it/a.rs:2: case_zz_02 is no case of specs/cases.md"]
        );
    }

    #[test]
    fn a_case_is_listed_once() {
        let said = said("| ZZ-01 | a |\n| ZZ-01 | b |", "fn case_zz_01_a() {}");
        assert_eq!(said, ["specs/cases.md:2: ZZ-01 is listed twice"]);
    }
}
