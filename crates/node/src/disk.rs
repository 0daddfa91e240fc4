//! The disk thread: owns every write, and merges what waits into one store transaction.
//!
//! The driver never waits for it. Its queue may grow by what one arrival asks for beyond the
//! bound; while it is over, the driver takes nothing more from peers.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use osier_engine::{Commit, DiskError, TopicReport};
use tokio::sync::mpsc;

use crate::{
    arrival::{Arrival, DiskAnswer},
    error::NodeError,
    limit::{COMMIT_BYTES_WAITING_MAX, COMMITS_WAITING_MAX, MERGE_BYTES_MAX, MERGE_ENTRIES_MAX},
    metric::SharedCounters,
};

/// What one commit did, by topic.
pub(crate) type Outcome = Result<Vec<TopicReport>, DiskError>;

/// Puts rows on disk: the store, or a test's stand-in.
pub(crate) trait Rows: Send + 'static {
    /// All rows of all commits in one transaction, in order. As many outcomes as commits.
    ///
    /// # Errors
    /// Nothing was kept.
    fn write(&mut self, commits: &[Commit]) -> Result<Vec<Outcome>, DiskError>;
}

/// The driver's end of the disk thread.
#[derive(Debug)]
pub(crate) struct Disk {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
    in_flight: u64,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    commits: VecDeque<Commit>,
    bytes: usize,
    closed: bool,
}

impl Disk {
    /// Starts the thread; answers go to `answers`.
    pub(crate) fn start(
        rows: impl Rows,
        answers: mpsc::Sender<Arrival>,
        counters: SharedCounters,
    ) -> Result<Self, NodeError> {
        let queue = Arc::new(Queue::default());
        let taken = Arc::clone(&queue);
        let work = move || run(rows, &taken, &answers, &counters);
        let thread = std::thread::Builder::new()
            .name("osier-disk".to_owned())
            .spawn(work)
            .map_err(|error| NodeError::Thread(error.to_string()))?;
        Ok(Self {
            queue,
            thread: Some(thread),
            in_flight: 0,
        })
    }

    /// Puts a commit behind those that wait.
    pub(crate) fn push(&mut self, commit: Commit) {
        self.in_flight += 1;
        let mut state = self.queue.lock();
        assert!(!state.closed, "nothing is committed after the close");
        state.bytes += bytes(&commit);
        state.commits.push_back(commit);
        drop(state);
        self.queue.changed.notify_one();
    }

    /// Takes note of an answer.
    pub(crate) fn answered(&mut self) {
        assert!(self.in_flight > 0, "every answer is to a commit");
        self.in_flight -= 1;
    }

    /// Commits without an answer so far.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether so much waits that nothing more should be taken from peers.
    pub(crate) fn is_behind(&self) -> bool {
        let state = self.queue.lock();
        state.commits.len() >= COMMITS_WAITING_MAX || state.bytes >= COMMIT_BYTES_WAITING_MAX
    }

