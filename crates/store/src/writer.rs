//! Who may write in a granted topic, as far as the owner's words are known (`ENT-41`): a row for
//! each node that the owner has spoken of.

use osier_core::{Control, Cut, EntryHash, Leave, NodeId, Seq, Ticket, TopicId, Writing};
use redb::ReadableTable;

use crate::{
    control::ControlRow,
    error::{Cause, StoreError},
    key::{self, TopicNo},
    row::Cut as RowCut,
    schema::{ReadTables, Tables, WRITER_BYTES},
    store::Store,
    topic,
};

/// A place in a chain.
type Place = (u64, EntryHash);

/// What the owner's last word on a node says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Writer {
    /// Where the word stands in the owner's chain: of two on one node the later counts.
    pub(crate) word: Place,
    /// How much of the chain a revocation leaves is known; none for a grant.
    pub(crate) cut: Option<Cut>,
    /// The latest entry of the node that did not count when it came, or no longer: the node itself
    /// goes on after it when it is granted again, so as not to fork. Zero for none.
    pub(crate) far: Place,
}

impl Writer {
    pub(crate) fn encode(&self) -> [u8; WRITER_BYTES] {
        let next = self.cut.map_or((0, EntryHash::MIN), |cut| cut.next());
        let mut out = Vec::with_capacity(WRITER_BYTES);
        out.push(u8::from(self.cut.is_none()));
        for (seq, hash) in [self.word, next, self.far] {
            out.extend_from_slice(&seq.to_be_bytes());
            out.extend_from_slice(hash.as_bytes());
        }
        out.try_into().expect("the fields fill the row")
    }

    pub(crate) fn decode(bytes: &[u8; WRITER_BYTES]) -> Result<Self, Cause> {
        const WHAT: &str = "writer row";
        let mut row = RowCut::new(WHAT, bytes);
        let granted = row.byte()?;
        let word = (row.u64()?, row.hash()?);
        let (seq, hash) = (row.u64()?, row.hash()?);
        let far = (row.u64()?, row.hash()?);
        row.end()?;
        if granted > 1 || granted == 1 && (seq, hash) != (0, EntryHash::MIN) {
            return Err(Cause::damaged(WHAT));
        }
        let cut = (granted == 0).then(|| Cut::from_parts(seq, hash));
        Ok(Self { word, cut, far })
    }

    /// Takes in a word; whether it is later than what was known.
    fn heed(&mut self, word: Place, leave: Leave) -> bool {
        let later = self.word < word;
        if later {
            self.word = word;
            self.cut = match leave {
                Leave::All => None,
                Leave::UpTo(last) => Some(Cut::new(last)),
            };
        }
        later
    }
}

/// The owner of a granted topic; none for an open one. It follows from the topic's ticket, which
/// the topic's id binds.
pub(crate) fn owner(
    table: &impl ReadableTable<&'static [u8; 4], &'static [u8]>,
    no: TopicNo,
) -> Result<Option<NodeId>, Cause> {
    let Some(record) = topic::record(table, no)? else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&record.ticket).ok();
    let ticket = text.and_then(|text| text.parse::<Ticket>().ok());
    let granted = ticket.filter(|ticket| ticket.writing() == Writing::Granted);
    Ok(granted.map(|ticket| ticket.owner()))
}

pub(crate) fn read(
    table: &impl ReadableTable<&'static [u8; 36], &'static [u8; WRITER_BYTES]>,
    no: TopicNo,
    node: &NodeId,
) -> Result<Option<Writer>, Cause> {
    let row = table.get(&key::node(no, node))?;
    row.map(|row| Writer::decode(row.value())).transpose()
}

pub(crate) fn write(
    tables: &mut Tables<'_>,
    no: TopicNo,
    node: &NodeId,
    writer: &Writer,
) -> Result<(), Cause> {
    tables
        .writer
        .insert(&key::node(no, node), &writer.encode())?;
    Ok(())
}

/// Takes in a word of the owner; whom it changes something for.
pub(crate) fn heed(
    tables: &mut Tables<'_>,
    no: TopicNo,
    row: &ControlRow,
) -> Result<Option<NodeId>, Cause> {
    let said = Control::parse(&row.bytes).ok();
    let Some((node, leave)) = said.and_then(|control| control.leave()) else {
        return Ok(None);
    };
    let unheard = Writer {
        word: (0, EntryHash::MIN),
        cut: Some(Cut::new(None)),
        far: (0, EntryHash::MIN),
    };
    let mut writer = read(&tables.writer, no, &node)?.unwrap_or(unheard);
    let later = writer.heed((row.seq.get(), row.hash), leave);
    if later {
        write(tables, no, &node, &writer)?;
    }
    Ok(later.then_some(node))
}

impl Store {
    /// The latest entry of a node that a revocation in a granted topic has cut off, as far as it
    /// was seen here: the node's own chain goes on after it, or it would fork.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn cut_off_tip(
        &self,
        topic: TopicId,
        node: NodeId,
    ) -> Result<Option<(Seq, EntryHash)>, StoreError> {
        self.read("read who may write in", |txn| {
            let tables = ReadTables::open(txn)?;
            let Some(no) = topic::number(&tables.topic_number, &topic)? else {
                return Ok(None);
            };
            let far = read(&tables.writer, no, &node)?.map(|writer| writer.far);
            Ok(far.and_then(|(seq, hash)| Some((Seq::new(seq)?, hash))))
        })
    }
}
