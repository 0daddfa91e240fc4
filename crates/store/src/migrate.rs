//! Format versions (`STO-7`). There is one so far; what makes an older file current goes here, one
//! step a version, each in one transaction, after a copy of the file as it was.
//!
//! | old reader, new file | refused, untouched |
//! | --- | --- |
//! | new reader, old file | copied beside itself, then brought forward |
//! | old writer, new file | cannot happen: it does not open it |

use std::path::{Path, PathBuf};

use crate::{
    backup,
    error::{Cause, StoreFault},
    look::Look,
    open::beside,
};

/// The format that this program writes.
pub(crate) const VERSION: u32 = 1;

/// The oldest format that it can bring forward.
const OLDEST: u32 = 1;

const _: () = assert!(OLDEST <= VERSION);

/// Whether a file must be brought forward; refuses one that cannot be read at all.
pub(crate) fn needed(look: &Look) -> Result<bool, Cause> {
    match look.format {
        VERSION => Ok(false),
        found if found > VERSION => Err(StoreFault::Newer {
            found,
            known: VERSION,
        }
        .into()),
        found if found >= OLDEST => Ok(true),
        found => Err(Cause::damaged(format!("format version {found}"))),
    }
}

/// Copies the file as it is, then brings it forward step by step.
pub(crate) fn run(path: &Path, look: &Look) -> Result<(), Cause> {
    backup::copy(&look.read()?, &[], &before(path, look.format))?;
    // The next version has its first step here: `1 => one_to_two(path)?`.
    Err(Cause::damaged(format!("format version {}", look.format)))
}

/// Where the file as it was goes.
fn before(path: &Path, format: u32) -> PathBuf {
    beside(path, &format!(".before-{VERSION}-was-{format}"))
}
