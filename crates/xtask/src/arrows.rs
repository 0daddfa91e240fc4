//! Which crate may use which.
//!
//! The table below is the one of `docs/architecture.md`; a new arrow needs a decision record.
//! Tests and benches of a crate may use more (an oracle, a store to run against), but only from
//! rows below, or itself with other features.

use std::path::Path;

use anyhow::Result;

use crate::{
    finding::{self, Finding},
    metadata::{Metadata, Need, Package},
    workspace::Workspace,
};

/// The crates that decide: no clock, no randomness, no I/O.
pub(crate) const PURE: &[&str] = &["core", "reconcile", "policy", "proto", "engine", "nostr"];

/// Crates that a pure crate must not reach at any distance: runtimes and sockets.
const IMPURE: &[&str] = &[
    "async-std",
    "iroh",
    "iroh-base",
    "iroh-gossip",
    "iroh-relay",
    "mio",
    "smol",
    "socket2",
    "tokio",
];

/// Crates that a pure crate must not ask for itself: randomness of the operating system.
const RANDOM: &[&str] = &["getrandom", "rand"];

/// What a crate may use.
#[derive(Debug, Clone, Copy)]
enum Uses {
    /// These and no others.
    Only(&'static [&'static str]),
    /// Whatever lies in a row below.
    AnyBelow,
}

/// One crate of ours.
#[derive(Debug)]
struct Rule {
    /// The folder that holds it.
    name: &'static str,
    /// Arrows go from a higher row to a lower one.
    row: u8,
    uses: Uses,
}

const fn only(row: u8, name: &'static str, uses: &'static [&'static str]) -> Rule {
    Rule {
        name,
        row,
        uses: Uses::Only(uses),
    }
}

const fn any_below(row: u8, name: &'static str) -> Rule {
    Rule {
        name,
        row,
        uses: Uses::AnyBelow,
    }
}

/// All crates, bottom row first.
const RULES: &[Rule] = &[
    only(1, "core", &[]),
    only(1, "reconcile", &[]),
    only(2, "policy", &["core"]),
    only(2, "proto", &["core", "reconcile"]),
    only(2, "nostr", &["core", "reconcile"]),
    only(3, "engine", &["core", "proto", "policy"]),
    only(3, "store", &["core", "reconcile", "proto"]),
    only(4, "node", &["core", "proto", "engine", "store"]),
    only(4, "eventdb", &["core", "nostr", "store"]),
    only(
        5,
        "client",
        &["core", "policy", "proto", "engine", "store", "node"],
    ),
    only(
        5,
        "sim",
        &[
            "core", "proto", "policy", "engine", "store", "nostr", "eventdb",
        ],
    ),
    only(6, "console", &["client"]),
    only(6, "relay", &["nostr", "eventdb", "client"]),
    only(7, "cli", &["client", "relay", "console"]),
    any_below(7, "bench"),
    any_below(7, "tests"),
    only(7, "xtask", &[]),
];

/// Checks every arrow of the workspace.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    finding::report("arrows", check(&Metadata::load(workspace)?))
}

fn check(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.ours() {
        findings.extend(check_package(package));
        if PURE.contains(&package.folder()) {
            findings.extend(check_pure(metadata, package));
        }
    }
    findings
}

fn check_package(package: &Package) -> Vec<Finding> {
    let Some(rule) = rule_of(package.folder()) else {
        let what = "not in the table of crates: add it to docs/architecture.md and to arrows.rs";
        return vec![Finding::of(Path::new(package.folder()), what)];
    };
    let needs = package.dependencies.iter();
    needs.filter_map(|need| check_need(rule, need)).collect()
}

/// What is wrong with one need, if it is one of ours.
fn check_need(rule: &Rule, need: &Need) -> Option<Finding> {
    let used = need.path.as_deref()?.rsplit(['/', '\\']).next()?;
    let what = match rule_of(used) {
        None => format!("uses {used}, which is not in the table of crates"),
        Some(below) if need.is_dev() => (below.row >= rule.row && used != rule.name)
            .then(|| format!("uses {used} in its tests, which is not in a row below its own"))?,
        Some(below) => (!rule.may_use(below))
            .then(|| format!("uses {used}, which the table of crates does not allow"))?,
    };
    Some(Finding::of(Path::new(rule.name), what))
}

