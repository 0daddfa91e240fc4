//! Entries that came in a session and were not stored, since their authors may not write in this
//! granted topic as far as is known (`ENT-43`). What the owner says later in the session can let
//! them in; else what the provider vouches for is not what is held here, and nobody is to blame.

use std::collections::BTreeSet;

use osier_core::EntryHash;

use crate::{
    limit::WITHHELD_MAX,
    view::{View, ViewError},
};

/// What was withheld in one session.
#[derive(Debug, Default)]
pub(in crate::client) struct Withheld {
    entries: BTreeSet<EntryHash>,
    /// There were more than are remembered.
    more: bool,
}

impl Withheld {
    pub(in crate::client) fn note(&mut self, entries: Vec<EntryHash>) {
        for hash in entries {
            if self.entries.len() < WITHHELD_MAX {
                self.entries.insert(hash);
            } else {
                self.more = true;
            }
        }
    }

    /// Whether anything was withheld, stored since or not.
    pub(super) fn is_any(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Whether something of it is still not stored.
    pub(super) fn is_open(&self, view: &dyn View) -> Result<bool, ViewError> {
        if self.more {
            return Ok(true);
        }
        for hash in &self.entries {
            if !view.holds(hash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
