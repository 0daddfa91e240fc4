//! Causal order: an entry is shown after everything of the topic that it names.

use std::collections::{BTreeMap, BTreeSet};

/// Puts a stream of entries into causal order, holding back those whose links have not come.
/// Memory is one hash an entry seen, and the entries held back.
#[derive(Debug)]
pub(crate) struct Causal<T> {
    shown: BTreeSet<String>,
    waiting: BTreeMap<String, Waiting<T>>,
    /// Who waits for a hash.
    waited_for: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct Waiting<T> {
    missing: usize,
    arrival: u64,
    item: T,
}

impl<T> Default for Causal<T> {
    fn default() -> Self {
        Self {
            shown: BTreeSet::new(),
            waiting: BTreeMap::new(),
            waited_for: BTreeMap::new(),
        }
    }
}

impl<T> Causal<T> {
    /// Takes the next entry in arrival order; returns what can be shown now, in order.
    pub(crate) fn push(&mut self, hash: String, links: &[String], item: T) -> Vec<T> {
        let missing: BTreeSet<&String> = links
            .iter()
            .filter(|link| !self.shown.contains(*link))
            .collect();
        if missing.is_empty() {
            let mut ready = vec![item];
            self.release(hash, &mut ready);
            return ready;
        }
        for link in &missing {
            self.waited_for
                .entry((*link).clone())
                .or_default()
                .push(hash.clone());
        }
        let arrival = u64::try_from(self.waiting.len() + self.shown.len()).unwrap_or(u64::MAX);
        let waiting = Waiting {
            missing: missing.len(),
            arrival,
            item,
        };
        self.waiting.insert(hash, waiting);
        Vec::new()
    }

    /// The stream has ended: what is left names entries that are not held. Those whose missing
    /// links are all such come out first, each followed by what waited for it.
    pub(crate) fn finish(mut self) -> Vec<T> {
        let mut out = Vec::new();
        let absent: Vec<String> = self
            .waited_for
            .keys()
            .filter(|hash| !self.waiting.contains_key(*hash))
            .cloned()
            .collect();
        for hash in absent {
            self.release(hash, &mut out);
        }
        // Links form no cycle, because a hash cannot be known before the entry is made.
        let mut rest: Vec<Waiting<T>> = self.waiting.into_values().collect();
        rest.sort_by_key(|waiting| waiting.arrival);
        out.extend(rest.into_iter().map(|waiting| waiting.item));
        out
    }

    fn release(&mut self, hash: String, ready: &mut Vec<T>) {
        let mut shown = vec![hash];
        while let Some(hash) = shown.pop() {
            for waiter in self.waited_for.remove(&hash).unwrap_or_default() {
                let Some(waiting) = self.waiting.get_mut(&waiter) else {
                    continue;
                };
                waiting.missing -= 1;
                if waiting.missing == 0
                    && let Some(waiting) = self.waiting.remove(&waiter)
                {
                    ready.push(waiting.item);
                    shown.push(waiter);
                }
            }
            self.shown.insert(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(arrivals: &[(&str, &[&str])]) -> Vec<String> {
        let mut causal = Causal::default();
        let mut out = Vec::new();
        for (hash, links) in arrivals {
            let links: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
            out.extend(causal.push((*hash).to_owned(), &links, (*hash).to_owned()));
        }
        out.extend(causal.finish());
        out
    }

    #[test]
    fn an_entry_waits_for_what_it_names() {
        assert_eq!(
            order(&[("c", &["b"]), ("b", &["a"]), ("a", &[])]),
            ["a", "b", "c"]
        );
        assert_eq!(order(&[("a", &[]), ("b", &["a"])]), ["a", "b"]);
    }

    #[test]
    fn what_is_not_held_holds_nothing_back_for_ever() {
        assert_eq!(
            order(&[("c", &["b"]), ("b", &["gone"]), ("x", &[])]),
            ["x", "b", "c"]
        );
    }
}
