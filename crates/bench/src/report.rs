//! The table: what was measured, against what, and whether that is enough.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// What a figure must reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Must {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// Nothing: it is there to be seen.
    BeShown,
}

impl Must {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
            Self::BeShown => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(bound) => format!(">= {}", number(bound)),
            Self::AtMost(bound) => format!("<= {}", number(bound)),
            Self::BeShown => String::new(),
        }
    }
}

#[derive(Debug)]
struct Line {
    row: &'static str,
    size: u64,
    what: String,
    value: f64,
    unit: &'static str,
    must: Must,
}

#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    figures: BTreeMap<String, f64>,
}

/// Everything measured in one run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a figure and shows it at once on standard error: rows take minutes.
    pub(crate) fn figure(
        &mut self,
        row: &'static str,
        size: u64,
        what: impl Into<String>,
        (value, unit): (f64, &'static str),
        must: Must,
    ) {
        let line = Line {
            row,
            size,
            what: what.into(),
            value,
            unit,
            must,
        };
        eprintln!("{row} {size}: {} {} {unit}", line.what, number(value));
        self.lines.push(line);
    }

    pub(crate) fn print(&self) {
        println!(
            "{:<4} {:>10}  {:<52} {:>12} {:<10} must",
            "row", "size", "what", "value", "unit"
        );
        for line in &self.lines {
            let mark = if line.must.holds(line.value) {
                ""
            } else {
                "  MISSED"
            };
            println!(
                "{:<4} {:>10}  {:<52} {:>12} {:<10} {}{mark}",
                line.row,
                line.size,
                line.what,
                number(line.value),
                line.unit,
                line.must.text(),
            );
        }
        self.print_growth();
    }

    /// How each figure grows with size: the exponent of a power law through first and last size.
    fn print_growth(&self) {
        let mut series: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
        for line in &self.lines {
            let point = (line.size as f64, line.value);
            series
                .entry((line.row, &line.what))
                .or_default()
                .push(point);
        }
        println!("\ngrowth (0 is flat, 1 is in step with size)");
        for ((row, what), points) in series {
            let (Some(first), Some(last)) = (points.first(), points.last()) else {
                continue;
            };
            if last.0 > first.0 && first.1 > 0.0 && last.1 > 0.0 {
                let slope = (last.1 / first.1).ln() / (last.0 / first.0).ln();
                println!("{row:<4} {what:<64} {slope:>6.2}");
            }
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&Saved {
            figures: self.by_name(),
        })?;
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn by_name(&self) -> BTreeMap<String, f64> {
        let name = |line: &Line| format!("{} {} {}", line.row, line.size, line.what);
        self.lines
            .iter()
            .map(|line| (name(line), line.value))
            .collect()
    }

    pub(crate) fn compare(&self, path: &Path) -> Result<()> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the baseline {}", path.display()))?;
        let saved: Saved = serde_json::from_str(&text).context("the baseline is not ours")?;
        println!("\nagainst {}", path.display());
        for (name, value) in self.by_name() {
            if let Some(old) = saved.figures.get(&name).filter(|old| **old != 0.0) {
                println!("{name:<80} x{:.2}", value / old);
            }
        }
        Ok(())
    }

    /// # Errors
    /// When `strict` and a figure misses its bound.
    pub(crate) fn verdict(&self, strict: bool) -> Result<()> {
        let missed = self
            .lines
            .iter()
            .filter(|line| !line.must.holds(line.value))
            .count();
        if strict && missed > 0 {
            bail!("{missed} figures miss what they must reach; they are marked MISSED above");
        }
        Ok(())
    }
}

/// Four significant digits are more than a shared machine can honestly give.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let decimals = usize::try_from(digits.clamp(0, 6)).unwrap_or(0);
    format!("{value:.decimals$}")
}
