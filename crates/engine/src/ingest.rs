//! Entries on their way to disk, and what follows when they are there.
//!
//! Nothing is acknowledged before it is durable: a batch leaves as `Commit`, comes back as
//! `Durable`, and only then is anyone told.

use std::collections::BTreeMap;

use osier_core::{Entry, EntryHash, NodeId, OrderKey, Role, Seq, TopicId, Verified};
use osier_policy::Rank;
use osier_proto::{Lsn, Token};

use crate::{
    engine::{Engine, Now},
    event::{BehindCause, EntryPhase, SyncEvent},
    input::{BatchId, CommandId, DiskError, SessionKey, TopicReport},
    output::{CommandError, Commit, Output, OwnerWord, Reply},
    topic::{near_future, set_trust},
};

/// Where a batch came from, and so who is told when it is durable.
#[derive(Debug)]
pub(crate) enum Origin {
    /// The node's own writes.
    Own,
    /// Gossip.
    Gossip,
    /// A session, with its own number for the batch and the provider's token.
    Session {
        key: SessionKey,
        batch: u64,
        token: Option<(NodeId, Token)>,
    },
    /// A change of the trust list.
    Trust {
        command: CommandId,
        node: NodeId,
        entry: Option<(Rank, Role)>,
    },
}

/// A batch on its way to disk.
#[derive(Debug)]
pub(crate) struct Waiting {
    topic: TopicId,
    origin: Origin,
    /// Author and hash of each entry: what own entries will depend on.
    authors: Vec<(NodeId, EntryHash, Seq)>,
    /// The greatest place in range order among them.
    newest: Option<OrderKey>,
    /// What the topic's owner says in them.
    control: Vec<OwnerWord>,
}

/// All batches on their way.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    next: u64,
    waiting: BTreeMap<BatchId, Waiting>,
}

impl Batches {
    pub(crate) fn next_id(&mut self) -> BatchId {
        self.next += 1;
        BatchId(self.next)
    }

    /// The batch that is reported next; none when nothing is on its way.
    pub(crate) fn first_waiting(&self) -> Option<BatchId> {
        self.waiting.keys().next().copied()
    }

    /// The batch that is reported last.
    pub(crate) fn last_waiting(&self) -> Option<BatchId> {
        self.waiting.keys().next_back().copied()
    }
}

impl Engine {
    /// Hands entries to the disk.
    pub(crate) fn commit(
        &mut self,
        batch: BatchId,
        topic: TopicId,
        entries: Vec<Verified<Entry>>,
        origin: Origin,
    ) {
        let authors = entries
            .iter()
            .map(|entry| (entry.signer(), entry.hash(), entry.header().seq()))
            .collect();
        let control = self.owner_words(topic, &entries);
        let places = || entries.iter().map(|entry| entry.order_key());
        let newest = places().max();
        let near = near_future(self.wall());
        let recent = places()
            .map(|key| key.time)
            .filter(|time| *time <= near)
            .max();
        if let Some(topic) = self.topics.get_mut(&topic) {
            topic.recent = topic.recent.max(recent);
        }
        let (token, trust) = match &origin {
            Origin::Session { token, .. } => (token.clone(), None),
            Origin::Trust { node, entry, .. } => (None, Some((*node, *entry))),
            Origin::Own | Origin::Gossip => (None, None),
        };
        let unheard = self.unheard(topic);
        self.batches.waiting.insert(
            batch,
            Waiting {
                topic,
                origin,
                authors,
                newest,
                control: control.clone(),
            },
        );
        self.put(Output::Commit(Commit {
            batch,
            topic,
            entries,
            token,
            control,
            trust,
            unheard,
        }));
    }

    /// A batch is on disk, or is not.
    pub(crate) fn durable(
        &mut self,
        batch: BatchId,
        result: Result<Vec<TopicReport>, DiskError>,
        now: Now,
    ) {
        let Some(waiting) = self.batches.waiting.remove(&batch) else {
            return;
        };
        match result {
            Ok(reports) => {
                let report = reports
                    .into_iter()
                    .find(|report| report.topic == waiting.topic);
                self.stored(batch, waiting, report, now);
            }
            Err(error) => self.not_stored(batch, &waiting, &error, now),
        }
        self.settle_ends(now);
    }

