//! Frontiers (`SES-7`): what the other side lacks, judged from its tips.

use std::collections::BTreeMap;

use osier_core::{AuthorTips, EntryHash, Head, NodeId, Seq, SetSum, StateHash, state_hash};

use crate::{
    fault::Rule,
    limit::{CHAIN_PAGE, HEADS_MAX, PLANNED_HASHES_MAX},
    view::{View, ViewError},
};

/// All tips of a view; none if there are more than [`HEADS_MAX`].
pub(crate) fn all_heads(view: &dyn View) -> Result<Option<Vec<Head>>, ViewError> {
    let mut heads: Vec<Head> = Vec::new();
    if view.summary().authors > HEADS_MAX as u64 {
        return Ok(None);
    }
    loop {
        let after = heads.last().map(|head| head.author);
        let page = view.heads(after, HEADS_MAX)?;
        if page.is_empty() {
            return Ok(Some(heads));
        }
        heads.extend(page);
        if heads.len() > HEADS_MAX {
            return Ok(None);
        }
    }
}

/// Whether heads are in their one form.
pub(crate) fn check_form(heads: &[Head]) -> Result<(), Rule> {
    let sorted = heads.is_sorted_by(|a, b| a < b);
    if sorted && heads.len() <= HEADS_MAX {
        Ok(())
    } else {
        Err(Rule::HeadsForm)
    }
}

/// The state hash of sorted heads, and the number of their authors.
pub(crate) fn state_of(heads: &[Head]) -> (StateHash, u64) {
    let authors: Vec<AuthorTips> = heads
        .chunk_by(|a, b| a.author == b.author)
        .filter_map(|tips| {
            Some(AuthorTips {
                author: tips.first()?.author,
                tips: tips.iter().map(|head| (head.seq, head.hash)).collect(),
            })
        })
        .collect();
    (state_hash(&authors), authors.len() as u64)
}

/// Entries of one side that the other lacks by its tips: what follows a place in each chain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tails {
    pub(crate) chains: Vec<(NodeId, Option<Seq>)>,
    pub(crate) sum: SetSum,
}

/// For every author of ours: nothing if the tips are equal or we hold none of theirs (they are
/// ahead, or on another branch), the whole chain if they have no tip, else what follows the last
/// tip of theirs that we hold. None if counting it would take too long: ranges follow then.
///
/// Forks and detached spans make this wrong. The sum shows it, and ranges follow.
pub(crate) fn tails(
    view: &dyn View,
    ours: &[Head],
    theirs: &[Head],
) -> Result<Option<Tails>, ViewError> {
    let mut their_tips: BTreeMap<NodeId, Vec<&Head>> = BTreeMap::new();
    for head in theirs {
        their_tips.entry(head.author).or_default().push(head);
    }
    let mut tails = Tails::default();
    for tips in ours.chunk_by(|a, b| a.author == b.author) {
        let Some(author) = tips.first().map(|head| head.author) else {
            continue;
        };
        let theirs = their_tips.get(&author).map_or(&[][..], Vec::as_slice);
        let after = match tail(view, tips, theirs)? {
            Tail::Nothing => continue,
            Tail::Whole => None,
            Tail::After(seq) => Some(seq),
        };
        if !tails.add(view, author, after)? {
            return Ok(None);
        }
    }
    Ok(Some(tails))
}

impl Tails {
    /// Takes in what follows a place; false when that is too much.
    fn add(
        &mut self,
        view: &dyn View,
        author: NodeId,
        after: Option<Seq>,
    ) -> Result<bool, ViewError> {
        self.chains.push((author, after));
        let mut rest = Some(after);
        while let Some(after) = rest {
            let page = chain_page(view, &author, after)?;
            for hash in &page.hashes {
                self.sum.insert(hash);
            }
            if self.sum.count() > PLANNED_HASHES_MAX as u64 {
                return Ok(false);
            }
            rest = page.rest.map(Some);
        }
        Ok(true)
    }
}

