//! Writing under the node's own key, and telling the swarm when it is durable.

use osier_core::{Entry, EntryHash, NodeId, Role, TopicId, Verified};
use osier_policy::Rank;

use crate::{
    engine::{Engine, Now},
    ingest::Origin,
    input::{BatchId, CommandId},
    output::{CommandError, NotGranted, NotGrantedBecause, Reply},
    own_chain::Write,
};

impl Engine {
    pub(crate) fn publish(&mut self, id: TopicId, write: Write, now: Now) {
        let command = write.command;
        let Some(topic) = self.topics.get_mut(&id) else {
            self.reply(command, Err(CommandError::UnknownTopic(id)));
            return;
        };
        if let Some(why) = topic.may_not_write(self.me) {
            self.reply(command, Err(CommandError::MayNotWrite(why)));
            return;
        }
        if write.entries.is_empty() {
            self.reply(command, Ok(Reply::Published(Vec::new())));
        } else if let Err(error) = topic.own.queue(write) {
            self.reply(command, Err(error));
        } else {
            self.write_own(id, now);
        }
    }

    /// Signs and commits what waits, if no own commit is in flight.
    pub(crate) fn write_own(&mut self, id: TopicId, now: Now) {
        let batch = self.next_batch();
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        if let Some(why) = topic.may_not_write(self.me) {
            for command in topic.own.refuse_waiting() {
                self.reply(command, Err(CommandError::MayNotWrite(why)));
            }
            return;
        }
        let stamp = topic.stamp(now.wall);
        let Some(written) = topic.own.next_commit(batch, &self.secret, stamp) else {
            return;
        };
        for (command, error) in written.refused {
            self.reply(command, Err(error));
        }
        if !written.entries.is_empty() {
            if let Some(topic) = self.topics.get_mut(&id) {
                topic.just_written.clone_from(&written.entries);
            }
            self.commit(batch, id, written.entries, Origin::Own);
        }
    }

    /// Own entries are durable: answer, gossip, go on with what waits.
    pub(crate) fn own_stored(
        &mut self,
        id: TopicId,
        batch: BatchId,
        withheld: &[EntryHash],
        dropped: &[EntryHash],
        now: Now,
    ) {
        let me = self.me;
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let mut entries: Vec<Verified<Entry>> = std::mem::take(&mut topic.just_written);
        let is_kept = |hash| !withheld.contains(&hash) && !dropped.contains(&hash);
        entries.retain(|entry| is_kept(entry.hash()));
        // The chain goes on from what was kept aside, too: it must not fork.
        let commands = topic.own.durable(batch).unwrap_or_default();
        let owner = topic.ticket.owner();
        for (command, hashes) in commands {
            let is_among = |of: &[EntryHash]| hashes.iter().any(|hash| of.contains(hash));
            let result = if is_among(withheld) {
                Err(CommandError::MayNotWrite(NotGranted {
                    topic: id,
                    owner,
                    node: me,
                    why: NotGrantedBecause::RevokedMeanwhile,
                }))
            } else if is_among(dropped) {
                let cause = "this node's clock is behind what it still keeps of the topic: write \
                             it again, and set the clock if that does not help";
                Err(CommandError::Invalid(cause.to_owned()))
            } else {
                Ok(Reply::Published(hashes))
            };
            self.reply(command, result);
        }
        self.gossip_own(id, entries);
        self.write_own(id, now);
    }

    pub(crate) fn change_trust(
        &mut self,
        command: CommandId,
        id: TopicId,
        node: NodeId,
        entry: Option<(Rank, Role)>,
    ) {
        if !self.topics.contains_key(&id) {
            self.reply(command, Err(CommandError::UnknownTopic(id)));
            return;
        }
        let batch = self.next_batch();
        self.commit(
            batch,
            id,
            Vec::new(),
            Origin::Trust {
                command,
                node,
                entry,
            },
        );
    }
}
