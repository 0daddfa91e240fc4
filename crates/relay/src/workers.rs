//! A fixed number of threads that take jobs in order, several at once where that pays.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

/// Threads with a queue. Whoever submits bounds how much: every job is an answer to a client that
/// has so many at most, and reads no more from it otherwise.
#[derive(Debug)]
pub(crate) struct Workers<J> {
    queue: Arc<Queue<J>>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<J> {
    jobs: VecDeque<J>,
    closed: bool,
}

impl<J: Send + 'static> Workers<J> {
    /// Starts threads that hand at most `batch` jobs at once to `run`.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(crate) fn start(
        name: &str,
        count: usize,
        batch: usize,
        run: impl Fn(Vec<J>) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                closed: false,
            }),
            changed: Condvar::new(),
        });
        let run = Arc::new(run);
        let mut workers = Self {
            queue,
            threads: Vec::new(),
        };
        for _ in 0..count.max(1) {
            let (queue, run) = (Arc::clone(&workers.queue), Arc::clone(&run));
            let work = move || {
                while let Some(jobs) = queue.take(batch) {
                    run(jobs);
                }
            };
            let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Puts a job behind the others.
    pub(crate) fn submit(&self, job: J) {
        self.queue.lock().jobs.push_back(job);
        self.queue.changed.notify_one();
    }
}

impl<J> Queue<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for jobs; none at the end.
    fn take(&self, batch: usize) -> Option<Vec<J>> {
        let mut state = self.lock();
        while state.jobs.is_empty() {
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let count = batch.min(state.jobs.len());
        Some(state.jobs.drain(..count).collect())
    }
}

impl<J> Drop for Workers<J> {
    /// Does what was submitted, then ends the threads.
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic was printed where it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_job_is_done_once_in_bounded_batches() {
        let (done, largest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sum, most) = (Arc::clone(&done), Arc::clone(&largest));
        let workers = Workers::start("test", 3, 4, move |jobs: Vec<usize>| {
            most.fetch_max(jobs.len(), Ordering::SeqCst);
            sum.fetch_add(jobs.iter().sum(), Ordering::SeqCst);
        });
        let workers = workers.unwrap();
        (1..=1_000).for_each(|job| workers.submit(job));
        drop(workers);
        assert_eq!(done.load(Ordering::SeqCst), 500_500);
        assert!(largest.load(Ordering::SeqCst) <= 4);
    }
}
