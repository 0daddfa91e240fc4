//! P2: n entries on each side, ten missing on each. Finding ten in n must not cost n.

use anyhow::{Result, ensure};
use osier_proto::View;

use super::{put, store};
use crate::{
    dataset::{BATCH, Writer, ticket},
    pair,
    process::resident_bytes,
    report::{Must, Report},
};

/// Missing on each side.
const MISSING: u64 = 10;
/// Authors: more than a frontier exchange would be cheap for.
const AUTHORS: u64 = 1_000;

pub(super) fn run(sizes: &[u64], report: &mut Report) -> Result<()> {
    for &size in sizes {
        measure(size, report)?;
    }
    Ok(())
}

fn measure(size: u64, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (ours, theirs) = (store(folder.path(), 1)?, store(folder.path(), 2)?);
    let mut writer = Writer::new(AUTHORS);
    // Spread over history, every second one on either side.
    let each = size / (2 * MISSING);
    let mut at = 0;
    while at < size {
        let count = usize::try_from((size - at).min(BATCH as u64))?;
        let batch = writer.batch(count);
        let lacks = |side: u64| {
            let begin = at;
            batch
                .iter()
                .zip(begin..)
                .filter(|(_, n)| n % (2 * each) != side * each)
                .map(|(entry, _)| entry.clone())
                .collect::<Vec<_>>()
        };
        put(&ours, lacks(0))?;
        put(&theirs, lacks(1))?;
        at += count as u64;
    }
    let before = resident_bytes();
    let cost = pair::session(&ours, &theirs, None)?;
    let grown = resident_bytes().saturating_sub(before);
    let topic = ticket().topic();
    let (mine, other) = (
        ours.snapshot(topic)?.summary(),
        theirs.snapshot(topic)?.summary(),
    );
    ensure!(
        cost.received == MISSING,
        "received {} of {MISSING}",
        cost.received
    );
    ensure!(
        mine.set.count() == size,
        "the client holds {} of {size}",
        mine.set.count()
    );
    ensure!(other.set.count() <= size, "nothing is made up");

    let overhead = cost.bytes - cost.entry_bytes;
    let round_trips = f64::from(cost.round_trips);
    report.figure(
        "P2",
        size,
        "round trips to the verdict",
        (round_trips, ""),
        Must::AtMost(5.0),
    );
    let must = if size <= 1_000_000 {
        Must::AtMost(20.0)
    } else {
        Must::BeShown
    };
    report.figure(
        "P2",
        size,
        "KB beside entries, both ways",
        (overhead as f64 / 1e3, "KB"),
        must,
    );
    for (who, spent) in [("client", cost.client), ("provider", cost.provider)] {
        let ms = spent.as_secs_f64() * 1e3;
        report.figure(
            "P2",
            size,
            format!("{who}'s machine, first"),
            (ms, "ms"),
            Must::BeShown,
        );
    }
    let mib = grown as f64 / f64::from(1 << 20);
    report.figure(
        "P2",
        size,
        "memory grown by the session",
        (mib, "MiB"),
        Must::AtMost(200.0),
    );

    let again = pair::session(&ours, &theirs, None)?;
    for (who, spent) in [("client", again.client), ("provider", again.provider)] {
        let ms = spent.as_secs_f64() * 1e3;
        report.figure(
            "P2",
            size,
            format!("{who}'s machine, equal and warm"),
            (ms, "ms"),
            Must::BeShown,
        );
    }
    report.figure(
        "P2",
        size,
        "round trips when equal",
        (f64::from(again.round_trips), ""),
        Must::AtMost(1.0),
    );
    Ok(())
}
