//! How many records comparisons hold in memory, all clients together (`NOS-86`).

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Records that may be held.
#[derive(Debug)]
pub(crate) struct Gathered {
    most: u64,
    held: AtomicU64,
}

/// Records of one session; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    of: Arc<Gathered>,
    count: u64,
}

impl Gathered {
    /// Room for so many.
    pub(crate) fn of(most: u64) -> Arc<Self> {
        Arc::new(Self {
            most,
            held: AtomicU64::new(0),
        })
    }

    /// How many more there is room for now.
    pub(crate) fn left(&self) -> u64 {
        self.most.saturating_sub(self.held.load(Ordering::SeqCst))
    }

    /// Takes room for so many; none if there is less.
    pub(crate) fn hold(gathered: &Arc<Self>, count: u64) -> Option<Held> {
        let add = |held: u64| Some(held + count).filter(|held| *held <= gathered.most);
        let held = gathered
            .held
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, add);
        held.ok().map(|_| Held {
            of: Arc::clone(gathered),
            count,
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.of.held.fetch_sub(self.count, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-86.
    #[test]
    fn sessions_share_one_bound_and_give_back_what_they_held() {
        let gathered = Gathered::of(100);
        let first = Gathered::hold(&gathered, 60).unwrap();
        assert!(Gathered::hold(&gathered, 41).is_none());
        let second = Gathered::hold(&gathered, 40).unwrap();
        assert_eq!(gathered.left(), 0);
        assert!(Gathered::hold(&gathered, 0).is_some(), "what costs nothing");
        drop(first);
        assert_eq!(gathered.left(), 60);
        drop(second);
        assert_eq!(gathered.left(), 100);
    }
}
