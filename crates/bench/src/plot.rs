//! The plot of row S1: figures as JSON, and the SVG that is drawn from them and from nothing else.

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum By {
    Engines,
    Model,
}

/// One swarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) nodes: u64,
    pub(crate) by: By,
    pub(crate) quiet: f64,
    pub(crate) busy: f64,
    pub(crate) hops_max: u32,
    pub(crate) hops_mean: f64,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Points {
    points: Vec<Point>,
}

/// One line of the plot.
struct Series {
    name: &'static str,
    colour: &'static str,
    by: By,
    value: fn(&Point) -> f64,
}

const SERIES: [Series; 4] = [
    Series {
        name: "an entry each 30 s, engines",
        colour: "#1f5fa8",
        by: By::Engines,
        value: |point| point.busy,
    },
    Series {
        name: "an entry each 30 s, model",
        colour: "#7fb0e0",
        by: By::Model,
        value: |point| point.busy,
    },
    Series {
        name: "quiet, engines",
        colour: "#a8521f",
        by: By::Engines,
        value: |point| point.quiet,
    },
    Series {
        name: "quiet, model",
        colour: "#e0a77f",
        by: By::Model,
        value: |point| point.quiet,
    },
];

/// Left, top, right and bottom of the field, and the powers of ten that it spans.
const FIELD: (f64, f64, f64, f64) = (70.0, 40.0, 560.0, 320.0);
const NODES: (i32, i32) = (2, 5);
const BYTES: (i32, i32) = (2, 5);

impl Points {
    pub(crate) fn push(&mut self, point: Point) {
        self.points.push(point);
    }

    /// Writes the plot, and the figures beside it.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let json = serde_json::to_string_pretty(self)? + "\n";
        let figures = path.with_extension("json");
        fs::write(&figures, json).with_context(|| format!("cannot write {}", figures.display()))?;
        fs::write(path, self.svg()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Draws the figures: both axes by powers of ten.
    pub(crate) fn svg(&self) -> String {
        let mut svg = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 370\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <title>Bytes that a node receives for completion, by size of the swarm</title>\n\
             <rect width=\"780\" height=\"370\" fill=\"#ffffff\"/>\n\
             <text x=\"70\" y=\"24\" font-size=\"14\">Bytes a node and minute for completion, by \
             nodes in the swarm</text>\n",
        );
        axes(&mut svg);
        for (at, series) in SERIES.iter().enumerate() {
            self.draw(&mut svg, series, at);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn draw(&self, svg: &mut String, series: &Series, at: usize) {
        let mut mine: Vec<&Point> = self.points.iter().filter(|p| p.by == series.by).collect();
        mine.sort_by_key(|point| point.nodes);
        let places = mine.iter().map(|point| {
            let x = across(point.nodes as f64);
            let y = down((series.value)(point));
            format!("{x:.1},{y:.1}")
        });
        let places: Vec<String> = places.collect();
        let colour = series.colour;
        line(
            svg,
            &format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                places.join(" ")
            ),
        );
        for place in &places {
            let (x, y) = place.split_once(',').unwrap_or_default();
            let dot = format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>");
            line(svg, &dot);
        }
        let y = 60 + 22 * at;
        let name = series.name;
        line(
            svg,
            &format!(
                "<rect x=\"580\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{colour}\"/>\
             <text x=\"600\" y=\"{y}\">{name}</text>",
                y - 6
            ),
        );
    }
}

fn axes(svg: &mut String) {
    let (left, top, right, bottom) = FIELD;
    for power in NODES.0..=NODES.1 {
        let (x, text) = (across(10_f64.powi(power)), 10_u64.pow(power.unsigned_abs()));
        line(
            svg,
            &format!(
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#dddddd\"/>\
             <text x=\"{x:.1}\" y=\"340\" text-anchor=\"middle\">{text}</text>"
            ),
        );
    }
    for power in BYTES.0..=BYTES.1 {
        let (y, text) = (down(10_f64.powi(power)), 10_u64.pow(power.unsigned_abs()));
        line(
            svg,
            &format!(
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#dddddd\"/>\
             <text x=\"62\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                y + 4.0
            ),
        );
    }
}

fn line(svg: &mut String, text: &str) {
    writeln!(svg, "{text}").expect("a string takes all");
}

fn across(nodes: f64) -> f64 {
    let part = (nodes.log10() - f64::from(NODES.0)) / f64::from(NODES.1 - NODES.0);
    FIELD.0 + part * (FIELD.2 - FIELD.0)
}

fn down(bytes: f64) -> f64 {
    let part = (bytes.log10() - f64::from(BYTES.0)) / f64::from(BYTES.1 - BYTES.0);
    FIELD.3 - part.clamp(0.0, 1.0) * (FIELD.3 - FIELD.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(name)
    }

    /// The committed plot comes from the committed figures. `OSIER_BLESS=1` draws it again.
    #[test]
    fn the_plot_in_docs_is_drawn_from_the_figures_in_docs() {
        let json = fs::read_to_string(docs("swarm.json")).unwrap();
        let points: Points = serde_json::from_str(&json).unwrap();
        if std::env::var_os("OSIER_BLESS").is_some() {
            points.write(&docs("swarm.svg")).unwrap();
        }
        assert_eq!(fs::read_to_string(docs("swarm.svg")).unwrap(), points.svg());
    }

    #[test]
    fn a_plot_shows_each_point_of_each_series() {
        let point = |by, nodes| Point {
            nodes,
            by,
            quiet: 300.0,
            busy: 12_000.0,
            hops_max: 9,
            hops_mean: 4.5,
        };
        let points = [point(By::Engines, 1_000), point(By::Model, 100_000)];
        let svg = Points {
            points: points.to_vec(),
        }
        .svg();
        assert_eq!(svg.matches("<circle").count(), 4);
        assert_eq!(svg.matches("<polyline").count(), 4);
    }
}
