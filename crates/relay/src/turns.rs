//! Jobs of many owners who take turns: whoever asks for much waits for itself, not others for it.

use std::collections::{BTreeMap, VecDeque};

/// Jobs that wait, each owner's in the order in which they came.
#[derive(Debug)]
pub(crate) struct Turns<J> {
    of: BTreeMap<u64, VecDeque<J>>,
    /// Owners with jobs, whose turn is next first.
    order: VecDeque<u64>,
}

impl<J> Turns<J> {
    /// No jobs.
    pub(crate) const fn new() -> Self {
        Self {
            of: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Puts a job behind the others of its owner, and the owner, if it had none, behind the others.
    pub(crate) fn push(&mut self, owner: u64, job: J) {
        let jobs = self.of.entry(owner).or_default();
        if jobs.is_empty() {
            self.order.push_back(owner);
        }
        jobs.push_back(job);
    }

    /// Takes the oldest job of the owner whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<J> {
        let owner = self.order.pop_front()?;
        let jobs = self.of.get_mut(&owner)?;
        let job = jobs.pop_front();
        if jobs.is_empty() {
            self.of.remove(&owner);
        } else {
            self.order.push_back(owner);
        }
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_with_many_jobs_waits_for_itself() {
        let mut turns = Turns::new();
        (0..1_000).for_each(|n| turns.push(1, (1, n)));
        turns.push(2, (2, 0));
        turns.push(3, (3, 0));
        turns.push(2, (2, 1));
        let first: Vec<_> = (0..6).filter_map(|_| turns.pop()).collect();
        assert_eq!(first, [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2)]);
        let rest: Vec<_> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(rest.len(), 997);
        assert!(rest.is_sorted() && turns.is_empty() && turns.of.is_empty());
    }
}
