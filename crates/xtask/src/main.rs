//! Developer tasks: test, ci, arrows, tidy, vectors, spec index.

fn main() {}
