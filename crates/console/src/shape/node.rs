//! The node itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Hex;

/// The node behind this API.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Node {
    pub(crate) node: Hex,
    /// Where other nodes reach it.
    pub(crate) addresses: Vec<String>,
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) data_dir: String,
}

/// What a check of the whole store found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckReport {
    /// Entries whose signatures were verified.
    pub(crate) entries: u64,
    pub(crate) topics: u64,
    /// What is wrong, a sentence each.
    pub(crate) faults: Vec<String>,
}

/// Where to copy the store to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backup {
    /// A file of this machine that is not there yet.
    #[schema(value_type = String)]
    pub(crate) path: PathBuf,
}

/// A copy that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackupMade {
    pub(crate) path: String,
    pub(crate) bytes: u64,
}
