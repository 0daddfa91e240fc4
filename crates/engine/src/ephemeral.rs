//! What is of the moment (`GOS-10`): it goes to who listens now, and no state of a topic speaks of
//! it.

use bytes::Bytes;
use osier_core::{Kind, NodeId, TopicId};
use osier_proto::{Gossip, limit::EPHEMERAL_BYTES_MAX};

use crate::{
    engine::{Engine, Now},
    input::CommandId,
    limit::{EPHEMERAL_SENT, EPHEMERAL_TAKEN},
    output::{CommandError, Output, PassedOn, Reply},
};

impl Engine {
    /// Passes an own item on, and says how far it got.
    pub(crate) fn pass_on(
        &mut self,
        command: CommandId,
        id: TopicId,
        kind: Kind,
        item: Bytes,
        now: Now,
    ) {
        let Some(topic) = self.topics.get_mut(&id) else {
            self.reply(command, Err(CommandError::UnknownTopic(id)));
            return;
        };
        let passed = if item.len() > EPHEMERAL_BYTES_MAX {
            PassedOn::TooLarge
        } else if !topic.peers.values().any(|peer| peer.neighbor) {
            PassedOn::Alone
        } else if !topic.ephemeral.take(EPHEMERAL_SENT, now.at) {
            PassedOn::TooMany
        } else {
            PassedOn::Sent
        };
        if passed == PassedOn::Sent {
            let fits = self.broadcast(id, Gossip::Ephemeral { kind, item });
            assert!(fits, "an item of this size fits whatever its envelope");
        }
        self.reply(command, Ok(Reply::PassedOn(passed)));
    }

    /// An item of another node. A signer that sends too many is not heard, so that it costs nobody
    /// more than the check of an envelope.
    pub(crate) fn heard_ephemeral(
        &mut self,
        id: TopicId,
        signer: NodeId,
        kind: Kind,
        item: Bytes,
        now: Now,
    ) {
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let peer = topic.peer_mut(signer, now.at);
        if peer.ephemeral.take(EPHEMERAL_TAKEN, now.at) {
            let topic = id;
            self.put(Output::Ephemeral { topic, kind, item });
        }
    }
}
