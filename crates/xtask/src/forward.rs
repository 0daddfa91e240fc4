//! The simulator and the benchmarks: run as they are, with the arguments given.

use std::env;

use anyhow::Result;
use clap::Args;

use crate::{process::Cmd, workspace::Workspace};

/// How to build, and what to pass on.
#[derive(Debug, Args)]
pub(crate) struct Forward {
    /// Cargo profile to build with [default: release]; `dev` starts sooner, `release` runs faster
    #[arg(long)]
    profile: Option<String>,
    /// Passed on as they are; `-- --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Runs the simulator. `OSIER_SIM_PROFILE` stands in for a profile that is not given.
pub(crate) fn sim(workspace: &Workspace, forward: &Forward) -> Result<()> {
    let fallback = env::var("OSIER_SIM_PROFILE").ok();
    command(
        workspace,
        "osier-sim --bin sim",
        forward,
        fallback.as_deref(),
    )
    .run()
}

/// Runs the benchmarks.
pub(crate) fn bench(workspace: &Workspace, forward: &Forward) -> Result<()> {
    command(workspace, "osier-bench", forward, None).run()
}

fn command(workspace: &Workspace, binary: &str, forward: &Forward, fallback: Option<&str>) -> Cmd {
    let profile = forward.profile.as_deref().or(fallback).unwrap_or("release");
    Cmd::cargo(&format!("run --package {binary}"), workspace.root())
        .args(["--profile", profile, "--"])
        .args(&forward.args)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;
    use crate::Task;

    fn shown(words: &[&str], fallback: Option<&str>) -> String {
        let task = crate::Args::try_parse_from(words).unwrap().task;
        let Task::Sim(forward) = task else {
            panic!("not the simulator")
        };
        command(&Workspace::at(Path::new(".")), "sim", &forward, fallback).to_string()
    }

    #[test]
    fn arguments_are_passed_on() {
        let words = [
            "xtask",
            "sim",
            "--profile",
            "dev",
            "--seeds",
            "5",
            "--from",
            "1",
        ];
        let want = "cargo run --package sim --profile dev -- --seeds 5 --from 1";
        assert_eq!(shown(&words, Some("bench")), want);
    }

    #[test]
    fn a_profile_that_is_not_given_has_a_default() {
        let words = ["xtask", "sim", "--seeds", "5"];
        assert!(shown(&words, None).contains("--profile release -- --seeds 5"));
        assert!(shown(&words, Some("dev")).contains("--profile dev -- --seeds 5"));
    }
}
