//! Commands on spaces, and what an owner says of a topic.

use clap::{Args, Subcommand};

/// `osier space`.
#[derive(Debug, Subcommand)]
pub(crate) enum SpaceCommand {
    /// Make a space that this node owns; prints its ticket
    New {
        /// Its name, for people
        name: String,
    },
    /// Take part in a space, and in every topic that its owner lists
    Join {
        /// The ticket, whole
        ticket: String,
    },
    /// List the spaces of this node
    Ls,
    /// Add a topic to a space of this node, for everybody in it
    Add {
        /// Space: name, id, or the start of an id
        space: String,
        /// Topic: name, id, or the start of an id
        topic: String,
    },
    /// Take a topic off the list; nodes that have joined it keep it
    Rm {
        /// Space: name, id, or the start of an id
        space: String,
        /// Topic: name, id, or the start of an id
        topic: String,
    },
    /// Show a space with its topics
    Show {
        /// Space: name, id, or the start of an id
        space: String,
    },
    /// Follow a space: one word when every topic is synced
    Watch {
        /// Space: name, id, or the start of an id
        space: String,
        /// End when every topic is synced (exit 0) or has settled without (exit 6)
        #[arg(long)]
        until_synced: bool,
    },
}

/// Arguments of `grant`.
#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// Topic of this node: name, id, or the start of an id
    pub(crate) topic: String,
    /// Node id, 64 hex digits
    pub(crate) node: String,
    /// Asked in this order; lower first
    #[arg(long, default_value_t = 100)]
    pub(crate) rank: u16,
    /// In which role its word counts
    #[arg(long, default_value = "archive", value_parser = ["archive", "replay", "peer"])]
    pub(crate) role: String,
}