/// A stretch of an author's chain, all branches.
#[derive(Debug)]
pub(crate) struct ChainPage {
    pub(crate) hashes: Vec<EntryHash>,
    /// The position after which to go on; none at the end.
    pub(crate) rest: Option<Seq>,
}

/// The next page of a chain. Never ends between two entries of one position, for the next page
/// begins after a position.
pub(crate) fn chain_page(
    view: &dyn View,
    author: &NodeId,
    after: Option<Seq>,
) -> Result<ChainPage, ViewError> {
    let mut max = CHAIN_PAGE;
    loop {
        let mut chain = view.chain(author, after, max + 1)?;
        let mut rest = None;
        if let Some((beyond, _)) = chain.get(max).copied() {
            chain.retain(|(seq, _)| *seq < beyond);
            rest = chain.last().map(|(seq, _)| *seq);
        }
        if !chain.is_empty() || max >= PLANNED_HASHES_MAX {
            let hashes = chain.into_iter().map(|(_, hash)| hash).collect();
            return Ok(ChainPage { hashes, rest });
        }
        if view.chain(author, after, 1)?.is_empty() {
            let hashes = Vec::new();
            return Ok(ChainPage { hashes, rest });
        }
        // More branches at one position than a page holds: a hostile author.
        max *= 8;
    }
}

/// What of an author's chain to send.
enum Tail {
    Nothing,
    Whole,
    After(Seq),
}

fn tail(view: &dyn View, ours: &[Head], theirs: &[&Head]) -> Result<Tail, ViewError> {
    if theirs.is_empty() {
        return Ok(Tail::Whole);
    }
    if ours.iter().eq(theirs.iter().copied()) {
        return Ok(Tail::Nothing);
    }
    let mut last = None;
    for head in theirs {
        if view.holds(&head.hash)? {
            last = last.max(Some(head.seq));
        }
    }
    Ok(last.map_or(Tail::Nothing, Tail::After))
}

#[cfg(test)]
mod tests {
    use osier_core::testing::Chain;

    use super::*;
    use crate::testing::{MemorySource, PairConfig};

    /// Pages join to the whole chain, also where branches lie across their border.
    #[test]
    fn pages_of_a_forked_chain_join_to_the_whole() {
        let topic = PairConfig::topic();
        let mut chain = Chain::in_topic(3, topic);
        let mut entries = Vec::new();
        for at in 0..CHAIN_PAGE + 20 {
            let mut other = chain.clone();
            entries.push(chain.next(b"trunk"));
            if at.is_multiple_of(7) || at + 2 > CHAIN_PAGE {
                entries.push(other.next(b"branch"));
            }
        }
        let view = MemorySource::with(1, &entries).snapshot(topic);
        let author = entries[0].signer();
        let (mut joined, mut rest) = (Vec::new(), Some(None));
        while let Some(after) = rest {
            let page = chain_page(&view, &author, after).unwrap();
            assert!(page.hashes.len() <= CHAIN_PAGE);
            joined.extend(page.hashes);
            rest = page.rest.map(Some);
        }
        let whole = view.chain(&author, None, usize::MAX).unwrap();
        assert_eq!(
            joined,
            whole.into_iter().map(|(_, hash)| hash).collect::<Vec<_>>()
        );
    }

    /// More branches at one position than a page holds.
    #[test]
    fn a_page_grows_over_a_bush_of_branches() {
        let topic = PairConfig::topic();
        let mut trunk = Chain::in_topic(3, topic);
        let mut entries = vec![trunk.next(b"root")];
        for at in 0..CHAIN_PAGE + 5 {
            entries.push(trunk.clone().next(&at.to_le_bytes()));
        }
        let view = MemorySource::with(1, &entries).snapshot(topic);
        let author = entries[0].signer();
        let first = chain_page(&view, &author, None).unwrap();
        assert_eq!((first.hashes.len(), first.rest), (1, Some(Seq::FIRST)));
        let bush = chain_page(&view, &author, first.rest).unwrap();
        assert_eq!((bush.hashes.len(), bush.rest), (CHAIN_PAGE + 5, None));
    }
}
