//! Commits as rows of the store, and what came of each.

mod merge;

use std::collections::BTreeMap;

use osier_core::{EntryHash, TopicId};
use osier_engine::{Commit, DiskError, TopicReport};
use osier_proto::{Lsn, View};
use osier_store::{
    Batch, Committed, CommittedTopic, ControlRow, Retention, Store, StoreError, Unheard,
};

use self::merge::{Merge, new_entries};
use crate::{
    clock::Clock,
    disk::{Outcome, Rows},
    limit::{HOLES_COUNTED_MAX, PRUNE_EVERY_ENTRIES},
    topic::trust_row,
};

/// The store as the disk thread sees it.
#[derive(Debug)]
pub(crate) struct StoreRows {
    store: Store,
    clock: Clock,
    /// New entries of each topic since it was last pruned.
    unpruned: BTreeMap<TopicId, usize>,
}

impl StoreRows {
    /// Writes to this store; the clock is for rings that keep history by age.
    pub(crate) fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            unpruned: BTreeMap::new(),
        }
    }

    fn holes(&self, topic: TopicId) -> Result<u64, StoreError> {
        Ok(self.store.snapshot(topic)?.hole_count())
    }

    /// Rings lose what they do not keep, now and then.
    fn prune(&mut self, commit: &Commit, committed: &mut CommittedTopic) -> Result<(), StoreError> {
        let topic = commit.topic;
        let unpruned = self.unpruned.entry(topic).or_insert(PRUNE_EVERY_ENTRIES);
        *unpruned += new_entries(&committed.entries).count();
        if *unpruned < PRUNE_EVERY_ENTRIES {
            return Ok(());
        }
        *unpruned = 0;
        let now_ms = self.clock.now().wall.as_millis();
        let record = self.store.topic(topic)?;
        if record.is_none_or(|record| record.retention == Retention::All) {
            return Ok(());
        }
        let unheard = commit
            .unheard
            .map(|(author, from)| Unheard { author, from });
        committed.summary = self.store.prune(topic, now_ms, unheard)?.summary;
        committed.hole_count = self.holes(topic)?;
        Ok(())
    }
}

impl Rows for StoreRows {
    fn write(&mut self, commits: &[Commit]) -> Result<Vec<Outcome>, DiskError> {
        let batch = batch_of(commits);
        let mut before = BTreeMap::new();
        for commit in commits.iter().filter(|commit| !commit.entries.is_empty()) {
            let holes = self.holes(commit.topic).map_err(refused)?;
            before.insert(commit.topic, holes);
        }
        let mut committed = Committed::default();
        if !batch.is_empty() {
            committed = self.store.commit(&batch).map_err(refused)?;
        }
        let mut merge = Merge::new(committed, &before);
        Ok(commits
            .iter()
            .map(|commit| self.outcome(commit, &mut merge).map_err(refused))
            .collect())
    }
}

impl StoreRows {
    fn outcome(
        &mut self,
        commit: &Commit,
        merge: &mut Merge,
    ) -> Result<Vec<TopicReport>, StoreError> {
        if let Some((node, entry)) = commit.trust {
            self.store.set_trust(commit.topic, trust_row(node, entry))?;
        }
        let Some(part) = merge.part(commit) else {
            return Ok(Vec::new());
        };
        if part.last {
            // What is durable is durable: a prune that fails is tried again with later entries.
            if let Err(error) = self.prune(commit, merge.topic(commit.topic)) {
                tracing::warn!(topic = ?commit.topic, %error, "cannot prune");
            }
        }
        let holes_opened = if part.may_open_holes {
            self.holes_opened(commit, &part.appended)?
        } else {
            0
        };
        let topic = merge.topic(commit.topic);
        let (mut removed, mut missed) = (Vec::new(), false);
        if part.last {
            removed = std::mem::take(&mut topic.removed);
            missed = topic.missed;
        }
        Ok(vec![TopicReport {
            topic: commit.topic,
            appended: part.appended,
            holes_opened,
            forked: part.forked,
            summary: topic.summary,
            last: topic.point.last,
            holes: topic.hole_count,
            withheld: part.withheld,
            removed,
            missed,
        }])
    }

    /// How many of the new entries name something that is not held, up to a bound.
    fn holes_opened(
        &self,
        commit: &Commit,
        appended: &[(Lsn, EntryHash)],
    ) -> Result<u64, StoreError> {
        let view = self.store.snapshot(commit.topic)?;
        let held = |hash: &EntryHash| view.holds(hash).unwrap_or(true);
        let new: std::collections::BTreeSet<_> = appended.iter().map(|(_, hash)| *hash).collect();
        let open = commit.entries.iter().filter(|entry| {
            new.contains(&entry.hash()) && entry.header().links().any(|link| !held(&link))
        });
        Ok(open.take(HOLES_COUNTED_MAX).count() as u64)
    }
}

