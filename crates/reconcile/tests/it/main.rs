//! The exchange as its callers see it: against the `negentropy` crate, against liars, against the
//! vectors, and the public faults that it must not repeat.

mod case;
mod differential;
mod hostile;
mod support;
mod vector;
mod work;
