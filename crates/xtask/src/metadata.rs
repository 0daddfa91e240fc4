//! The part of `cargo metadata` that the checks read.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{process::Cmd, workspace::Workspace};

/// The one registry that crates come from, as cargo names it.
pub(crate) const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// All packages, and which of them each one uses.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// Ours and everyone else's.
    pub(crate) packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
    /// Where cargo builds.
    pub(crate) target_directory: String,
}

/// One version of one crate.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    /// Unique among all packages.
    pub(crate) id: String,
    /// The crate's name.
    pub(crate) name: String,
    /// The crate's version.
    pub(crate) version: String,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    /// `None` for a crate in a folder.
    pub(crate) source: Option<String>,
    /// Where its `Cargo.toml` is.
    pub(crate) manifest_path: String,
    /// What its `Cargo.toml` asks for, optional needs included.
    pub(crate) dependencies: Vec<Need>,
}

/// One line of a `[dependencies]` table.
#[derive(Debug, Deserialize)]
pub(crate) struct Need {
    /// The name of the crate that is needed.
    pub(crate) name: String,
    /// `None` for a normal one, `dev` or `build` otherwise.
    pub(crate) kind: Option<String>,
    /// The folder of a crate of ours.
    pub(crate) path: Option<String>,
}

impl Need {
    /// Whether only tests and benches need it.
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Metadata {
    /// Asks cargo. Every target and feature that the lock file covers is included.
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        let text = Cmd::cargo("metadata --format-version 1", workspace.root()).output()?;
        Self::parse(&text)
    }

    /// Reads what `cargo metadata --format-version 1` printed.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).context("cargo metadata printed something unexpected")
    }

    /// The packages of this workspace.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The packages that are not of this workspace.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| !self.workspace_members.contains(&package.id))
    }

    /// Every package that `package` uses in a normal build, at any distance, itself excluded.
    pub(crate) fn closure(&self, package: &Package) -> Vec<&Package> {
        let edges: BTreeMap<&str, &Node> = self
            .resolve
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), node))
            .collect();
        let mut reached = BTreeSet::new();
        let mut open = vec![package.id.as_str()];
        while let Some(node) = open.pop().and_then(|id| edges.get(id)) {
            let normal = node.deps.iter().filter(|edge| edge.is_normal());
            open.extend(
                normal
                    .map(|edge| edge.pkg.as_str())
                    .filter(|id| reached.insert(*id)),
            );
        }
        self.packages
            .iter()
            .filter(|other| reached.contains(other.id.as_str()))
            .collect()
    }
}

impl Edge {
    fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

impl Package {
    /// The folder that holds the package: what the design calls the crate.
    pub(crate) fn folder(&self) -> &str {
        self.manifest_path
            .rsplit(['/', '\\'])
            .nth(1)
            .unwrap_or(&self.name)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! A small `cargo metadata` for the tests of the checks.

    use serde_json::{Value, json};

    use super::{CRATES_IO, Metadata};

    /// One package: folder or name, and the names of its normal needs.
    pub(crate) type Sketch<'a> = (&'a str, &'a [&'a str]);

    /// Packages of ours, in folders, and packages of others, each with what it uses.
    pub(crate) fn metadata(ours: &[Sketch<'_>], others: &[Sketch<'_>]) -> Metadata {
        let names: Vec<_> = ours.iter().map(|(name, _)| *name).collect();
        let both = || ours.iter().chain(others);
        let packages: Vec<_> = both()
            .map(|(it, needs)| package(it, needs, &names))
            .collect();
        let nodes: Vec<_> = both().map(|(it, needs)| node(it, needs)).collect();
        let value = json!({
            "packages": packages,
            "workspace_members": names,
            "resolve": { "nodes": nodes },
            "target_directory": "/t",
        });
        serde_json::from_value(value).unwrap()
    }

    fn package(name: &str, needs: &[&str], ours: &[&str]) -> Value {
        let is_ours = ours.contains(&name);
        let need = |need: &&str| {
            let path = ours.contains(need).then(|| format!("/w/crates/{need}"));
            json!({ "name": need, "kind": null, "path": path })
        };
        json!({
            "id": name,
            "name": name,
            "version": "1.0.0",
            "license": "MIT",
            "source": (!is_ours).then_some(CRATES_IO),
            "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
            "dependencies": needs.iter().map(need).collect::<Vec<_>>(),
        })
    }

    fn node(name: &str, needs: &[&str]) -> Value {
        let edge = |need: &&str| json!({ "pkg": need, "dep_kinds": [{ "kind": null }] });
        json!({ "id": name, "deps": needs.iter().map(edge).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closure_follows_every_arrow_once() {
        let metadata = testing::metadata(
            &[("core", &["a"]), ("other", &["z"])],
            &[("a", &["b"]), ("b", &["a"]), ("z", &[])],
        );
        let core = metadata.ours().next().unwrap();
        let names: Vec<_> = metadata
            .closure(core)
            .iter()
            .map(|p| p.name.clone())
            .collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_package_is_called_by_its_folder() {
        let metadata = testing::metadata(&[("core", &[])], &[]);
        assert_eq!(metadata.ours().next().unwrap().folder(), "core");
    }
}
