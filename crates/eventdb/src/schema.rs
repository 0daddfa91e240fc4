//! The tables (`NOS-101`). Their names begin with `nostr_`; those of the log are beside them in
//! the same file.

use redb::{ReadOnlyTable, ReadTransaction, Table, TableDefinition, TableError, WriteTransaction};

use crate::row::{EVENT_BYTES, FACET_BYTES, SKETCH_BYTES};

type Fixed<const N: usize> = &'static [u8; N];
type Bytes = &'static [u8];

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $key:ty => $value:ty;)+) => {
        $(
            $(#[$doc])*
            #[expect(non_upper_case_globals, reason = "named as the field that holds it")]
            pub(crate) const $name: TableDefinition<'static, $key, $value> =
                TableDefinition::new($text);
        )+

        /// All tables, open for writing.
        pub(crate) struct Tables<'txn> {
            $(pub(crate) $name: Table<'txn, $key, $value>,)+
        }

        impl<'txn> Tables<'txn> {
            /// Opens all tables; makes those that are missing.
            pub(crate) fn open(txn: &'txn WriteTransaction) -> Result<Self, TableError> {
                Ok(Self { $($name: txn.open_table($name)?,)+ })
            }
        }

        /// All tables of one snapshot.
        pub(crate) struct ReadTables {
            $(pub(crate) $name: ReadOnlyTable<$key, $value>,)+
        }

        impl ReadTables {
            /// Opens all tables.
            pub(crate) fn open(txn: &ReadTransaction) -> Result<Self, TableError> {
                Ok(Self { $($name: txn.open_table($name)?,)+ })
            }
        }
    };
}

tables! {
    /// What the index is: format, digest of the settings, commits so far, up to when it is purged.
    meta = "nostr_meta": &'static str => Bytes;
    /// Topic number to the last place of its log that has been looked at.
    topic = "nostr_topic": Fixed<4> => Fixed<8>;
    /// Topic number and lsn to the batch, and the items that were new with it.
    entry = "nostr_entry": Fixed<12> => Bytes;
    /// Event id to time, kind, expiration, place.
    event = "nostr_event": Fixed<32> => Fixed<EVENT_BYTES>;
    /// Event id and other places where the log holds it.
    copy = "nostr_copy": Fixed<45> => ();
    /// Facet, inverted time, event id to kind, expiration, part of a sketch.
    facet = "nostr_facet": Fixed<56> => Fixed<FACET_BYTES>;
    /// Number of a set that can be reconciled to its version; the sets are beside.
    set = "nostr_set": Fixed<4> => Fixed<8>;
    /// Expiration and event id.
    expiry = "nostr_expiry": Fixed<40> => ();
    /// Address to its best version, held or not.
    newest = "nostr_newest": Fixed<16> => Fixed<40>;
    /// Deletion of an event by a key.
    deleted = "nostr_deleted": Fixed<16> => ();
    /// Address to the second up to which its versions are deleted.
    deleted_address = "nostr_deleted_address": Fixed<16> => Fixed<8>;
    /// Public key to the second up to which it has vanished.
    vanished = "nostr_vanished": Fixed<32> => Fixed<8>;
    /// Place of an event that is hidden for good, to why: its text may leave the log.
    doomed = "nostr_doomed": Fixed<13> => Fixed<1>;
    /// Question and facet to how many match, and a sketch of who signed them.
    sketch = "nostr_sketch": Fixed<17> => Fixed<SKETCH_BYTES>;
}

/// What the names of all tables begin with.
pub(crate) const PREFIX: &str = "nostr_";

/// The sets that can be reconciled: set 0 is everything that is not gated.
pub(crate) const ORDER: &str = "nostr_order";
/// Their chunks.
pub(crate) const CHUNK: &str = "nostr_chunk";
