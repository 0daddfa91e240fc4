//! `osier completions`: a script for a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Context;
use crate::{args::Cli, failure::Outcome};

pub(crate) fn run(context: &Context, shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "osier", &mut script);
    context.out.bytes(&script)?;
    context.out.flush()
}
