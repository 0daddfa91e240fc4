//! S1: what a swarm pays for knowing that it is complete, and what a joiner waits for.
//!
//! Virtual time: the figures are bytes, messages, hops and sessions, the same on every machine. Up
//! to [`ENGINES_MAX`] nodes are engines that ship; more are a model with their timer, which is run
//! beside the engines too, to be compared.

use std::path::Path;

use anyhow::Result;
use osier_sim::crowd::{ARCHIVES, Cost, measure, model};

use crate::{
    plot::{By, Point, Points},
    report::{Must, Report},
};

/// Nodes that are run as engines: 10,000 take some minutes and gigabytes.
const ENGINES_MAX: u64 = 10_000;

/// Draws follow from it; any other gives much the same.
const SEED: u64 = 1;

/// Bytes that a node may receive in a minute in which two entries are written.
const BUSY_MAX: f64 = 20_000.0;

/// The same while nothing is written.
const QUIET_MAX: f64 = 2_000.0;

pub(super) fn run(sizes: &[u64], plot: Option<&Path>, report: &mut Report) -> Result<()> {
    let mut points = Points::default();
    for &size in sizes {
        let nodes = usize::try_from(size)?;
        anyhow::ensure!(nodes > 10 * ARCHIVES, "a swarm has more than a few nodes");
        if size <= ENGINES_MAX {
            let cost = measure(nodes, SEED);
            show(report, size, "engines", &cost);
            points.push(point(By::Engines, &cost));
        }
        let cost = model(nodes, SEED);
        show(report, size, "model", &cost);
        points.push(point(By::Model, &cost));
    }
    match plot {
        Some(path) => points.write(path),
        None => Ok(()),
    }
}

fn show(report: &mut Report, size: u64, by: &str, cost: &Cost) {
    let mut figure = |what: &str, value: (f64, &'static str), must| {
        report.figure("S1", size, format!("{by}: {what}"), value, must);
    };
    let a_minute = "B/min";
    figure(
        "a node, quiet",
        (cost.quiet, a_minute),
        Must::AtMost(QUIET_MAX),
    );
    figure(
        "a node, an entry each 30 s",
        (cost.busy, a_minute),
        Must::AtMost(BUSY_MAX),
    );
    figure("watermarks an entry", (cost.watermarks, ""), Must::BeShown);
    let hops_max = 2.0 * (size as f64).log2();
    figure(
        "hops to the farthest",
        (f64::from(cost.hops_max), ""),
        Must::AtMost(hops_max),
    );
    figure("hops on average", (cost.hops_mean, ""), Must::BeShown);
    let Some(engines) = cost.engines else {
        return;
    };
    figure("a node, audits", (engines.audits, a_minute), Must::BeShown);
    figure("a joiner is synced", (engines.join_ms, "ms"), Must::BeShown);
    let sessions = engines.join_sessions as f64;
    figure("a joiner's sessions", (sessions, ""), Must::AtMost(1.0));
}

fn point(by: By, cost: &Cost) -> Point {
    Point {
        nodes: cost.nodes as u64,
        by,
        quiet: cost.quiet,
        busy: cost.busy,
        hops_max: cost.hops_max,
        hops_mean: cost.hops_mean,
    }
}
