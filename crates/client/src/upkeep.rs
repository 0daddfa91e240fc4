//! What is done to a data directory while no node runs on it.

use std::path::Path;

use osier_store::{Compacted, Restored};

use crate::{error::Result, home::Home};

impl Home {
    /// Makes a backup the store of this directory, which is made if it is not there. With `replace`
    /// a store that is there is kept beside it. The node's key is another matter: a backup holds
    /// none.
    ///
    /// # Errors
    /// The backup is no store or of a newer version; there is a store that is in use, or may not be
    /// replaced; or a disk is at fault. Nothing has changed then.
    pub fn restore(&self, backup: &Path, replace: bool) -> Result<Restored> {
        self.create()?;
        Ok(osier_store::restore(backup, &self.store_path(), replace)?)
    }

    /// Gives the store's free pages back to the file system.
    ///
    /// # Errors
    /// There is no store, or it is in use or damaged; or the disk is at fault.
    pub fn compact(&self) -> Result<Compacted> {
        Ok(osier_store::compact(&self.store_path())?)
    }
}
