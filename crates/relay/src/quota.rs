//! How many events one key, and one address, may publish (`NOS-35`): shared by all connections.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
};

use osier::Instant;
use osier_nostr::{Prefix, PublicKey, Quotas, Reason};

use crate::{limit, rates::Rates};

/// Who publishes from here: an IPv4 address, or a network of IPv6 as one customer gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(IpAddr);

impl Place {
    /// The place of an address.
    pub(crate) fn of(ip: IpAddr) -> Self {
        Self(match ip.to_canonical() {
            IpAddr::V6(ip) if !ip.is_loopback() => {
                let [a, b, c, d, ..] = ip.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            ip => ip,
        })
    }

    /// Whether it is this machine: a proxy for all its clients, or the operator.
    pub(crate) fn is_here(self) -> bool {
        self.0.is_loopback()
    }
}

/// What is used of the quotas of keys and addresses.
#[derive(Debug)]
pub(crate) struct Quota {
    keys: Option<Mutex<Rates<PublicKey>>>,
    places: Option<Mutex<Rates<Place>>>,
}

impl Quota {
    /// Nothing is used.
    pub(crate) fn new(quotas: &Quotas) -> Self {
        fn table<K: Ord>(minute: Option<u32>) -> Option<Mutex<Rates<K>>> {
            let rate = minute.map(Quotas::rate)?;
            Some(Mutex::new(Rates::new(rate, limit::QUOTA_HOLDERS_MAX)))
        }
        Self {
            keys: table(quotas.events_per_key),
            places: table(quotas.events_per_address),
        }
    }

    /// Why one more event from here is not even checked; none if it may be.
    pub(crate) fn of_place(&self, place: Place, now: Instant) -> Option<Reason> {
        let places = self.places.as_ref().filter(|_| !place.is_here())?;
        let sentence = "too many events from your address in a minute; see NIP-11";
        refusal(places, place, now, sentence)
    }

    /// Why one more event of this signer is not taken; none if it may be. Only for verified ones,
    /// or anybody could use up what another has.
    pub(crate) fn of_key(&self, key: PublicKey, now: Instant) -> Option<Reason> {
        let keys = self.keys.as_ref()?;
        let sentence = "too many events of this key in a minute; see NIP-11";
        refusal(keys, key, now, sentence)
    }
}

fn refusal<K: Ord>(
    rates: &Mutex<Rates<K>>,
    who: K,
    now: Instant,
    sentence: &str,
) -> Option<Reason> {
    let mut rates = rates.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = rates.take(who, now);
    (!taken).then(|| Reason::new(Prefix::RateLimited, sentence))
}

#[cfg(test)]
mod tests {
    use osier::Duration;
    use osier_nostr::testing;

    use super::*;

    fn quota() -> Quota {
        Quota::new(&Quotas {
            events_per_key: Some(60),
            events_per_address: Some(120),
            ..Quotas::default()
        })
    }

    fn at(ms: u64) -> Instant {
        Instant::START.after(Duration::from_millis(ms))
    }

    /// NOS-35.
    #[test]
    fn a_key_and_an_address_have_shares_of_their_own() {
        let quota = quota();
        let key = |n, ms| quota.of_key(testing::pubkey(n), at(ms)).is_none();
        assert_eq!((0..100).filter(|_| key(1, 5)).count(), 60);
        assert!(key(2, 5) && !key(1, 900) && key(1, 1_005) && !key(1, 1_006));
        let place = |ip: &str| {
            quota
                .of_place(Place::of(ip.parse().unwrap()), at(5))
                .is_none()
        };
        assert_eq!((0..200).filter(|_| place("192.0.2.1")).count(), 120);
        assert!(place("192.0.2.2") && !place("::ffff:192.0.2.1"));
        let reason = quota
            .of_place(Place::of([192, 0, 2, 1].into()), at(5))
            .unwrap();
        assert_eq!(reason.prefix(), Some(Prefix::RateLimited));
    }

    #[test]
    fn who_has_a_network_of_ipv6_has_one_share() {
        let quota = quota();
        let place = |n: u16| {
            let ip = Ipv6Addr::new(0x2001, 0xdb8, 1, 2, n, 0, 0, 1);
            quota.of_place(Place::of(ip.into()), at(5)).is_none()
        };
        assert_eq!((0..200).filter(|n| place(*n)).count(), 120);
        let here = || quota.of_place(Place::of(Ipv6Addr::LOCALHOST.into()), at(5));
        assert!(
            (0..200).all(|_| here().is_none()),
            "a proxy, or the operator"
        );
        assert!(Quota::new(&Quotas::default()).keys.is_none());
    }
}
