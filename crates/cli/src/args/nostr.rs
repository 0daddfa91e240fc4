//! Arguments of `osier nostr`.

use clap::{Args, Subcommand};

/// What to do with other relays.
#[derive(Debug, Subcommand)]
pub(crate) enum NostrCommand {
    /// Fetch the events that a relay has and this node has not
    Pull(MirrorArgs),
    /// Send the events that this node has and a relay has not
    Push(MirrorArgs),
    /// Both
    Sync(MirrorArgs),
    /// Pull, then take in what the relay gets, until Ctrl-C; connects again when it must
    Mirror(MirrorArgs),
    /// Ask relays how many events match, and add the answers up
    Count(CountArgs),
}

/// Arguments of `pull`, `push`, `sync` and `mirror`. A relay that asks who we are is answered with
/// the key in `OSIER_NOSTR_KEY`, 64 hex digits.
#[derive(Debug, Args)]
pub(crate) struct MirrorArgs {
    /// The relay's URL, which begins with ws: or wss:
    pub(crate) url: String,
    /// Topic: name, id, or the start of an id [default: relay.topic of the settings]
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// Only events that match this filter of NIP-01, in JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) filter: Option<String>,
    /// Ask also for what was read to its end before, where a relay is read by pages
    #[arg(long)]
    pub(crate) again: bool,
    /// How long the relay may say nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) patience: u64,
}

/// Arguments of `count`.
#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    /// The relays' URLs
    #[arg(required = true)]
    pub(crate) urls: Vec<String>,
    /// What is counted: a filter of NIP-01, in JSON
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) filter: String,
}
