//! Limits of this machine, measured in the same run: what a figure is a ratio of.

use std::{path::Path, time::Instant};

use anyhow::Result;
use osier_core::{Entry, KeyCache, SignedEntry, Verified, authenticate};
use redb::{Database, TableDefinition};

/// Entries that the crypto limits are measured on.
const SAMPLE: usize = 5_000;

/// Entries per second that one core verifies one by one, keys decompressed.
pub(crate) fn strict_verifications(entries: &[Verified<Entry>]) -> f64 {
    let signed: Vec<SignedEntry> = entries.iter().take(SAMPLE).map(parsed).collect();
    let count = signed.len();
    let mut keys = KeyCache::new();
    let start = Instant::now();
    for entry in signed {
        assert!(entry.verify(&mut keys).is_ok(), "our own entries verify");
    }
    count as f64 / start.elapsed().as_secs_f64()
}

/// Entries per second of one core by rule V, as one batch.
pub(crate) fn rule_v(entries: &[Verified<Entry>]) -> f64 {
    let wire: Vec<_> = entries.iter().map(|entry| entry.to_wire()).collect();
    let count = wire.len();
    let start = Instant::now();
    let parsed: Vec<_> = wire
        .into_iter()
        .map(|wire| SignedEntry::parse(wire).expect("our own entries parse"))
        .collect();
    let judged = authenticate(parsed, &mut KeyCache::new(), &|_, _| false);
    assert_eq!(
        judged.verified.len(),
        count,
        "our own entries are authentic"
    );
    count as f64 / start.elapsed().as_secs_f64()
}

fn parsed(entry: &Verified<Entry>) -> SignedEntry {
    SignedEntry::parse(entry.to_wire()).expect("our own entries parse")
}

const LOG: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("log");
const BY_HASH: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("by_hash");
const CHAIN: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("chain");
const ORDER: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("order");

/// Entries per second that redb takes as plain rows of the same sizes in the same number of
/// tables, sorted in each batch, one durable commit a batch.
pub(crate) fn redb_rows(folder: &Path, batches: &[Vec<Verified<Entry>>]) -> Result<f64> {
    let database = Database::create(folder.join("limit.redb"))?;
    let start = Instant::now();
    let mut lsn = 0_u64;
    for batch in batches {
        let mut write = database.begin_write()?;
        write.set_quick_repair(true);
        insert(&write, batch, &mut lsn)?;
        write.commit()?;
    }
    let entries: usize = batches.iter().map(Vec::len).sum();
    Ok(entries as f64 / start.elapsed().as_secs_f64())
}

fn insert(write: &redb::WriteTransaction, batch: &[Verified<Entry>], lsn: &mut u64) -> Result<()> {
    let mut by_hash = Vec::with_capacity(batch.len());
    let mut chain = Vec::with_capacity(batch.len());
    let mut order = Vec::with_capacity(batch.len());
    let mut log = write.open_table(LOG)?;
    for entry in batch {
        *lsn += 1;
        let place = lsn.to_be_bytes();
        let mut row = entry.header_bytes().to_vec();
        row.extend_from_slice(&entry.signature());
        row.extend(
            entry
                .items()
                .iter()
                .filter_map(|item| item.bytes())
                .flatten(),
        );
        log.insert(&place[..], &row[..])?;
        let hash = entry.hash();
        by_hash.push((hash.as_bytes().to_vec(), place));
        let mut key = entry.signer().as_bytes().to_vec();
        key.extend_from_slice(&entry.header().seq().get().to_be_bytes());
        key.extend_from_slice(&hash.as_bytes()[..8]);
        chain.push((key, place));
        let mut key = entry.header().time().as_millis().to_be_bytes().to_vec();
        key.extend_from_slice(hash.as_bytes());
        order.push((key, place));
    }
    drop(log);
    for (table, mut rows) in [(BY_HASH, by_hash), (CHAIN, chain), (ORDER, order)] {
        rows.sort_unstable();
        let mut table = write.open_table(table)?;
        for (key, place) in rows {
            table.insert(&key[..], &place[..])?;
        }
    }
    Ok(())
}
