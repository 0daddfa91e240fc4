//! What the provider sends in bulk, in order: entries, holes, the marker, at most one repair.

use std::collections::VecDeque;

use osier_core::{EntryHash, SetSum, Signed};

use super::{
    ProviderSession,
    finding::{Finding, held},
};
use crate::{
    fault::{Fault, Rule},
    heads,
    limit::{BATCH_BYTES_TARGET, BATCH_ENTRIES_MAX, HOLES_MAX, MARKER_HEADS_MAX, WANT_HASHES_MAX},
    marker::{HistorySyncComplete, Vouched, holes_digest},
    message::{Entries, Message, Want},
    token::{ResumePoint, Token},
    transfer::{Shipment, Tally},
    view::{Lsn, ViewError},
};

/// Entries to send.
#[derive(Debug)]
pub(super) enum Flow {
    /// None.
    Nothing,
    /// The log after a place.
    Log(LogFlow),
    /// These.
    Hashes(Shipment),
}

/// A stretch of the log that is being sent.
#[derive(Debug)]
pub(super) struct LogFlow {
    at: Lsn,
    last: Lsn,
    /// What the client holds once it has everything up to `at`.
    prefix: SetSum,
    done: bool,
}

impl LogFlow {
    pub(super) fn new(after: Lsn, last: Lsn, prefix: SetSum) -> Self {
        Self {
            at: after,
            last,
            prefix,
            done: false,
        }
    }
}

/// The one chance of a client to ask again for what is missing (`CMP-11`).
#[derive(Debug)]
pub(super) enum Repair {
    Unused,
    Serving {
        shipment: Shipment,
        lacking: Vec<EntryHash>,
    },
    Done,
}

impl ProviderSession {
    /// The next bulk message, whatever is due.
    pub(super) fn next_bulk(&mut self) -> Result<Option<Message>, Fault> {
        if let Some(batch) = self.next_flow()? {
            return Ok(Some(Message::Entries(batch)));
        }
        if !matches!(self.finding, Finding::Done) {
            return Ok(None);
        }
        if self.marked {
            return self.next_repair();
        }
        if self.holes.is_none() {
            self.holes = Some(self.read_holes()?);
        }
        if let Some(part) = self
            .holes
            .as_mut()
            .and_then(|holes| holes.parts.pop_front())
        {
            return Ok(Some(Message::Holes(part)));
        }
        self.check_sent()?;
        let marker = self.marker()?;
        self.marked = true;
        Ok(Some(Message::Complete(Signed::sign(
            &self.config.me,
            &marker,
        ))))
    }

    fn next_flow(&mut self) -> Result<Option<Entries>, Fault> {
        match &mut self.flow {
            Flow::Nothing => Ok(None),
            Flow::Hashes(shipment) => {
                let batch = shipment.next_batch(&*self.view, &mut self.sent)?;
                Ok(batch.map(|entries| Entries {
                    entries,
                    token: None,
                }))
            }
            Flow::Log(_) => self.next_of_log(),
        }
    }

    fn next_of_log(&mut self) -> Result<Option<Entries>, Fault> {
        let Flow::Log(log) = &mut self.flow else {
            return Ok(None);
        };
        if log.done || log.at >= log.last {
            return Ok(None);
        }
        let page = self
            .view
            .log(log.at, BATCH_ENTRIES_MAX, BATCH_BYTES_TARGET)?;
        let Some((at, _)) = page.entries.last() else {
            log.done = true;
            return Ok(None);
        };
        if *at <= log.at {
            return Err(log_damaged().into());
        }
        log.at = *at;
        log.done = page.done;
        let mut entries = Vec::with_capacity(page.entries.len());
        for (_, entry) in page.entries {
            let hash = entry.hash();
            log.prefix.insert(&hash);
            self.sent.note(&hash);
            entries.push(entry);
        }
        let (at, prefix) = (log.at, log.prefix);
        let token = Some(self.token(at, prefix));
        Ok(Some(Entries { entries, token }))
    }

    fn token(&self, lsn: Lsn, prefix: SetSum) -> Token {
        let point = self.view.point();
        self.config.seal.seal(&ResumePoint {
            store: point.store,
            topic: self.config.topic,
            lsn,
            prefix,
            pruned: point.pruned,
        })
    }

