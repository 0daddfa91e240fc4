//! What a granted client does with the provider's messages, up to the marker.

use osier_core::{EntryHash, Head, Instant, SetSum, Signed};
use osier_reconcile::{FrameLimit, Responder, Split};

use super::{
    ClientSession, Granted, State,
    judge::{Parked, Repair},
};
use crate::{
    fault::{Fault, Rule},
    heads::{self, Tails, TailsWalk, Walked},
    limit::{HOLES_MAX, RANGE_FRAME_BYTES_MAX, RANGE_ROUNDS_MAX, WANT_HASHES_MAX, WORK_SLICE},
    marker::{HistorySyncComplete, HistorySyncFailed},
    message::{Alive, Entries, Expect, Heads, Message, Mode, Phase, RangeFrame, Want},
    output::{ClientEnd, SessionOutput},
    window,
};

/// What of the difference is not known yet.
#[derive(Debug)]
pub(super) enum Finding {
    /// The provider's heads are awaited.
    HeadsAwaited,
    /// They are here: what the provider lacks is worked out, and then answered.
    HeadsCompared(Box<TailsWalk>),
    /// Ours are out; the provider goes on by them (`Expect`) or by ranges.
    HeadsAnswered,
    /// The provider drives a range exchange.
    Ranges(Responder),
    Done,
}

impl Finding {
    pub(super) fn begin(mode: Mode) -> Self {
        match mode {
            Mode::Equal | Mode::Empty | Mode::Resume => Self::Done,
            Mode::Heads => Self::HeadsAwaited,
            Mode::Ranges => Self::Ranges(responder()),
        }
    }
}

fn responder() -> Responder {
    let limit = FrameLimit::new(RANGE_FRAME_BYTES_MAX).expect("the bound is large enough");
    Responder::with_rounds_max(limit, RANGE_ROUNDS_MAX).with_split(Split::FRUGAL_RESPONDER)
}

/// What the provider said that its marker is judged by.
#[derive(Debug, Default)]
pub(super) struct Vouching {
    /// Its heads, if they were exchanged.
    pub(super) heads: Vec<Head>,
    /// Its holes, sent before the marker.
    pub(super) holes: Vec<EntryHash>,
    /// It will say nothing more.
    pub(super) closed: bool,
}

impl ClientSession {
    pub(super) fn on_granted(&mut self, message: Message, now: Instant) -> Result<(), Fault> {
        let name = message.name();
        match message {
            Message::Alive(alive) => {
                self.on_alive(alive, now);
                Ok(())
            }
            Message::Heads(heads) => self.on_heads(heads, now),
            Message::Range(frame) => self.on_range(&frame, now),
            Message::Want(want) => self.on_want(want),
            Message::Expect(expect) => self.on_expect(expect),
            Message::Entries(entries) => self.on_entries(entries, now),
            Message::Holes(holes) => self.on_holes(holes),
            Message::Complete(marker) => self.on_complete(marker, now),
            Message::Failed(marker) => self.on_failed(marker),
            Message::Hello(_)
            | Message::HelloAck(_)
            | Message::Refuse(_)
            | Message::Received(_)
            | Message::UploadEnd => Err(self.unexpected(name)),
        }
    }

    /// The granted state, or the fault that the message has no place.
    fn granted_for(&mut self, message: &'static str) -> Result<&mut Granted, Fault> {
        let unexpected = self.unexpected(message);
        match &mut self.state {
            State::Granted(granted) => Ok(granted),
            State::Asked | State::Tail(_) | State::Over => Err(unexpected),
        }
    }

    fn on_heads(&mut self, theirs: Heads, now: Instant) -> Result<(), Fault> {
        let unexpected = self.unexpected("Heads");
        let State::Granted(granted) = &mut self.state else {
            return Err(unexpected);
        };
        if !matches!(granted.finding, Finding::HeadsAwaited) {
            return Err(unexpected);
        }
        heads::check_form(&theirs.heads)?;
        let stated = (granted.ack.summary.state, granted.ack.summary.authors);
        if heads::state_of(&theirs.heads) != stated {
            return Err(Rule::HeadsState.into());
        }
        granted.vouching.heads.clone_from(&theirs.heads);
        match heads::all_heads(&*self.view)? {
            Some(ours) => {
                let walk = TailsWalk::new(ours, theirs.heads);
                granted.finding = Finding::HeadsCompared(Box::new(walk));
            }
            // Too many of ours: the answer is empty, the sums do not add up, ranges follow.
            None => self.answer_heads(Vec::new(), None, now)?,
        }
        Ok(())
    }

