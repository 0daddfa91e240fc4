//! Shrinking: from a failing run to a smaller one that still fails.

use std::fmt::Write;

use crate::{check::Violation, run::run_knobs, swarm::Knobs, trace::TraceMode};

/// Runs at most so often.
const RUNS_MAX: u32 = 400;

/// A smaller failing configuration of a seed.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The parameters that are left.
    pub knobs: Knobs,
    /// How it fails.
    pub violation: Violation,
    /// Runs that it took to find.
    pub runs: u32,
}

/// Takes faults, writes and nodes away, one parameter at a time, as long as the run still fails.
/// Each parameter is first set to its calm value, then halved towards it. None if the seed does
/// not fail with these parameters.
pub fn shrink(seed: u64, from: &Knobs) -> Option<Shrunk> {
    let mut violation = run_knobs(seed, from, TraceMode::Off).violation?;
    let (calm, mut knobs, mut runs) = (Knobs::calm(), from.clone(), 1);
    loop {
        let before = knobs.clone();
        for name in Knobs::NAMES {
            let target = calm.get(name).expect("a name of the list");
            let now = knobs.get(name).expect("a name of the list");
            for value in candidates(now, target) {
                if runs >= RUNS_MAX {
                    break;
                }
                let mut smaller = knobs.clone();
                smaller.set(name, value);
                runs += 1;
                let found = run_knobs(seed, &smaller, TraceMode::Off).violation;
                if let Some(found) = found.filter(|found| found.kind() == violation.kind()) {
                    (knobs, violation) = (smaller, found);
                    break;
                }
            }
        }
        if knobs == before || runs >= RUNS_MAX {
            return Some(Shrunk {
                knobs,
                violation,
                runs,
            });
        }
    }
}

/// Values between the present one and the calm one, the calmest first.
fn candidates(now: u64, calm: u64) -> Vec<u64> {
    let halfway = u64::midpoint(now, calm);
    let step = if now > calm { now - 1 } else { now + 1 };
    let mut values = vec![calm, halfway, step];
    values.retain(|value| *value != now);
    values.dedup();
    if now == calm { Vec::new() } else { values }
}

/// The one command that replays a run with these parameters.
pub fn command(seed: u64, knobs: &Knobs) -> String {
    let own = Knobs::draw(seed);
    let mut words = format!("cargo xtask sim --seeds 1 --from {seed}");
    for name in Knobs::NAMES {
        if own.get(name) != knobs.get(name) {
            let value = knobs.get(name).expect("a name of the list");
            write!(words, " --set {name}={value}").expect("a string takes all");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_go_towards_calm() {
        assert_eq!(candidates(8, 0), [0, 4, 7]);
        assert_eq!(candidates(1, 0), [0]);
        assert!(candidates(2, 2).is_empty());
    }

    #[test]
    fn only_what_differs_from_the_seed_is_in_the_command() {
        let mut knobs = Knobs::draw(3);
        assert_eq!(command(3, &knobs), "cargo xtask sim --seeds 1 --from 3");
        knobs.crashes = 99;
        assert_eq!(
            command(3, &knobs),
            "cargo xtask sim --seeds 1 --from 3 --set crashes=99"
        );
    }
}
