//! Safety of the disk: what was acknowledged stays, logs only grow, queues are bounded.

use std::collections::BTreeMap;

use osier_core::{EntryHash, OrderKey, SignedEntry, TopicId};
use osier_engine::{CommandError, CommandId, Reply};
use osier_proto::{Lsn, Source, Summary};

use super::{Checks, Violation, granted::Known};
use crate::{
    clock::Time,
    disk::{Outcomes, Vault},
    event::NodeIndex,
};

/// Commits that may wait for a disk: far more means that something spins.
const DISK_QUEUE_MAX: usize = 20_000;

impl Checks {
    /// A transaction is on disk.
    pub(crate) fn stored(&mut self, now: Time, node: NodeIndex, results: &Outcomes) {
        let reports = results
            .iter()
            .filter_map(|(_, result)| result.as_ref().ok());
        let mut appended: BTreeMap<TopicId, Vec<(Lsn, EntryHash)>> = BTreeMap::new();
        let reports: Vec<_> = reports.flatten().collect();
        for report in &reports {
            self.withdraw(node, report.topic, &report.removed);
        }
        for report in reports {
            appended
                .entry(report.topic)
                .or_default()
                .extend(&report.appended);
        }
        for (topic, mut new) in appended {
            new.sort_unstable();
            let holdings = self.holdings.entry((node, topic)).or_default();
            // A ring takes again what it has dropped when a revocation makes it a tip.
            let may_return = holdings.floor.is_some() && self.owners.contains_key(&topic);
            let mut wrong = None;
            for (lsn, hash) in &new {
                let again = holdings.at.contains_key(hash) && !may_return;
                if *lsn <= holdings.last || again {
                    wrong = Some(format!("n{node}: {hash:?} is stored twice or out of order"));
                }
                holdings.last = *lsn;
                holdings.log.push((*hash, self.known[hash].key));
                holdings.at.insert(*hash, *lsn);
            }
            if let Some(what) = wrong {
                self.fail(now, what);
            }
            self.check_writers(now, node, topic);
        }
    }

    /// A ring has dropped what it does not keep.
    pub(crate) fn pruned(&mut self, node: NodeIndex, topic: TopicId, summary: &Summary) {
        if let osier_core::Coverage::From { floor } = summary.coverage {
            self.holdings.entry((node, topic)).or_default().floor = Some(floor);
        }
    }

    /// A command was given.
    pub(crate) fn publishes(&mut self, node: NodeIndex, topic: TopicId, command: CommandId) {
        self.published.insert((node, command), topic);
    }

    /// A command was answered: what it acknowledges is on disk, now and for good.
    pub(crate) fn replied(
        &mut self,
        now: Time,
        node: NodeIndex,
        command: CommandId,
        result: &Result<Reply, CommandError>,
    ) {
        let Some(topic) = self.published.remove(&(node, command)) else {
            return self.fail(now, format!("n{node}: {command:?} is answered twice"));
        };
        let Ok(Reply::Published(hashes)) = result else {
            return;
        };
        for hash in hashes {
            if !self.has(node, topic, hash) && !self.withdrawn.contains(hash) {
                self.fail(
                    now,
                    format!("n{node}: {hash:?} is acknowledged and not on disk"),
                );
            }
        }
        let withdrawn = &self.withdrawn;
        self.acknowledged
            .entry((node, topic))
            .or_default()
            .extend(hashes.iter().filter(|hash| !withdrawn.contains(hash)));
    }

    /// Commands of a node that have had no answer.
    pub(crate) fn unanswered(&self, node: NodeIndex) -> usize {
        self.published.keys().filter(|(of, _)| *of == node).count()
    }

    /// A node starts: its disk must hold what it took before. What was being written when it
    /// crashed may be there, too.
    pub(crate) fn started(
        &mut self,
        now: Time,
        node: NodeIndex,
        vault: &Vault,
        topics: &[TopicId],
    ) {
        for topic in topics {
            self.read_words(node, vault, *topic);
            let holdings = self.holdings.entry((node, *topic)).or_default();
            let view = vault.store.view(*topic).expect("memory can be read");
            let floor = holdings.floor.unwrap_or(OrderKey::MIN);
            let held = |hash: &EntryHash| holdings.at.contains_key(hash);
            let mut kept = holdings
                .log
                .iter()
                .filter(|(hash, key)| *key >= floor && held(hash));
            let lost = kept.find(|(hash, _)| !view.holds(hash).expect("memory can be read"));
            let lost = lost.map(|(hash, _)| *hash);
            let page = view
                .log(holdings.last, usize::MAX, usize::MAX)
                .expect("memory is read");
            for (lsn, entry) in page.entries {
                let entry = SignedEntry::parse(entry)
                    .expect("a stored entry")
                    .trust_stored();
                holdings.last = lsn;
                let (hash, key) = (entry.hash(), entry.order_key());
                self.known.insert(hash, Known::of(&entry));
                holdings.log.push((hash, key));
                holdings.at.insert(entry.hash(), lsn);
            }
            if let Some(hash) = lost {
                self.fail(now, format!("n{node}: a restart has lost {hash:?}"));
            }
        }
    }

    /// So many commits wait for a disk.
    pub(crate) fn disk_queue(&mut self, now: Time, node: NodeIndex, len: usize) {
        if len > DISK_QUEUE_MAX {
            self.fail(now, format!("n{node}: {len} commits wait for the disk"));
        }
    }

    /// Every entry acknowledged at a node must be in its log.
    pub(crate) fn acknowledged_lost(&self, node: NodeIndex) -> Option<EntryHash> {
        let mine = self.acknowledged.iter().filter(|((of, _), _)| *of == node);
        mine.flat_map(|((_, topic), hashes)| hashes.iter().map(move |hash| (*topic, hash)))
            .find(|(topic, hash)| !self.has(node, *topic, hash))
            .map(|(_, hash)| *hash)
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {} ms: {}", self.at / 1_000_000, self.what)
    }
}
