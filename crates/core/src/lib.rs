//! The vocabulary: ids, entries, envelopes, chains, frontier, limits, time.
