//! A store transaction's outcome, dealt out to the commits that were merged into it.

use std::collections::BTreeMap;

use osier_core::{EntryHash, NodeId, TopicId, Verified};
use osier_engine::Commit;
use osier_proto::Lsn;
use osier_store::{Committed, CommittedTopic, Fate, Forked};

/// A transaction's outcome, dealt out to the commits that were merged into it.
pub(super) struct Merge {
    committed: Committed,
    /// Topics in which the transaction opened holes.
    opened: Vec<TopicId>,
    /// How many of a topic's entries have been dealt out.
    dealt: BTreeMap<TopicId, usize>,
}

/// One commit's part.
pub(super) struct Part {
    pub(super) appended: Vec<(Lsn, EntryHash)>,
    pub(super) forked: Vec<(NodeId, EntryHash, EntryHash)>,
    pub(super) withheld: Vec<EntryHash>,
    pub(super) may_open_holes: bool,
    /// Whether no later commit of the merge has entries of the topic.
    pub(super) last: bool,
}

impl Merge {
    pub(super) fn new(committed: Committed, before: &BTreeMap<TopicId, u64>) -> Self {
        let opened = |(topic, made): (&TopicId, &CommittedTopic)| {
            let closed = made.closed.len() as u64;
            let before = before.get(topic).copied().unwrap_or_default();
            (made.hole_count + closed > before).then_some(*topic)
        };
        Self {
            opened: committed.topics.iter().filter_map(opened).collect(),
            committed,
            dealt: BTreeMap::new(),
        }
    }

    pub(super) fn topic(&mut self, topic: TopicId) -> &mut CommittedTopic {
        let made = self.committed.topics.get_mut(&topic);
        made.expect("a commit with entries has made its topic")
    }

    /// A commit's part; none for one without entries. Commits come in the order of the merge.
    pub(super) fn part(&mut self, commit: &Commit) -> Option<Part> {
        if commit.entries.is_empty() {
            return None;
        }
        let from = self.dealt.entry(commit.topic).or_default();
        let upto = *from + commit.entries.len();
        let made = self.committed.topics.get_mut(&commit.topic)?;
        let fates = made.entries.get(*from..upto)?;
        *from = upto;
        let mut appended: Vec<(Lsn, EntryHash)> = new_entries(fates).collect();
        let withheld = fates.iter().filter(|(_, fate)| *fate == Fate::Withheld);
        let withheld = withheld.map(|(hash, _)| *hash).collect();
        let last = upto == made.entries.len();
        if last {
            // What had waited comes with the last commit of the transaction that let it in.
            appended.append(&mut made.released);
        }
        // The log is in causal order, which need not be that of the commit.
        appended.sort_unstable();
        let mine = |fork: &Forked| {
            let mut signers = commit.entries.iter().map(Verified::signer);
            !appended.is_empty() && signers.any(|signer| signer == fork.author)
        };
        let forked = made.forked.iter().filter(|fork| mine(fork)).copied();
        let forked: Vec<Forked> = forked.collect();
        made.forked.retain(|fork| !forked.contains(fork));
        Some(Part {
            forked: forked
                .iter()
                .map(|fork| (fork.author, fork.first, fork.second))
                .collect(),
            may_open_holes: self.opened.contains(&commit.topic) && !appended.is_empty(),
            appended,
            withheld,
            last,
        })
    }
}

pub(super) fn new_entries(
    fates: &[(EntryHash, Fate)],
) -> impl Iterator<Item = (Lsn, EntryHash)> + '_ {
    fates.iter().filter_map(|(hash, fate)| match fate {
        Fate::New(lsn) => Some((*lsn, *hash)),
        Fate::Duplicate | Fate::BelowFloor | Fate::Withheld => None,
    })
}
