//! Watermarks (`GOS-5`): what a node holds, gossiped now and then, so that others see how far
//! behind they are. A watermark proves nothing and completes nothing.

use osier_core::OrderKey;
use serde::{Deserialize, Serialize};

use crate::{message::Summary, view::Lsn};

/// What its signer holds of the topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    /// Entries, state hash, authors, coverage.
    pub summary: Summary,
    /// The signer's last place in its own log: only compared with its own earlier ones.
    pub last: Lsn,
}

impl Watermark {
    /// Whether both describe one history: the same state, reached back to alike.
    pub fn agrees_with(&self, ours: &Summary) -> bool {
        self.summary.state == ours.state && self.summary.set == ours.set
    }

    /// Below which place the signer no longer holds everything.
    pub fn floor(&self) -> Option<OrderKey> {
        match self.summary.coverage {
            osier_core::Coverage::Complete => None,
            osier_core::Coverage::From { floor } => Some(floor),
        }
    }
}
