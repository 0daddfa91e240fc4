//! Judging a marker (`CMP-6` to `CMP-12`): against what was received and stored, never at its word.

mod bound;
mod evidence;
mod withheld;

use std::collections::BTreeSet;

pub use evidence::Evidence;
use evidence::{Closed, Counted, Covered};
use osier_core::{Coverage, Duration, EntryHash, Head, Instant, Role, Seq, Signed, SignedEntry};
pub(super) use withheld::Withheld;

use super::{ClientSession, Granted, State};
use crate::{
    fault::{Fault, Rule},
    limit::{MARKER_PARKED_MS, WANT_HASHES_MAX},
    marker::{HistorySyncComplete, Streamed},
    message::{Message, Mode, Want, Window},
    output::CutReason,
    view::{View, ViewError},
    window,
};

/// A marker that binds to this session and waits to be judged.
#[derive(Debug)]
pub(super) struct Parked {
    signed: Signed<HistorySyncComplete>,
    marker: HistorySyncComplete,
    /// Whether the entry that the marker calls the last is the last that came, or came since.
    last_seen: bool,
    /// When it was parked, or the last entry landed since.
    since: Instant,
    /// Count, last and set have been found right; what a repair brings later changes nothing.
    counted: Option<Counted>,
}

impl Parked {
    pub(super) fn new(
        signed: Signed<HistorySyncComplete>,
        marker: HistorySyncComplete,
        last: Option<EntryHash>,
        now: Instant,
    ) -> Self {
        let last_seen = match marker.streamed {
            Streamed::Nothing => last.is_none(),
            Streamed::Entries { last: said, .. } => last == Some(said),
        };
        Self {
            signed,
            marker,
            last_seen,
            since: now,
            counted: None,
        }
    }

    pub(super) fn is(&self, signed: &Signed<HistorySyncComplete>) -> bool {
        self.signed == *signed
    }

    /// Entries that come after their marker.
    pub(super) fn landed(&mut self, entries: &[SignedEntry], now: Instant) {
        self.since = self.since.max(now);
        if let Streamed::Entries { last, .. } = self.marker.streamed {
            self.last_seen |= entries.iter().any(|entry| entry.hash() == last);
        }
    }

    fn patience_ends(&self) -> Instant {
        self.since.after(Duration::from_millis(MARKER_PARKED_MS))
    }

    fn said(&self) -> u64 {
        match self.marker.streamed {
            Streamed::Nothing => 0,
            Streamed::Entries { count, .. } => count,
        }
    }
}

/// What is missing may be asked for once (`CMP-11`).
#[derive(Debug)]
pub(super) enum Repair {
    Unused,
    Asked {
        outstanding: BTreeSet<EntryHash>,
        /// What the entries that came for it name.
        named: BTreeSet<EntryHash>,
        /// Whether all that the marker counts was here by then.
        whole: bool,
    },
    /// The provider has answered.
    Answered {
        /// It lacks these too.
        lacking: BTreeSet<EntryHash>,
        /// It owes these: it did not say so and did not send them, or what it sent names them. None
        /// when it was asked before all was here: then it owes whatever is missing.
        owed: Option<BTreeSet<EntryHash>>,
    },
}

impl Repair {
    /// Only what was asked for, once.
    pub(super) fn check(&mut self, entries: &[SignedEntry]) -> Result<(), Rule> {
        let Self::Asked {
            outstanding, named, ..
        } = self
        else {
            return Err(Rule::NotAsked);
        };
        named.extend(entries.iter().flat_map(SignedEntry::claimed_links));
        let asked = entries
            .iter()
            .all(|entry| outstanding.remove(&entry.hash()));
        if asked { Ok(()) } else { Err(Rule::NotAsked) }
    }

