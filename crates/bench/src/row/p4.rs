//! P4: from the last entry in the application to the word that history is complete.

use anyhow::Result;
use tokio::runtime::Runtime;

use super::p1::{archive, join};
use crate::report::{Must, Report};

/// Joins; the median is shown.
const ROUNDS: usize = 9;
/// Entries of each join.
const SIZE: u64 = 1_000;

pub(super) fn run(report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let provider = archive(&folder.path().join("archive"), SIZE)?;
    let runtime = Runtime::new()?;
    let mut words = Vec::new();
    let mut totals = Vec::new();
    for round in 0..ROUNDS {
        let client = folder.path().join(format!("client-{round}"));
        let joined = runtime.block_on(join(&client, &provider, SIZE))?;
        words.push(joined.word.as_secs_f64() * 1e3);
        totals.push(joined.total.as_secs_f64() * 1e3);
    }
    let (word, total) = (median(words), median(totals));
    report.figure(
        "P4",
        SIZE,
        "last entry shown to the word",
        (word, "ms"),
        Must::AtMost(6.0),
    );
    report.figure("P4", SIZE, "join to the word", (total, "ms"), Must::BeShown);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
