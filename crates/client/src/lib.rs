//! What apps use: open a node, topics, publish, the SyncEvent stream.