    /// The end of the answer: what was asked for, did not come, and is not held there.
    pub(super) fn answered(&mut self, holes: Vec<EntryHash>, is_ring: bool) -> Result<(), Rule> {
        let Self::Asked {
            outstanding,
            named,
            whole,
        } = self
        else {
            return Err(Rule::HolesForm);
        };
        let lacking: BTreeSet<EntryHash> = holes.into_iter().collect();
        if !lacking.is_subset(outstanding) {
            return Err(Rule::HolesForm);
        }
        // What follows from an entry that a ring has kept, it may have dropped.
        let named = named.iter().filter(|_| !is_ring);
        let owed = outstanding.difference(&lacking).chain(named).copied();
        let owed = whole.then(|| owed.collect());
        *self = Self::Answered { lacking, owed };
        Ok(())
    }
}

/// What came of a look at a parked marker.
#[derive(Debug)]
pub(super) enum Judgement {
    /// Something is still on its way.
    Wait,
    /// These are missing: ask for them.
    Ask(Vec<EntryHash>),
    Drained(Box<Evidence>),
    Cut(CutReason),
    /// The stream ended, and what is missing could not be asked for: nobody is to blame.
    Lost,
}

impl Granted {
    /// When a parked marker's patience ends; none while something is certain to come first.
    pub(super) fn judged_at(&self) -> Option<Instant> {
        let parked = self.parked.as_ref()?;
        let waits = self.intake.is_settled() && !matches!(self.repair, Repair::Asked { .. });
        waits.then(|| parked.patience_ends())
    }
}

impl ClientSession {
    /// One look at the parked marker.
    pub(super) fn judge(&mut self, now: Instant) -> Result<Judgement, Fault> {
        let State::Granted(granted) = &mut self.state else {
            return Ok(Judgement::Wait);
        };
        let Some(parked) = granted.parked.as_deref_mut() else {
            return Ok(Judgement::Wait);
        };
        let gone = granted.vouching.closed;
        if !granted.intake.is_settled() {
            return Ok(Judgement::Wait);
        }
        if matches!(granted.repair, Repair::Asked { .. }) {
            return Ok(if gone {
                Judgement::Lost
            } else {
                Judgement::Wait
            });
        }
        if parked.counted.is_none() {
            let out_of_patience = gone || now >= parked.patience_ends();
            match self.count()? {
                Count::Right(counted) => self.set_counted(counted),
                Count::Wrong(reason) => return Ok(Judgement::Cut(reason)),
                Count::Short if !out_of_patience => return Ok(Judgement::Wait),
                Count::Short => return self.repair_or_cut(gone),
            }
        }
        self.judge_holdings(gone)
    }

    fn set_counted(&mut self, counted: Counted) {
        if let State::Granted(granted) = &mut self.state
            && let Some(parked) = &mut granted.parked
        {
            parked.counted = Some(counted);
        }
    }

    /// `CMP-8`: as many as the marker says, the right last one, and a sum that proves that nothing
    /// of the provider's set is missing.
    fn count(&self) -> Result<Count, Fault> {
        let State::Granted(granted) = &self.state else {
            return Ok(Count::Short);
        };
        let Some(parked) = granted.parked.as_deref() else {
            return Ok(Count::Short);
        };
        let (said, received) = (parked.said(), granted.intake.arrived().count());
        if received > said {
            return Ok(Count::Wrong(CutReason::Count { said, received }));
        }
        if received < said || !granted.upload.is_complete() {
            return Ok(Count::Short);
        }
        if granted.intake.has_forgotten() {
            return Ok(Count::Wrong(CutReason::Unauthentic));
        }
        if granted.intake.has_waiting() && granted.withheld.is_any() {
            // What vouches for them may be what was withheld.
            return Ok(Count::Wrong(CutReason::Withheld));
        }
        if granted.intake.has_waiting() {
            // All has come and is stored, so nothing can vouch for them any more. A ring may have
            // dropped the successor that did, here or there, and a window may not show it.
            let sides = [
                (self.config.role, self.ours.coverage),
                (granted.ack.role, granted.ack.summary.coverage),
            ];
            let keeps_all = |(role, coverage): &(Role, Coverage)| {
                *role != Role::Replay && coverage.is_complete()
            };
            if sides.iter().all(keeps_all) {
                return Err(Rule::Unauthentic.into());
            }
            return Ok(Count::Wrong(CutReason::Unauthentic));
        }
        if !parked.last_seen {
            return Ok(Count::Wrong(CutReason::Last));
        }
        Ok(if self.adds_up(granted)? {
            Count::Right(Counted::new())
        } else {
            Count::Wrong(CutReason::Set)
        })
    }

