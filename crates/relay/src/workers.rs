//! A fixed number of threads that take jobs, several at once where that pays. Owners of jobs take
//! turns.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use crate::turns::Turns;

/// What is to be done, and for whom.
pub(crate) trait Job: Send + 'static {
    /// Whose turn it takes: a connection's number, or one and the same for all.
    fn owner(&self) -> u64;
}

/// Threads with a queue. Whoever submits bounds how much: every job is for a client that has so
/// many at most, and nothing more is read from it otherwise.
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
    jobs: Turns<J>,
    closed: bool,
}

impl<J: Job> Workers<J> {
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
                jobs: Turns::new(),
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
                    // What it panicked at is lost, and printed; the thread is for the others too.
                    let _ = catch_unwind(AssertUnwindSafe(|| run(jobs)));
                }
            };
            let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Puts a job behind the others of its owner.
    pub(crate) fn submit(&self, job: J) {
        self.queue.lock().jobs.push(job.owner(), job);
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
        let jobs = std::iter::from_fn(|| state.jobs.pop());
        Some(jobs.take(batch).collect())
    }
}

impl<J> Drop for Workers<J> {
    /// Ends the threads after what they are at; what waits is for nobody any more.
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.closed = true;
        let unwanted = std::mem::replace(&mut state.jobs, Turns::new());
        drop(state);
        // Outside of the lock: a job gives back what it holds.
        drop(unwanted);
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    };

    use super::*;

    impl Job for usize {
        fn owner(&self) -> u64 {
            0
        }
    }

    #[test]
    fn every_job_is_done_once_in_bounded_batches() {
        let (done, answers) = mpsc::sync_channel(1_000);
        let largest = Arc::new(AtomicUsize::new(0));
        let most = Arc::clone(&largest);
        let workers = Workers::start("test", 3, 4, move |jobs: Vec<usize>| {
            most.fetch_max(jobs.len(), Ordering::SeqCst);
            for job in jobs {
                done.send(job).unwrap();
            }
        });
        let workers = workers.unwrap();
        (1..=1_000).for_each(|job| workers.submit(job));
        assert_eq!(answers.iter().take(1_000).sum::<usize>(), 500_500);
        assert!(largest.load(Ordering::SeqCst) <= 4);
    }

    #[test]
    fn a_job_that_panics_costs_itself_only() {
        let (done, answers) = mpsc::sync_channel(1_000);
        let workers = Workers::start("test", 1, 1, move |jobs: Vec<usize>| {
            assert!(jobs != [1], "this one is bad");
            done.send(jobs[0]).unwrap();
        });
        let workers = workers.unwrap();
        (1..=3).for_each(|job| workers.submit(job));
        assert_eq!(answers.iter().take(2).collect::<Vec<_>>(), [2, 3]);
        drop(workers);
    }

    #[test]
    fn what_waits_at_the_end_is_not_done() {
        let (begin, begun) = mpsc::sync_channel(1_000);
        let (release, released) = mpsc::sync_channel::<()>(1);
        let released = Mutex::new(released);
        let done = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&done);
        let workers = Workers::start("test", 1, 1, move |_: Vec<usize>| {
            begin.send(()).unwrap();
            let _ = released.lock().unwrap().recv();
            count.fetch_add(1, Ordering::SeqCst);
        });
        let workers = workers.unwrap();
        (0..100).for_each(|job| workers.submit(job));
        begun.recv().unwrap();
        let queue = Arc::clone(&workers.queue);
        let ends = thread::spawn(move || drop(workers));
        while !queue.lock().closed {
            thread::yield_now();
        }
        drop(release);
        ends.join().unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 1);
    }
}
