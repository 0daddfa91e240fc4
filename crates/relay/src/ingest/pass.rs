//! Ephemeral events of clients on their way to who listens (`NOS-34`): judged, passed on to the
//! topic's other nodes, handed out here, answered.

use std::sync::Arc;

use osier::{Kind, PassedOn};
use osier_nostr::{Event, Published, Reach};

use super::append::Waiting;
use crate::{ephemeral::Ephemeral, target::Target};

/// Passes on what waits, one after the other.
#[derive(Debug)]
pub(crate) struct Passer {
    /// What waits.
    pub(crate) waiting: Arc<Waiting>,
    /// Where it goes.
    pub(crate) target: Target,
    /// What judges it and hands it out.
    pub(crate) ephemeral: Arc<Ephemeral>,
}

impl Passer {
    /// Runs until it is dropped.
    pub(crate) async fn run(self) {
        loop {
            for it in self.waiting.take().await {
                // The index is on disk; other tasks go on meanwhile.
                let refused = tokio::task::block_in_place(|| self.ephemeral.admit(it.event()));
                let outcome = match refused {
                    Some(refused) => refused,
                    None => self.pass(it.event().clone()).await,
                };
                it.answer(outcome);
            }
        }
    }

    async fn pass(&self, event: Event) -> Published {
        let reach = self.reach(&event).await;
        let id = event.id();
        // Another node's copy may have been handed out since it was judged.
        let Some(listeners) = self.ephemeral.deliver(event) else {
            return Published::Duplicate;
        };
        if listeners == 0 && reach != Reach::Topic {
            self.ephemeral.forget(&id);
        }
        Published::Broadcast { listeners, reach }
    }

    /// Passes an event on to other nodes.
    async fn reach(&self, event: &Event) -> Reach {
        let Some(topic) = self.target.topic(self.target.of(event)) else {
            return Reach::Alone;
        };
        match topic.pass_on(Kind::NOSTR, event.to_bytes()).await {
            Ok(PassedOn::Sent) => Reach::Topic,
            Ok(PassedOn::TooLarge) => Reach::TooLarge,
            Ok(PassedOn::TooMany) => Reach::TooMany,
            Ok(PassedOn::Alone) => Reach::Alone,
            Err(error) => {
                tracing::warn!(%error, "an ephemeral event is not passed on");
                Reach::Alone
            }
        }
    }
}
