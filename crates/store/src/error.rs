//! What can go wrong, whose fault it is, and what to do next.

use std::{
    io,
    path::{Path, PathBuf},
};

use osier_proto::ViewError;

/// An operation on a store that failed.
///
/// Its text says what was being done, to which file, why it failed, and what to do next.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {reason}", path.display())]
pub struct StoreError {
    doing: &'static str,
    path: PathBuf,
    reason: StoreFault,
}

/// Why a store cannot be used; who is at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// Another process has it open.
    #[error("another osier is using it; stop that one, or give this one its own data directory")]
    Locked,
    /// The file is something else.
    #[error("this is not an osier store ({0}); it was left as it is: give another path")]
    NotAStore(String),
    /// A newer osier wrote it (`STO-7`).
    #[error(
        "its format is version {found}, this osier knows {known}; it was left as it is: use a \
         newer osier"
    )]
    Newer {
        /// Format version of the file.
        found: u32,
        /// The newest that this program reads.
        known: u32,
    },
    /// Bytes on disk are not what was written.
    #[error(
        "it is damaged ({0}); restore it from a backup, or move it away and sync again from peers"
    )]
    Damaged(String),
    /// No room.
    #[error("the disk is full ({0}); free some space, then open the store again")]
    DiskFull(String),
    /// The disk or the file system failed.
    #[error("the disk failed ({0}); check the disk and the rights on the file, then open it again")]
    Disk(#[source] io::Error),
    /// An earlier failure closed the store.
    #[error("an earlier failure closed it ({0}); open it again")]
    Closed(String),
    /// A name that cannot be used as asked.
    #[error("{0}")]
    Misuse(String),
}

impl StoreError {
    pub(crate) fn new(doing: &'static str, path: &Path, cause: impl Into<Cause>) -> Self {
        Self {
            doing,
            path: path.to_owned(),
            reason: cause.into().into_fault(),
        }
    }

    /// Why, and who is at fault.
    pub fn fault(&self) -> &StoreFault {
        &self.reason
    }

    /// Whether freeing disk space would help. The store must be opened again afterwards.
    pub fn is_disk_full(&self) -> bool {
        matches!(self.reason, StoreFault::DiskFull(_))
    }

    /// Whether another process has the store open.
    pub fn is_locked(&self) -> bool {
        matches!(self.reason, StoreFault::Locked)
    }

    /// Whether the file is damaged, foreign or too new: it was refused and not touched.
    pub fn is_refused_file(&self) -> bool {
        matches!(
            self.reason,
            StoreFault::Damaged(_) | StoreFault::NotAStore(_) | StoreFault::Newer { .. }
        )
    }
}

/// An error inside the crate, before it is known which store it was.
#[derive(Debug)]
pub(crate) enum Cause {
    Redb(Box<redb::Error>),
    Damaged(String),
    Fault(StoreFault),
}

impl Cause {
    /// A row that does not say what it must.
    #[expect(clippy::needless_pass_by_value, reason = "names and sentences alike")]
    pub(crate) fn damaged(what: impl ToString) -> Self {
        Self::Damaged(what.to_string())
    }

    pub(crate) fn into_fault(self) -> StoreFault {
        match self {
            Self::Fault(fault) => fault,
            Self::Damaged(what) => StoreFault::Damaged(format!("{what} cannot be read")),
            Self::Redb(error) => redb_fault(*error),
        }
    }

    pub(crate) fn view(self, doing: &'static str) -> ViewError {
        ViewError {
            doing,
            cause: self.into_fault().to_string(),
        }
    }
}

fn redb_fault(error: redb::Error) -> StoreFault {
    match error {
        redb::Error::Io(error) => io_fault(error),
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => StoreFault::Locked,
        error @ (redb::Error::PreviousIo
        | redb::Error::DatabaseClosed
        | redb::Error::LockPoisoned(_)) => StoreFault::Closed(error.to_string()),
        error => StoreFault::Damaged(error.to_string()),
    }
}

fn io_fault(error: io::Error) -> StoreFault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreFault::DiskFull(error.to_string())
        }
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            StoreFault::Damaged(error.to_string())
        }
        _ => StoreFault::Disk(error),
    }
}

impl From<StoreFault> for Cause {
    fn from(fault: StoreFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Self::Fault(io_fault(error))
    }
}

macro_rules! from_redb {
    ($($error:ident)+) => {$(
        impl From<redb::$error> for Cause {
            fn from(error: redb::$error) -> Self {
                Self::Redb(Box::new(error.into()))
            }
        }
    )+};
}
from_redb!(StorageError TableError TransactionError CommitError DatabaseError CompactionError);

/// What a projection is told.
impl From<Cause> for redb::Error {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Redb(error) => *error,
            Cause::Damaged(what) => Self::Corrupted(format!("{what} cannot be read")),
            Cause::Fault(fault) => Self::Corrupted(fault.to_string()),
        }
    }
}

impl From<redb::CursorError> for Cause {
    fn from(error: redb::CursorError) -> Self {
        Self::Redb(Box::new(error.into()))
    }
}

impl From<redb::Error> for Cause {
    fn from(error: redb::Error) -> Self {
        Self::Redb(Box::new(error))
    }
}
