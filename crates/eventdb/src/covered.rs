//! What of other relays has been read to its end (`NOS-73`). It lies beside the log that the events
//! went to, so it never says more than the log holds: a backup is without it, and an index that is
//! built anew begins with nothing. Whatever is not there is read again.

use osier_core::TopicId;
use osier_nostr::{Coverage, Filter, PublicKey, Seconds, Span};
use redb::{ReadableTable, TableDefinition, TableError};

use crate::{error::EventDbError, index::EventIndex, limit::COVERED_SPANS_MAX, row::damaged};

/// Digest of what was asked for, and the first second of a stretch, to the last second of it. Made
/// when it is first written, so it is in no list of tables.
const COVERED: TableDefinition<'static, &[u8; 24], &[u8; 8]> =
    TableDefinition::new("nostr_covered");

/// Names what is read: of which relay, for which topic, which events, and as whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoveredKey([u8; 16]);

impl CoveredKey {
    /// The name of what these say; times and limit of the filter take no part.
    pub fn new(relay: &str, topic: &TopicId, filter: &Filter, who: Option<PublicKey>) -> Self {
        let filter = filter.clone().with_since(None).with_until(None);
        let filter = filter.with_limit(None).to_json();
        let who = who.map(|key| key.to_string()).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for text in [relay, &topic.to_string(), &filter, &who] {
            hasher.update(&(text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(key)
    }

    fn row(self, since: u64) -> [u8; 24] {
        let mut row = [0; 24];
        row[..16].copy_from_slice(&self.0);
        row[16..].copy_from_slice(&since.to_be_bytes());
        row
    }
}

impl EventIndex {
    /// What has been read to its end.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn coverage(&self, key: CoveredKey) -> Result<Coverage, EventDbError> {
        let fail = |cause| EventDbError::new("look up what was read in", cause);
        let txn = self.store.begin_read();
        let txn = txn.map_err(|cause| EventDbError::new("look up what was read in", cause))?;
        match txn.open_table(COVERED) {
            Ok(table) => read(&table, key).map_err(fail),
            Err(TableError::TableDoesNotExist(_)) => Ok(Coverage::none()),
            Err(error) => Err(fail(error.into())),
        }
    }

    /// Notes that a stretch has been read to its end, under each of these names. Durable when this
    /// returns; what it speaks of must be durable before.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn cover(&self, keys: &[CoveredKey], span: Span) -> Result<(), EventDbError> {
        let written = self.store.project("note what was read in", |txn, _| {
            let mut table = txn.open_table(COVERED)?;
            for key in keys {
                let mut coverage = read(&table, *key)?;
                let held = coverage.clone();
                coverage.add(span);
                coverage.keep(COVERED_SPANS_MAX);
                for span in held.spans() {
                    table.remove(&key.row(span.since.get()))?;
                }
                for span in coverage.spans() {
                    let until = span.until.get().to_be_bytes();
                    table.insert(&key.row(span.since.get()), &until)?;
                }
            }
            Ok(())
        });
        written.map_err(|cause| EventDbError::new("note what was read in", cause))
    }
}

fn read(
    table: &impl ReadableTable<&'static [u8; 24], &'static [u8; 8]>,
    key: CoveredKey,
) -> Result<Coverage, redb::Error> {
    let (from, to) = (key.row(0), key.row(u64::MAX));
    let mut coverage = Coverage::none();
    for row in table.range::<&[u8; 24]>(&from..=&to)? {
        let (since, until) = row?;
        let (_, since) = since
            .value()
            .split_last_chunk()
            .ok_or_else(|| damaged("a span"))?;
        let since = Seconds::new(u64::from_be_bytes(*since));
        let until = Seconds::new(u64::from_be_bytes(*until.value()));
        let span = since
            .zip(until)
            .and_then(|(since, until)| Span::between(since, until));
        coverage.add(span.ok_or_else(|| damaged("a row of what was read"))?);
    }
    Ok(coverage)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-101: the row, byte by byte.
    #[test]
    fn a_row_is_the_digest_and_the_first_second() {
        let row = CoveredKey([7; 16]).row(0x0102);
        assert_eq!(row[..16], [7; 16]);
        assert_eq!(row[16..], [0, 0, 0, 0, 0, 0, 1, 2]);
    }
}