fn batch_of(commits: &[Commit]) -> Batch {
    let mut batch = Batch::new();
    for commit in commits {
        batch.extend(commit.entries.iter().cloned());
        if let Some((provider, token)) = &commit.token {
            batch.keep_token(commit.topic, *provider, token.clone());
        }
        for word in &commit.control {
            let row = ControlRow {
                seq: word.seq,
                hash: word.hash,
                bytes: word.control.to_bytes().into(),
            };
            batch.keep_control(commit.topic, row);
        }
    }
    batch
}

#[expect(clippy::needless_pass_by_value, reason = "passed to `map_err`")]
fn refused(error: StoreError) -> DiskError {
    DiskError(error.to_string())
}

#[cfg(test)]
mod tests {
    use osier_core::testing::{Chain, secret, topic};
    use osier_engine::BatchId;
    use osier_proto::{StoreId, Token};

    use super::*;

    fn commit(batch: u64, entries: Vec<osier_core::Verified<osier_core::Entry>>) -> Commit {
        Commit {
            batch: BatchId(batch),
            topic: topic(),
            entries,
            token: None,
            control: Vec::new(),
            trust: None,
            unheard: None,
        }
    }

    fn rows() -> (StoreRows, Store) {
        let store = Store::in_memory(StoreId::from_bytes([1; 16])).unwrap();
        (StoreRows::new(store.clone(), Clock::start()), store)
    }

    #[test]
    fn every_commit_of_a_merge_has_its_own_entries_and_the_state_after_all() {
        let (mut rows, store) = rows();
        let (mut a, mut b) = (Chain::new(1), Chain::new(2));
        let shared = a.next(b"1");
        let first = commit(1, vec![shared.clone(), a.next(b"2")]);
        let second = commit(2, vec![shared, b.next(b"3")]);
        let mut trust = commit(3, Vec::new());
        let node = secret(9).node_id();
        trust.trust = Some((node, None));
        trust.token = Some((node, Token(vec![7])));

        let outcomes = rows.write(&[first, second, trust]).unwrap();
        let [first, second, trust] = outcomes.try_into().unwrap();
        let [first] = first.unwrap().try_into().unwrap();
        let [second] = second.unwrap().try_into().unwrap();
        let places = |report: &TopicReport| -> Vec<u64> {
            report.appended.iter().map(|(lsn, _)| lsn.get()).collect()
        };
        assert_eq!((places(&first), places(&second)), (vec![1, 2], vec![3]));
        assert_eq!(first.summary, second.summary);
        assert_eq!(first.last, Lsn::new(3));
        assert_eq!(trust.unwrap().len(), 0);
        assert!(store.token(topic(), node).unwrap().is_some());
        assert_eq!(store.trust(topic()).unwrap().len(), 1);
    }

    #[test]
    fn a_hole_is_told_to_the_commit_that_opened_it() {
        let (mut rows, _store) = rows();
        let (mut a, mut b) = (Chain::new(1), Chain::new(2));
        let missing = a.next(b"1");
        let whole = commit(1, vec![b.next(b"x")]);
        let gap = commit(2, vec![a.next(b"2")]);
        let outcomes = rows.write(&[whole, gap]).unwrap();
        let opened = |outcome: &Outcome| outcome.as_ref().unwrap()[0].holes_opened;
        assert_eq!(outcomes.iter().map(opened).collect::<Vec<_>>(), [0, 1]);
        let outcomes = rows.write(&[commit(3, vec![missing])]).unwrap();
        assert_eq!(outcomes.iter().map(opened).collect::<Vec<_>>(), [0]);
        assert_eq!(outcomes[0].as_ref().unwrap()[0].holes, 0);
    }

    #[test]
    fn a_fork_is_told_once() {
        let (mut rows, _store) = rows();
        let mut a = Chain::new(1);
        a.next(b"1");
        let mut other = a.clone();
        let mut start = Chain::new(1);
        let outcomes = rows
            .write(&[
                commit(1, vec![start.next(b"1"), a.next(b"left")]),
                commit(2, vec![other.next(b"right")]),
            ])
            .unwrap();
        let told: usize = outcomes
            .iter()
            .map(|outcome| outcome.as_ref().unwrap()[0].forked.len())
            .sum();
        assert_eq!(told, 1);
    }
}
