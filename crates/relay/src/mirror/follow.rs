//! Going on with what a relay gets from now on.

use osier::Topic;
use osier_nostr::{ClientMessage, RelayMessage};

use super::{Link, Mirror, MirrorError, Mirrored, Order, words};
use crate::limit;

const DOING: &str = "to send live events";

impl Mirror {
    /// Carries an order out, then takes in what the relay gets, until the connection ends: whoever
    /// calls it connects again. `told` hears what the order did, once.
    ///
    /// # Errors
    /// As [`Mirror::run`]; and always one in the end.
    pub async fn follow(
        &self,
        topic: &Topic,
        order: &Order,
        told: impl FnOnce(&Mirrored) + Send,
    ) -> Result<(), MirrorError> {
        let mut link =
            Link::open(&order.url, order.key.clone(), order.patience, self.clock).await?;
        // First, so that nothing falls between the two. Of what is stored one event, since relays
        // differ in what they make of none.
        let filter = order.filter.clone().with_limit(Some(1));
        let id = link.next_id();
        let live = ClientMessage::Req {
            id: id.clone(),
            filters: vec![filter],
        };
        link.send(DOING, &live).await?;
        told(&Box::pin(self.run(topic, order)).await?);

        let mut done = Mirrored::default();
        let mut events = Vec::new();
        let mut knocked = false;
        loop {
            let patience = if events.is_empty() {
                limit::MIRROR_PING
            } else {
                limit::MIRROR_GATHER
            };
            match link.next(DOING, patience).await? {
                Some(RelayMessage::Event { id: own, event }) if own == id => events.push(event),
                Some(RelayMessage::Closed { id: own, reason }) if own == id => {
                    let wall = reason.prefix() == Some(osier_nostr::Prefix::AuthRequired);
                    let challenge = link.challenge().map(str::to_owned);
                    let Some(challenge) = challenge.filter(|_| wall && !knocked) else {
                        return Err(link.refused(DOING, &words(&reason)));
                    };
                    knocked = true;
                    if !link.authenticate(DOING, &challenge).await? {
                        let why = "it wants to know who asks; set OSIER_NOSTR_KEY";
                        return Err(link.refused(DOING, why));
                    }
                    link.send(DOING, &live).await?;
                }
                None if events.is_empty() => link.ping(DOING).await?,
                Some(_) | None => {}
            }
            let settled = events.len() >= limit::MIRROR_IDS;
            if settled || patience == limit::MIRROR_GATHER {
                self.take(topic, &std::mem::take(&mut events), &mut done)
                    .await?;
            }
        }
    }
}
