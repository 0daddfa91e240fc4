//! P1: cold join. An archive serves everything to an empty client, two processes on loopback,
//! every entry verified by rule V, durable, and the marker judged.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use osier::{Event, Home, Osier, Position, Role, SyncEvent};
use tokio::runtime::Runtime;

use super::put;
use crate::{
    dataset::{BATCH, Writer, secret, ticket},
    limits, process,
    report::{Must, Report},
};

/// Authors of the joined history.
const AUTHORS: u64 = 1_000;
/// No join takes longer, or something is wrong.
const PATIENCE: Duration = Duration::from_mins(10);

pub(super) fn run(sizes: &[u64], report: &mut Report) -> Result<()> {
    for &size in sizes {
        measure(size, report)?;
    }
    Ok(())
}

fn measure(size: u64, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("archive");
    let sample = fill(&archive, size)?;
    let plain = limits::redb_rows(folder.path(), &sample)?;
    let strict = limits::strict_verifications(&sample[0]);
    let rule_v = limits::rule_v(&sample[0]);
    drop(sample);

    let provider = Provider::start(&archive)?;
    let cpu = process::cpu_time();
    let joined = Runtime::new()?.block_on(join(&folder.path().join("client"), &provider, size))?;
    let cpu = (process::cpu_time().saturating_sub(cpu)).as_secs_f64() * 1e6 / size as f64;
    let rate = size as f64 / joined.total.as_secs_f64();
    report.figure("P1", size, "cold join", (rate, "entries/s"), Must::BeShown);
    report.figure(
        "P1",
        size,
        "of plain redb rows",
        (rate / plain, "x"),
        Must::AtLeast(0.6),
    );
    report.figure(
        "P1",
        size,
        "of strict verification",
        (rate / strict, "x"),
        Must::AtLeast(1.0),
    );
    report.figure(
        "P1",
        size,
        "of rule V on one core",
        (rate / rule_v, "x"),
        Must::BeShown,
    );
    report.figure(
        "P1",
        size,
        "client CPU an entry",
        (cpu, "us"),
        Must::BeShown,
    );
    let resident = process::resident_bytes() as f64 / f64::from(1 << 20);
    report.figure(
        "P1",
        size,
        "client resident at the end",
        (resident, "MiB"),
        Must::BeShown,
    );
    let word = joined.word.as_secs_f64() * 1e3;
    report.figure(
        "P1",
        size,
        "last entry shown to the word",
        (word, "ms"),
        Must::BeShown,
    );
    Ok(())
}

/// Fills an archive's store and returns a sample of what is in it, as the batches that redb gets.
fn fill(folder: &Path, size: u64) -> Result<Vec<Vec<osier_core::Verified<osier_core::Entry>>>> {
    std::fs::create_dir_all(folder)?;
    let home = Home::at(folder);
    write_key(&home)?;
    let store = store_in(&home)?;
    let mut writer = Writer::new(AUTHORS);
    let mut sample = Vec::new();
    let mut at = 0;
    while at < size {
        let batch = writer.batch(usize::try_from((size - at).min(BATCH as u64))?);
        at += batch.len() as u64;
        if sample.len() < 20 {
            sample.push(batch.clone());
        }
        put(&store, batch)?;
    }
    Ok(sample)
}

/// The archive is the topic's owner: its key is the one that the ticket names.
fn write_key(home: &Home) -> Result<()> {
    let digits = secret(0)
        .to_bytes()
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(home.key_path())?
        .write_all(digits.as_bytes())?;
    Ok(())
}

fn store_in(home: &Home) -> Result<osier_store::Store> {
    let id = osier_proto::StoreId::from_bytes([7; 16]);
    Ok(osier_store::Store::open(&home.store_path(), id)?)
}

/// How long a join took.
pub(super) struct Joined {
    /// From the join to `HistorySynced` in the application.
    pub(super) total: Duration,
    /// From the last entry in the application to `HistorySynced`.
    pub(super) word: Duration,
}

/// Joins from an empty folder and follows the stream as an application would.
pub(super) async fn join(folder: &Path, provider: &Provider, size: u64) -> Result<Joined> {
    let node = Osier::builder().data_dir(folder).mdns(false).open().await?;
    let at = ticket().with_address(secret(0).node_id(), &provider.address);
    let begun = Instant::now();
    let topic = node.join_as(&at, Role::Peer).await?;
    let mut watch = topic.watch(Position::START).await?;
    let mut entries = 0;
    let mut last = begun;
    let synced = loop {
        let event = tokio::time::timeout(PATIENCE, watch.next()).await?;
        match event.context("the stream ended before history was synced")? {
            Event::Entry { .. } => {
                entries += 1;
                last = Instant::now();
            }
            Event::Sync(SyncEvent::HistorySynced(synced)) => break synced,
            Event::Sync(SyncEvent::HistorySyncFailed { reasons }) => {
                anyhow::bail!("history failed: {reasons:?}")
            }
            Event::Broken(error) => return Err(error.into()),
            Event::Sync(_) => {}
        }
    };
    let (total, word) = (begun.elapsed(), last.elapsed());
    ensure!(synced.coverage.is_complete(), "the archive is complete");
    ensure!(
        entries == size,
        "{entries} of {size} entries came before the word"
    );
    node.shutdown().await;
    Ok(Joined { total, word })
}

/// The archive's process; ended when dropped.
pub(super) struct Provider {
    child: Child,
    pub(super) address: String,
}

impl Provider {
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--child")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the archive's process does not start")?;
        let stdout = child.stdout.take().context("its output is piped")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        ensure!(
            !address.trim().is_empty(),
            "the archive's process says where it listens"
        );
        Ok(Self {
            child,
            address: address.trim().to_owned(),
        })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // Ours to end; a failure means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The archive: serves until its standard input closes.
pub(crate) fn child(folder: &str) -> Result<()> {
    Runtime::new()?.block_on(async {
        let folder = PathBuf::from(folder);
        let node = Osier::builder().data_dir(folder).mdns(false).open().await?;
        node.join_as(&ticket(), Role::Archive).await?;
        let addresses = node.addresses();
        let address = addresses
            .first()
            .context("a node that listens has an address")?;
        let mut out = std::io::stdout();
        writeln!(out, "{address}")?;
        out.flush()?;
        tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
        node.shutdown().await;
        Ok(())
    })
}

/// An archive of its own for another row.
pub(super) fn archive(folder: &Path, size: u64) -> Result<Provider> {
    fill(folder, size)?;
    Provider::start(folder)
}
