//! The command line of the benchmarks.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::relay::Peers;

/// Measures Osier against limits of the same machine in the same run.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Args {
    /// Rows to run; all of them when none is named.
    #[arg(value_enum, ignore_case = true)]
    rows: Vec<Row>,
    /// Sizes in entries, for S1 in nodes; each row has its own by default.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sizes: Vec<u64>,
    /// Where to write the figures as JSON.
    #[arg(long)]
    pub(crate) write: Option<PathBuf>,
    /// Where to write the plot of row S1 as SVG, with its figures beside it as JSON.
    #[arg(long)]
    pub(crate) plot: Option<PathBuf>,
    /// Figures of an earlier run to compare with.
    #[arg(long)]
    pub(crate) baseline: Option<PathBuf>,
    /// End with an error when a row misses what it must reach.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Another relay for the rows B1 to B7, as `name=ws://address`; it should be empty.
    #[arg(long)]
    pub(crate) peer: Vec<String>,
    /// Leave out the peer that was built from `tests/interop/rust`.
    #[arg(long)]
    pub(crate) alone: bool,
    /// The other process of a row that needs two; started by the row itself.
    #[arg(long, hide = true)]
    pub(crate) child: Option<String>,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Row {
    /// Cold join: archive to empty client, two processes.
    P1,
    /// Near-equal: ten missing on each side.
    P2,
    /// Resume: the client lacks the last k.
    P3,
    /// From last entry durable to the word in the application.
    P4,
    /// The order index.
    P5,
    /// Restart after a kill.
    P7,
    /// Relay: events are published.
    B1,
    /// Relay: pages of 500.
    B2,
    /// Relay: live events to many.
    B3,
    /// Relay: quiet connections.
    B4,
    /// Relay: counts.
    B5,
    /// Relay: sets are compared.
    B6,
    /// Relay: live events beside subscriptions that come and go.
    B7,
    /// A simulated swarm: what completion costs a node, in nodes.
    S1,
}

impl Args {
    /// The rows to run, in order.
    pub(crate) fn rows(&self) -> Vec<Row> {
        if self.rows.is_empty() {
            Row::value_variants().to_vec()
        } else {
            self.rows.clone()
        }
    }

    /// The relays beside ours.
    pub(crate) fn peers(&self) -> Result<Peers> {
        Peers::new(&self.peer, self.alone)
    }

    /// The sizes to run a row at.
    pub(crate) fn sizes(&self, default: &[u64]) -> Vec<u64> {
        if self.sizes.is_empty() {
            default.to_vec()
        } else {
            self.sizes.clone()
        }
    }
}
