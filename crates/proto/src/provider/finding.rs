//! Finding what both sides lack: heads (`SES-7`), then or instead ranges (`SES-8`).

use std::collections::{BTreeMap, BTreeSet};

use osier_core::{
    Control, Entry, EntryHash, Head, Instant, NodeId, Seq, SetSum, SignedEntry, Verified,
};
use osier_reconcile::{FrameLimit, Initiator, Opening, Split};

use super::{
    ProviderSession,
    plan::Plan,
    stream::{Flow, LogFlow},
};
use crate::{
    fault::{Fault, Rule},
    heads::{self, Tails, TailsWalk, Walked},
    limit::{
        PLANNED_HASHES_MAX, RANGE_BUCKETS, RANGE_FRAME_BYTES_MAX, RANGE_ROUNDS_MAX, WORK_SLICE,
    },
    message::{Expect, Heads, Message, Mode, RangeFrame, Want},
    transfer::{Shipment, damaged},
    view::{View, ViewError},
    window,
};

/// What is not known yet.
#[derive(Debug)]
pub(super) enum Finding {
    /// Nothing: both sides' lacks are planned.
    Done,
    /// The client's heads are awaited; these are ours.
    Heads(Vec<Head>),
    /// They are here: what the client lacks is worked out. Beside it what the client will upload.
    Comparing(Box<TailsWalk>, SetSum),
    /// The client's range frame is awaited, or ours is held back.
    Ranges(Box<Ranges>),
}

/// A range exchange that this side drives.
#[derive(Debug)]
pub(super) struct Ranges {
    initiator: Initiator,
    /// The next frame, while too much is planned already.
    held: Option<Vec<u8>>,
}

impl ProviderSession {
    /// Sets out on a plan.
    pub(super) fn begin(&mut self, plan: Plan, now: Instant) -> Result<(), ViewError> {
        match plan {
            Plan::Equal => {}
            Plan::Log {
                mode,
                after,
                prefix,
            } => {
                let last = self.view.point().last;
                self.flow = Flow::Log(LogFlow::new(after, last, prefix));
                if mode == Mode::Resume {
                    // A prefix that is no subset was sealed by ourselves: the count is for show.
                    let entries = self.ours.set.count().saturating_sub(prefix.count());
                    self.send(Message::Expect(Expect { entries }), now);
                }
            }
            Plan::Heads(ours) => {
                let message = Heads {
                    heads: ours.clone(),
                    surplus: SetSum::EMPTY,
                };
                self.send(Message::Heads(message), now);
                self.finding = Finding::Heads(ours);
            }
            Plan::Ranges => self.begin_ranges(now)?,
        }
        Ok(())
    }

    pub(super) fn on_heads(&mut self, theirs: Heads) -> Result<(), Fault> {
        let Finding::Heads(ours) = &mut self.finding else {
            return Err(self.unexpected("Heads"));
        };
        heads::check_form(&theirs.heads)?;
        if theirs.surplus.count() > self.theirs.set.count() {
            return Err(Rule::Uploads.into());
        }
        let walk = TailsWalk::new(std::mem::take(ours), theirs.heads);
        self.finding = Finding::Comparing(Box::new(walk), theirs.surplus);
        Ok(())
    }

    /// A slice of working out what the client lacks; false when there is nothing to work out.
    pub(super) fn compare(&mut self, now: Instant) -> Result<bool, Fault> {
        let Finding::Comparing(walk, surplus) = &mut self.finding else {
            return Ok(false);
        };
        let tails = match walk.step(&*self.view, WORK_SLICE)? {
            Walked::More => {
                if self.watch.says_it_works(now) {
                    self.say_alive(now);
                }
                return Ok(true);
            }
            Walked::Tails(tails) => Some(tails),
            Walked::TooMuch => None,
        };
        let (surplus, ours) = (*surplus, walk.ours().to_vec());
        let theirs = walk.theirs().to_vec();
        self.finding = Finding::Done;
        if let Some(tails) = tails.filter(|tails| self.adds_up(tails, surplus)) {
            let entries = tails.sum.count();
            let mut shipment = Shipment::default();
            shipment.plan_tails(tails, &*self.view)?;
            self.flow = Flow::Hashes(shipment);
            self.uploads.expect_sum(surplus);
            self.send(Message::Expect(Expect { entries }), now);
            return Ok(true);
        }
        self.plan_low_tips(&ours, &theirs)?;
        self.begin_ranges(now)?;
        Ok(true)
    }

