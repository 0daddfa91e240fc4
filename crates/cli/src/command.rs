//! One file a command.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod dashboard;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod grant;
pub(crate) mod import;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod nostr;
pub(crate) mod print_config;
pub(crate) mod publish;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod space;
pub(crate) mod status;
pub(crate) mod topic;
pub(crate) mod trust;
pub(crate) mod watch;

use crate::{config::Config, output::Output};

/// What every command has.
#[derive(Debug)]
pub(crate) struct Context {
    /// How to print.
    pub(crate) out: Output,
    /// The settings.
    pub(crate) config: Config,
}
