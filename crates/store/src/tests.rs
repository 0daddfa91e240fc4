//! Tests that need more than one module: against a naive model, and against crashes and bad files.

mod crash;
mod file;
mod granted;
mod history;
mod model;
mod property;
mod restore;
mod ring;
mod small;
mod vector;
