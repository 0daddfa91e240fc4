//! The `osier` command.
//!
//! Commands speak to the node of a data directory over its local API: to the running one, or, for
//! what needs no network, to one that the command itself opens over the store (`reach`).
//!
//! | module | what it holds |
//! | --- | --- |
//! | `args` | the command line |
//! | `command` | one file a command |
//! | `config` | settings with their origin |
//! | `bridge` | the Nostr relay, from its settings |
//! | `reach`, `api`, `sse`, `page` | the way to a node |
//! | `output`, `table`, `text`, `progress` | all that is printed |
//! | `exit`, `failure`, `store_failure`, `interrupt` | how a command ends |

mod api;
mod args;
mod bridge;
mod command;
mod config;
mod exit;
mod failure;
mod interrupt;
mod output;
mod page;
mod progress;
mod reach;
mod sse;
mod store_failure;
mod table;
mod text;

use std::{io, process::ExitCode};

use clap::{CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Cli, Command, RunArgs},
    command::Context,
    config::{Config, Flags, Layers},
    exit::Exit,
    failure::Outcome,
    output::Output,
};

fn main() -> ExitCode {
    let definition = Cli::command().after_help(exit::help());
    let parsed = definition
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let out = Output::detect(cli.global.json);
    match run(out, cli) {
        Ok(()) => Exit::Ok.into(),
        Err(failure) => {
            out.failure(&failure);
            failure.exit.into()
        }
    }
}

/// Help and version go to standard output and are no failure.
fn usage(error: &clap::Error) -> ExitCode {
    // Nobody is there to be told when the stream is closed.
    drop(error.print());
    if error.use_stderr() {
        Exit::Usage.into()
    } else {
        Exit::Ok.into()
    }
}

fn run(out: Output, cli: Cli) -> Outcome {
    let command = cli.command.unwrap_or(Command::Run(cli.run));
    let layers = Layers::load(&flags(&cli.global, &command))?;
    let config = Config::from_layers(&layers)?;
    log_to_stderr(&config.log, cli.global.verbose);
    let context = Context { out, config };
    match command {
        Command::Run(args) if args.print_config => command::print_config::run(&context, &layers),
        Command::Run(_) => command::run::run(&context),
        Command::Demo => command::demo::run(&context),
        Command::Topic(topic) => command::topic::run(&context, topic),
        Command::Publish(args) => command::publish::run(&context, &args),
        Command::Import(args) => command::import::run(&context, &args),
        Command::Export { topic } => command::export::run(&context, &topic),
        Command::Watch(args) => command::watch::run(&context, &args),
        Command::Log(args) => command::log::run(&context, &args),
        Command::Status { topic } => command::status::run(&context, topic.as_deref()),
        Command::Trust(trust) => command::trust::run(&context, trust),
        Command::Grant(args) => command::grant::grant(&context, &args),
        Command::Revoke { topic, node, after } => {
            command::grant::revoke(&context, &topic, &node, after.as_deref())
        }
        Command::Space(space) => command::space::run(&context, space),
        Command::Nostr(nostr) => command::nostr::run(&context, nostr),
        Command::Check => command::check::run(&context),
        Command::Dashboard => command::dashboard::run(&context),
        Command::Doctor => command::doctor::run(&context),
        Command::Backup { file } => command::backup::run(&context, &file),
        Command::Restore { file, replace } => command::restore::run(&context, &file, replace),
        Command::Compact => command::compact::run(&context),
        Command::Completions { shell } => command::completions::run(&context, shell),
        Command::Man => command::man::run(&context),
    }
}

/// Flags that are settings too.
fn flags(global: &args::Global, command: &Command) -> Flags {
    let mut values = Vec::new();
    if let Some(dir) = &global.data_dir {
        values.push(("data_dir", dir.display().to_string()));
    }
    if let Command::Run(RunArgs {
        listen_p2p,
        listen_api,
        listen_relay,
        ..
    }) = command
    {
        let listens = [("listen_p2p", listen_p2p), ("listen_api", listen_api)];
        let chosen = listens
            .into_iter()
            .filter_map(|(key, it)| Some((key, (*it)?.to_string())));
        values.extend(chosen);
        values.extend(listen_relay.clone().map(|it| ("listen_relay", it)));
    }
    Flags {
        file: global.config.clone(),
        values,
    }
}

fn log_to_stderr(setting: &str, verbose: u8) {
    let level = match verbose {
        0 => setting,
        1 => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
}
