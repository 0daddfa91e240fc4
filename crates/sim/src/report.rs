//! What is printed.

use std::{fmt, time::Duration};

use osier_sim::{Knobs, Outcome, SEC, Shrunk, command};

/// Sums over all seeds of a call.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    seeds: u64,
    virtual_s: u64,
    events: u64,
    drained: u64,
    undrained: u64,
    real: Duration,
    failures: Vec<(u64, Outcome)>,
}

impl Totals {
    pub(crate) fn add(&mut self, seed: u64, outcome: Outcome) {
        self.seeds += 1;
        self.virtual_s += outcome.virtual_time / SEC;
        self.events += outcome.events;
        self.drained += outcome.sessions.0;
        self.undrained += outcome.sessions.1;
        if outcome.violation.is_some() {
            self.failures.push((seed, outcome));
        }
    }

    pub(crate) fn took(&mut self, real: Duration) {
        self.real = real;
        self.failures.sort_by_key(|(seed, _)| *seed);
    }

    pub(crate) fn first_failure(&self) -> Option<&(u64, Outcome)> {
        self.failures.first()
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (seed, outcome) in self.failures.iter().skip(1) {
            if let Some(violation) = &outcome.violation {
                writeln!(f, "seed {seed} fails {violation}")?;
            }
        }
        write!(
            f,
            "{} seeds run, violations {}, virtual time {} s, real time {:.1} s; {} sessions \
             drained, {} did not; {} events",
            self.seeds,
            self.failures.len(),
            self.virtual_s,
            self.real.as_secs_f64(),
            self.drained,
            self.undrained,
            self.events,
        )
    }
}

/// A seed that failed, and how to see it again.
pub(crate) fn failure(seed: u64, knobs: &Knobs, outcome: &Outcome) {
    if let Some(violation) = &outcome.violation {
        say(&format!("seed {seed} fails {violation}"));
    }
    say(&format!("replay: {}", command(seed, knobs)));
}

/// The smallest failing run that was found.
pub(crate) fn shrunk(seed: u64, shrunk: &Shrunk) {
    say(&format!(
        "after {} runs it fails {}",
        shrunk.runs, shrunk.violation
    ));
    let calm = Knobs::calm();
    let left = Knobs::NAMES
        .iter()
        .filter(|name| calm.get(name) != shrunk.knobs.get(name));
    let left = left.map(|name| format!("{name}={}", shrunk.knobs.get(name).unwrap_or(0)));
    say(&format!(
        "what is left: {}",
        left.collect::<Vec<_>>().join(" ")
    ));
    say(&format!("replay: {}", command(seed, &shrunk.knobs)));
}

/// One line for people.
#[expect(clippy::print_stdout, reason = "this is what the program is for")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// One line about a wrong call.
#[expect(
    clippy::print_stderr,
    reason = "a wrong call is told apart from results"
)]
pub(crate) fn complain(line: &str) {
    eprintln!("{line}");
}
