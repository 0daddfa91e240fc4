//! Histories for tests: any number of authors, forks, gaps, hostile links.

use bytes::Bytes;
use osier_core::{
    Entry, EntryDraft, EntryHash, Kind, Seq, Timestamp, TopicId, Verified,
    testing::{secret, topic},
};
use proptest::prelude::*;

/// How one entry is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Which of a few authors.
    author: u64,
    /// Which of the author's entries to follow, counted from the newest; beyond them: none.
    back: usize,
    /// Place in time; the greatest is the greatest there is.
    time: u64,
    /// 0 to 5: no dep; 6: of an earlier entry; 7: of one that never existed.
    dep: u8,
    /// 0: a body that does not fit the log row; 1: several items; 2 and 3: a link that is not to
    /// the seq before.
    odd: u8,
}

/// Steps of mostly honest histories.
pub(crate) fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let back = prop_oneof![8 => Just(0_usize), 2 => 0_usize..6];
    let step = (0_u64..4, back, 0_u64..60, 0_u8..8, 0_u8..40);
    let step = step.prop_map(|(author, back, time, dep, odd)| Step {
        author,
        back,
        time,
        dep,
        odd,
    });
    prop::collection::vec(step, 0..count)
}

/// Writes a history.
pub(crate) fn write(steps: &[Step]) -> Vec<Verified<Entry>> {
    let mut all: Vec<Verified<Entry>> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let own: Vec<&Verified<Entry>> = all
            .iter()
            .rev()
            .filter(|entry| entry.header().author() == secret(step.author).node_id())
            .collect();
        let prev = own.get(step.back);
        let seq = prev.map_or(1, |prev| match (step.odd, prev.header().seq().get()) {
            (2, before) => before + 2,
            (3, before) => before.saturating_sub(1).max(2),
            (_, before) => before + 1,
        });
        let deps = match step.dep {
            6 if at > 0 => vec![all[at / 2].hash()],
            7 => vec![EntryHash::from_bytes(
                [u8::try_from(step.time).unwrap(); 32],
            )],
            _ => Vec::new(),
        };
        let time = if step.time == 59 {
            u64::MAX
        } else {
            1_000 + step.time
        };
        let body = Bytes::from(vec![
            at.to_le_bytes()[0];
            if step.odd == 0 { 20_000 } else { 9 }
        ]);
        let draft = EntryDraft {
            topic: topic(),
            seq: Seq::new(seq).unwrap(),
            prev: prev.map(|prev| prev.hash()),
            deps,
            time: Timestamp::from_millis(time),
            kind: Kind::APPLICATION,
            items: vec![body; if step.odd <= 1 { 3 } else { 1 }],
        };
        all.push(draft.sign(&secret(step.author)).unwrap());
    }
    all
}

/// Without forks and hostile links.
pub(crate) fn honest(steps: &[Step]) -> Vec<Step> {
    let honest = |step: &Step| Step {
        back: 0,
        odd: step.odd.max(4),
        dep: step.dep.min(6),
        ..*step
    };
    steps.iter().map(honest).collect()
}

/// The same entries in another order, some left out, some twice, cut into batches.
pub(crate) fn deal(
    entries: &[Verified<Entry>],
    keys: &[u32],
    keep_of_8: u32,
) -> Vec<Vec<Verified<Entry>>> {
    let mut dealt: Vec<(u32, &Verified<Entry>)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let key = keys.get(at).copied().unwrap_or(7).wrapping_mul(0x9e37_79b1);
        if key % 8 < keep_of_8 {
            dealt.push((key, entry));
        }
        if key % 11 == 0 && key % 8 < keep_of_8 {
            dealt.push((key.rotate_left(9), entry));
        }
    }
    dealt.sort_by_key(|(key, _)| *key);
    let mut batches = vec![Vec::new()];
    for (key, entry) in dealt {
        if (key >> 8).is_multiple_of(4) {
            batches.push(Vec::new());
        }
        batches.last_mut().unwrap().push(entry.clone());
    }
    batches
}

/// One author's chain of a length, a second apart.
pub(crate) fn chain(author: u64, topic: TopicId, length: usize) -> Vec<Verified<Entry>> {
    let mut chain = osier_core::testing::Chain::in_topic(author, topic);
    (0..length)
        .map(|_| chain.next(b"body of an entry"))
        .collect()
}
