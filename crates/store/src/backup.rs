//! Backups: a consistent copy of the store as of one snapshot, while it is in use.

use std::{path::Path, sync::Arc};

use redb::{Builder, ReadTransaction, backends::FileBackend};

use crate::{
    error::{Cause, StoreError, StoreFault},
    open::{beside, private, sync_directory},
    projection::Projection,
    schema,
    store::Store,
};

/// Bytes of pages kept while copying.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupReport {
    /// Rows of all tables.
    pub rows: u64,
}

impl Store {
    /// Copies the store as of now to a new file, which appears whole or not at all. Copying row by
    /// row also leaves out free pages, so the copy is compact. Of projections only
    /// what the log cannot give again is copied: the rest is built anew.
    ///
    /// # Errors
    /// The file is there already, or a disk is at fault.
    pub fn backup(&self, to: &Path) -> Result<BackupReport, StoreError> {
        let run = || {
            let txn = self.begin_read()?;
            copy(&txn, self.projections(), to)
                .map_err(|cause| StoreError::new("write a backup to", to, cause))
        };
        run()
    }
}

/// Copies all tables of ours to a new file, and what projections ask for.
pub(crate) fn copy(
    txn: &ReadTransaction,
    projections: &[Arc<dyn Projection>],
    to: &Path,
) -> Result<BackupReport, Cause> {
    if to.try_exists()? {
        let text = "there is a file of that name; give another name".to_owned();
        return Err(StoreFault::Misuse(text).into());
    }
    let part = beside(to, &format!(".part-{}", std::process::id()));
    let file = private().create(true).truncate(true).open(&part)?;
    let copied = write(txn, projections, file);
    if copied.is_err() {
        // What is left of a failed copy is of no use; that it cannot be removed is not the news.
        let _ = std::fs::remove_file(&part);
    }
    let rows = copied?;
    std::fs::rename(&part, to)?;
    sync_directory(to)?;
    Ok(BackupReport { rows })
}

fn write(
    txn: &ReadTransaction,
    projections: &[Arc<dyn Projection>],
    file: std::fs::File,
) -> Result<u64, Cause> {
    let mut builder = Builder::new();
    let backend = FileBackend::new(file)?;
    let db = builder
        .set_cache_size(CACHE_BYTES)
        .create_with_backend(backend)?;
    let mut target = db.begin_write()?;
    target.set_quick_repair(true);
    let mut rows = schema::copy_all(txn, &target)?;
    for projection in projections {
        rows += projection.back_up(txn, &target)?;
    }
    target.commit()?;
    Ok(rows)
}
