//! Dropping items: the bytes leave the log, their hashes and the reason stay (`STO-17`).

use std::collections::BTreeMap;

use osier_core::{DropReason, Entry, Item, SignedEntry, Verified, WireEntry};
use osier_proto::Lsn;
use redb::{ReadableTable, WriteTransaction};

use crate::{
    error::{Cause, StoreError},
    item::{ItemPlace, LogItems},
    key::{self, TopicNo},
    log,
    schema::Tables,
    store::Store,
    write_rows,
};

/// Items of one entry that go, by number.
type Going = BTreeMap<u16, DropReason>;

impl Store {
    /// Drops the items that `choose` names, in its own transaction: one sync, like
    /// [`Store::commit`]. What is not held, or not there, is passed over. The entries stay what
    /// they are: hash, chain, sums and state do not change (`ENT-7`). Gives how many items went.
    ///
    /// # Errors
    /// Our disk is at fault, or what `choose` returns; nothing is changed then.
    pub fn drop_items(
        &self,
        doing: &'static str,
        choose: impl FnOnce(
            &WriteTransaction,
            &LogItems<'_>,
        ) -> Result<Vec<(ItemPlace, DropReason)>, redb::Error>,
    ) -> Result<u64, StoreError> {
        self.write(doing, |writing| {
            let mut tables = Tables::open(writing.txn)?;
            let chosen = choose(writing.txn, &LogItems::of(&tables))?;
            let mut entries: BTreeMap<(TopicNo, Lsn), Going> = BTreeMap::new();
            for (place, reason) in chosen {
                let going = entries.entry((place.topic, place.lsn)).or_default();
                going.insert(place.item, reason);
            }
            let mut gone = 0;
            for ((no, lsn), going) in entries {
                gone += drop_of_entry(&mut tables, no, lsn, &going)?;
            }
            Ok(gone)
        })
    }
}

fn drop_of_entry(
    tables: &mut Tables<'_>,
    no: TopicNo,
    lsn: Lsn,
    going: &Going,
) -> Result<u64, Cause> {
    let key = key::log(no, lsn);
    let Some(row) = tables.log.get(&key)?.map(|row| row.value().to_vec()) else {
        return Ok(0);
    };
    let wire = log::decode(&row, &|item| log::body_item(&tables.body, no, lsn, item))?;
    let entry = stored(wire)?;
    let mut gone = 0;
    let kept =
        entry
            .items()
            .iter()
            .zip(0_u16..)
            .map(|(item, number)| match (item, going.get(&number)) {
                (Item::Held(_), Some(reason)) => {
                    gone += 1;
                    item.gone(*reason)
                }
                _ => item.clone(),
            });
    let kept: Vec<Item> = kept.collect();
    if gone == 0 {
        return Ok(0);
    }
    let header = entry.header_bytes().clone();
    // What is left must still be the body that the header speaks of.
    let left = stored(WireEntry::from_parts(header, &entry.signature(), kept))?;
    assert_eq!(left.hash(), entry.hash(), "dropping changes no entry");
    let (from, to) = (key::body(no, lsn, 0), key::body(no, lsn, u16::MAX));
    tables
        .body
        .retain_in::<&[u8; 14], _>(&from..=&to, |_, _| false)?;
    let mut row = Vec::new();
    let apart = log::encode(&left, &mut row);
    tables.log.insert(&key, row.as_slice())?;
    if apart {
        write_rows::body_rows(tables, no, lsn, left.items())?;
    }
    Ok(gone)
}

/// An entry as it was when it was verified.
fn stored(wire: WireEntry) -> Result<Verified<Entry>, Cause> {
    let entry = SignedEntry::parse(wire).map_err(|_| Cause::damaged("an entry of the log"))?;
    Ok(entry.trust_stored())
}

#[cfg(test)]
mod tests {
    use osier_core::testing::{Chain, topic};
    use osier_proto::{StoreId, View};

    use super::*;
    use crate::{Batch, ItemReader, ItemSource};

    fn entries(store: &Store) -> Vec<WireEntry> {
        let txn = store.begin_read().unwrap();
        let number = store.topic_number(&txn, &topic()).unwrap().unwrap();
        let reader = ItemReader::open(&txn).unwrap();
        let page = reader.entries(number, Lsn::START, 100, usize::MAX).unwrap();
        page.into_iter().map(|(_, entry)| entry).collect()
    }

    fn drop_first(store: &Store, lsn: u64, reason: DropReason) -> u64 {
        let txn = store.begin_read().unwrap();
        let topic = store.topic_number(&txn, &topic()).unwrap().unwrap();
        drop(txn);
        let (lsn, item) = (Lsn::new(lsn), 0);
        let place = ItemPlace { topic, lsn, item };
        let dropped = store.drop_items("drop items of", |_, _| Ok(vec![(place, reason)]));
        dropped.unwrap()
    }

    /// STO-17: the bytes are gone, from the row and from rows apart; everything else is as it was,
    /// and what was dropped does not come back.
    #[test]
    fn dropped_bytes_are_gone_and_nothing_else_is() {
        let store = Store::in_memory(StoreId::from_bytes([1; 16])).unwrap();
        let mut chain = Chain::in_topic(1, topic());
        let small = chain.next(b"small and to be gone");
        let large = chain.next(&vec![7; 40_000]);
        let mut batch = Batch::new();
        batch.extend([small.clone(), large.clone()]);
        store.commit(&batch).unwrap();
        let before = store.snapshot(topic()).unwrap();

        assert_eq!(drop_first(&store, 1, DropReason::Deleted), 1);
        assert_eq!(drop_first(&store, 2, DropReason::Expired), 1);
        assert_eq!(
            drop_first(&store, 2, DropReason::Deleted),
            0,
            "it has gone already"
        );
        assert_eq!(
            drop_first(&store, 9, DropReason::Deleted),
            0,
            "there is no such entry"
        );
        let gone = |entry: &Entry, reason| {
            let items = vec![entry.items()[0].gone(reason)];
            WireEntry::from_parts(entry.header_bytes().clone(), &entry.signature(), items)
        };
        let left = [
            gone(&small, DropReason::Deleted),
            gone(&large, DropReason::Expired),
        ];
        assert_eq!(entries(&store), left);
        let after = store.snapshot(topic()).unwrap();
        assert_eq!(after.summary(), before.summary());
        assert_eq!(after.point(), before.point());
        assert!(store.check(&mut |_, _| {}).unwrap().is_clean());

        store.commit(&batch).unwrap();
        assert_eq!(
            entries(&store),
            left,
            "it is held: what comes again changes nothing"
        );
        let txn = store.begin_read().unwrap();
        let number = store.topic_number(&txn, &topic()).unwrap().unwrap();
        let place = ItemPlace {
            topic: number,
            lsn: Lsn::new(2),
            item: 0,
        };
        assert_eq!(ItemReader::open(&txn).unwrap().item(place).unwrap(), None);
    }
}
