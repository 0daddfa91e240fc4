//! What the client sends: entries that the provider was found to lack (`SES-11`).

use osier_core::{EntryHash, SetSum};

use crate::{
    heads::Tails,
    message::{Entries, Message, Mode},
    transfer::{Shipment, Tally},
    view::{View, ViewError},
};

/// The client's uploads.
#[derive(Debug)]
pub(super) struct Upload {
    shipment: Shipment,
    /// Sum of all that was planned: what the provider's snapshot lacks of ours.
    planned: SetSum,
    sent: Tally,
    /// Whether entries may go out: at once by ranges, after the provider's answer by heads.
    flowing: bool,
    /// Whether nothing more will be planned.
    complete: bool,
    ended: bool,
}

impl Upload {
    pub(super) fn begin(mode: Mode) -> Self {
        Self {
            shipment: Shipment::default(),
            planned: SetSum::EMPTY,
            sent: Tally::default(),
            flowing: mode == Mode::Ranges,
            complete: matches!(mode, Mode::Equal | Mode::Empty | Mode::Resume),
            ended: false,
        }
    }

    /// Ranges begin afresh: forgets what was planned by heads, of which nothing was sent.
    pub(super) fn restart(&mut self) {
        assert_eq!(
            self.sent.count(),
            0,
            "nothing flows before the answer to heads"
        );
        *self = Self::begin(Mode::Ranges);
    }

    pub(super) fn plan_tails(&mut self, tails: Tails, view: &dyn View) -> Result<(), ViewError> {
        self.planned.add(&tails.sum);
        self.shipment.plan_tails(tails, view)
    }

    pub(super) fn plan_wanted(
        &mut self,
        hashes: Vec<EntryHash>,
        view: &dyn View,
    ) -> Result<(), ViewError> {
        for hash in &hashes {
            self.planned.insert(hash);
        }
        self.shipment.plan(hashes, view)
    }

    /// All is planned, and may flow.
    pub(super) fn open(&mut self) {
        self.flowing = true;
        self.complete = true;
    }

    /// Whether the provider has said all that it lacks.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(super) fn wanted(&self) -> u64 {
        self.planned.count()
    }

    pub(super) fn planned(&self) -> SetSum {
        self.planned
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.count()
    }

    /// Whether everything has been sent, and that has been said.
    pub(super) fn is_done(&self) -> bool {
        self.complete && (self.ended || self.planned.is_empty())
    }

    pub(super) fn next_bulk(&mut self, view: &dyn View) -> Result<Option<Message>, ViewError> {
        if !self.flowing || self.is_done() {
            return Ok(None);
        }
        if let Some(entries) = self.shipment.next_batch(view, &mut self.sent)? {
            let token = None;
            return Ok(Some(Message::Entries(Entries { entries, token })));
        }
        if !self.complete {
            return Ok(None);
        }
        if self.sent.set() != self.planned {
            return Err(ViewError {
                doing: "sending what the provider lacks",
                cause: "the index names other entries than there are: run `osier check`".to_owned(),
            });
        }
        self.ended = true;
        Ok(Some(Message::UploadEnd))
    }
}
