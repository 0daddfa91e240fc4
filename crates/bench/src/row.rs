//! The rows of the table, one file a row.

pub(crate) mod p1;
mod p2;
mod p3;
mod p4;
mod p5;
mod p7;
mod relay;
mod s1;

use std::path::Path;

use anyhow::Result;
use osier_core::{Entry, Verified};
use osier_proto::StoreId;
use osier_store::{Batch, Store};

use crate::{
    args::{Args, Row},
    report::Report,
};

impl Row {
    /// Measures the row at each of its sizes.
    ///
    /// # Errors
    /// When it cannot be measured, or its answer is wrong.
    pub(crate) fn run(self, args: &Args, report: &mut Report) -> Result<()> {
        match self {
            Self::P1 => p1::run(&args.sizes(&[20_000, 200_000, 1_000_000]), report),
            Self::P2 => p2::run(&args.sizes(&[10_000, 100_000, 1_000_000]), report),
            Self::P3 => p3::run(&args.sizes(&[10_000, 100_000, 1_000_000]), report),
            Self::P4 => p4::run(report),
            Self::P5 => p5::run(&args.sizes(&[10_000, 100_000, 1_000_000]), report),
            Self::B1 => relay::ingest(&args.sizes(&[20_000]), &args.peers()?, report),
            Self::B2 => relay::request(&args.sizes(&[20_000, 100_000]), &args.peers()?, report),
            Self::B3 => relay::fan_out(&args.sizes(&[100, 1_000]), &args.peers()?, report),
            Self::B4 => relay::idle(&args.sizes(&[1_000, 5_000]), &args.peers()?, report),
            Self::B5 => relay::count(&args.sizes(&[20_000, 100_000]), &args.peers()?, report),
            Self::B6 => relay::compare(&args.sizes(&[100_000, 1_000_000]), &args.peers()?, report),
            Self::B7 => relay::churn(&args.sizes(&[100, 1_000]), &args.peers()?, report),
            Self::S1 => s1::run(&args.sizes(&[1_000]), args.plot.as_deref(), report),
            Self::P7 => p7::run(&args.sizes(&[10_000, 100_000, 1_000_000]), report),
        }
    }
}

/// A new store in a folder; `n` tells stores of one row apart.
pub(crate) fn store(folder: &Path, n: u8) -> Result<Store> {
    let path = folder.join(format!("store-{n}.redb"));
    Ok(Store::open(&path, StoreId::from_bytes([n; 16]))?)
}

/// Stores entries in one transaction.
pub(crate) fn put(store: &Store, entries: Vec<Verified<Entry>>) -> Result<()> {
    let mut batch = Batch::new();
    batch.extend(entries);
    store.commit(&batch)?;
    Ok(())
}
