//! The node's own chain in a topic: one commit of own entries is in flight at a time, so a write
//! that fails leaves no gap, and what waits meanwhile goes into the next commit together.

use std::collections::VecDeque;

use bytes::Bytes;
use osier_core::{
    Entry, EntryDraft, EntryHash, Kind, NodeId, NodeSecret, Seq, Timestamp, TopicId, Verified,
};

use crate::{
    input::{BatchId, CommandId},
    limit::{DEPS_TRACKED_MAX, PUBLISH_COMMIT_ENTRIES_MAX, PUBLISHES_WAITING_MAX},
    output::CommandError,
};

/// Entries that an application wants written.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) command: CommandId,
    pub(crate) kind: Kind,
    pub(crate) entries: Vec<Vec<Bytes>>,
}

/// Own entries on their way to disk.
#[derive(Debug)]
struct InFlight {
    batch: BatchId,
    tip: Option<(Seq, EntryHash)>,
    commands: Vec<(CommandId, Vec<EntryHash>)>,
}

/// A command with the entries signed for it.
type Signed = (CommandId, Vec<Verified<Entry>>);

/// What one commit of own entries holds, and which commands it could not take.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) entries: Vec<Verified<Entry>>,
    pub(crate) refused: Vec<(CommandId, CommandError)>,
}

/// The writer of one topic.
#[derive(Debug)]
pub(crate) struct OwnChain {
    topic: TopicId,
    /// The last durable entry.
    tip: Option<(Seq, EntryHash)>,
    /// The last entry that somebody else is known to have; none before anybody was asked.
    heard: Option<Seq>,
    waiting: VecDeque<Write>,
    in_flight: Option<InFlight>,
    /// The last entry seen of other authors, most recent last.
    deps: VecDeque<(NodeId, EntryHash)>,
}

impl OwnChain {
    pub(crate) fn new(topic: TopicId, tip: Option<(Seq, EntryHash)>) -> Self {
        let (waiting, deps) = (VecDeque::new(), VecDeque::new());
        Self {
            topic,
            tip,
            heard: None,
            waiting,
            in_flight: None,
            deps,
        }
    }

    /// The last durable entry.
    pub(crate) fn last(&self) -> Option<Seq> {
        self.tip.map(|(seq, _)| seq)
    }

    /// Somebody else has the chain up to there.
    pub(crate) fn is_heard(&mut self, upto: Option<Seq>) {
        self.heard = self.heard.max(upto);
    }

    /// From where on nobody else is known to have it.
    pub(crate) fn unheard(&self) -> Seq {
        self.heard
            .map_or(Seq::FIRST, |seq| seq.next().unwrap_or(seq))
    }

    /// Notes another author's entry: the next own entry depends on it.
    pub(crate) fn saw(&mut self, author: NodeId, hash: EntryHash) {
        self.deps.retain(|(known, _)| *known != author);
        if self.deps.len() == DEPS_TRACKED_MAX {
            self.deps.pop_front();
        }
        self.deps.push_back((author, hash));
    }

    /// Queues a write.
    pub(crate) fn queue(&mut self, write: Write) -> Result<(), CommandError> {
        if self.waiting.len() >= PUBLISHES_WAITING_MAX {
            return Err(CommandError::Overloaded);
        }
        self.waiting.push_back(write);
        Ok(())
    }

    /// Signs what waits, if nothing is in flight. The entries are to be committed as `batch`.
    pub(crate) fn next_commit(
        &mut self,
        batch: BatchId,
        secret: &NodeSecret,
        wall: Timestamp,
    ) -> Option<Written> {
        if self.in_flight.is_some() || self.waiting.is_empty() {
            return None;
        }
        let mut written = Written::default();
        let mut tip = self.tip;
        let mut commands = Vec::new();
        while written.entries.len() < PUBLISH_COMMIT_ENTRIES_MAX
            && let Some(write) = self.waiting.pop_front()
        {
            match self.sign(write, &mut tip, secret, wall) {
                Ok((command, entries)) => {
                    commands.push((command, entries.iter().map(|e| e.hash()).collect()));
                    written.entries.extend(entries);
                }
                Err(refused) => written.refused.push(refused),
            }
        }
        if !commands.is_empty() {
            self.in_flight = Some(InFlight {
                batch,
                tip,
                commands,
            });
        }
        Some(written)
    }

