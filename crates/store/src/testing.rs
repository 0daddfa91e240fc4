//! A disk in memory that crashes and fails on demand (feature `testing`).
//!
//! What is written is durable only after a sync. A crash keeps everything before the last sync
//! and, of what came after, any sectors whatever: those of one write may land in part, and those of
//! a later write without those of an earlier one.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use redb::StorageBackend;

/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// A disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What a reader sees.
    now: Vec<u8>,
    /// What a crash leaves for certain.
    durable: Vec<u8>,
    /// What came after the last sync.
    pending: Vec<Change>,
    /// All changes, when they are recorded.
    record: Option<Vec<Change>>,
    syncs: usize,
    writes: u64,
    fault: Option<(u64, DiskFault)>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
    Sync,
}

/// How a write fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// No room.
    Full,
    /// An I/O error.
    Broken,
}

impl DiskFault {
    fn error(self) -> io::Error {
        match self {
            Self::Full => io::ErrorKind::StorageFull.into(),
            Self::Broken => io::Error::other("injected fault"),
        }
    }
}

impl SimDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty disk that remembers every change, for [`SimDisk::image_at`].
    pub fn recording() -> Self {
        let disk = Self::new();
        disk.lock().record = Some(Vec::new());
        disk
    }

    /// A disk with this content, all of it durable.
    pub fn from_image(image: Vec<u8>) -> Self {
        let disk = Self::new();
        disk.lock().now.clone_from(&image);
        disk.lock().durable = image;
        disk
    }

    /// What redb writes to.
    pub fn backend(&self) -> SimBackend {
        SimBackend { disk: self.clone() }
    }

    /// How many syncs there have been.
    pub fn syncs(&self) -> usize {
        self.lock().syncs
    }

    /// What is on the disk now, synced or not.
    pub fn content(&self) -> Vec<u8> {
        self.lock().now.clone()
    }

    /// The disk after losing power now: everything synced, and a seeded choice of the sectors
    /// written since.
    #[must_use]
    pub fn crash(&self, seed: u64) -> Self {
        let state = self.lock();
        let mut image = state.durable.clone();
        tear(&mut image, &state.pending, seed);
        Self::from_image(image)
    }

    /// The content right after a sync, the first being 1; 0 is the empty disk. Of a recording disk.
    ///
    /// # Panics
    /// If the disk does not record, or there have not been so many syncs.
    pub fn image_at(&self, sync: usize) -> Vec<u8> {
        let (image, _) = self.replay(sync);
        image
    }

    /// The content after a crash between a sync and the next, as [`SimDisk::crash`].
    ///
    /// # Panics
    /// As [`SimDisk::image_at`].
    pub fn torn_image_at(&self, sync: usize, seed: u64) -> Vec<u8> {
        let (mut image, after) = self.replay(sync);
        tear(&mut image, &after, seed);
        image
    }

    /// The content at a sync, and the changes up to the next one.
    fn replay(&self, sync: usize) -> (Vec<u8>, Vec<Change>) {
        let state = self.lock();
        let record = state.record.as_ref().expect("a recording disk");
        assert!(sync <= state.syncs, "only {} syncs so far", state.syncs);
        let (mut image, mut after, mut seen) = (Vec::new(), Vec::new(), 0);
        for change in record {
            if seen == sync {
                match change {
                    Change::Sync => break,
                    change => after.push(change.clone()),
                }
            } else {
                seen += usize::from(matches!(change, Change::Sync));
                apply(&mut image, change);
            }
        }
        (image, after)
    }

    /// Lets this many more writes through, then fails every write and sync until
    /// [`SimDisk::heal`].
    pub fn fail_after(&self, writes: u64, fault: DiskFault) {
        let mut state = self.lock();
        state.fault = Some((state.writes + writes, fault));
    }

    /// Ends the failing.
    pub fn heal(&self) {
        self.lock().fault = None;
    }

    /// How many writes there have been.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn change(&mut self, change: Change) -> io::Result<()> {
        if let Some((at, fault)) = self.fault
            && self.writes >= at
        {
            return Err(fault.error());
        }
        self.writes += u64::from(matches!(change, Change::Write(..)));
        apply(&mut self.now, &change);
        if matches!(change, Change::Sync) {
            self.syncs += 1;
            for change in self.pending.drain(..) {
                apply(&mut self.durable, &change);
            }
        } else {
            self.pending.push(change.clone());
        }
        if let Some(record) = &mut self.record {
            record.push(change);
        }
        Ok(())
    }
}

fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Sync => {}
        Change::Length(length) => image.resize(place(*length), 0),
        Change::Write(offset, data) => {
            let start = place(*offset);
            image[start..start + data.len()].copy_from_slice(data);
        }
    }
}

/// Applies a choice of the sectors of some changes.
fn tear(image: &mut Vec<u8>, changes: &[Change], seed: u64) {
    let mut dice = seed;
    for change in changes {
        match change {
            // A file whose new length is lost ends before what was written there.
            Change::Length(length) if place(*length) >= image.len() || roll(&mut dice) => {
                image.resize(place(*length), 0);
            }
            Change::Length(_) | Change::Sync => {}
            Change::Write(offset, data) => {
                let mut at = place(*offset);
                let end = at + data.len();
                while at < end {
                    let until = ((at / SECTOR + 1) * SECTOR).min(end);
                    if roll(&mut dice) && until <= image.len() {
                        let from = at - place(*offset);
                        image[at..until].copy_from_slice(&data[from..from + until - at]);
                    }
                    at = until;
                }
            }
        }
    }
}

fn roll(dice: &mut u64) -> bool {
    *dice = dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *dice;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) & 1 == 1
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).expect("a disk in memory fits it")
}

/// A [`SimDisk`] as redb sees it.
#[derive(Clone)]
pub struct SimBackend {
    disk: SimDisk,
}

impl StorageBackend for SimBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.disk.lock();
        let start = place(offset);
        let data = state.now.get(start..start + out.len());
        out.copy_from_slice(data.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.lock().change(Change::Length(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.lock().change(Change::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = place(offset) + data.len();
        let mut state = self.disk.lock();
        if end > state.now.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        state.change(Change::Write(offset, data.to_vec()))
    }
}

impl std::fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        write!(
            f,
            "SimDisk({} bytes, {} syncs)",
            state.now.len(),
            state.syncs
        )
    }
}

impl std::fmt::Debug for SimBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}
