//! Commands on topics and on the trust list.

use clap::Subcommand;

/// `osier topic`.
#[derive(Debug, Subcommand)]
pub(crate) enum TopicCommand {
    /// Make a topic that this node owns and archives; prints its ticket
    New {
        /// Its name, for people
        name: String,
        /// Who may write: open (whoever has the ticket) or granted (this node, and nodes that it
        /// grants); it cannot be changed later
        #[arg(long, value_name = "WHO", default_value_t)]
        writing: osier::Writing,
    },
    /// Take part in a topic that somebody gave you the ticket of
    Join {
        /// The ticket, whole
        ticket: String,
        /// What this node keeps: everything (archive, peer) or the newest entries (replay)
        /// [default: `role` of the settings]
        #[arg(long, value_parser = ["archive", "replay", "peer"])]
        role: Option<String>,
    },
    /// List the topics of this node
    Ls,
    /// Show one topic with its providers
    Show {
        /// Topic: name, id, or the start of an id
        topic: String,
    },
    /// Print a topic's ticket; whoever has it can read the topic
    Ticket {
        /// Topic: name, id, or the start of an id
        topic: String,
    },
    /// Choose when history counts as complete
    Rule {
        /// Topic: name, id, or the start of an id
        topic: String,
        /// storage-first, first-trusted, strict-majority, quorum:N or quorum:N:ROLE
        rule: String,
    },
    /// Stop taking part, and remove the topic's history from this node
    Leave {
        /// Topic: name, id, or the start of an id
        topic: String,
        /// Needed where this node archives the topic: others may have no other copy
        #[arg(long)]
        delete_history: bool,
    },
}

/// `osier trust`.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// Let a node's word count
    Add {
        /// Topic: name, id, or the start of an id
        topic: String,
        /// Node id, 64 hex digits
        node: String,
        /// Asked in this order; lower first
        #[arg(long, default_value_t = 0)]
        rank: u16,
        /// In which role it is trusted
        #[arg(long, default_value = "archive", value_parser = ["archive", "replay", "peer"])]
        role: String,
    },
    /// Do not let a node's word count
    Rm {
        /// Topic: name, id, or the start of an id
        topic: String,
        /// Node id, 64 hex digits
        node: String,
    },
    /// List whose word counts
    Ls {
        /// Topic: name, id, or the start of an id
        topic: String,
    },
}