    /// A log that does not add up to its own summary is damage of our store: no marker is signed
    /// over it.
    fn check_sent(&self) -> Result<(), ViewError> {
        match &self.flow {
            Flow::Log(log) if log.prefix != self.ours.set => Err(log_damaged()),
            _ => Ok(()),
        }
    }

    fn marker(&self) -> Result<HistorySyncComplete, ViewError> {
        let holes = self.holes.as_ref().expect("read before the marker");
        Ok(HistorySyncComplete {
            topic: self.config.topic,
            session: self.config.session,
            requester: self.config.client,
            request: self.request,
            streamed: self.sent.streamed(),
            covers: Vouched {
                set: self.ours.set,
                state: self.ours.state,
                authors: self.ours.authors,
                heads: self.few_heads()?,
                coverage: self.ours.coverage,
                hole_count: holes.count,
                holes: holes.few.clone(),
                holes_digest: holes.digest,
                window: self.window,
            },
            resume: self.token(self.view.point().last, self.ours.set),
        })
    }

    fn few_heads(&self) -> Result<Vec<osier_core::Head>, ViewError> {
        if self.ours.authors > MARKER_HEADS_MAX as u64 {
            return Ok(Vec::new());
        }
        let heads = heads::all_heads(&*self.view)?;
        Ok(heads
            .filter(|heads| heads.len() <= MARKER_HEADS_MAX)
            .unwrap_or_default())
    }

    fn read_holes(&self) -> Result<Holes, ViewError> {
        let count = self.view.hole_count();
        if count > HOLES_MAX as u64 {
            return Ok(Holes {
                count,
                few: Vec::new(),
                digest: [0; 32],
                parts: VecDeque::new(),
            });
        }
        let all = self.view.holes(None, HOLES_MAX)?;
        let digest = holes_digest(&all);
        let (few, parts) = if all.len() <= MARKER_HEADS_MAX {
            (all, VecDeque::new())
        } else {
            let parts = all.chunks(WANT_HASHES_MAX).map(<[EntryHash]>::to_vec);
            (Vec::new(), parts.collect())
        };
        Ok(Holes {
            count,
            few,
            digest,
            parts,
        })
    }

    /// A client asks once, after the marker, for what it finds missing.
    pub(super) fn on_want(&mut self, want: &Want) -> Result<(), Fault> {
        let fresh = matches!(self.repair, Repair::Unused);
        if !self.marked || !fresh || self.received.is_some() {
            return Err(self.unexpected("Want"));
        }
        let ascending = want.hashes.is_sorted_by(|a, b| a < b);
        if want.hashes.len() > WANT_HASHES_MAX || !ascending || !want.last {
            return Err(Rule::Want.into());
        }
        let (found, lacking) = held(&*self.view, &want.hashes)?;
        let mut shipment = Shipment::default();
        shipment.plan(found, &*self.view)?;
        self.repair = Repair::Serving { shipment, lacking };
        Ok(())
    }

    fn next_repair(&mut self) -> Result<Option<Message>, Fault> {
        let Repair::Serving { shipment, lacking } = &mut self.repair else {
            return Ok(None);
        };
        // Not counted in what the marker says: that stands.
        let mut uncounted = Tally::default();
        if let Some(entries) = shipment.next_batch(&*self.view, &mut uncounted)? {
            let token = None;
            return Ok(Some(Message::Entries(Entries { entries, token })));
        }
        let lacking = std::mem::take(lacking);
        self.repair = Repair::Done;
        Ok(Some(Message::Holes(lacking)))
    }
}

fn log_damaged() -> ViewError {
    ViewError {
        doing: "streaming the log",
        cause: "it does not add up to its summary: run `osier check`".to_owned(),
    }
}

/// The provider's holes, as the marker states them.
#[derive(Debug)]
pub(super) struct Holes {
    count: u64,
    few: Vec<EntryHash>,
    digest: [u8; 32],
    /// What travels before the marker.
    parts: VecDeque<Vec<EntryHash>>,
}
