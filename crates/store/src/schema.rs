//! The tables. Their keys are in `key.rs`, their values in `row.rs`, both in `specs/06-store.md`.

use redb::{ReadTransaction, Table, TableDefinition, TableError, WriteTransaction};

/// Bytes of a `point` row.
pub(crate) const POINT_BYTES: usize = 157;

/// Bytes of a `writer` row.
pub(crate) const WRITER_BYTES: usize = 121;

/// Bytes of a `waiting_share` row.
pub(crate) const SHARE_BYTES: usize = 13;

type Fixed<const N: usize> = &'static [u8; N];
type Bytes = &'static [u8];

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $value:ty;)+) => {
        $(
            $(#[$doc])*
            #[expect(non_upper_case_globals, reason = "named as the field that holds it")]
            pub(crate) const $name: TableDefinition<'static, $key, $value> =
                TableDefinition::new(stringify!($name));
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
            $(
                #[allow(dead_code, reason = "`meta` is read before")]
                pub(crate) $name: redb::ReadOnlyTable<$key, $value>,
            )+
        }

        impl ReadTables {
            /// Opens all tables.
            pub(crate) fn open(txn: &ReadTransaction) -> Result<Self, TableError> {
                Ok(Self { $($name: txn.open_table($name)?,)+ })
            }
        }

        /// Copies every row of every table of ours.
        pub(crate) fn copy_all(
            from: &ReadTransaction,
            to: &WriteTransaction,
        ) -> Result<u64, redb::Error> {
            let mut rows = 0;
            $(rows += copy_table(from, to, $name)?;)+
            Ok(rows)
        }
    };
}

tables! {
    /// Magic, format version, store id.
    meta: &'static str => Bytes;
    /// Topic id to topic number.
    topic_number: Fixed<32> => Fixed<4>;
    /// Topic number to what the node was told of the topic.
    topic: Fixed<4> => Bytes;
    /// Topic number to sums over the topic: a summary is one read.
    point: Fixed<4> => Fixed<POINT_BYTES>;
    /// Topic and lsn to the entry.
    log: Fixed<12> => Bytes;
    /// Topic, lsn and item to the bytes of an item too large for the log row.
    body: Fixed<14> => Bytes;
    /// Topic, first bytes of the hash, lsn.
    by_hash: Fixed<20> => ();
    /// Topic, author number, seq, lsn.
    chain: Fixed<24> => ();
    /// Topic, time, hash.
    order: Fixed<44> => ();
    /// Topic and lower bound of a chunk of the order to count and sum.
    chunk: Fixed<44> => Fixed<36>;
    /// Topic and author to number, tips, fork.
    head: Fixed<36> => Bytes;
    /// Tips beyond those in the `head` row.
    tip: Fixed<48> => ();
    /// Branches of the frontier tree.
    frontier: Fixed<37> => Bytes;
    /// Topic and a hash that is named and not held to its referrers.
    hole: Fixed<36> => Fixed<17>;
    /// Topic, a hash that is not held, an author who names it by `prev`, to how often.
    awaited: Fixed<68> => Fixed<8>;
    /// Topic and provider to the resume token of the last session.
    token: Fixed<36> => Bytes;
    /// Topic and node to rank and role.
    trust: Fixed<36> => Fixed<5>;
    /// Topic, seq and hash of a control entry of the owner to what it says.
    control: Fixed<44> => Bytes;
    /// Topic and node to what the owner's last word leaves of its writing; granted topics only.
    writer: Fixed<36> => Fixed<WRITER_BYTES>;
    /// Topic, author, seq and hash of an entry that does not count, or not yet, to the entry.
    waiting: Fixed<76> => Bytes;
    /// Topic and author to how much of it waits; under the name of nobody, how much in all.
    waiting_share: Fixed<36> => Fixed<SHARE_BYTES>;
    /// Topic and author number: given out before, and free.
    spare: Fixed<8> => ();
}

fn copy_table<K: redb::Key + 'static, V: redb::Value + 'static>(
    from: &ReadTransaction,
    to: &WriteTransaction,
    table: TableDefinition<'static, K, V>,
) -> Result<u64, redb::Error> {
    use redb::ReadableTable;

    let source = match from.open_table(table) {
        Ok(source) => source,
        Err(TableError::TableDoesNotExist(_)) => return Ok(0),
        Err(error) => return Err(error.into()),
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
