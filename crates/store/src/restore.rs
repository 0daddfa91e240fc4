//! What is done to the file of a store that nobody has open: a backup put in its place, free pages
//! given back (`STO-16`).

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use redb::Builder;

use crate::{
    error::{Cause, StoreError, StoreFault},
    look::Look,
    migrate,
    open::{beside, check_kind, guarded, private, sync_directory},
};

/// Names that are tried for the file that was there before.
const KEPT_MAX: u32 = 1_000;

/// A store that was put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Its bytes.
    pub bytes: u64,
    /// Where the store that was there before is now.
    pub before: Option<PathBuf>,
}

/// A store that was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Its bytes before.
    pub bytes_before: u64,
    /// Its bytes now.
    pub bytes: u64,
}

/// Puts a copy of the store at `from` in the place of the one at `to`. The copy is looked at before
/// anything is replaced; a crash leaves the old store or the new one. With `replace` a store that
/// is there is kept beside it, damaged or not.
///
/// # Errors
/// `from` is no store, too new or in use; there is a store at `to` that is in use, or may not be
/// replaced; or a disk is at fault.
pub fn restore(from: &Path, to: &Path, replace: bool) -> Result<Restored, StoreError> {
    let there = to.try_exists();
    let there = there.map_err(|error| StoreError::new("look for", to, error))?;
    if there && !replace {
        let text = "there is a store already; with --replace it is kept beside the new one";
        return Err(StoreError::new(
            "restore",
            to,
            StoreFault::Misuse(text.to_owned()),
        ));
    }
    let part = beside(to, &format!(".restore-{}", std::process::id()));
    let copied = copy(from, &part).map_err(|cause| StoreError::new("restore from", from, cause));
    let placed = copied.and_then(|bytes| {
        let before = place(&part, to, there);
        let before = before.map_err(|cause| StoreError::new("replace", to, cause))?;
        Ok(Restored { bytes, before })
    });
    if placed.is_err() {
        // What is left of a failed copy is of no use; that it cannot be removed is not the news.
        let _ = fs::remove_file(&part);
    }
    placed
}

/// Gives free pages of the store at a path back to the file system, in place; a crash leaves a
/// store of some size between.
///
/// # Errors
/// It is no store, too new, damaged or in use; or the disk is at fault.
pub fn compact(path: &Path) -> Result<Compacted, StoreError> {
    let run = || -> Result<Compacted, Cause> {
        check_kind(path)?;
        migrate::needed(&Look::at(path)?)?;
        let bytes_before = fs::metadata(path)?.len();
        guarded(|| {
            let mut db = Builder::new().open(path)?;
            // Each pass moves pages down once; it says when there is nothing left to move.
            while db.compact()? {}
            Ok(())
        })?;
        Ok(Compacted {
            bytes_before,
            bytes: fs::metadata(path)?.len(),
        })
    };
    run().map_err(|cause| StoreError::new("compact", path, cause))
}

/// Copies the bytes of a store that nobody writes to, and makes sure that they are one. The source
/// is only read: it may lie on a disk that cannot be written.
fn copy(from: &Path, part: &Path) -> Result<u64, Cause> {
    check_kind(from)?;
    let mut source = File::open(from)?;
    match source.try_lock_shared() {
        Err(TryLockError::WouldBlock) => return Err(StoreFault::Locked.into()),
        // Or a file system without locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    let mut file = private().create(true).truncate(true).open(part)?;
    let bytes = io::copy(&mut source, &mut file)?;
    file.sync_all()?;
    drop(file);
    migrate::needed(&Look::at(part)?)?;
    Ok(bytes)
}

/// Puts a file in its place; what was there goes beside it.
fn place(part: &Path, to: &Path, there: bool) -> Result<Option<PathBuf>, Cause> {
    // Held until the new file is there: nobody opens the old one meanwhile.
    let _lock = match there.then(|| Look::at(to)).transpose() {
        Ok(lock) => lock,
        Err(cause) => match cause.into_fault() {
            StoreFault::Locked => return Err(StoreFault::Locked.into()),
            // A damaged store is what is restored for.
            _ => None,
        },
    };
    let before = there.then(|| keep(to)).transpose()?;
    fs::rename(part, to)?;
    sync_directory(to)?;
    Ok(before)
}

/// Gives a file a second name beside the first.
fn keep(path: &Path) -> Result<PathBuf, Cause> {
    for number in 1..=KEPT_MAX {
        let kept = beside(path, &format!(".before-restore-{number}"));
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // A file system without hard links: for a moment there is no store.
            Err(_) if !kept.try_exists()? => {
                fs::rename(path, &kept)?;
                return Ok(kept);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let text = "too many earlier stores are kept beside it; move some away".to_owned();
    Err(StoreFault::Misuse(text).into())
}
