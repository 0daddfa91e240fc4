//! Deterministic simulator: many engines and stores, faulty network, liars, checkers.
