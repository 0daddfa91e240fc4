//! What of the log may go: texts of events that are hidden for good (`NOS-113`).

use osier_core::DropReason;
use osier_nostr::{
    Effects, Event, EventId, EventKind, Hidden, hidden_from_all, nip::nip01::Version,
};
use osier_store::ItemPlace;
use redb::{ReadableTable, ReadableTableMetadata};

use crate::{
    apply::Writer,
    error::EventDbError,
    fact,
    index::EventIndex,
    key, limit, meta,
    row::{EventRow, damaged},
    schema,
};

/// Why the text of a hidden event is let go.
fn reason(hidden: Hidden) -> Option<DropReason> {
    match hidden {
        Hidden::Vanished => Some(DropReason::Vanished),
        Hidden::Deleted => Some(DropReason::Deleted),
        Hidden::Replaced => Some(DropReason::Replaced),
        Hidden::Expired => Some(DropReason::Expired),
        // Hidden from some, and not for good.
        Hidden::Gated => None,
    }
}

/// Whether a node that never sees the text of this hidden event knows all the same what it does to
/// others: then every node comes to the same set. What is kept says it: a newer version, or a
/// request that takes all versions as old as this one.
fn is_spoken_for<F: Effects>(event: &Event, facts: &F) -> Result<bool, F::Error> {
    if matches!(event.kind(), EventKind::DELETION | EventKind::VANISH) {
        return Ok(false);
    }
    let Some(address) = event.address() else {
        return Ok(true);
    };
    let at = event.created_at();
    let newest = facts.newest(&address)?;
    let newer = newest.is_some_and(|newest| newest != Version::of(event));
    Ok(newer
        || facts
            .address_deleted_until(&address)?
            .is_some_and(|until| until >= at)
        || facts
            .vanished_until(&event.pubkey())?
            .is_some_and(|until| until >= at))
}

impl Writer<'_> {
    /// An event that is in the index is hidden, and is about to leave it: so may its text, wherever
    /// it stands.
    pub(crate) fn doom(&mut self, event: &Event, hidden: Hidden) -> Result<(), redb::Error> {
        let row = self.tables.event.get(event.id().as_bytes())?;
        let row = row.map(|row| EventRow::decode(row.value())).transpose()?;
        let first = row.map(|row| row.place);
        let places = first.into_iter().chain(self.copies(&event.id())?);
        self.doom_at(event, hidden, &places.collect::<Vec<_>>())
    }

    /// The same for one that never came in.
    pub(crate) fn doom_at(
        &mut self,
        event: &Event,
        hidden: Hidden,
        places: &[ItemPlace],
    ) -> Result<(), redb::Error> {
        let spoken_for = is_spoken_for(event, &fact::written(&self.tables))?;
        let Some(reason) = reason(hidden).filter(|_| spoken_for) else {
            return Ok(());
        };
        for place in places {
            let why = [reason.to_byte()];
            self.tables.doomed.insert(&key::place(place), &why)?;
        }
        Ok(())
    }

    fn copies(&self, id: &EventId) -> Result<Vec<ItemPlace>, redb::Error> {
        let (from, to) = crate::apply::copies(id);
        let mut places = Vec::new();
        for row in self.tables.copy.range::<&[u8; 45]>(&from..=&to)? {
            places.push(key::of_copy(row?.0.value()));
        }
        Ok(places)
    }

    /// Why an event is hidden for good, if it is.
    pub(crate) fn hidden(&self, event: &Event) -> Result<Option<Hidden>, redb::Error> {
        Ok(hidden_from_all(
            event,
            &fact::written(&self.tables),
            self.purged,
        )?)
    }
}

impl EventIndex {
    /// Lets the texts of events that are hidden for good leave the log, in steps of one transaction
    /// each; how many went. Their hashes stay, and why they went.
    ///
    /// # Errors
    /// Our disk is at fault.
    pub fn drop_hidden(&self) -> Result<u64, EventDbError> {
        let doing = "drop hidden events of";
        let mut dropped = 0;
        loop {
            let view = self.view()?;
            let nothing = view.inner().tables.doomed.is_empty();
            if nothing.map_err(|cause| EventDbError::new(doing, redb::Error::from(cause)))? {
                return Ok(dropped);
            }
            drop(view);
            let step = self.store.drop_items(doing, |txn, _| {
                if !meta::is_current(txn, &self.db.state)? {
                    return Ok(Vec::new());
                }
                let mut table = txn.open_table(schema::doomed)?;
                let mut chosen = Vec::new();
                for row in table.iter()?.take(limit::DROP_STEP_ITEMS) {
                    let (place, why) = row?;
                    let [why] = *why.value();
                    let why = DropReason::from_byte(why);
                    let why = why.ok_or_else(|| damaged("why an event goes"))?;
                    chosen.push((key::of_place(place.value()), why));
                }
                for (place, _) in &chosen {
                    table.remove(&key::place(place))?;
                }
                Ok(chosen)
            });
            dropped += step.map_err(|cause| EventDbError::new(doing, cause))?;
        }
    }
}