    /// Signs one command's entries as a continuation of `tip`, all or none.
    fn sign(
        &self,
        write: Write,
        tip: &mut Option<(Seq, EntryHash)>,
        secret: &NodeSecret,
        wall: Timestamp,
    ) -> Result<Signed, (CommandId, CommandError)> {
        let invalid = |cause: String| (write.command, CommandError::Invalid(cause));
        let mut last = *tip;
        let mut entries = Vec::with_capacity(write.entries.len());
        for items in write.entries {
            let seq = match last {
                None => Seq::FIRST,
                Some((seq, _)) => seq
                    .next()
                    .ok_or_else(|| invalid("this chain is full".to_owned()))?,
            };
            let draft = EntryDraft {
                topic: self.topic,
                seq,
                prev: last.map(|(_, hash)| hash),
                deps: self.deps.iter().map(|(_, hash)| *hash).collect(),
                time: wall,
                kind: write.kind,
                items,
            };
            let entry = draft
                .sign(secret)
                .map_err(|error| invalid(error.to_string()))?;
            last = Some((seq, entry.hash()));
            entries.push(entry);
        }
        *tip = last;
        Ok((write.command, entries))
    }

    /// The commit is durable: which commands to answer, with their entries. None if the batch is
    /// not one of own writes.
    pub(crate) fn durable(&mut self, batch: BatchId) -> Option<Vec<(CommandId, Vec<EntryHash>)>> {
        let done = self.in_flight.take_if(|flight| flight.batch == batch)?;
        self.tip = done.tip;
        Some(done.commands)
    }

    /// The commit failed: which commands to refuse. The chain stands where it stood.
    pub(crate) fn failed(&mut self, batch: BatchId) -> Option<Vec<CommandId>> {
        let failed = self.in_flight.take_if(|flight| flight.batch == batch)?;
        Some(
            failed
                .commands
                .into_iter()
                .map(|(command, _)| command)
                .collect(),
        )
    }

    /// The node's own entry came back from a peer: this store has lost it (restored from a backup,
    /// say). The chain goes on after it, or it would fork.
    pub(crate) fn saw_own(&mut self, seq: Seq, hash: EntryHash) {
        if self.tip.is_none_or(|(mine, _)| mine < seq) {
            self.tip = Some((seq, hash));
        }
    }

    /// Another author's entries have left the history: nothing is to depend on them.
    pub(crate) fn forget_deps(&mut self) {
        self.deps.clear();
    }

    /// Commands that wait and will not be carried out, since this node may no longer write.
    pub(crate) fn refuse_waiting(&mut self) -> Vec<CommandId> {
        self.waiting.drain(..).map(|write| write.command).collect()
    }

    /// Commands that will not be carried out because the topic closes.
    pub(crate) fn abandon(&mut self) -> Vec<CommandId> {
        let waiting = self.waiting.drain(..).map(|write| write.command);
        let flying = self.in_flight.take().into_iter().flat_map(|f| f.commands);
        waiting.chain(flying.map(|(command, _)| command)).collect()
    }
}

#[cfg(test)]
mod tests {
    use osier_core::testing::{secret, topic};

    use super::*;

    fn write(n: u64) -> Write {
        let entries = vec![vec![Bytes::from_static(b"x")]];
        Write {
            command: CommandId(n),
            kind: Kind::APPLICATION,
            entries,
        }
    }

    fn commit(chain: &mut OwnChain, batch: u64) -> Vec<u64> {
        let written = chain.next_commit(BatchId(batch), &secret(1), Timestamp::default());
        written
            .map(|w| w.entries.iter().map(|e| e.header().seq().get()).collect())
            .unwrap_or_default()
    }

    #[test]
    fn what_waits_goes_together_and_a_failure_leaves_no_gap() {
        let mut chain = OwnChain::new(topic(), None);
        chain.queue(write(1)).unwrap();
        assert_eq!(commit(&mut chain, 1), [1]);
        chain.queue(write(2)).unwrap();
        chain.queue(write(3)).unwrap();
        assert_eq!(commit(&mut chain, 2), [0; 0], "one commit at a time");
        assert_eq!(chain.failed(BatchId(1)), Some(vec![CommandId(1)]));
        assert_eq!(commit(&mut chain, 2), [1, 2]);
        assert_eq!(chain.durable(BatchId(2)).map(|c| c.len()), Some(2));
        chain.queue(write(4)).unwrap();
        assert_eq!(commit(&mut chain, 3), [3]);
    }

    #[test]
    fn an_entry_without_items_is_refused_alone() {
        let mut chain = OwnChain::new(topic(), None);
        chain
            .queue(Write {
                entries: vec![vec![]],
                ..write(1)
            })
            .unwrap();
        chain.queue(write(2)).unwrap();
        let written = chain
            .next_commit(BatchId(1), &secret(1), Timestamp::default())
            .unwrap();
        assert_eq!(written.entries.len(), 1);
        assert!(matches!(
            written.refused[..],
            [(CommandId(1), CommandError::Invalid(_))]
        ));
    }
}
