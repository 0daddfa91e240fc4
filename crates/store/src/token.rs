//! Resume tokens of providers, kept in the transaction of the entries that they cover (`STO-9`).

use osier_core::{NodeId, TopicId};
use osier_proto::{Token, limit::TOKEN_BYTES_MAX};
use redb::ReadableTable;

use crate::{
    error::{Cause, StoreError},
    key::{self, TopicNo},
    schema::{ReadTables, Tables},
    store::Store,
    topic::{check_size, number},
};

impl Store {
    /// The token of the last session with a provider.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn token(&self, topic: TopicId, provider: NodeId) -> Result<Option<Token>, StoreError> {
        self.read("read a token of", |txn| {
            let tables = ReadTables::open(txn)?;
            let Some(no) = number(&tables.topic_number, &topic)? else {
                return Ok(None);
            };
            let row = ReadableTable::get(&tables.token, &key::node(no, &provider))?;
            Ok(row.map(|row| Token(row.value().to_vec())))
        })
    }

    /// The tokens of all providers that the topic was synced with, by provider.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn tokens(&self, topic: TopicId) -> Result<Vec<(NodeId, Token)>, StoreError> {
        self.read("read the tokens of", |txn| {
            let tables = ReadTables::open(txn)?;
            let Some(no) = number(&tables.topic_number, &topic)? else {
                return Ok(Vec::new());
            };
            let last = key::node(no, &NodeId::from_bytes([0xff; 32]));
            let rows = tables
                .token
                .range::<&[u8; 36]>(&key::node(no, &NodeId::NOBODY)..=&last)?;
            rows.map(|row| {
                let (key, value) = row?;
                Ok((key::node_of(key.value()), Token(value.value().to_vec())))
            })
            .collect()
        })
    }

    /// Forgets a token, which its provider cannot serve any more.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn remove_token(&self, topic: TopicId, provider: NodeId) -> Result<(), StoreError> {
        self.write("remove a token from", |writing| {
            let mut tables = Tables::open(writing.txn)?;
            if let Some(no) = number(&tables.topic_number, &topic)? {
                tables.token.remove(&key::node(no, &provider))?;
            }
            Ok(())
        })
    }
}

/// The provider's bytes, as they came.
pub(crate) fn put(
    tables: &mut Tables<'_>,
    no: TopicNo,
    provider: &NodeId,
    token: &Token,
) -> Result<(), Cause> {
    check_size("the resume token", token.0.len(), TOKEN_BYTES_MAX)?;
    tables
        .token
        .insert(&key::node(no, provider), token.0.as_slice())?;
    Ok(())
}
