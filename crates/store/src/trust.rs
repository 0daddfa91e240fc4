//! The node's own trust list: whose marker counts in a topic.

use osier_core::{NodeId, Role, TopicId};

use crate::{
    error::{Cause, StoreError},
    key::{self, TopicNo},
    schema::{ReadTables, Tables},
    store::Store,
    topic::{number, number_or_make},
};

/// A node on the trust list of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustRow {
    /// Who.
    pub node: NodeId,
    /// Lower is asked first.
    pub rank: u32,
    /// In which capacity it is trusted.
    pub role: Role,
}

impl Store {
    /// Puts a node on the trust list of a topic; replaces an earlier row.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn set_trust(&self, topic: TopicId, row: TrustRow) -> Result<(), StoreError> {
        self.write("keep a trusted node in", |writing| {
            let mut tables = Tables::open(writing.txn)?;
            let no = number_or_make(&mut tables, &topic)?;
            tables
                .trust
                .insert(&key::node(no, &row.node), &encode(&row))?;
            Ok(())
        })
    }

    /// Takes a node off the trust list; whether it was on it.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn remove_trust(&self, topic: TopicId, node: NodeId) -> Result<bool, StoreError> {
        self.write("remove a trusted node from", |writing| {
            let mut tables = Tables::open(writing.txn)?;
            let Some(no) = number(&tables.topic_number, &topic)? else {
                return Ok(false);
            };
            Ok(tables.trust.remove(&key::node(no, &node))?.is_some())
        })
    }

    /// The trust list of a topic, by node id.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn trust(&self, topic: TopicId) -> Result<Vec<TrustRow>, StoreError> {
        self.read("read the trust list of", |txn| {
            let tables = ReadTables::open(txn)?;
            let Some(no) = number(&tables.topic_number, &topic)? else {
                return Ok(Vec::new());
            };
            rows(&tables, no)
        })
    }
}

fn rows(tables: &ReadTables, no: TopicNo) -> Result<Vec<TrustRow>, Cause> {
    let from = key::node(no, &NodeId::NOBODY);
    let to = key::node(no, &NodeId::from_bytes([0xff; 32]));
    let mut rows = Vec::new();
    for row in tables.trust.range::<&[u8; 36]>(&from..=&to)? {
        let (key, value) = row?;
        rows.push(decode(key::node_of(key.value()), *value.value())?);
    }
    Ok(rows)
}

/// Rank, then role: 0 archive, 1 replay, 2 peer.
pub(crate) fn encode(row: &TrustRow) -> [u8; 5] {
    let mut out = [0; 5];
    out[..4].copy_from_slice(&row.rank.to_be_bytes());
    out[4] = match row.role {
        Role::Archive => 0,
        Role::Replay => 1,
        Role::Peer => 2,
    };
    out
}

fn decode(node: NodeId, bytes: [u8; 5]) -> Result<TrustRow, Cause> {
    let [a, b, c, d, role] = bytes;
    let role = match role {
        0 => Role::Archive,
        1 => Role::Replay,
        2 => Role::Peer,
        _ => return Err(Cause::damaged("trust row")),
    };
    Ok(TrustRow {
        node,
        rank: u32::from_be_bytes([a, b, c, d]),
        role,
    })
}