    /// Lets the thread end once it has written what waits, and gives it to be joined.
    pub(crate) fn close(&mut self) -> Option<JoinHandle<()>> {
        self.queue.lock().closed = true;
        self.queue.changed.notify_one();
        self.thread.take()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.close();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for commits and takes as many as go into one transaction; none at the end.
    fn take(&self) -> Option<Vec<Commit>> {
        let mut state = self.lock();
        while state.commits.is_empty() {
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Some(state.take_merge())
    }
}

impl State {
    fn take_merge(&mut self) -> Vec<Commit> {
        let (mut merge, mut entries, mut size) = (Vec::new(), 0, 0);
        while let Some(next) = self.commits.front() {
            entries += next.entries.len();
            size += bytes(next);
            let full = entries > MERGE_ENTRIES_MAX || size > MERGE_BYTES_MAX;
            if full && !merge.is_empty() {
                break;
            }
            self.bytes -= bytes(next);
            merge.extend(self.commits.pop_front());
        }
        merge
    }
}

/// Rough size of a commit, and never zero, so that many small ones count too.
fn bytes(commit: &Commit) -> usize {
    let entries: usize = commit.entries.iter().map(|entry| entry.size()).sum();
    entries + 64
}

fn run(
    mut rows: impl Rows,
    queue: &Queue,
    answers: &mpsc::Sender<Arrival>,
    counters: &SharedCounters,
) {
    while let Some(commits) = queue.take() {
        counters.disk_commits.add(commits.len() as u64);
        let outcomes = write(&mut rows, &commits, counters);
        assert_eq!(outcomes.len(), commits.len(), "every commit has an outcome");
        for (commit, result) in commits.iter().zip(outcomes) {
            if result.is_err() {
                counters.disk_failures.one();
            }
            let answer = DiskAnswer {
                batch: commit.batch,
                result,
            };
            // A driver that is gone wants no answer; what waits is written all the same.
            let _ = answers.blocking_send(Arrival::Disk(answer));
        }
    }
}

/// Writes a merge; if it fails, each commit by itself, so that one does not take others with it.
fn write(rows: &mut impl Rows, commits: &[Commit], counters: &SharedCounters) -> Vec<Outcome> {
    let entries: usize = commits.iter().map(|commit| commit.entries.len()).sum();
    counters.disk_entries.add(entries as u64);
    counters.disk_transactions.one();
    match rows.write(commits) {
        Ok(outcomes) => outcomes,
        Err(error) if commits.len() == 1 => vec![Err(error)],
        Err(error) => {
            tracing::warn!(%error, "a merged transaction failed: its commits are tried apart");
            commits
                .chunks(1)
                .flat_map(|commit| write(rows, commit, counters))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc as sync;

    use osier_core::testing::Chain;
    use osier_engine::BatchId;

    use super::*;

    fn commit(batch: u64, entries: usize) -> Commit {
        let mut chain = Chain::new(batch);
        Commit {
            batch: BatchId(batch),
            topic: osier_core::testing::topic(),
            entries: (0..entries).map(|_| chain.next(b"x")).collect(),
            token: None,
            control: Vec::new(),
            trust: None,
            unheard: None,
        }
    }

    /// Stands still until told, then notes the batches of each transaction; refuses batch 13.
    struct Slow {
        go: sync::Receiver<()>,
        seen: sync::SyncSender<Vec<u64>>,
    }

    impl Rows for Slow {
        fn write(&mut self, commits: &[Commit]) -> Result<Vec<Outcome>, DiskError> {
            self.go.recv().unwrap();
            let batches: Vec<u64> = commits.iter().map(|commit| commit.batch.0).collect();
            if batches.contains(&13) {
                return Err(DiskError("unlucky".to_owned()));
            }
            self.seen.send(batches).unwrap();
            Ok(commits.iter().map(|_| Ok(Vec::new())).collect())
        }
    }

    #[test]
    fn what_waits_is_merged_in_order_and_a_failure_stays_with_its_commit() {
        let (go, told) = sync::sync_channel(16);
        let (seen, transactions) = sync::sync_channel(16);
        let (answers, mut answered) = mpsc::channel(16);
        let rows = Slow { go: told, seen };
        let mut disk = Disk::start(rows, answers, SharedCounters::default()).unwrap();
        disk.push(commit(1, 1));
        go.send(()).unwrap();
        assert_eq!(transactions.recv().unwrap(), [1]);
        for batch in 2..=4 {
            disk.push(commit(batch, 1));
        }
        // The thread may have taken batch 2 before the others came.
        (0..2).for_each(|_| go.send(()).unwrap());
        let mut rest: Vec<u64> = transactions.recv().unwrap();
        if rest.len() < 3 {
            rest.extend(transactions.recv().unwrap());
        } else {
            disk.push(commit(5, 1));
            assert_eq!(transactions.recv().unwrap(), [5]);
        }
        assert_eq!(rest, [2, 3, 4]);
        disk.push(commit(13, 1));
        disk.push(commit(14, 1));
        (0..3).for_each(|_| go.send(()).unwrap());
        disk.close().unwrap().join().unwrap();
        let mut failed = Vec::new();
        while let Ok(Arrival::Disk(answer)) = answered.try_recv() {
            if answer.result.is_err() {
                failed.push(answer.batch.0);
            }
        }
        assert_eq!(failed, [13]);
    }

    #[test]
    fn a_merge_has_a_bound_and_a_lone_large_commit_is_taken_whole() {
        let mut state = State::default();
        for batch in 1..=3 {
            let commit = commit(batch, 1);
            state.bytes += bytes(&commit);
            state.commits.push_back(commit);
        }
        assert_eq!(state.take_merge().len(), 3);
        assert_eq!(state.bytes, 0);
        assert!(state.commits.is_empty());
    }
}
