//! Frontiers (`SES-7`): what the other side lacks, judged from its tips.

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

/// Works out what the other side lacks, slice by slice: for every author of ours, nothing if the
/// tips are equal or we hold none of theirs (they are ahead, or on another branch), the whole chain
/// if they have no tip, else what follows the last tip of theirs that we hold.
///
/// Forks and detached spans make this wrong. The sum shows it, and ranges follow.
#[derive(Debug)]
pub(crate) struct TailsWalk {
    ours: Vec<Head>,
    theirs: Vec<Head>,
    /// The first of our heads whose author has not been looked at.
    at: usize,
    /// A chain that has been begun, and after which position to go on.
    chain: Option<(NodeId, Option<Seq>)>,
    tails: Tails,
}

/// Where a walk stands.
#[derive(Debug)]
pub(crate) enum Walked {
    /// There is more to look at.
    More,
    /// All that the other side lacks.
    Tails(Tails),
    /// Counting it would take too long: ranges follow.
    TooMuch,
}

impl TailsWalk {
    /// Both sides' heads in their one form.
    pub(crate) fn new(ours: Vec<Head>, theirs: Vec<Head>) -> Self {
        Self {
            ours,
            theirs,
            at: 0,
            chain: None,
            tails: Tails::default(),
        }
    }

    pub(crate) fn ours(&self) -> &[Head] {
        &self.ours
    }

    pub(crate) fn theirs(&self) -> &[Head] {
        &self.theirs
    }

    /// Looks at about so many entries or authors.
    pub(crate) fn step(&mut self, view: &dyn View, slice: usize) -> Result<Walked, ViewError> {
        let mut looked = 0;
        while looked < slice {
            if let Some((author, after)) = self.chain.take() {
                looked += self.count_page(view, author, after)?;
                if self.tails.sum.count() > PLANNED_HASHES_MAX as u64 {
                    return Ok(Walked::TooMuch);
                }
            } else if self.at < self.ours.len() {
                self.next_author(view)?;
                looked += 1;
            } else {
                return Ok(Walked::Tails(std::mem::take(&mut self.tails)));
            }
        }
        Ok(Walked::More)
    }

    fn next_author(&mut self, view: &dyn View) -> Result<(), ViewError> {
        let rest = &self.ours[self.at..];
        let author = rest[0].author;
        let tips = rest.partition_point(|head| head.author == author);
        let from = self.theirs.partition_point(|head| head.author < author);
        let theirs = &self.theirs[from..];
        let theirs = &theirs[..theirs.partition_point(|head| head.author == author)];
        let after = match tail(view, &rest[..tips], theirs)? {
            Tail::Nothing => None,
            Tail::Whole => Some(None),
            Tail::After(seq) => Some(Some(seq)),
        };
        self.at += tips;
        if let Some(after) = after {
            self.tails.chains.push((author, after));
            self.chain = Some((author, after));
        }
        Ok(())
    }

    fn count_page(
        &mut self,
        view: &dyn View,
        author: NodeId,
        after: Option<Seq>,
    ) -> Result<usize, ViewError> {
        let page = chain_page(view, &author, after)?;
        for hash in &page.hashes {
            self.tails.sum.insert(hash);
        }
        self.chain = page.rest.map(|rest| (author, Some(rest)));
        Ok(page.hashes.len().max(1))
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

fn tail(view: &dyn View, ours: &[Head], theirs: &[Head]) -> Result<Tail, ViewError> {
    if theirs.is_empty() {
        return Ok(Tail::Whole);
    }
    if ours == theirs {
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
