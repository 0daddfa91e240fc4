//! P7: a provider's store is opened and its first answer given; nothing that grows is read.

use std::time::Instant;

use anyhow::Result;
use osier_proto::{StoreId, View};
use osier_store::Store;

use super::{put, store};
use crate::{
    dataset::{BATCH, Writer, ticket},
    report::{Must, Report},
};

pub(super) fn run(sizes: &[u64], report: &mut Report) -> Result<()> {
    for &size in sizes {
        let folder = tempfile::tempdir()?;
        let made = store(folder.path(), 1)?;
        let path = made.path().to_owned();
        let mut writer = Writer::new(1_000);
        let mut at = 0;
        while at < size {
            let batch = writer.batch(usize::try_from((size - at).min(BATCH as u64))?);
            at += batch.len() as u64;
            put(&made, batch)?;
        }
        // A copy of the file while it is open is what a kill leaves behind.
        let crashed = folder.path().join("crashed.redb");
        std::fs::copy(&path, &crashed)?;
        // What was committed before a kill is on disk; a fresh copy is not, and the first sync of
        // an open would pay for it.
        std::fs::File::open(&crashed)?.sync_all()?;
        let begun = Instant::now();
        let store = Store::open(&crashed, StoreId::from_bytes([9; 16]))?;
        let view = store.snapshot(ticket().topic())?;
        let summary = view.summary();
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        anyhow::ensure!(summary.set.count() == size, "everything durable is there");
        report.figure(
            "P7",
            size,
            "open after a kill, and a summary",
            (ms, "ms"),
            Must::AtMost(50.0),
        );
    }
    Ok(())
}
