//! `sim`: runs seeds, replays them, shrinks them. See `docs/testing.md`.

mod args;
mod report;

use std::{
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use args::Args;
use osier_sim::{Knobs, Outcome, TraceMode, run_knobs, run_twice, shrink};
use report::Totals;

/// One seed in so many is run twice and its traces are compared.
const TWICE_EVERY: u64 = 25;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(Some(args)) => args,
        Ok(None) => {
            report::say(args::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            report::complain(&error);
            return ExitCode::from(2);
        }
    };
    // A panic in a run is a violation with a seed; its text is reported with it.
    if !args.trace {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let totals = run_all(&args);
    report::say(&totals.to_string());
    let Some((seed, outcome)) = totals.first_failure() else {
        return ExitCode::SUCCESS;
    };
    let knobs = args.knobs(*seed);
    report::failure(*seed, &knobs, outcome);
    if args.shrink {
        report::say("shrinking ...");
        if let Some(shrunk) = shrink(*seed, &knobs) {
            report::shrunk(*seed, &shrunk);
        }
    }
    ExitCode::FAILURE
}

fn run_all(args: &Args) -> Totals {
    let start = Instant::now();
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let totals = Mutex::new(Totals::default());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let over = args
                .seconds
                .is_some_and(|s| start.elapsed() >= Duration::from_secs(s));
            if at >= args.seeds || over || stop.load(Ordering::Relaxed) {
                return;
            }
            let seed = args.from.wrapping_add(at);
            let outcome = run_one(args, seed, &args.knobs(seed));
            stop.fetch_or(
                outcome.violation.is_some() && !args.keep_going,
                Ordering::Relaxed,
            );
            let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
            totals.add(seed, outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(work);
        }
    });
    let mut totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    totals.took(start.elapsed());
    totals
}

fn run_one(args: &Args, seed: u64, knobs: &Knobs) -> Outcome {
    if args.trace {
        run_knobs(seed, knobs, TraceMode::Print)
    } else if seed.is_multiple_of(TWICE_EVERY) || args.twice {
        run_twice(seed, knobs)
    } else {
        run_knobs(seed, knobs, TraceMode::Off)
    }
}