    /// A slice of working out what the provider lacks; false when there is nothing to work out.
    pub(super) fn compare(&mut self, now: Instant) -> Result<bool, Fault> {
        let State::Granted(granted) = &mut self.state else {
            return Ok(false);
        };
        let Finding::HeadsCompared(walk) = &mut granted.finding else {
            return Ok(false);
        };
        let tails = match walk.step(&*self.view, WORK_SLICE)? {
            Walked::More => {
                self.progress_slowly(now);
                return Ok(true);
            }
            Walked::Tails(tails) => Some(tails),
            Walked::TooMuch => None,
        };
        let ours = walk.ours().to_vec();
        self.answer_heads(ours, tails, now)?;
        self.watch.moved(now);
        self.progress_slowly(now);
        Ok(true)
    }

    fn answer_heads(
        &mut self,
        heads: Vec<Head>,
        tails: Option<Tails>,
        now: Instant,
    ) -> Result<(), Fault> {
        let granted = self.granted_for("Heads")?;
        granted.finding = Finding::HeadsAnswered;
        let surplus = tails.as_ref().map_or(SetSum::EMPTY, |tails| tails.sum);
        if let State::Granted(granted) = &mut self.state
            && let Some(tails) = tails
        {
            granted.upload.plan_tails(tails, &*self.view)?;
        }
        self.send(Message::Heads(Heads { heads, surplus }), now);
        Ok(())
    }

    /// A provider that says that it compares, while it is its turn, works for this session.
    fn on_alive(&mut self, alive: Alive, now: Instant) {
        let State::Granted(granted) = &self.state else {
            return;
        };
        let its_turn = matches!(
            granted.finding,
            Finding::HeadsAwaited | Finding::HeadsAnswered | Finding::Ranges(_)
        );
        if its_turn && alive.phase == Phase::Finding && self.watch.may_work(now) {
            self.progress_slowly(now);
        }
    }

    fn on_range(&mut self, frame: &RangeFrame, now: Instant) -> Result<(), Fault> {
        let unexpected = self.unexpected("Range");
        let State::Granted(granted) = &mut self.state else {
            return Err(unexpected);
        };
        if granted.parked.is_some() {
            return Err(unexpected);
        }
        if frame.0.len() > RANGE_FRAME_BYTES_MAX {
            return Err(Rule::RangeLong.into());
        }
        if matches!(granted.finding, Finding::HeadsAnswered) {
            // Heads were not enough: what was planned by them is void.
            granted.finding = Finding::Ranges(responder());
            granted.mode = Mode::Ranges;
            granted.upload.restart();
        }
        let floor = granted.floor();
        let Finding::Ranges(responder) = &mut granted.finding else {
            return Err(unexpected);
        };
        let storage = window::above(&*self.view, floor)?;
        let answer = responder.answer(&storage, &frame.0)?;
        self.send(Message::Range(RangeFrame(answer.into())), now);
        Ok(())
    }

    fn on_want(&mut self, want: Want) -> Result<(), Fault> {
        let unexpected = self.unexpected("Want");
        let State::Granted(granted) = &mut self.state else {
            return Err(unexpected);
        };
        if !matches!(granted.finding, Finding::Ranges(_)) || granted.parked.is_some() {
            return Err(unexpected);
        }
        // One that names nothing and goes on would be progress for ever.
        if want.hashes.is_empty() && !want.last {
            return Err(Rule::Want.into());
        }
        if want.hashes.len() > WANT_HASHES_MAX || !want.hashes.is_sorted_by(|a, b| a < b) {
            return Err(Rule::Want.into());
        }
        for hash in &want.hashes {
            if !self.view.holds(hash)? {
                return Err(Rule::Want.into());
            }
        }
        granted.upload.plan_wanted(want.hashes, &*self.view)?;
        if granted.upload.wanted() > self.ours.set.count() {
            return Err(Rule::Want.into());
        }
        if want.last {
            granted.finding = Finding::Done;
            granted.upload.open();
        }
        Ok(())
    }

