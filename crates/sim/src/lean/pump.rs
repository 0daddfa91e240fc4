//! What a session machine says without waiting.

use osier_core::Instant;
use osier_proto::SessionOutput;

use crate::node::Machine;

/// Takes all that a machine has to say now, bulk and slices of its own work with it. The caller
/// calls again after it has acted on what came, until nothing does.
pub(crate) fn pump(machine: &mut Machine, now: Instant) -> Vec<SessionOutput> {
    let mut outputs = Vec::new();
    loop {
        while let Some(output) = machine.session().poll() {
            outputs.push(output);
        }
        if let Some(message) = machine.session().poll_bulk(now) {
            outputs.push(SessionOutput::Send(message));
        } else if !machine.session().has_output() && !machine.session().work(now) {
            return outputs;
        }
    }
}