    fn stored(
        &mut self,
        batch: BatchId,
        mut waiting: Waiting,
        mut report: Option<TopicReport>,
        now: Now,
    ) {
        let topic = waiting.topic;
        let live = matches!(waiting.origin, Origin::Own | Origin::Gossip);
        let gap = report
            .as_ref()
            .is_some_and(|report| report.holes_opened > 0);
        let missed = report.as_ref().is_some_and(|report| report.missed);
        let withheld = report
            .as_mut()
            .map(|report| std::mem::take(&mut report.withheld))
            .unwrap_or_default();
        let dropped = match (&waiting.origin, &report) {
            (Origin::Own, Some(report)) => not_appended(&waiting, report, &withheld),
            _ => Vec::new(),
        };
        if let Some(report) = report {
            self.note_report(topic, report, live, &waiting, &withheld, now);
        }
        self.heed(topic, std::mem::take(&mut waiting.control), now);
        match waiting.origin {
            Origin::Own => self.own_stored(topic, batch, &withheld, &dropped, now),
            Origin::Gossip if gap => self.look_again_soon(topic, now),
            Origin::Gossip => {}
            Origin::Session { key, batch, token } => {
                if let (Some((provider, token)), Some(topic)) = (token, self.topics.get_mut(&topic))
                {
                    topic.tokens.insert(provider, token);
                }
                self.session_stored(key, batch, Ok(withheld), now);
            }
            Origin::Trust {
                command,
                node,
                entry,
            } => {
                self.trust_stored(command, topic, node, entry, now);
                self.reconsider(topic, now);
            }
        }
        if missed {
            // What may be written now was dropped when it came: whoever has it must be asked.
            self.behind(topic, BehindCause::Gap, 0, now);
        }
    }

    /// Takes in what the store says it holds now, and tells watchers what is new.
    fn note_report(
        &mut self,
        id: TopicId,
        report: TopicReport,
        live: bool,
        waiting: &Waiting,
        withheld: &[EntryHash],
        now: Now,
    ) {
        let random = self.random_u64();
        let me = self.me;
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        assert!(report.last >= topic.held.last, "the log only grows");
        topic.held.summary = report.summary;
        topic.held.last = report.last;
        topic.held.holes = report.holes;
        if !report.removed.is_empty() {
            topic.own.forget_deps();
        }
        topic.newest = topic.newest.max(waiting.newest);
        for (author, hash, seq) in &waiting.authors {
            if withheld.contains(hash) {
                continue;
            }
            if *author == me {
                topic.own.saw_own(*seq, *hash);
            } else {
                topic.own.saw(*author, *hash);
            }
        }
        if !report.removed.is_empty() {
            topic.trickle.reset(now.at, random);
            self.schedule_watermark(id);
            let entries = report.removed.len() as u64;
            self.emit(id, SyncEvent::Withdrawn { entries });
            self.audit_soon(id, now);
        }
        let Some(topic) = self.topics.get_mut(&id) else {
            return;
        };
        let (Some((from, _)), Some((upto, _))) = (report.appended.first(), report.appended.last())
        else {
            return;
        };
        topic.trickle.reset(now.at, random);
        self.audit_soon(id, now);
        let Some(topic) = self.topics.get(&id) else {
            return;
        };
        let phase = if live && topic.completion.is_synced() {
            EntryPhase::Live
        } else {
            EntryPhase::Backfill
        };
        let (from, upto): (Lsn, Lsn) = (*from, *upto);
        self.schedule_watermark(id);
        self.emit(id, SyncEvent::Appended { from, upto, phase });
        for (author, one, other) in report.forked {
            self.emit(id, SyncEvent::AuthorForked { author, one, other });
        }
    }

    fn trust_stored(
        &mut self,
        command: CommandId,
        id: TopicId,
        node: NodeId,
        entry: Option<(Rank, Role)>,
        now: Now,
    ) {
        let me = self.me;
        let full = self.topics.get_mut(&id).is_some_and(|topic| {
            let change = |trust: &mut _| set_trust(trust, node, entry);
            let full = topic.change_trust(now.at, change).is_err();
            if node != me {
                topic.peer_mut(node, now.at);
            }
            full
        });
        let result = if full {
            let cause = "the trust list is full: take a node off it first";
            Err(CommandError::Invalid(cause.to_owned()))
        } else {
            Ok(Reply::Done)
        };
        self.reply(command, result);
    }

    fn not_stored(&mut self, batch: BatchId, waiting: &Waiting, error: &DiskError, now: Now) {
        match &waiting.origin {
            Origin::Own => {
                let commands = self
                    .topics
                    .get_mut(&waiting.topic)
                    .and_then(|t| t.own.failed(batch));
                for command in commands.unwrap_or_default() {
                    self.reply(command, Err(CommandError::Disk(error.to_string())));
                }
                self.write_own(waiting.topic, now);
            }
            Origin::Gossip => self.behind(waiting.topic, BehindCause::Gap, 0, now),
            Origin::Session { key, batch, .. } => {
                self.session_stored(*key, *batch, Err(()), now);
            }
            Origin::Trust { command, .. } => {
                self.reply(*command, Err(CommandError::Disk(error.to_string())));
            }
        }
    }
}

/// Entries of a batch that the store has not taken: a ring takes none that is older than what it
/// keeps (`STO-13`).
fn not_appended(waiting: &Waiting, report: &TopicReport, withheld: &[EntryHash]) -> Vec<EntryHash> {
    let hashes = waiting.authors.iter().map(|(_, hash, _)| hash);
    let is_taken = |hash: &EntryHash| report.appended.iter().any(|(_, taken)| taken == hash);
    let missing = hashes.filter(|hash| !is_taken(hash) && !withheld.contains(hash));
    missing.copied().collect()
}
