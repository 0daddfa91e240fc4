//! The store of a light node: the obvious one of `osier_proto::testing`, with the report that an
//! engine waits for.

use osier_core::{EntryHash, NodeId, OrderKey, Seq, SignedEntry, TopicId};
use osier_engine::{Commit, TopicReport};
use osier_proto::{View, testing::MemorySource};

/// Writes a commit and says what it did.
pub(super) fn write(source: &MemorySource, commit: &Commit) -> TopicReport {
    let before = source.snapshot(commit.topic);
    for entry in &commit.entries {
        source.insert(entry);
    }
    let view = source.snapshot(commit.topic);
    let held = |view: &dyn View, hash: &EntryHash| view.holds(hash).expect("memory can be read");
    let new: Vec<_> = (commit.entries.iter())
        .filter(|entry| !held(&before, &entry.hash()))
        .collect();
    let place = |hash: EntryHash| {
        let place = view.place(&hash).expect("memory can be read");
        (place.expect("it was just written"), hash)
    };
    let mut appended: Vec<_> = new.iter().map(|entry| place(entry.hash())).collect();
    appended.sort_unstable();
    appended.dedup();
    let open = new.iter().filter(|entry| {
        let mut links = entry.header().links();
        links.any(|link| !held(&view, &link))
    });
    TopicReport {
        topic: commit.topic,
        appended,
        holes_opened: open.count() as u64,
        forked: Vec::new(),
        summary: view.summary(),
        last: view.point().last,
        holes: view.hole_count(),
        // The small world's topics are open.
        withheld: Vec::new(),
        removed: Vec::new(),
        missed: false,
    }
}

/// The newest entry held and the last of an author's own: what a node reads when it starts.
pub(super) fn newest(
    source: &MemorySource,
    topic: TopicId,
    author: NodeId,
) -> (Option<OrderKey>, Option<(Seq, EntryHash)>) {
    let view = source.snapshot(topic);
    let page = view.log(osier_proto::Lsn::START, usize::MAX, usize::MAX);
    let entries = page.expect("memory can be read").entries.into_iter();
    let entries = entries.map(|(_, wire)| {
        let entry = SignedEntry::parse(wire).expect("a stored entry parses");
        entry.trust_stored()
    });
    let newest = entries.map(|entry| entry.order_key()).max();
    let heads = view.heads(None, usize::MAX).expect("memory can be read");
    let own = heads.into_iter().filter(|head| head.author == author);
    (newest, own.map(|head| (head.seq, head.hash)).max())
}
