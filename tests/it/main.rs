//! End-to-end tests: real `osier` processes, real sockets on loopback, one module a story.

mod bad_input;
mod chat;
mod command_line;
mod kill;
mod relay;
mod relay_case;
mod relay_coverage;
mod relay_drop;
mod relay_ephemeral;
mod relay_frame;
mod relay_mirror;
mod relay_quota;
mod relay_route;
mod relay_swarm;
mod relay_tester;
mod replay;
mod shared_history;
mod space;
mod support;
