//! The osier command.

fn main() {}