    fn on_expect(&mut self, expect: Expect) -> Result<(), Fault> {
        let unexpected = self.unexpected("Expect");
        let granted = self.granted_for("Expect")?;
        let has_place = match granted.mode {
            Mode::Equal | Mode::Empty => false,
            Mode::Resume | Mode::Ranges => matches!(granted.finding, Finding::Done),
            Mode::Heads => matches!(granted.finding, Finding::HeadsAnswered),
        };
        if !has_place || granted.expected.is_some() || granted.parked.is_some() {
            return Err(unexpected);
        }
        let possible = granted.intake.arrived().count()..=granted.ack.summary.set.count();
        if !possible.contains(&expect.entries) {
            return Err(Rule::Expect.into());
        }
        granted.expected = Some(expect.entries);
        if granted.mode == Mode::Heads {
            granted.finding = Finding::Done;
            granted.upload.open();
        }
        Ok(())
    }

    fn on_entries(&mut self, batch: Entries, now: Instant) -> Result<(), Fault> {
        let unexpected = self.unexpected("Entries");
        let granted = self.granted_for("Entries")?;
        let has_place = match granted.mode {
            Mode::Equal => false,
            Mode::Empty | Mode::Resume | Mode::Ranges => true,
            Mode::Heads => matches!(granted.finding, Finding::Done),
        };
        let repairing = matches!(granted.repair, Repair::Asked { .. });
        if !has_place && !repairing {
            return Err(unexpected);
        }
        let has_token = matches!(granted.mode, Mode::Empty | Mode::Resume) && !repairing;
        if batch.token.is_some() != has_token {
            return Err(Rule::TokenForm.into());
        }
        let entries = granted.intake.parse(batch.entries)?;
        if repairing {
            granted.repair.check(&entries)?;
        } else {
            let most = granted.expected.unwrap_or(granted.ack.summary.set.count());
            let room = most.saturating_sub(granted.intake.arrived().count());
            if entries.len() as u64 > room {
                return Err(Rule::TooManyEntries.into());
            }
        }
        if let Some(parked) = &mut granted.parked {
            parked.landed(&entries, now);
        }
        granted.intake.gather(entries, batch.token, now)?;
        let progress = SessionOutput::Progress {
            received: granted.intake.arrived().count(),
            expected: granted.expected,
        };
        self.outbox.push(progress);
        Ok(())
    }

    fn on_holes(&mut self, holes: Vec<EntryHash>) -> Result<(), Fault> {
        let unexpected = self.unexpected("Holes");
        let granted = self.granted_for("Holes")?;
        if holes.len() > WANT_HASHES_MAX || !holes.is_sorted_by(|a, b| a < b) {
            return Err(Rule::HolesForm.into());
        }
        if granted.parked.is_some() {
            let is_ring = !granted.ack.summary.coverage.is_complete();
            let answered = granted.repair.answered(holes, is_ring);
            return answered.map_err(Fault::from);
        }
        if !matches!(granted.finding, Finding::Done) {
            return Err(unexpected);
        }
        let known = &mut granted.vouching.holes;
        let follows = match (known.last(), holes.first()) {
            (Some(last), Some(first)) => last < first,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if !follows || known.len() + holes.len() > HOLES_MAX {
            return Err(Rule::HolesForm.into());
        }
        known.extend(holes);
        Ok(())
    }

    fn on_complete(
        &mut self,
        marker: Signed<HistorySyncComplete>,
        now: Instant,
    ) -> Result<(), Fault> {
        let unexpected = self.unexpected("Complete");
        let granted = self.granted_for("Complete")?;
        if let Some(parked) = &granted.parked {
            // Repeats change nothing; a second, different word is one too many.
            return if parked.is(&marker) {
                Ok(())
            } else {
                Err(Rule::MarkerTwice.into())
            };
        }
        if matches!(
            granted.finding,
            Finding::HeadsAwaited | Finding::HeadsCompared(_) | Finding::HeadsAnswered
        ) {
            return Err(unexpected);
        }
        let verified = self.bound(&marker)?;
        let granted = self.granted_for("Complete")?;
        let last = granted.intake.arrived().last();
        granted.parked = Some(Box::new(Parked::new(marker, verified, last, now)));
        Ok(())
    }

    fn on_failed(&mut self, marker: Signed<HistorySyncFailed>) -> Result<(), Fault> {
        let reason = self.bound_failure(marker)?;
        self.end(ClientEnd::Failed(reason));
        Ok(())
    }
}
