//! Is the index what the log says.

use crate::{error::EventDbError, index::EventIndex};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Events in the index.
    pub events: u64,
    /// What is wrong, at most [`crate::limit::FINDINGS_MAX`].
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In which table.
    pub table: &'static str,
    /// What.
    pub what: String,
}
