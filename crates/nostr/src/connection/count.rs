//! `COUNT`: one number, or a refusal; never a zero that means something else.

use super::{Connection, Output, send};
use crate::{
    filter::Filter,
    limit,
    message::{CountAnswer, Refusal, RelayMessage, Target},
    nip::nip17::Access,
    reason::{Prefix, Reason},
    subscription::{Generation, SubscriptionId},
};

impl Connection {
    /// A number is asked for.
    pub(super) fn count(
        &mut self,
        id: SubscriptionId,
        filters: Vec<Filter>,
        out: &mut Vec<Output>,
    ) {
        let access = Access::of_all(filters.iter().map(|filter| self.viewer.access(filter)));
        let refusal = if !self.settings.counts {
            Some(Reason::new(
                Prefix::Unsupported,
                "events are not counted here",
            ))
        } else if self.counts.len() >= limit::COUNTS_MAX {
            Some(Reason::new(
                Prefix::RateLimited,
                "too many counts are being made",
            ))
        } else {
            access.refusal()
        };
        if let Some(reason) = refusal {
            return self.refuse(
                Refusal {
                    target: Target::Request(id),
                    reason,
                },
                out,
            );
        }
        let generation = self.next_generation();
        self.counts.insert(generation, id);
        let viewer = self.viewer.clone();
        out.push(Output::Count {
            generation,
            filters,
            viewer,
        });
    }

    /// A number is known, or why there is none (`NOS-67`).
    pub(super) fn counted(
        &mut self,
        generation: Generation,
        outcome: Result<CountAnswer, Reason>,
        out: &mut Vec<Output>,
    ) {
        let Some(id) = self.counts.remove(&generation) else {
            return;
        };
        match outcome {
            Ok(answer) => send(&RelayMessage::Count { id, answer }, out),
            Err(reason) => self.refuse(
                Refusal {
                    target: Target::Request(id),
                    reason,
                },
                out,
            ),
        }
    }
}