    /// What was held when asking, with what came, without what the provider lacks, is the
    /// provider's set: all of it, or what ranges compared of it.
    fn adds_up(&self, granted: &Granted) -> Result<bool, ViewError> {
        let whole = (
            self.ours.set,
            granted.intake.arrived().set(),
            granted.ack.summary.set,
        );
        let (mut total, came, theirs) = match granted.compared() {
            None => whole,
            Some(window) => {
                let before = window::set_above(&*self.view, &window.floor)?;
                (before, granted.intake.counted(), window.set)
            }
        };
        total.add(&came);
        total.subtract(&granted.upload.planned());
        Ok(total == theirs)
    }

    /// Too few came. Ask once for what can be named, if the provider still listens.
    fn repair_or_cut(&mut self, gone: bool) -> Result<Judgement, Fault> {
        let State::Granted(granted) = &self.state else {
            return Ok(Judgement::Wait);
        };
        if gone || !matches!(granted.repair, Repair::Unused) {
            return Ok(short(granted));
        }
        let view = self.config.source.view(self.config.topic)?;
        let mut missing = uncovered(&*view, granted.vouched_heads())?;
        missing.extend(unexplained(&*view, granted)?);
        if missing.is_empty() || missing.len() > WANT_HASHES_MAX {
            return Ok(short(granted));
        }
        Ok(Judgement::Ask(missing.into_iter().collect()))
    }

    /// `CMP-9` and `CMP-10`, on a view as of now: every vouched head is held, and every hole of
    /// ours is a hole of theirs.
    fn judge_holdings(&mut self, gone: bool) -> Result<Judgement, Fault> {
        let view = self.config.source.view(self.config.topic)?;
        let State::Granted(granted) = &self.state else {
            return Ok(Judgement::Wait);
        };
        let Some(parked) = granted.parked.as_deref() else {
            return Ok(Judgement::Wait);
        };
        let Some(counted) = parked.counted else {
            return Ok(Judgement::Wait);
        };
        if granted.withheld.is_open(&*view)? {
            return Ok(Judgement::Cut(CutReason::Withheld));
        }
        let asked = !matches!(granted.repair, Repair::Unused);
        let heads = uncovered(&*view, granted.vouched_heads())?;
        let open = unexplained(&*view, granted)?;
        let missing: BTreeSet<EntryHash> = heads.union(&open).copied().collect();
        if missing.is_empty() {
            let (now, covers) = (view.summary(), &parked.marker.covers);
            // Sums can be forged by an author who mines for it; tips cannot. A ring remembers links
            // of entries that it has dropped, so who holds just what it holds may see more tips,
            // whichever of the two it is.
            let whole = covers.coverage.is_complete() && now.coverage.is_complete();
            if whole && now.set == covers.set && now.state != covers.state {
                return Ok(Judgement::Cut(CutReason::Set));
            }
            let proofs = (counted, Covered::new(), Closed::new(dangling(&*view)));
            let provider = self.config.provider;
            let evidence = Evidence::new(proofs, granted, &parked.marker, provider, now.state);
            return Ok(Judgement::Drained(Box::new(evidence)));
        }
        if !asked && !gone && missing.len() <= WANT_HASHES_MAX {
            return Ok(Judgement::Ask(missing.into_iter().collect()));
        }
        if !asked && gone {
            return Ok(Judgement::Lost);
        }
        let open = open.len() as u64;
        Ok(Judgement::Cut(if heads.is_empty() {
            CutReason::Holes { open }
        } else {
            CutReason::Head
        }))
    }