    /// The client will hold exactly what we hold, once it has what we send, and without what it
    /// sends.
    fn adds_up(&self, tails: &Tails, surplus: SetSum) -> bool {
        let mut total = self.theirs.set;
        total.add(&tails.sum);
        total.subtract(&surplus);
        total == self.ours.set
    }

    /// In a window, tips and the owner's words below the floor are out of the ranges' sight: they
    /// are sent when the client shows no tip as late.
    fn plan_low_tips(&mut self, ours: &[Head], theirs: &[Head]) -> Result<(), Fault> {
        let Some(window) = self.window else {
            return Ok(());
        };
        // Sorted, so the last of an author is its latest.
        let shown: BTreeMap<NodeId, Seq> = theirs.iter().map(|tip| (tip.author, tip.seq)).collect();
        let is_unseen = |head: &&Head| shown.get(&head.author).is_none_or(|seq| *seq < head.seq);
        let unseen: Vec<Head> = ours.iter().filter(is_unseen).copied().collect();
        let mut low = BTreeSet::new();
        for head in &unseen {
            let entry = self.stored(&head.hash)?;
            if !window::contains(Some(&window.floor), &entry.order_key()) {
                low.insert(head.hash);
            }
        }
        // So are the owner's words, to one that does not show the latest of the owner's entries;
        // and those on an author of whom the client shows other tips. It may have missed the word
        // and hold a later one: then its floor hides the word from the ranges.
        let held: BTreeSet<&Head> = ours.iter().collect();
        let seen: BTreeSet<&Head> = theirs.iter().collect();
        let apart: BTreeSet<NodeId> = held
            .symmetric_difference(&seen)
            .map(|head| head.author)
            .collect();
        let unseen: BTreeSet<NodeId> = unseen.iter().map(|head| head.author).collect();
        let words = if apart.is_empty() {
            Vec::new()
        } else {
            self.view.low_words(&window.floor)?
        };
        for word in words {
            let entry = self.stored(&word)?;
            let is_unseen = unseen.contains(&entry.signer());
            let about = Control::of(&entry).and_then(|word| word.leave());
            let is_wanted = is_unseen || about.is_some_and(|(node, _)| apart.contains(&node));
            if is_wanted && !window::contains(Some(&window.floor), &entry.order_key()) {
                low.insert(word);
            }
        }
        let mut shipment = Shipment::default();
        shipment.plan(low.into_iter().collect(), &*self.view)?;
        self.flow = Flow::Hashes(shipment);
        Ok(())
    }

    fn stored(&self, hash: &EntryHash) -> Result<Verified<Entry>, ViewError> {
        let stored = self.view.entry(hash)?.map(SignedEntry::parse);
        match stored {
            Some(Ok(entry)) => Ok(entry.trust_stored()),
            _ => Err(damaged(hash)),
        }
    }

    fn begin_ranges(&mut self, now: Instant) -> Result<(), ViewError> {
        self.mode = Mode::Ranges;
        let limit = FrameLimit::new(RANGE_FRAME_BYTES_MAX).expect("the bound is large enough");
        let opening = Opening {
            limit,
            buckets: RANGE_BUCKETS,
            split: Split::FRUGAL_INITIATOR,
            rounds_max: RANGE_ROUNDS_MAX,
        };
        let floor = self.window.map(|window| window.floor);
        let storage = window::above(&*self.view, floor)?;
        let (initiator, frame) =
            Initiator::start_with(&storage, &opening).map_err(|error| match error {
                osier_reconcile::ReconcileError::Storage(error) => error,
                // Opening reads the set and nothing of the peer.
                error => ViewError {
                    doing: "opening a range exchange",
                    cause: error.to_string(),
                },
            })?;
        if matches!(self.flow, Flow::Nothing) {
            self.flow = Flow::Hashes(Shipment::default());
        }
        self.uploads.expect_hashes();
        self.finding = Finding::Ranges(Box::new(Ranges {
            initiator,
            held: None,
        }));
        self.send(Message::Range(RangeFrame(frame.into())), now);
        Ok(())
    }

