//! What events do to other events, as facts that only grow.
//!
//! An event replaces older versions of its address, asks for deletions, or asks to vanish. Each
//! of these is a fact with a join: the better version, the later bound, the union of ids. So what
//! is known after a set of events does not depend on the order in which they came (`NOS-29`),
//! and an effect lasts even where the event that had it is itself hidden: a store that drops a
//! hidden event keeps its effects.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    error::Error,
};

use crate::{
    event::Event,
    key::{EventId, PublicKey},
    nip::{
        nip01::Version,
        nip09::{self, Deletion},
        nip42::RelayUrls,
        nip62,
    },
    tag::Address,
    time::Seconds,
};

/// One thing that an event does to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Versions of the address that this one beats are replaced (`NOS-22`).
    Replaces {
        /// Which address.
        address: Address,
        /// The version.
        version: Version,
    },
    /// The event with this id is deleted, if the key may delete it (`NOS-23`).
    DeletesEvent {
        /// Which event.
        id: EventId,
        /// Who asks.
        by: PublicKey,
    },
    /// Versions of the address up to this second are deleted (`NOS-23`).
    DeletesAddress {
        /// Which address; its owner asks.
        address: Address,
        /// The last second deleted.
        until: Seconds,
    },
    /// Events of the key up to this second are gone (`NOS-28`).
    Vanishes {
        /// Whose.
        pubkey: PublicKey,
        /// The last second gone.
        until: Seconds,
    },
}

/// Everything that an event does to others, on a relay with these URLs.
pub fn effects(event: &Event, urls: &RelayUrls) -> Vec<Effect> {
    let by = event.pubkey();
    let version = Version::of(event);
    let replaces = event
        .address()
        .map(|address| Effect::Replaces { address, version });
    let deletes = nip09::deletions(event)
        .into_iter()
        .map(|deletion| match deletion {
            Deletion::Event(id) => Effect::DeletesEvent { id, by },
            Deletion::Address { address, until } => Effect::DeletesAddress { address, until },
        });
    let vanishes = nip62::vanish(event, urls).map(|vanish| Effect::Vanishes {
        pubkey: vanish.pubkey,
        until: vanish.until,
    });
    replaces
        .into_iter()
        .chain(deletes)
        .chain(vanishes)
        .collect()
}

/// The effects of all events of a set, as far as an event's fate depends on them.
pub trait Effects {
    /// What can go wrong when reading.
    type Error: Error + 'static;

    /// The best version of an address.
    ///
    /// # Errors
    /// When the facts cannot be read.
    fn newest(&self, address: &Address) -> Result<Option<Version>, Self::Error>;

    /// Whether this key has asked to delete the event.
    ///
    /// # Errors
    /// When the facts cannot be read.
    fn deletes_event(&self, id: &EventId, by: &PublicKey) -> Result<bool, Self::Error>;

    /// The last second up to which versions of an address are deleted.
    ///
    /// # Errors
    /// When the facts cannot be read.
    fn address_deleted_until(&self, address: &Address) -> Result<Option<Seconds>, Self::Error>;

    /// The last second up to which events of a key are gone.
    ///
    /// # Errors
    /// When the facts cannot be read.
    fn vanished_until(&self, pubkey: &PublicKey) -> Result<Option<Seconds>, Self::Error>;
}

/// The effects of a set in memory: what a batch needs, and the oracle of an index on disk.
///
/// It holds what was recorded and is as large as that; who records bounds it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    newest: BTreeMap<Address, Version>,
    deleted_events: BTreeSet<(EventId, PublicKey)>,
    deleted_addresses: BTreeMap<Address, Seconds>,
    vanished: BTreeMap<PublicKey, Seconds>,
}

impl Ledger {
    /// Takes in one effect.
    pub fn record(&mut self, effect: Effect) {
        match effect {
            Effect::Replaces { address, version } => {
                let best = self.newest.entry(address).or_insert(version);
                *best = (*best).min(version);
            }
            Effect::DeletesEvent { id, by } => {
                self.deleted_events.insert((id, by));
            }
            Effect::DeletesAddress { address, until } => {
                let latest = self.deleted_addresses.entry(address).or_insert(until);
                *latest = (*latest).max(until);
            }
            Effect::Vanishes { pubkey, until } => {
                let latest = self.vanished.entry(pubkey).or_insert(until);
                *latest = (*latest).max(until);
            }
        }
    }

    /// Takes in everything that an event does.
    pub fn record_event(&mut self, event: &Event, urls: &RelayUrls) {
        for effect in effects(event, urls) {
            self.record(effect);
        }
    }

    /// Takes in what another ledger knows.
    pub fn join(&mut self, other: &Self) {
        let replaces = other
            .newest
            .iter()
            .map(|(address, version)| Effect::Replaces {
                address: address.clone(),
                version: *version,
            });
        let events = other
            .deleted_events
            .iter()
            .map(|(id, by)| Effect::DeletesEvent { id: *id, by: *by });
        let addresses =
            other
                .deleted_addresses
                .iter()
                .map(|(address, until)| Effect::DeletesAddress {
                    address: address.clone(),
                    until: *until,
                });
        let vanished = other
            .vanished
            .iter()
            .map(|(pubkey, until)| Effect::Vanishes {
                pubkey: *pubkey,
                until: *until,
            });
        let all = replaces.chain(events).chain(addresses).chain(vanished);
        all.for_each(|effect| self.record(effect));
    }
}

impl Effects for Ledger {
    type Error = Infallible;

    fn newest(&self, address: &Address) -> Result<Option<Version>, Infallible> {
        Ok(self.newest.get(address).copied())
    }

    fn deletes_event(&self, id: &EventId, by: &PublicKey) -> Result<bool, Infallible> {
        Ok(self.deleted_events.contains(&(*id, *by)))
    }

    fn address_deleted_until(&self, address: &Address) -> Result<Option<Seconds>, Infallible> {
        Ok(self.deleted_addresses.get(address).copied())
    }

    fn vanished_until(&self, pubkey: &PublicKey) -> Result<Option<Seconds>, Infallible> {
        Ok(self.vanished.get(pubkey).copied())
    }
}