fn check_pure(metadata: &Metadata, package: &Package) -> Vec<Finding> {
    let path = Path::new(package.folder());
    let reached = metadata
        .closure(package)
        .into_iter()
        .filter(|p| IMPURE.contains(&&*p.name));
    let reached = reached.map(|impure| {
        let name = &impure.name;
        let hint = format!(
            "`cargo tree -e normal -p {} -i {name}` shows how",
            package.name
        );
        Finding::of(path, format!("is pure, but reaches {name}; {hint}"))
    });
    let asked = package.dependencies.iter().filter(|need| !need.is_dev());
    let asked = asked.filter(|need| RANDOM.contains(&need.name.as_str()));
    let asked = asked.map(|need| {
        Finding::of(
            path,
            format!(
                "is pure, but draws randomness with {}: pass it in",
                need.name
            ),
        )
    });
    reached.chain(asked).collect()
}

fn rule_of(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

impl Rule {
    fn may_use(&self, other: &Self) -> bool {
        let listed = match self.uses {
            Uses::Only(names) => names.contains(&other.name),
            Uses::AnyBelow => true,
        };
        listed && other.row < self.row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::testing::{Sketch, metadata};

    fn said(ours: &[Sketch<'_>], others: &[Sketch<'_>]) -> Vec<String> {
        check(&metadata(ours, others))
            .iter()
            .map(|it| it.what().to_owned())
            .collect()
    }

    #[test]
    fn every_arrow_of_the_table_goes_down_to_a_crate_of_the_table() {
        for rule in RULES {
            let Uses::Only(names) = rule.uses else {
                continue;
            };
            for name in names {
                let below = rule_of(name).unwrap_or_else(|| panic!("{name} is in no row"));
                assert!(rule.may_use(below), "{} uses {name}", rule.name);
            }
        }
    }

    #[test]
    fn pure_crates_are_in_the_table() {
        assert!(PURE.iter().all(|name| rule_of(name).is_some()));
    }

    #[test]
    fn an_arrow_of_the_table_passes() {
        assert!(said(&[("core", &[]), ("policy", &["core"])], &[]).is_empty());
    }

    #[test]
    fn an_arrow_up_fails() {
        let said = said(&[("core", &["policy"]), ("policy", &["core"])], &[]);
        assert_eq!(
            said,
            ["uses policy, which the table of crates does not allow"]
        );
    }

    #[test]
    fn an_unlisted_arrow_down_fails() {
        let said = said(&[("node", &[]), ("sim", &["node"])], &[]);
        assert_eq!(
            said,
            ["uses node, which the table of crates does not allow"]
        );
    }

    #[test]
    fn an_unknown_crate_fails() {
        assert_eq!(said(&[("stray", &[])], &[]).len(), 1);
    }

    #[test]
    fn tests_may_use_what_lies_below() {
        let dev = |name: &str| Need {
            name: name.to_owned(),
            kind: Some("dev".to_owned()),
            path: Some(format!("/w/crates/{name}")),
        };
        let proto = rule_of("proto").unwrap();
        assert_eq!(check_need(proto, &dev("core")), None);
        assert_eq!(check_need(proto, &dev("proto")), None);
        assert!(check_need(proto, &dev("engine")).is_some());
    }

    #[test]
    fn a_runtime_is_found_at_any_distance() {
        let said = said(&[("core", &["a"])], &[("a", &["tokio"]), ("tokio", &[])]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("is pure, but reaches tokio"));
    }

    #[test]
    fn randomness_must_not_be_asked_for() {
        let said = said(&[("core", &["rand"])], &[("rand", &[])]);
        assert_eq!(
            said,
            ["is pure, but draws randomness with rand: pass it in"]
        );
    }
}
