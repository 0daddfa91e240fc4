//! The node's brain: sessions, policy, ingest, gossip decisions, schedule.
