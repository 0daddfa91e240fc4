//! What an exchange has found, and what ends one that a faulty peer would keep alive.

use std::collections::BTreeMap;

use crate::{
    Bound, Frame, Id, Malformed, Misbehaved, Payload, STALL_ROUNDS_MAX, error::ReconcileError,
};

/// What one reply told the initiator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The next frame to send; none when nothing is open any more and the exchange has ended.
    ///
    /// That nothing is open is the responder's word too: a reply without ranges agrees to
    /// everything. Who must be sure that the sets are equal now compares summaries.
    pub next: Option<Vec<u8>>,
    /// Ids that this end holds and the responder does not, in the order of the set. Each is
    /// reported once in an exchange.
    pub have: Vec<Id>,
    /// Ids that the responder holds and this end does not, ascending. Each is reported once in an
    /// exchange, unless the responder lists one id in several ranges at several times; what it
    /// lists is its word, so a need that it then cannot serve is possible too.
    pub need: Vec<Id>,
}

/// Watches the left edge: where the leftmost range that is not settled begins.
///
/// Between honest ends it never moves left, and it moves right at least once in
/// [`STALL_ROUNDS_MAX`] rounds, since the leftmost open range is never cut from a frame and is
/// divided by both ends in each round.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    edge: Bound,
    rounds: u32,
    rounds_max: u32,
    rounds_stalled: u32,
}

impl Watch {
    pub(crate) const fn new(rounds_max: u32) -> Self {
        Self {
            edge: Bound::ZERO,
            rounds: 0,
            rounds_max,
            rounds_stalled: 0,
        }
    }

    /// Checks a reply against what the frame before it left open.
    pub(crate) fn received(&mut self, reply: &Frame<'_>) -> Result<(), Fault> {
        self.rounds += 1;
        match first_open(reply)? {
            Some(edge) if edge < self.edge => Err(Misbehaved::Reopened.into()),
            _ => Ok(()),
        }
    }

    /// Notes where the next frame begins; refuses to go on without progress.
    pub(crate) fn sending(&mut self, edge: Bound) -> Result<(), Misbehaved> {
        self.rounds_stalled = if edge > self.edge {
            0
        } else {
            self.rounds_stalled + 1
        };
        self.edge = edge;
        if self.rounds_stalled > STALL_ROUNDS_MAX {
            let rounds = self.rounds_stalled;
            return Err(Misbehaved::Stalled { rounds });
        }
        if self.rounds >= self.rounds_max {
            let rounds = self.rounds_max;
            return Err(Misbehaved::TooManyRounds { rounds });
        }
        Ok(())
    }

    pub(crate) const fn rounds(&self) -> u32 {
        self.rounds
    }
}

/// A fault of the peer, before the kind of the storage's own errors is known.
#[derive(Debug)]
pub(crate) enum Fault {
    Malformed(Malformed),
    Misbehaved(Misbehaved),
}

impl From<Malformed> for Fault {
    fn from(fault: Malformed) -> Self {
        Self::Malformed(fault)
    }
}

impl From<Misbehaved> for Fault {
    fn from(fault: Misbehaved) -> Self {
        Self::Misbehaved(fault)
    }
}

impl<E: std::error::Error + 'static> From<Fault> for ReconcileError<E> {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed(fault) => Self::Malformed(fault),
            Fault::Misbehaved(fault) => Self::Misbehaved(fault),
        }
    }
}

/// Where the first range of a frame begins that is not a skip.
pub(crate) fn first_open(frame: &Frame<'_>) -> Result<Option<Bound>, Malformed> {
    let mut ranges = frame.ranges();
    let mut lower = Bound::ZERO;
    while let Some(range) = ranges.next_range()? {
        if range.payload != Payload::Skip {
            return Ok(Some(lower));
        }
        lower = range.upper;
    }
    Ok(None)
}

/// What one reply told so far, range by range.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) have: Vec<Id>,
    pub(crate) need: Vec<Id>,
    spans: Vec<Span>,
}

/// A range in which something differs: its end, and where its ids end in the tally.
#[derive(Debug)]
struct Span {
    upper: Bound,
    have_end: usize,
    need_end: usize,
}

impl Tally {
    /// Adds what a range that ends at `upper` differs in.
    fn add(&mut self, upper: Bound, mut have: Vec<Id>, mut need: Vec<Id>) {
        if have.is_empty() && need.is_empty() {
            return;
        }
        self.have.append(&mut have);
        self.need.append(&mut need);
        self.spans.push(Span {
            upper,
            have_end: self.have.len(),
            need_end: self.need.len(),
        });
    }

    /// The report of the round.
    pub(crate) fn finish(mut self, next: Option<Vec<u8>>) -> Progress {
        self.need.sort_unstable();
        self.need.dedup();
        Progress {
            next,
            have: self.have,
            need: self.need,
        }
    }
}

/// Ids already reported whose range may be opened again.
///
/// A cut frame ends with one fingerprint for all that follows the cut, settled ranges too, so
/// ids behind the cut come up again. What lies left of the edge never does, and is forgotten:
/// memory is one id and one bound for each difference that is settled while something to its left
/// is not. Rule REC-11.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reported {
    have: BTreeMap<Id, Bound>,
    need: BTreeMap<Id, Bound>,
}

impl Reported {
    /// Adds to the tally what has not been reported in an earlier round.
    pub(crate) fn add_new(
        &mut self,
        tally: &mut Tally,
        upper: Bound,
        have: Vec<Id>,
        need: Vec<Id>,
    ) {
        let have = without_known(&mut self.have, have, upper);
        let need = without_known(&mut self.need, need, upper);
        tally.add(upper, have, need);
    }

    /// Ends a round after which the open part begins at `edge`: notes what may come up again,
    /// forgets what cannot.
    pub(crate) fn settle(&mut self, tally: &Tally, edge: &Bound) {
        self.have.retain(|_, upper| *upper > *edge);
        self.need.retain(|_, upper| *upper > *edge);
        let (mut have_from, mut need_from) = (0, 0);
        for span in &tally.spans {
            if span.upper > *edge {
                let have = tally.have.get(have_from..span.have_end);
                let need = tally.need.get(need_from..span.need_end);
                let noted = |id: &Id| (*id, span.upper);
                self.have.extend(have.into_iter().flatten().map(noted));
                self.need.extend(need.into_iter().flatten().map(noted));
            }
            (have_from, need_from) = (span.have_end, span.need_end);
        }
    }
}

fn without_known(known: &mut BTreeMap<Id, Bound>, mut found: Vec<Id>, upper: Bound) -> Vec<Id> {
    found.retain(|id| match known.get_mut(id) {
        Some(last) => {
            *last = upper.max(*last);
            false
        }
        None => true,
    });
    found
}
