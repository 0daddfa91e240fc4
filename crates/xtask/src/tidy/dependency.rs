//! Licences, sources and doubled versions of what we depend on.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{
    finding::Finding,
    metadata::{CRATES_IO, Metadata, Package},
    tidy::{licence, list::Lists},
};

/// Where the lists are.
const LISTS: &str = "deny.toml";

/// Runs all checks of dependencies.
pub(crate) fn check(metadata: &Metadata, lists: &Lists) -> Vec<Finding> {
    let mut findings: Vec<_> = metadata
        .others()
        .filter_map(|it| bad_licence(it, lists))
        .collect();
    findings.extend(metadata.others().filter_map(bad_source));
    findings.extend(doubles(metadata, lists));
    findings
}

fn bad_licence(package: &Package, lists: &Lists) -> Option<Finding> {
    let Package { name, license, .. } = package;
    let Some(expression) = license else {
        return Some(finding(format!("{name} states no licence: do not use it")));
    };
    let own = lists.licences_of.get(name);
    let allowed = |licence: &str| {
        lists.licences.contains(licence) || own.is_some_and(|own| own.contains(licence))
    };
    let hint = "which is not on the list: do without, or add an exception with its reason";
    (!licence::is_met(expression, &allowed))
        .then(|| finding(format!("{name} is under {expression}, {hint}")))
}

fn bad_source(package: &Package) -> Option<Finding> {
    let source = package
        .source
        .as_deref()
        .unwrap_or("a folder outside the workspace");
    (source != CRATES_IO).then(|| {
        finding(format!(
            "{} comes from {source}, not from crates.io",
            package.name
        ))
    })
}

/// Crates of ours ask for one version of each, unless a reason is on the list; a few crates must
/// not be there twice whoever asks.
fn doubles(metadata: &Metadata, lists: &Lists) -> Vec<Finding> {
    let direct: BTreeSet<&str> = metadata
        .ours()
        .flat_map(|it| &it.dependencies)
        .map(|need| need.name.as_str())
        .collect();
    let mut findings = Vec::new();
    for (name, versions) in versions(metadata) {
        let once = lists.once.contains(name);
        let watched = once || (direct.contains(name) && !lists.twice.contains(name));
        if watched && versions.len() > 1 {
            let versions: Vec<_> = versions.into_iter().collect();
            let hint = format!("`cargo tree --target all -i {name}@VERSION` shows who asks");
            findings.push(finding(format!(
                "{name} is there as {}; {hint}",
                versions.join(", ")
            )));
        }
    }
    findings
}

fn versions(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for package in metadata.others() {
        versions
            .entry(&package.name)
            .or_default()
            .insert(&package.version);
    }
    versions
}

fn finding(what: String) -> Finding {
    Finding::of(Path::new(LISTS), what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::testing::metadata;

    fn lists() -> Lists {
        Lists {
            licences: ["MIT".to_owned()].into(),
            ..Lists::default()
        }
    }

    fn said(metadata: &Metadata, lists: &Lists) -> Vec<String> {
        check(metadata, lists)
            .iter()
            .map(|it| it.what().to_owned())
            .collect()
    }

    #[test]
    fn a_licence_off_the_list() {
        let mut metadata = metadata(&[("core", &["a"])], &[("a", &[])]);
        assert!(said(&metadata, &lists()).is_empty());
        metadata.packages[1].license = Some("MPL-2.0".to_owned());
        assert!(said(&metadata, &lists())[0].starts_with("a is under MPL-2.0"));
        let exceptions = [("a".to_owned(), ["MPL-2.0".to_owned()].into())].into();
        assert!(
            said(
                &metadata,
                &Lists {
                    licences_of: exceptions,
                    ..lists()
                }
            )
            .is_empty()
        );
        metadata.packages[1].license = None;
        assert!(said(&metadata, &lists())[0].starts_with("a states no licence"));
    }

    #[test]
    fn a_source_that_is_not_crates_io() {
        let mut metadata = metadata(&[("core", &["a"])], &[("a", &[])]);
        metadata.packages[1].source = Some("git+https://a.example".to_owned());
        let want = "a comes from git+https://a.example, not from crates.io";
        assert_eq!(said(&metadata, &lists()), [want]);
    }

    #[test]
    fn a_direct_need_in_two_versions() {
        let others: &[(&str, &[&str])] = &[("a", &["b"]), ("a", &[]), ("b", &[]), ("b", &[])];
        let mut metadata = metadata(&[("core", &["a"])], others);
        for index in [1, 3] {
            metadata.packages[index].version = "2.0.0".to_owned();
        }
        let found = said(&metadata, &lists());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a is there as 1.0.0, 2.0.0"));
        let twice = ["a".to_owned()].into();
        assert!(said(&metadata, &Lists { twice, ..lists() }).is_empty());
        let once = ["b".to_owned()].into();
        assert_eq!(said(&metadata, &Lists { once, ..lists() }).len(), 2);
    }
}
