//! Receiving entries (`SES-10`): form, topic and rule V, before anything is handed to the disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use osier_core::{
    Duration, Entry, EntryHash, Instant, KeyCache, NodeId, OrderKey, SetSum, SignedEntry, TopicId,
    Verified, WireEntry, authenticate,
};

use crate::{
    fault::{Fault, Rule},
    limit::{
        BATCH_ENTRIES_MAX, GATHER_BYTES, GATHER_ENTRIES, GATHER_MS, INGEST_BATCHES_IN_FLIGHT_MAX,
        INGEST_BYTES_IN_FLIGHT_MAX, TOKEN_BYTES_MAX, UNAUTHENTIC_BYTES_MAX, UNAUTHENTIC_MAX,
    },
    output::Ingest,
    token::Token,
    transfer::Tally,
    view::{Source, View, ViewError},
    window,
};

/// The receiving side of one session.
pub(crate) struct Intake {
    topic: TopicId,
    /// Only what stands at or above it counts for the window; none counts all.
    floor: Option<OrderKey>,
    keys: KeyCache,
    /// Everything that came, authentic or not.
    arrived: Tally,
    /// The authentic part of it that lies in the window.
    counted: SetSum,
    gathered: Gathered,
    waiting: Waiting,
    next_batch: u64,
    in_flight: InFlight,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Intake({:?}, {} in flight, {} waiting)",
            self.arrived,
            self.in_flight.batches.len(),
            self.waiting.entries.len()
        )
    }
}

impl Intake {
    pub(crate) fn new(topic: TopicId, floor: Option<OrderKey>) -> Self {
        Self {
            topic,
            floor,
            keys: KeyCache::new(),
            arrived: Tally::default(),
            counted: SetSum::EMPTY,
            gathered: Gathered::default(),
            waiting: Waiting::default(),
            next_batch: 0,
            in_flight: InFlight::default(),
        }
    }

    pub(crate) fn arrived(&self) -> &Tally {
        &self.arrived
    }

    /// Sum of what has been handed out and lies in the window.
    pub(crate) fn counted(&self) -> SetSum {
        self.counted
    }

    /// Whether everything that came is judged, and durable if it is authentic.
    pub(crate) fn is_settled(&self) -> bool {
        self.in_flight.batches.is_empty() && self.gathered.entries.is_empty()
    }

