//! What the driver counts. Every number only grows, and counts from the node's start.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// One growing number.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters, shared by all tasks of a node.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $($(#[$doc])* pub(crate) $name: Counter,)*
        }

        /// The counters at one moment.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct NodeMetrics {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            /// Reads every counter.
            pub(crate) fn read(&self) -> NodeMetrics {
                NodeMetrics { $($name: self.$name.get(),)* }
            }
        }

        impl NodeMetrics {
            /// Name and value of each counter, in Prometheus' form of names.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((concat!("osier_node_", stringify!($name), "_total"), self.$name),)*]
            }
        }
    };
}

metrics! {
    /// Sessions opened as client.
    sessions_opened,
    /// Sessions granted as provider.
    sessions_granted,
    /// Asks refused by the engine.
    sessions_refused,
    /// Sessions whose task failed by a fault of ours.
    sessions_crashed,
    /// Bytes read from session streams.
    session_received_bytes,
    /// Bytes written to session streams.
    session_sent_bytes,
    /// Streams that ended, or were reset, before a hello.
    streams_without_hello,
    /// Session connections dialed.
    connections_dialed,
    /// Dials that failed.
    dials_failed,
    /// Connections accepted, gossip included.
    connections_accepted,
    /// Connections refused before the handshake: too many from one address, or in all.
    connections_refused,
    /// Connections closed because a newer one of the same peer showed them dead.
    connections_replaced,
    /// Store transactions.
    disk_transactions,
    /// Commits put into them.
    disk_commits,
    /// Entries handed to the store, new or not.
    disk_entries,
    /// Commits that the store did not take.
    disk_failures,
    /// Gossip messages received.
    gossip_received,
    /// Gossip messages sent.
    gossip_sent,
    /// Gossip messages not sent because too many waited.
    gossip_dropped,
    /// Gossip messages not sent because they were over the payload room: the engine's fault.
    gossip_oversize,
    /// Reports that gossip dropped messages on their way here.
    gossip_lagged,
    /// Times that the gossip actor stood still and was replaced.
    gossip_restarts,
    /// Events that watchers were too slow for.
    watcher_events_missed,
    /// Ephemeral items handed to the swarms.
    ephemeral_sent,
    /// Ephemeral items of other nodes that were handed to who listens.
    ephemeral_heard,
    /// Ephemeral items that listeners were too slow for.
    ephemeral_missed,
}

/// Shared by every task.
pub(crate) type SharedCounters = Arc<Counters>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_a_name_and_its_value() {
        let counters = Counters::default();
        counters.disk_entries.add(3);
        let named = counters.read().named();
        assert!(named.contains(&("osier_node_disk_entries_total", 3)));
    }
}
