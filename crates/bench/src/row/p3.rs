//! P3: the client lacks the last k and shows its token. Cost must follow k, not n.

use anyhow::{Context, Result, ensure};
use osier_proto::Mode;

use super::{put, store};
use crate::{
    dataset::{BATCH, Writer, secret, ticket},
    pair,
    report::{Must, Report},
};

/// What the client lacks.
const LACKS: [u64; 3] = [0, 100, 10_000];

pub(super) fn run(sizes: &[u64], report: &mut Report) -> Result<()> {
    for &size in sizes {
        let folder = tempfile::tempdir()?;
        let (client, provider) = (store(folder.path(), 1)?, store(folder.path(), 2)?);
        let mut writer = Writer::new(1_000);
        let mut at = 0;
        while at < size {
            let count = usize::try_from((size - at).min(BATCH as u64))?;
            put(&provider, writer.batch(count))?;
            at += count as u64;
        }
        // The first join leaves the token.
        pair::session(&client, &provider, None)?;
        for lacks in LACKS {
            if lacks > 0 {
                put(&provider, writer.batch(usize::try_from(lacks)?))?;
            }
            let token = client
                .token(ticket().topic(), secret(0).node_id())?
                .context("a drained session leaves a token")?;
            let cost = pair::session(&client, &provider, Some(token))?;
            ensure!(
                cost.received == lacks,
                "received {} of {lacks}",
                cost.received
            );
            let expected = if lacks == 0 {
                Mode::Equal
            } else {
                Mode::Resume
            };
            ensure!(
                cost.mode == Some(expected),
                "mode {:?} instead of {expected:?}",
                cost.mode
            );
            show(size, lacks, &cost, report);
        }
    }
    Ok(())
}

fn show(size: u64, lacks: u64, cost: &pair::Cost, report: &mut Report) {
    let what = |text: &str| format!("k = {lacks}: {text}");
    let trips = f64::from(cost.round_trips);
    report.figure(
        "P3",
        size,
        what("round trips"),
        (trips, ""),
        Must::AtMost(1.0),
    );
    let overhead = (cost.bytes - cost.entry_bytes) as f64;
    report.figure(
        "P3",
        size,
        what("bytes beside entries"),
        (overhead, "B"),
        Must::AtMost(1024.0),
    );
    let ms = cost.provider.as_secs_f64() * 1e3;
    report.figure(
        "P3",
        size,
        what("provider's machine"),
        (ms, "ms"),
        Must::BeShown,
    );
}
