//! Who may come in: so many in all, so many from one address.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::quota::Place;

/// Counts who is in.
#[derive(Debug)]
pub(crate) struct Door {
    connections_max: usize,
    per_ip_max: usize,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    all: usize,
    by_place: BTreeMap<Place, usize>,
}

/// Somebody who is in, until it is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    door: Arc<Door>,
    place: Place,
}

/// Why somebody may not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// There is no room for anybody.
    All,
    /// There is none for this address.
    Ip,
}

impl Door {
    /// Nobody is in.
    pub(crate) fn new(connections_max: usize, per_ip_max: usize) -> Arc<Self> {
        Arc::new(Self {
            connections_max,
            per_ip_max,
            inside: Mutex::default(),
        })
    }

    /// Lets somebody in.
    pub(crate) fn enter(self: &Arc<Self>, ip: IpAddr) -> Result<Guest, Full> {
        let place = Place::of(ip);
        let mut inside = self.lock();
        if inside.all >= self.connections_max {
            return Err(Full::All);
        }
        let own = inside.by_place.entry(place).or_default();
        // On loopback is a proxy for all its clients, or the operator.
        if *own >= self.per_ip_max && !place.is_here() {
            return Err(Full::Ip);
        }
        *own += 1;
        inside.all += 1;
        drop(inside);
        Ok(Guest {
            door: Arc::clone(self),
            place,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Where it comes from.
    pub(crate) fn place(&self) -> Place {
        self.place
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut inside = self.door.lock();
        inside.all -= 1;
        if let Some(own) = inside.by_place.get_mut(&self.place) {
            *own -= 1;
            if *own == 0 {
                inside.by_place.remove(&self.place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_share_and_all_have_a_bound() {
        let door = Door::new(4, 2);
        let ip = |n: u8| IpAddr::from([192, 0, 2, n]);
        let first = door.enter(ip(1)).unwrap();
        let _second = door.enter(ip(1)).unwrap();
        assert_eq!(door.enter(ip(1)).unwrap_err(), Full::Ip);
        let mapped = "::ffff:192.0.2.1".parse().unwrap();
        assert_eq!(
            door.enter(mapped).unwrap_err(),
            Full::Ip,
            "the same address"
        );
        let _other = [door.enter(ip(2)).unwrap(), door.enter(ip(3)).unwrap()];
        assert_eq!(door.enter(ip(4)).unwrap_err(), Full::All);
        drop(first);
        let again = door.enter(ip(1));
        assert!(again.is_ok());
        assert_eq!(door.lock().by_place.len(), 3);
    }

    #[test]
    fn a_proxy_on_this_machine_has_the_share_of_all() {
        let door = Door::new(4, 2);
        let guests: Vec<_> = (0..4).map(|_| door.enter([127, 0, 0, 1].into())).collect();
        assert!(guests.iter().all(Result::is_ok));
    }
}
