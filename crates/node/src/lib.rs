//! Drives the engine over iroh, iroh-gossip and the disk.
