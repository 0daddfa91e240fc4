//! The local HTTP API: topics, entries, events, status, health.
