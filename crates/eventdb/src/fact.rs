//! What events have done to others, on disk (`NOS-29`, `NOS-102`): the facts of
//! [`osier_nostr::Effects`].

use osier_nostr::{Address, Effect, Effects, EventId, PublicKey, Seconds, nip::nip01::Version};
use redb::{
    ReadTransaction, ReadableTable, StorageError, TableDefinition, TableError, WriteTransaction,
};

use crate::{
    key::{self, Facet},
    row,
    schema::{self, ReadTables, Tables},
};

/// The four tables of facts.
pub(crate) struct Facts<'a, N, D, A, V> {
    newest: &'a N,
    deleted: &'a D,
    deleted_address: &'a A,
    vanished: &'a V,
}

/// The facts of a transaction under way.
pub(crate) fn written<'a>(tables: &'a Tables<'_>) -> impl Effects<Error = StorageError> + 'a {
    Facts {
        newest: &tables.newest,
        deleted: &tables.deleted,
        deleted_address: &tables.deleted_address,
        vanished: &tables.vanished,
    }
}

/// The facts of a snapshot.
pub(crate) fn read(tables: &ReadTables) -> impl Effects<Error = StorageError> + '_ {
    Facts {
        newest: &tables.newest,
        deleted: &tables.deleted,
        deleted_address: &tables.deleted_address,
        vanished: &tables.vanished,
    }
}

impl<N, D, A, V> Effects for Facts<'_, N, D, A, V>
where
    N: ReadableTable<&'static [u8; 16], &'static [u8; 40]>,
    D: ReadableTable<&'static [u8; 16], ()>,
    A: ReadableTable<&'static [u8; 16], &'static [u8; 8]>,
    V: ReadableTable<&'static [u8; 32], &'static [u8; 8]>,
{
    type Error = StorageError;

    fn newest(&self, address: &Address) -> Result<Option<Version>, StorageError> {
        let row = self.newest.get(&key::address(address))?;
        Ok(row.map(|row| row::decode_version(row.value())))
    }

    fn deletes_event(&self, id: &EventId, by: &PublicKey) -> Result<bool, StorageError> {
        // Most relays see few deletions: the hash is the larger part.
        if self.deleted.is_empty()? {
            return Ok(false);
        }
        Ok(self.deleted.get(&key::deletion(id, by))?.is_some())
    }

    fn address_deleted_until(&self, address: &Address) -> Result<Option<Seconds>, StorageError> {
        let row = self.deleted_address.get(&key::address(address))?;
        Ok(row.map(|row| row::decode_until(*row.value())))
    }

    fn vanished_until(&self, pubkey: &PublicKey) -> Result<Option<Seconds>, StorageError> {
        let row = self.vanished.get(pubkey.as_bytes())?;
        Ok(row.map(|row| row::decode_until(*row.value())))
    }
}

/// What has to be looked for when a fact is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concerns {
    /// Nothing: it was known, or says no more than what was.
    Nothing,
    /// The event with an id.
    Event(EventId),
    /// Events of a key, and gift wraps to it, up to a second.
    Key(PublicKey, Seconds),
}

/// Takes in one effect: facts only grow, so the order does not matter.
pub(crate) fn record(tables: &mut Tables<'_>, effect: &Effect) -> Result<Concerns, StorageError> {
    match effect {
        Effect::Replaces { address, version } => replace(tables, &key::address(address), version),
        Effect::DeletesEvent { id, by } => {
            let was = tables.deleted.insert(&key::deletion(id, by), ())?.is_some();
            Ok(if was {
                Concerns::Nothing
            } else {
                Concerns::Event(*id)
            })
        }
        Effect::DeletesAddress { address, until } => {
            delete_address(tables, &key::address(address), *until)
        }
        Effect::Vanishes { pubkey, until } => {
            let bytes = pubkey.as_bytes();
            let known = tables
                .vanished
                .get(bytes)?
                .map(|row| row::decode_until(*row.value()));
            if known.is_some_and(|known| known >= *until) {
                return Ok(Concerns::Nothing);
            }
            tables.vanished.insert(bytes, &until.get().to_be_bytes())?;
            Ok(Concerns::Key(*pubkey, *until))
        }
    }
}

fn replace(
    tables: &mut Tables<'_>,
    address: &Facet,
    version: &Version,
) -> Result<Concerns, StorageError> {
    let known = tables
        .newest
        .get(address)?
        .map(|row| row::decode_version(row.value()));
    if known.is_some_and(|known| !version.beats(&known)) {
        return Ok(Concerns::Nothing);
    }
    tables
        .newest
        .insert(address, &row::encode_version(version))?;
    Ok(known.map_or(Concerns::Nothing, |known| Concerns::Event(known.id)))
}

fn delete_address(
    tables: &mut Tables<'_>,
    address: &Facet,
    until: Seconds,
) -> Result<Concerns, StorageError> {
    let known = tables
        .deleted_address
        .get(address)?
        .map(|row| row::decode_until(*row.value()));
    if known.is_some_and(|known| known >= until) {
        return Ok(Concerns::Nothing);
    }
    tables
        .deleted_address
        .insert(address, &until.get().to_be_bytes())?;
    // Only the best version of an address is in the index.
    let newest = tables
        .newest
        .get(address)?
        .map(|row| row::decode_version(row.value()));
    Ok(newest.map_or(Concerns::Nothing, |newest| Concerns::Event(newest.id)))
}

/// Copies all facts to another file; how many.
pub(crate) fn copy(from: &ReadTransaction, to: &WriteTransaction) -> Result<u64, redb::Error> {
    Ok(copy_table(from, to, schema::newest)?
        + copy_table(from, to, schema::deleted)?
        + copy_table(from, to, schema::deleted_address)?
        + copy_table(from, to, schema::vanished)?)
}

fn copy_table<K: redb::Key + 'static, V: redb::Value + 'static>(
    from: &ReadTransaction,
    to: &WriteTransaction,
    table: TableDefinition<'static, K, V>,
) -> Result<u64, redb::Error> {
    let source = match from.open_table(table) {
        Err(TableError::TableDoesNotExist(_)) => return Ok(0),
        source => source?,
    };
    let mut target = to.open_table(table)?;
    let mut rows = 0;
    for row in source.iter()? {
        let (key, value) = row?;
        target.insert(key.value(), value.value())?;
        rows += 1;
    }
    Ok(rows)
}