    /// Whether more may come: not while the disk is behind.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight.batches.len() < INGEST_BATCHES_IN_FLIGHT_MAX
            && self.in_flight.bytes < INGEST_BYTES_IN_FLIGHT_MAX
    }

    /// When what was gathered is judged at the latest; none while there is nothing.
    pub(crate) fn judged_at(&self) -> Option<Instant> {
        let since = self.gathered.since?;
        Some(since.after(Duration::from_millis(GATHER_MS)))
    }

    /// Whether enough was gathered to be judged together, or has waited long enough.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let gathered = &self.gathered;
        gathered.entries.len() >= GATHER_ENTRIES
            || gathered.bytes >= GATHER_BYTES
            || self.judged_at().is_some_and(|at| now >= at)
    }

    /// Whether entries wait for proof that their author signed them.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.entries.is_empty()
    }

    /// Whether some of those had to be forgotten.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.waiting.forgotten
    }

    /// Checks form and topic of a batch, without any effect.
    pub(crate) fn parse(&self, wire: Vec<WireEntry>) -> Result<Vec<SignedEntry>, Fault> {
        if wire.is_empty() || wire.len() > BATCH_ENTRIES_MAX {
            return Err(Rule::BatchForm.into());
        }
        let mut entries = Vec::with_capacity(wire.len());
        for entry in wire {
            let entry = SignedEntry::parse(entry)?;
            if entry.claimed_topic() != self.topic {
                return Err(Rule::ForeignTopic.into());
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Takes in a parsed batch, to be judged together with what comes soon: by rule V only the last
    /// entry of each author costs a signature, so that larger batches are cheaper.
    pub(crate) fn gather(
        &mut self,
        batch: Vec<SignedEntry>,
        token: Option<Token>,
        now: Instant,
    ) -> Result<(), Fault> {
        if token.as_ref().is_some_and(|t| t.0.len() > TOKEN_BYTES_MAX) {
            return Err(Rule::TokenForm.into());
        }
        for entry in &batch {
            self.arrived.note(&entry.hash());
            self.gathered.bytes += entry.size();
        }
        self.gathered.since.get_or_insert(now);
        self.gathered.entries.extend(batch);
        // Tokens of one log: the later one covers what the earlier did.
        self.gathered.token = token.or(self.gathered.token.take());
        Ok(())
    }

    /// Judges what was gathered by rule V; what is authentic is handed out. `compared` is the view
    /// that the session began with: the peer has left out what that holds, also if the owner has
    /// revoked its author since and it is gone from the log (`ENT-43`).
    pub(crate) fn admit(
        &mut self,
        source: &dyn Source,
        compared: &dyn View,
    ) -> Result<Option<Ingest>, ViewError> {
        let Gathered { entries, token, .. } = std::mem::take(&mut self.gathered);
        if entries.is_empty() {
            return Ok(None);
        }
        // Links are looked up for the few that need one: a lookup each would double the cost.
        let judged = authenticate(entries, &mut self.keys, &|_, _| false);
        let mut verified = judged.verified;
        self.waiting.push(judged.waiting);
        if self.has_waiting() {
            let view = source.view(self.topic)?;
            let links = self.waiting.linked(&verified, &*view, compared)?;
            verified.extend(self.waiting.release(&links, &mut self.keys));
        }
        // A token says that all up to its point is stored, so it is not kept while some wait.
        let token = token.filter(|_| !self.has_waiting());
        Ok(self.hand_out(verified, token))
    }

    /// Notes the outcome of a batch; those that wait are judged again, for what they wait for may
    /// be stored now. A batch that was never handed out is ignored.
    pub(crate) fn durable(
        &mut self,
        batch: u64,
        source: &dyn Source,
        compared: &dyn View,
    ) -> Result<Option<Ingest>, ViewError> {
        if !self.in_flight.remove(batch) || !self.has_waiting() {
            return Ok(None);
        }
        let view = source.view(self.topic)?;
        let links = self.waiting.linked(&[], &*view, compared)?;
        let verified = self.waiting.release(&links, &mut self.keys);
        Ok(self.hand_out(verified, None))
    }

    fn hand_out(&mut self, entries: Vec<Verified<Entry>>, token: Option<Token>) -> Option<Ingest> {
        if entries.is_empty() {
            return None;
        }
        let floor = self.floor;
        entries
            .iter()
            .filter(|entry| window::contains(floor.as_ref(), &entry.order_key()))
            .for_each(|entry| self.counted.insert(&entry.hash()));
        let batch = self.next_batch;
        self.next_batch += 1;
        self.in_flight.insert(batch, &entries);
        Some(Ingest {
            batch,
            entries,
            token,
        })
    }
}

/// Entries that came and are not judged yet.
#[derive(Default)]
struct Gathered {
    entries: Vec<SignedEntry>,
    bytes: usize,
    /// The last token that came with them.
    token: Option<Token>,
    /// When the first of them came.
    since: Option<Instant>,
}

/// Batches that were handed out and are not durable, with their sizes.
#[derive(Default)]
struct InFlight {
    batches: BTreeMap<u64, usize>,
    bytes: usize,
}

impl InFlight {
    fn insert(&mut self, batch: u64, entries: &[Verified<Entry>]) {
        let bytes = entries.iter().map(|entry| entry.size()).sum();
        self.bytes += bytes;
        let before = self.batches.insert(batch, bytes);
        assert!(before.is_none(), "batch numbers ascend");
    }

    /// Whether the batch was in flight.
    fn remove(&mut self, batch: u64) -> bool {
        let bytes = self.batches.remove(&batch);
        self.bytes -= bytes.unwrap_or(0);
        bytes.is_some()
    }
}

/// Entries that are not authentic yet, oldest first, bounded in number and bytes.
#[derive(Default)]
struct Waiting {
    entries: VecDeque<SignedEntry>,
    bytes: usize,
    forgotten: bool,
}

impl Waiting {
    /// Over the bound the oldest go: runs come in ascending order, and the next session goes on
    /// from the top of the run.
    fn push(&mut self, entries: Vec<SignedEntry>) {
        for entry in entries {
            self.bytes += entry.size();
            self.entries.push_back(entry);
        }
        while self.entries.len() > UNAUTHENTIC_MAX || self.bytes > UNAUTHENTIC_BYTES_MAX {
            let oldest = self.entries.pop_front().expect("over a bound above zero");
            self.bytes -= oldest.size();
            self.forgotten = true;
        }
    }

    /// Those that an authentic entry of their author links to, directly or through others that
    /// wait. What was authentic when the session began still is, whether it counts or not.
    fn linked(
        &self,
        fresh: &[Verified<Entry>],
        view: &dyn View,
        compared: &dyn View,
    ) -> Result<BTreeSet<EntryHash>, ViewError> {
        let named: BTreeSet<(EntryHash, NodeId)> = fresh
            .iter()
            .filter_map(|entry| Some((entry.header().prev()?, entry.header().author())))
            .collect();
        let by_hash: BTreeMap<EntryHash, &SignedEntry> = self
            .entries
            .iter()
            .map(|entry| (entry.hash(), entry))
            .collect();
        let mut todo = Vec::new();
        for (hash, entry) in &by_hash {
            let author = entry.claimed_author();
            if named.contains(&(*hash, author))
                || view.links(&author, hash)?
                || compared.links(&author, hash)?
            {
                todo.push(*hash);
            }
        }
        let mut linked = BTreeSet::new();
        while let Some(hash) = todo.pop() {
            let Some(entry) = by_hash.get(&hash) else {
                continue;
            };
            let author = entry.claimed_author();
            if linked.insert(hash) {
                let before = entry.claimed_prev().and_then(|prev| by_hash.get(&prev));
                todo.extend(
                    before
                        .filter(|before| before.claimed_author() == author)
                        .map(|before| before.hash()),
                );
            }
        }
        Ok(linked)
    }

    /// Takes out those that are linked: authentic without a look at their own signature.
    fn release(
        &mut self,
        links: &BTreeSet<EntryHash>,
        keys: &mut KeyCache,
    ) -> Vec<Verified<Entry>> {
        if links.is_empty() {
            return Vec::new();
        }
        let (linked, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| links.contains(&entry.hash()));
        self.entries = rest.into();
        self.bytes = self.entries.iter().map(SignedEntry::size).sum();
        // Their links were looked up by author.
        let judged = authenticate(linked, keys, &|hash, _| links.contains(hash));
        assert!(judged.waiting.is_empty(), "what is linked is authentic");
        judged.verified
    }
}
