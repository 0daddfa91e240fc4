//! What a relay is doing now, for whoever looks after it.

use std::sync::Arc;

use crate::hub::Hub;

/// Reads figures of a running relay. Each reading waits for a lock a core, as a new event does.
#[derive(Debug, Clone)]
pub struct Figures(Arc<Hub>);

impl Figures {
    pub(crate) fn of(hub: &Arc<Hub>) -> Self {
        Self(Arc::clone(hub))
    }

    /// Clients connected.
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    /// Subscriptions that new events are matched with.
    pub fn subscriptions(&self) -> usize {
        self.0.subscriptions()
    }
}
