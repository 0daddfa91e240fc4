//! Tests of the whole index, over a store in memory.

mod case;
mod covered;
mod crash;
mod drop;
mod generate;
mod property;
mod small;
mod support;
mod vector;
