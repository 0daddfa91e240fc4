//! The redb store: log, chains, order index, frontier tree, group commit.
