//! The pure half of the bridge as its driver sees it: public faults that it must not repeat,
//! properties, golden vectors.

mod case_count;
mod case_frame;
mod case_negentropy;
mod case_relay;
mod case_session;
mod case_visible;
mod machine;
mod property;
mod sequence;
mod support;
mod vector;
