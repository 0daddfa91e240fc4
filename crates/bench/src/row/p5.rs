//! P5: the order index: what it adds to an insert, and a fingerprint of any span of history.

use std::time::Instant;

use anyhow::Result;
use osier_proto::View;

use super::{put, store};
use crate::{
    dataset::{BATCH, Writer, ticket},
    limits,
    report::{Must, Report},
};

/// Spans that are fingerprinted.
const SPANS: u64 = 1_000;

pub(super) fn run(sizes: &[u64], report: &mut Report) -> Result<()> {
    for &size in sizes {
        let folder = tempfile::tempdir()?;
        let store = store(folder.path(), 1)?;
        let mut writer = Writer::new(1_000);
        let mut spent = 0.0;
        let mut at = 0;
        // Plain redb gets the first batches of the same entries, at the same time.
        let mut sample = Vec::new();
        while at < size {
            let batch = writer.batch(usize::try_from((size - at).min(BATCH as u64))?);
            at += batch.len() as u64;
            if sample.len() < 10 {
                sample.push(batch.clone());
            }
            let begun = Instant::now();
            put(&store, batch)?;
            spent += begun.elapsed().as_secs_f64();
        }
        let ours = size as f64 / spent;
        let plain = limits::redb_rows(folder.path(), &sample)?;
        report.figure(
            "P5",
            size,
            "insert into the whole store",
            (ours, "entries/s"),
            Must::BeShown,
        );
        report.figure(
            "P5",
            size,
            "of plain redb rows",
            (ours / plain, "x"),
            Must::AtLeast(0.7),
        );
        fingerprints(&store, size, report)?;
    }
    Ok(())
}

fn fingerprints(store: &osier_store::Store, size: u64, report: &mut Report) -> Result<()> {
    let begun = Instant::now();
    let view = store.snapshot(ticket().topic())?;
    let order = view.order();
    let whole = order.summary(0..order.len()?)?;
    let first = begun.elapsed().as_secs_f64() * 1e3;
    anyhow::ensure!(
        whole.count == size,
        "the index counts {} of {size}",
        whole.count
    );
    report.figure(
        "P5",
        size,
        "snapshot and first fingerprint",
        (first, "ms"),
        Must::BeShown,
    );
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let begun = Instant::now();
    for _ in 0..SPANS {
        let (one, other) = (random(size), random(size));
        let span = one.min(other)..one.max(other);
        let expected = span.end - span.start;
        anyhow::ensure!(
            order.summary(span)?.count == expected,
            "a span's count is its length"
        );
    }
    let each = begun.elapsed().as_secs_f64() * 1e6 / SPANS as f64;
    report.figure(
        "P5",
        size,
        "fingerprint of a random span",
        (each, "us"),
        Must::AtMost(200.0),
    );
    Ok(())
}
