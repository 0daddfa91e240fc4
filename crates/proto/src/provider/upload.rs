//! What the client sends to the provider (`SES-11`): only what was asked for or announced.

use std::collections::BTreeSet;

use osier_core::{EntryHash, Instant, SetSum, TopicId};

use crate::{
    fault::{Fault, Rule},
    intake::Intake,
    message::Entries,
    output::Ingest,
    view::{Source, View, ViewError},
};

/// What is to come.
#[derive(Debug)]
enum Wanted {
    Nothing,
    /// Entries that add up to this, by heads.
    Sum(SetSum),
    /// Exactly these, by ranges.
    Hashes {
        outstanding: BTreeSet<EntryHash>,
        count: u64,
    },
}

/// The client's uploads.
#[derive(Debug)]
pub(super) struct Uploads {
    wanted: Wanted,
    intake: Intake,
    ended: bool,
    /// Some of what came was not stored, since its authors may not write (`ENT-43`).
    withheld: bool,
}

impl Uploads {
    pub(super) fn new(topic: TopicId) -> Self {
        Self {
            wanted: Wanted::Nothing,
            intake: Intake::new(topic, None),
            ended: false,
            withheld: false,
        }
    }

    pub(super) fn expect_sum(&mut self, surplus: SetSum) {
        self.wanted = Wanted::Sum(surplus);
    }

    pub(super) fn expect_hashes(&mut self) {
        self.wanted = Wanted::Hashes {
            outstanding: BTreeSet::new(),
            count: 0,
        };
    }

    pub(super) fn want(&mut self, hashes: &BTreeSet<EntryHash>) {
        let Wanted::Hashes { outstanding, count } = &mut self.wanted else {
            unreachable!("ranges ask by hash");
        };
        outstanding.extend(hashes);
        *count += hashes.len() as u64;
    }

    /// What vouches for others may be among what was not stored.
    pub(super) fn note_withheld(&mut self) {
        self.withheld = true;
    }

    /// How many entries were asked for or announced.
    pub(super) fn wanted(&self) -> u64 {
        match &self.wanted {
            Wanted::Nothing => 0,
            Wanted::Sum(sum) => sum.count(),
            Wanted::Hashes { count, .. } => *count,
        }
    }

    pub(super) fn received(&self) -> u64 {
        self.intake.arrived().count()
    }

    /// How many hashes are remembered.
    pub(super) fn outstanding(&self) -> usize {
        match &self.wanted {
            Wanted::Hashes { outstanding, .. } => outstanding.len(),
            Wanted::Nothing | Wanted::Sum(_) => 0,
        }
    }

    /// Whether entries may come.
    pub(super) fn is_open(&self) -> bool {
        self.wanted() > 0 && !self.ended
    }

    pub(super) fn has_room(&self) -> bool {
        self.intake.has_room()
    }

    /// Whether all has come and is durable.
    pub(super) fn is_done(&self) -> bool {
        !self.is_open() && self.intake.is_settled()
    }

    pub(super) fn take(
        &mut self,
        batch: Entries,
        source: &dyn Source,
        compared: &dyn View,
        now: Instant,
    ) -> Result<Option<Ingest>, Fault> {
        if batch.token.is_some() {
            return Err(Rule::TokenForm.into());
        }
        let entries = self.intake.parse(batch.entries)?;
        match &mut self.wanted {
            Wanted::Nothing => return Err(Rule::NotAsked.into()),
            Wanted::Sum(sum) => {
                let room = sum.count().saturating_sub(self.intake.arrived().count());
                if entries.len() as u64 > room {
                    return Err(Rule::TooManyEntries.into());
                }
            }
            Wanted::Hashes { outstanding, .. } => {
                let asked = entries
                    .iter()
                    .all(|entry| outstanding.remove(&entry.hash()));
                if !asked {
                    return Err(Rule::NotAsked.into());
                }
            }
        }
        self.intake.gather(entries, None, now)?;
        Ok(self.intake.admit(source, compared)?)
    }

    /// The client says that this was all.
    pub(super) fn end(&mut self) -> Result<(), Rule> {
        let whole = match &self.wanted {
            Wanted::Nothing => false,
            Wanted::Sum(sum) => *sum == self.intake.arrived().set(),
            Wanted::Hashes { outstanding, .. } => outstanding.is_empty(),
        };
        if !self.is_open() || !whole {
            return Err(Rule::Uploads);
        }
        self.ended = true;
        Ok(())
    }

    pub(super) fn durable(
        &mut self,
        batch: u64,
        source: &dyn Source,
        compared: &dyn View,
    ) -> Result<Option<Ingest>, ViewError> {
        self.intake.durable(batch, source, compared)
    }

    /// Once all has come and is durable, nothing may be left that nobody signed. Where a ring takes
    /// part it may: it can hold an entry whose successor, which vouches for it, it has dropped.
    /// Such an entry is not stored, and nobody is blamed.
    pub(super) fn check(&self, with_ring: bool) -> Result<(), Fault> {
        let unsigned = self.ended && self.intake.is_settled() && self.intake.has_waiting();
        let excused = with_ring || self.withheld || self.intake.has_forgotten();
        if unsigned && !excused {
            return Err(Rule::Unauthentic.into());
        }
        Ok(())
    }
}
