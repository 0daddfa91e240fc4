//! What events do to others, computed from the log alone.

use std::collections::{BTreeMap, BTreeSet};

use osier_nostr::{
    Effect, Event, PublicKey, Seconds, effects,
    nip::{nip01::Version, nip42::RelayUrls},
};
use redb::ReadableTableMetadata;

use super::CheckReport;
use crate::{
    key::{self, Facet},
    row,
    view::Inner,
};

/// The facts that the log holds.
#[derive(Debug, Default)]
pub(super) struct Right {
    newest: BTreeMap<Facet, Version>,
    deleted: BTreeSet<Facet>,
    deleted_address: BTreeMap<Facet, Seconds>,
    vanished: BTreeMap<PublicKey, Seconds>,
}

impl Right {
    /// Takes in what an event does.
    pub(super) fn record(&mut self, event: &Event, urls: &RelayUrls) {
        for effect in effects(event, urls) {
            match effect {
                Effect::Replaces { address, version } => {
                    let best = self.newest.entry(key::address(&address)).or_insert(version);
                    *best = (*best).min(version);
                }
                Effect::DeletesEvent { id, by } => {
                    self.deleted.insert(key::deletion(&id, &by));
                }
                Effect::DeletesAddress { address, until } => {
                    let of = self.deleted_address.entry(key::address(&address));
                    let last = of.or_insert(until);
                    *last = (*last).max(until);
                }
                Effect::Vanishes { pubkey, until } => {
                    let last = self.vanished.entry(pubkey).or_insert(until);
                    *last = (*last).max(until);
                }
            }
        }
    }

    /// Compares with what is stored. Where entries have been removed from the log, what they did
    /// stays (`NOS-29`): there may be more then, and stronger facts.
    pub(super) fn compare(
        &self,
        inner: &Inner,
        pruned: bool,
        report: &mut CheckReport,
    ) -> Result<(), redb::Error> {
        let tables = &inner.tables;
        for (address, right) in &self.newest {
            let row = tables
                .newest
                .get(address)?
                .map(|row| row::decode_version(row.value()));
            if !row.is_some_and(|row| row == *right || pruned && row.beats(right)) {
                report.expect("nostr_newest", "the best version", &row, &Some(*right));
            }
        }
        for deletion in &self.deleted {
            let row = tables.deleted.get(deletion)?.is_some();
            report.expect("nostr_deleted", "a deletion", &row, &true);
        }
        for (address, right) in &self.deleted_address {
            let row = tables
                .deleted_address
                .get(address)?
                .map(|row| row::decode_until(*row.value()));
            if !row.is_some_and(|row| row == *right || pruned && row > *right) {
                report.expect(
                    "nostr_deleted_address",
                    "the last second",
                    &row,
                    &Some(*right),
                );
            }
        }
        for (pubkey, right) in &self.vanished {
            let row = tables
                .vanished
                .get(pubkey.as_bytes())?
                .map(|row| row::decode_until(*row.value()));
            if !row.is_some_and(|row| row == *right || pruned && row > *right) {
                let what = format!("the last second of {pubkey:?}");
                report.expect("nostr_vanished", &what, &row, &Some(*right));
            }
        }
        if !pruned {
            self.compare_lengths(inner, report)?;
        }
        Ok(())
    }

    fn compare_lengths(&self, inner: &Inner, report: &mut CheckReport) -> Result<(), redb::Error> {
        let tables = &inner.tables;
        for (table, stored, right) in [
            ("nostr_newest", tables.newest.len()?, self.newest.len()),
            ("nostr_deleted", tables.deleted.len()?, self.deleted.len()),
            (
                "nostr_deleted_address",
                tables.deleted_address.len()?,
                self.deleted_address.len(),
            ),
            (
                "nostr_vanished",
                tables.vanished.len()?,
                self.vanished.len(),
            ),
        ] {
            report.expect(table, "number of rows", &stored, &(right as u64));
        }
        Ok(())
    }
}
