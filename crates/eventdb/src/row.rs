//! Values (`NOS-101`). All but one have a fixed length; what cannot be is damage.

use osier_nostr::{
    Commit, Event, EventId, EventKind, REGISTERS, Seconds, Sketch,
    nip::{nip01::Version, nip40},
};
use osier_store::{ItemPlace, ViewError};

use crate::{key, limit};

/// Bytes of an event row.
pub(crate) const EVENT_BYTES: usize = 28;
/// Bytes of a facet row.
pub(crate) const FACET_BYTES: usize = 9;
/// Bytes of a sketch row.
pub(crate) const SKETCH_BYTES: usize = 16 + REGISTERS;

/// A row that does not say what it must.
pub(crate) fn damaged(what: &str) -> redb::Error {
    redb::Error::Corrupted(format!("the event index: {what} cannot be read"))
}

/// A set that cannot be read.
pub(crate) fn unreadable(error: &ViewError) -> redb::Error {
    redb::Error::Corrupted(error.to_string())
}

/// When an event expires; never is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expires(Option<Seconds>);

impl Expires {
    /// What lies too far ahead is never.
    fn at(at: Option<Seconds>) -> Self {
        Self(at.filter(|at| at.get() <= limit::EXPIRATION_MAX))
    }

    /// As an event says.
    pub(crate) fn of(event: &Event) -> Self {
        Self::at(nip40::expiration(event))
    }

    /// When, if ever.
    pub(crate) fn get(self) -> Option<Seconds> {
        self.0
    }

    /// Whether it has (`NOS-24`).
    pub(crate) fn is_over(self, now: Seconds) -> bool {
        self.0.is_some_and(|at| at <= now)
    }

    // 0 is never, others are one more than they say: an event may expire in 1970.
    fn encode(self) -> [u8; 5] {
        let number = self.0.map_or(0, |at| at.get() + 1);
        let mut bytes = [0; 5];
        bytes.copy_from_slice(&number.to_be_bytes()[3..]);
        bytes
    }

    fn decode(bytes: [u8; 5]) -> Self {
        let mut number = [0; 8];
        number[3..].copy_from_slice(&bytes);
        let number = u64::from_be_bytes(number);
        Self(number.checked_sub(1).and_then(Seconds::new))
    }
}

/// What is known of an event without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventRow {
    pub(crate) time: Seconds,
    pub(crate) kind: EventKind,
    pub(crate) expires: Expires,
    /// The first of the places where the log holds it.
    pub(crate) place: ItemPlace,
}

impl EventRow {
    pub(crate) fn encode(&self) -> [u8; EVENT_BYTES] {
        let mut row = [0; EVENT_BYTES];
        row[..8].copy_from_slice(&self.time.get().to_be_bytes());
        row[8..10].copy_from_slice(&self.kind.get().to_be_bytes());
        row[10..15].copy_from_slice(&self.expires.encode());
        row[15..].copy_from_slice(&key::place(&self.place));
        row
    }

    pub(crate) fn decode(row: &[u8; EVENT_BYTES]) -> Result<Self, redb::Error> {
        let time = Seconds::new(u64::from_be_bytes(part(row, 0)));
        Ok(Self {
            time: time.ok_or_else(|| damaged("an event's time"))?,
            kind: EventKind::new(u16::from_be_bytes(part(row, 8))),
            expires: Expires::decode(part(row, 10)),
            place: key::of_place(&part(row, 15)),
        })
    }
}

/// What is known of an event from one of its facet rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FacetRow {
    pub(crate) kind: EventKind,
    pub(crate) expires: Expires,
    /// For a tag: which register its signer raises in a sketch for the tag, and to what. A rank of
    /// 0 for other facets.
    pub(crate) register: u8,
    pub(crate) rank: u8,
}

impl FacetRow {
    pub(crate) fn encode(&self) -> [u8; FACET_BYTES] {
        let mut row = [0; FACET_BYTES];
        row[..2].copy_from_slice(&self.kind.get().to_be_bytes());
        row[2..7].copy_from_slice(&self.expires.encode());
        row[7] = self.register;
        row[8] = self.rank;
        row
    }

    pub(crate) fn decode(row: &[u8; FACET_BYTES]) -> Self {
        Self {
            kind: EventKind::new(u16::from_be_bytes(part(row, 0))),
            expires: Expires::decode(part(row, 2)),
            register: row[7],
            rank: row[8],
        }
    }
}

/// A version of an address.
pub(crate) fn encode_version(version: &Version) -> [u8; 40] {
    let mut row = [0; 40];
    row[..8].copy_from_slice(&version.created_at.get().to_be_bytes());
    row[8..].copy_from_slice(version.id.as_bytes());
    row
}

/// The version that a row spells.
pub(crate) fn decode_version(row: &[u8; 40]) -> Version {
    Version {
        // Out of range is later than all.
        created_at: Seconds::new(u64::from_be_bytes(part(row, 0))).unwrap_or(Seconds::MAX),
        id: EventId::from_bytes(part(row, 8)),
    }
}

/// A second up to which something is gone.
pub(crate) fn decode_until(row: [u8; 8]) -> Seconds {
    Seconds::new(u64::from_be_bytes(row)).unwrap_or(Seconds::MAX)
}

/// What an entry brought: its batch, and which of its items were not held before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryRow {
    pub(crate) commit: Commit,
    pub(crate) first: Vec<u8>,
}

impl EntryRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = self.commit.0.to_be_bytes().to_vec();
        row.extend_from_slice(&self.first);
        row
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, redb::Error> {
        let (commit, first) = row
            .split_first_chunk::<8>()
            .ok_or_else(|| damaged("an entry's row"))?;
        Ok(Self {
            commit: Commit(u64::from_be_bytes(*commit)),
            first: first.to_vec(),
        })
    }
}

/// A sketch that is kept for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SketchRow {
    /// Events that match, exactly.
    pub(crate) count: u64,
    /// How often one has gone that may have raised a register: the sketch is of some more.
    pub(crate) lowered: u64,
    pub(crate) sketch: Sketch,
}

impl SketchRow {
    pub(crate) fn encode(&self) -> [u8; SKETCH_BYTES] {
        let mut row = [0; SKETCH_BYTES];
        row[..8].copy_from_slice(&self.count.to_be_bytes());
        row[8..16].copy_from_slice(&self.lowered.to_be_bytes());
        row[16..].copy_from_slice(self.sketch.registers());
        row
    }

    pub(crate) fn decode(row: &[u8; SKETCH_BYTES]) -> Self {
        Self {
            count: u64::from_be_bytes(part(row, 0)),
            lowered: u64::from_be_bytes(part(row, 8)),
            sketch: Sketch::from_registers(part(row, 16)),
        }
    }
}

/// The bytes of a row from `at` on. The caller's `N` is within the row.
fn part<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&row[at..at + N]);
    out
}