    pub(super) fn ask_again(&mut self, hashes: Vec<EntryHash>, now: Instant) {
        if let State::Granted(granted) = &mut self.state {
            granted.repair = Repair::Asked {
                outstanding: hashes.iter().copied().collect(),
                named: BTreeSet::new(),
                whole: granted.parked.as_ref().is_some_and(|p| p.counted.is_some()),
            };
        }
        self.send(Message::Want(Want { hashes, last: true }), now);
    }
}

/// What the count says.
enum Count {
    Right(Counted),
    /// Not yet, or never.
    Short,
    Wrong(CutReason),
}

impl Granted {
    /// The window that ranges compared; none when everything was accounted for.
    pub(super) fn compared(&self) -> Option<Window> {
        self.ack.window.filter(|_| self.mode == Mode::Ranges)
    }

    /// The heads that the provider vouches for, as far as it showed them.
    fn vouched_heads(&self) -> impl Iterator<Item = Head> + '_ {
        let carried = self.parked.iter().flat_map(|p| &p.marker.covers.heads);
        self.vouching.heads.iter().chain(carried).copied()
    }

    /// Whether a hole is no matter of this session: the provider says that it lacks the entry, too,
    /// or the hole has opened since the provider was asked. All that it vouches for was here by
    /// then, so such a hole is gossip's, unless the answer itself names it.
    fn is_explained(&self, hole: &EntryHash) -> bool {
        let listed = |holes: &[EntryHash]| holes.binary_search(hole).is_ok();
        let carried = self
            .parked
            .as_ref()
            .is_some_and(|p| listed(&p.marker.covers.holes));
        let answered = match &self.repair {
            Repair::Answered { lacking, owed } => {
                lacking.contains(hole) || owed.as_ref().is_some_and(|owed| !owed.contains(hole))
            }
            Repair::Unused | Repair::Asked { .. } => false,
        };
        carried || answered || listed(&self.vouching.holes)
    }
}

fn short(granted: &Granted) -> Judgement {
    let said = granted.parked.as_ref().map_or(0, |parked| parked.said());
    let received = granted.intake.arrived().count();
    Judgement::Cut(if received == said {
        CutReason::Wants
    } else {
        CutReason::Count { said, received }
    })
}

/// Vouched heads that are not covered: not held, and for a ring nothing as late of their author
/// either, for what is a tip there may be a dropped predecessor here.
fn uncovered(
    view: &dyn View,
    heads: impl Iterator<Item = Head>,
) -> Result<BTreeSet<EntryHash>, ViewError> {
    let is_ring = !view.summary().coverage.is_complete();
    let mut missing = BTreeSet::new();
    for head in heads {
        if view.holds(&head.hash)? {
            continue;
        }
        let before = Seq::new(head.seq.get().saturating_sub(1));
        if !is_ring || view.chain(&head.author, before, 1)?.is_empty() {
            missing.insert(head.hash);
        }
    }
    Ok(missing)
}

/// Holes of ours that the provider has not said to lack too, up to one more than can be asked for.
fn unexplained(view: &dyn View, granted: &Granted) -> Result<BTreeSet<EntryHash>, ViewError> {
    let mut open = BTreeSet::new();
    if view.hole_count() == 0 || !view.summary().coverage.is_complete() {
        return Ok(open);
    }
    let mut after = None;
    loop {
        let page = view.holes(after, WANT_HASHES_MAX)?;
        let Some(last) = page.last() else {
            return Ok(open);
        };
        after = Some(*last);
        open.extend(page.iter().filter(|hole| !granted.is_explained(hole)));
        if open.len() > WANT_HASHES_MAX {
            return Ok(open);
        }
    }
}

/// Holes that both sides have. A ring's own holes are below its floor and no matter.
fn dangling(view: &dyn View) -> u64 {
    if view.summary().coverage.is_complete() {
        view.hole_count()
    } else {
        0
    }
}