    pub(super) fn on_range(&mut self, frame: &[u8], now: Instant) -> Result<(), Fault> {
        let floor = self.window.map(|window| window.floor);
        let Finding::Ranges(ranges) = &mut self.finding else {
            return Err(self.unexpected("Range"));
        };
        if ranges.held.is_some() {
            // It was our turn.
            return Err(self.unexpected("Range"));
        }
        if frame.len() > RANGE_FRAME_BYTES_MAX {
            return Err(Rule::RangeLong.into());
        }
        let storage = window::above(&*self.view, floor)?;
        let progress = ranges.initiator.reconcile(&storage, frame)?;
        let done = progress.next.is_none();
        ranges.held = progress.next;
        if done {
            self.finding = Finding::Done;
        }
        let ids = |ids: Vec<[u8; 32]>| ids.into_iter().map(EntryHash::from_bytes).collect();
        self.plan_found(ids(progress.have))?;
        self.want(ids(progress.need), done, now)?;
        if done {
            let entries = self.sent.count() + self.planned() as u64;
            self.send(Message::Expect(Expect { entries }), now);
        }
        Ok(())
    }

    fn plan_found(&mut self, found: Vec<EntryHash>) -> Result<(), Fault> {
        let Flow::Hashes(shipment) = &mut self.flow else {
            unreachable!("ranges are sent by hash");
        };
        Ok(shipment.plan(found, &*self.view)?)
    }

    /// Asks for what we lack. The client's lists name it, so it can hold no more than it said.
    fn want(&mut self, need: Vec<EntryHash>, last: bool, now: Instant) -> Result<(), Fault> {
        let fresh: BTreeSet<EntryHash> = need.into_iter().collect();
        self.uploads.want(&fresh);
        if self.uploads.wanted() > self.theirs.set.count() {
            return Err(Rule::RangeIds.into());
        }
        let hashes: Vec<EntryHash> = fresh.into_iter().collect();
        let mut parts: Vec<Vec<EntryHash>> = hashes
            .chunks(crate::limit::WANT_HASHES_MAX)
            .map(<[EntryHash]>::to_vec)
            .collect();
        if parts.is_empty() && last {
            parts.push(Vec::new());
        }
        let count = parts.len();
        for (at, hashes) in parts.into_iter().enumerate() {
            let last = last && at + 1 == count;
            self.send(Message::Want(Want { hashes, last }), now);
        }
        Ok(())
    }

    fn planned(&self) -> usize {
        match &self.flow {
            Flow::Hashes(shipment) => shipment.len(),
            Flow::Nothing | Flow::Log(_) => 0,
        }
    }

    /// Sends the frame held back once there is room to plan what it may find.
    pub(super) fn release_range(&mut self, now: Instant) {
        let room = self.planned() < PLANNED_HASHES_MAX / 2
            && self.uploads.outstanding() < PLANNED_HASHES_MAX / 2;
        let Finding::Ranges(ranges) = &mut self.finding else {
            return;
        };
        if room && let Some(frame) = ranges.held.take() {
            self.send(Message::Range(RangeFrame(frame.into())), now);
        }
    }
}

/// Whether an entry is held, for plans of what a peer names.
pub(super) fn held(
    view: &dyn View,
    hashes: &[EntryHash],
) -> Result<(Vec<EntryHash>, Vec<EntryHash>), ViewError> {
    let (mut held, mut lacking) = (Vec::new(), Vec::new());
    for hash in hashes {
        if view.holds(hash)? {
            held.push(*hash);
        } else {
            lacking.push(*hash);
        }
    }
    Ok((held, lacking))
}
