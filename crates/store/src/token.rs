//! Resume tokens of providers, kept in the transaction of the entries that they cover (`STO-9`).

use osier_core::{NodeId, StateHash, TopicId};
use osier_proto::{Token, limit::TOKEN_BYTES_MAX};
use redb::ReadableTable;

use crate::{
    batch::TokenRow,
    error::{Cause, StoreError},
    key::{self, TopicNo},
    row::Cut,
    schema::{ReadTables, Tables},
    store::Store,
    topic::{check_size, number},
};

impl Store {
    /// The token of the last session with a provider.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn token(&self, topic: TopicId, provider: NodeId) -> Result<Option<TokenRow>, StoreError> {
        self.read("read a token of", |txn| {
            let tables = ReadTables::open(txn)?;
            let Some(no) = number(&tables.topic_number, &topic)? else {
                return Ok(None);
            };
            let row = ReadableTable::get(&tables.token, &key::node(no, &provider))?;
            row.map(|row| decode(row.value())).transpose()
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

/// State hash, then the token's bytes.
pub(crate) fn put(
    tables: &mut Tables<'_>,
    no: TopicNo,
    provider: &NodeId,
    row: &TokenRow,
) -> Result<(), Cause> {
    check_size("the resume token", row.token.0.len(), TOKEN_BYTES_MAX)?;
    let mut bytes = row.state.as_bytes().to_vec();
    bytes.extend_from_slice(&row.token.0);
    tables
        .token
        .insert(&key::node(no, provider), bytes.as_slice())?;
    Ok(())
}

fn decode(bytes: &[u8]) -> Result<TokenRow, Cause> {
    let mut cut = Cut::new("token row", bytes);
    let state = StateHash::from_bytes(cut.fixed()?);
    let token = Token(cut.bytes(bytes.len() - 32)?.to_vec());
    Ok(TokenRow { token, state })
}
