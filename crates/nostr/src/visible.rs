//! The one rule of visibility: for `REQ`, live events, `COUNT` and negentropy alike (`NOS-27`).

use crate::{
    effect::Effects,
    event::Event,
    kind::EventKind,
    nip::{nip01::Version, nip09, nip17::Viewer, nip40},
    reason::{Prefix, Reason},
    time::Seconds,
};

/// Why an event is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hidden {
    /// Its signer, or who received it, asked for everything to be forgotten.
    Vanished,
    /// Who may delete it did.
    Deleted,
    /// A newer version of its address is known.
    Replaced,
    /// Its time is over.
    Expired,
    /// It is for others.
    Gated,
}

impl Hidden {
    /// Whether it stays hidden whatever comes and whoever asks, so that it may be dropped. Its
    /// effects on others must be kept.
    pub const fn is_for_good(self) -> bool {
        !matches!(self, Self::Gated)
    }

    /// What somebody is told who publishes the event (`NOS-32`).
    pub fn reason(self) -> Reason {
        let (prefix, sentence) = match self {
            Self::Vanished => (Prefix::Blocked, "its author asked to vanish from here"),
            Self::Deleted => (Prefix::Blocked, "its author deleted this event"),
            Self::Replaced => (Prefix::Blocked, "a newer version of this event is held"),
            Self::Expired => (Prefix::Invalid, "the event has expired"),
            Self::Gated => (Prefix::Restricted, "the event is for others"),
        };
        Reason::new(prefix, sentence)
    }
}

/// Why the event is hidden from everybody, if it is: a function of the set of events, and of the
/// time (`NOS-27`, `NOS-29`).
///
/// # Errors
/// When the effects cannot be read.
pub fn hidden_from_all<E: Effects>(
    event: &Event,
    effects: &E,
    now: Seconds,
) -> Result<Option<Hidden>, E::Error> {
    if vanished(event, effects)? {
        return Ok(Some(Hidden::Vanished));
    }
    if deleted(event, effects)? {
        return Ok(Some(Hidden::Deleted));
    }
    if replaced(event, effects)? {
        return Ok(Some(Hidden::Replaced));
    }
    Ok(nip40::is_expired(event, now).then_some(Hidden::Expired))
}

/// Why the event is hidden from a viewer, if it is.
///
/// # Errors
/// When the effects cannot be read.
pub fn hidden<E: Effects>(
    event: &Event,
    effects: &E,
    now: Seconds,
    viewer: &Viewer,
) -> Result<Option<Hidden>, E::Error> {
    if let Some(hidden) = hidden_from_all(event, effects, now)? {
        return Ok(Some(hidden));
    }
    Ok((!viewer.sees(event)).then_some(Hidden::Gated))
}

/// Requests to vanish stay: they are what keeps the rest away.
fn vanished<E: Effects>(event: &Event, effects: &E) -> Result<bool, E::Error> {
    if event.kind() == EventKind::VANISH {
        return Ok(false);
    }
    for key in std::iter::once(event.pubkey()).chain(nip09::recipients(event)) {
        if effects
            .vanished_until(&key)?
            .is_some_and(|until| event.created_at() <= until)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn deleted<E: Effects>(event: &Event, effects: &E) -> Result<bool, E::Error> {
    for key in std::iter::once(event.pubkey()).chain(nip09::recipients(event)) {
        let asked = effects.deletes_event(&event.id(), &key)?;
        if asked && nip09::may_delete(&key, event) {
            return Ok(true);
        }
    }
    let Some(address) = event.address() else {
        return Ok(false);
    };
    let until = effects.address_deleted_until(&address)?;
    Ok(until.is_some_and(|until| event.created_at() <= until))
}

fn replaced<E: Effects>(event: &Event, effects: &E) -> Result<bool, E::Error> {
    let Some(address) = event.address() else {
        return Ok(false);
    };
    let newest = effects.newest(&address)?;
    Ok(newest.is_some_and(|newest| newest.beats(&Version::of(event))))
}
