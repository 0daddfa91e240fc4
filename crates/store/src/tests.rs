//! Tests that need more than one module: against a naive model, and against crashes and bad files.

mod history;
mod model;
mod property;
