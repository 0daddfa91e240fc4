//! Tests of verdicts: each row of the matrix as a story, and every small case against an oracle.

mod exhaustive;
mod matrix;
mod oracle;
mod order;
