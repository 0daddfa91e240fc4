//! The nodes of the demo, each in a directory of its own that is removed at the end.

use osier::{Builder, Osier};
use tempfile::TempDir;

use crate::{
    failure::{Failure, Outcome},
    store_failure,
};

/// Where the nodes live.
#[derive(Debug)]
pub(crate) struct Cast {
    dir: TempDir,
}

impl Cast {
    /// An empty stage.
    pub(crate) fn new() -> Outcome<Self> {
        let dir = tempfile::tempdir().map_err(|error| {
            let failure = Failure::other("cannot make a temporary directory").because(error);
            failure.next("Set TMPDIR to a directory that can be written")
        })?;
        Ok(Self { dir })
    }

    /// Opens the node of this name, on loopback.
    pub(crate) async fn open(
        &self,
        name: &str,
        set: impl FnOnce(Builder) -> Builder,
    ) -> Outcome<Osier> {
        let builder = Osier::builder().data_dir(self.dir.path().join(name));
        set(builder)
            .open()
            .await
            .map_err(|error| store_failure::from(&error))
    }
}
