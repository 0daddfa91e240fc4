//! The command line. Names and meanings here are relied on by scripts.

mod nostr;
mod space;
mod topic;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::{
    nostr::{CountArgs, MirrorArgs, NostrCommand},
    space::{GrantArgs, SpaceCommand},
    topic::{TopicCommand, TrustCommand},
};

/// A peer-to-peer node that keeps a topic's signed history and says truthfully when it has all.
#[derive(Debug, Parser)]
#[command(
    name = "osier",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Flags of `run`, which is the command when none is given.
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// Where the node keeps its key, store and token [default: osier in the data
    /// folder of this user, as ~/.local/share/osier]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Settings file [default: osier.toml in the current directory, if there]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: one value, or one a line for streams
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more to standard error; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Flags of `run`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArgs {
    /// Address for other nodes; port 0 takes the port of last time if free, else any
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen_p2p: Option<SocketAddr>,
    /// Address of the local HTTP API; port 0 takes any free one
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen_api: Option<SocketAddr>,
    /// Address for Nostr clients; port 0 takes any free one, `off` means no relay
    #[arg(long, value_name = "ADDR:PORT", value_parser = relay_address)]
    pub(crate) listen_relay: Option<String>,
    /// Print the effective settings with the origin of each, and stop
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// The address of a relay; the empty text for none.
fn relay_address(text: &str) -> Result<String, String> {
    if text == "off" || text.is_empty() {
        return Ok(String::new());
    }
    let address: Result<SocketAddr, _> = text.parse();
    address
        .map(|address| address.to_string())
        .map_err(|_| "expected an address such as 127.0.0.1:7777, or off".to_owned())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the node and run until Ctrl-C (the command when none is given)
    Run(RunArgs),
    /// Show the promise on one screen: an archive, a replay node and a joiner
    Demo,
    /// Make, join and look at topics
    #[command(subcommand)]
    Topic(TopicCommand),
    /// Append entries to a topic
    Publish(PublishArgs),
    /// Append every line of a file; goes on where it was stopped. Nostr events are verified, other
    /// lines become entries as they are
    Import(ImportArgs),
    /// Write a topic's items to standard output, one a line
    Export {
        /// Topic: name, id, or the start of an id
        topic: String,
    },
    /// Follow what an app would see: entries and what becomes of history
    Watch(WatchArgs),
    /// Read history
    Log(LogArgs),
    /// Show topics, providers and how complete history is
    Status {
        /// Topic: name, id, or the start of an id; all when left out
        topic: Option<String>,
    },
    /// This node's own trust list
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Exchange events with Nostr relays
    #[command(subcommand)]
    Nostr(NostrCommand),
    /// Let a node's word count for everybody in a topic that this node owns
    Grant(GrantArgs),
    /// Take a grant back, for everybody
    Revoke {
        /// Topic of this node: name, id, or the start of an id
        topic: String,
        /// Node id, 64 hex digits
        node: String,
        /// In a granted topic: the hash of the last entry of the node that counts, or `none`; what
        /// this node holds of it when left out. What comes after leaves the history everywhere
        #[arg(long, value_name = "HASH")]
        after: Option<String>,
    },
    /// Several topics as one
    #[command(subcommand)]
    Space(SpaceCommand),
    /// Verify the whole store: every signature, every derived table
    Check,
    /// Print a link that opens the running node's dashboard, once
    Dashboard,
    /// Look for what commonly goes wrong on this machine, with a hint for each
    Doctor,
    /// Copy the store to a new file; the copy is a store itself
    Backup {
        /// Where to; must not exist
        file: PathBuf,
    },
    /// Put a backup in the place of the store of a node that is not running
    Restore {
        /// A file that `osier backup` wrote
        file: PathBuf,
        /// Replace the store that is there; it is kept beside the new one
        #[arg(long)]
        replace: bool,
    },
    /// Give free pages of the store back to the file system; the node must not be running
    Compact,
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// Arguments of `publish`.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// Topic: name, id, or the start of an id
    pub(crate) topic: String,
    /// What to publish; `-` or nothing reads standard input
    pub(crate) file: Option<PathBuf>,
    /// One entry a line, in place of one entry for all
    #[arg(long)]
    pub(crate) lines: bool,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Topic: name, id, or the start of an id
    pub(crate) topic: String,
    /// A file of lines: Nostr events in JSON, or anything else, byte for byte
    pub(crate) file: PathBuf,
    /// Do not look for Nostr events: each line is an entry as it is
    #[arg(long)]
    pub(crate) plain: bool,
    /// Begin at the first line even if an earlier import of this file was stopped
    #[arg(long)]
    pub(crate) restart: bool,
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Topic: name, id, or the start of an id
    pub(crate) topic: String,
    /// Where to begin: `start`, `now`, or a position that an earlier watch printed
    #[arg(long, value_name = "POS", default_value = "start")]
    pub(crate) from: String,
    /// End when history is complete (exit 0), or synced from a floor, failed or diverged (exit 6)
    #[arg(long)]
    pub(crate) until_synced: bool,
}

/// Arguments of `log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Topic: name, id, or the start of an id
    pub(crate) topic: String,
    /// In which order [default: causal; arrival with --after or --follow]
    #[arg(long, value_enum)]
    pub(crate) order: Option<LogOrder>,
    /// Begin after this position of an entry, in order of arrival
    #[arg(long, value_name = "POS")]
    pub(crate) after: Option<String>,
    /// At most so many entries
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Go on with entries as they come; needs a running node
    #[arg(long)]
    pub(crate) follow: bool,
}

/// The order of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogOrder {
    /// After everything that an entry names
    Causal,
    /// By the authors' clocks
    Time,
    /// As they came to this node
    Arrival,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Cli {
        Cli::try_parse_from(line.split(' ')).unwrap()
    }

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_the_command_when_none_is_given() {
        let cli = parse("osier --listen-api 127.0.0.1:0 --data-dir d");
        assert!(cli.command.is_none());
        assert_eq!(cli.run.listen_api, Some("127.0.0.1:0".parse().unwrap()));
        assert_eq!(cli.global.data_dir, Some("d".into()));
    }

    #[test]
    fn global_flags_stand_before_and_after_the_command() {
        for line in ["osier --json watch lobby", "osier watch lobby --json"] {
            assert!(parse(line).global.json, "{line}");
        }
    }

    #[test]
    fn trust_takes_rank_and_role() {
        let cli = parse("osier trust add lobby abcd --rank 2 --role replay");
        let Some(Command::Trust(TrustCommand::Add { rank, role, .. })) = cli.command else {
            panic!("not trust add");
        };
        assert_eq!((rank, role.as_str()), (2, "replay"));
    }

    #[test]
    fn an_address_without_a_port_is_refused_by_name() {
        let error = Cli::try_parse_from(["osier", "run", "--listen-p2p", "127.0.0.1"]);
        assert!(error.unwrap_err().to_string().contains("--listen-p2p"));
    }
}
