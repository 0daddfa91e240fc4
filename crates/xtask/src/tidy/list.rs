//! What `deny.toml` allows.
//!
//! The file has the form that cargo-deny reads, so that either tool can check it; the checks here
//! need nothing installed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

/// The lists, ready to be asked.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// SPDX names that any crate may have.
    pub(crate) licences: BTreeSet<String>,
    /// More SPDX names for single crates.
    pub(crate) licences_of: BTreeMap<String, BTreeSet<String>>,
    /// Crates that must not be in the tree in two versions, at whatever distance.
    pub(crate) once: BTreeSet<String>,
    /// Crates that may be in the tree in two versions.
    pub(crate) twice: BTreeSet<String>,
}

#[derive(Deserialize)]
struct File {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    #[serde(default)]
    deny: Vec<Ban>,
    #[serde(default)]
    skip: Vec<Skip>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    #[serde(default, rename = "deny-multiple-versions")]
    once: bool,
}

#[derive(Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    name: String,
    /// Not read, but asked for: a double needs a reason.
    #[serde(rename = "reason")]
    _reason: String,
}

impl Lists {
    /// Reads the text of `deny.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).context("deny.toml is not as cargo-deny wants it")?;
        let exceptions = file.licenses.exceptions.into_iter();
        Ok(Self {
            licences: file.licenses.allow.into_iter().collect(),
            licences_of: exceptions
                .map(|it| (it.name, it.allow.into_iter().collect()))
                .collect(),
            once: file
                .bans
                .deny
                .into_iter()
                .filter(|it| it.once)
                .map(|it| it.name)
                .collect(),
            twice: file
                .bans
                .skip
                .into_iter()
                .map(|it| without_version(&it.name))
                .collect(),
        })
    }
}

/// `name` of `name@version`.
fn without_version(name: &str) -> String {
    name.split('@').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn our_own_file_is_read() {
        let text = Workspace::find().unwrap().read("deny.toml").unwrap();
        let lists = Lists::parse(&text).unwrap();
        assert!(lists.licences.contains("MIT"));
        assert!(lists.once.contains("ed25519-dalek") && lists.once.contains("curve25519-dalek"));
    }

    #[test]
    fn a_double_needs_a_reason() {
        let head = "[licenses]\nallow = []\n[bans]\n";
        let with = format!("{head}skip = [{{ crate = \"a@1\", reason = \"why\" }}]");
        assert!(Lists::parse(&with).unwrap().twice.contains("a"));
        assert!(Lists::parse(&format!("{head}skip = [{{ crate = \"a@1\" }}]")).is_err());
    }
}
