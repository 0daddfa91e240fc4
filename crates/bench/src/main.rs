//! Benchmarks: ratios against measured limits.

fn main() {}
