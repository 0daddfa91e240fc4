//! NIP-70, protected events: <https://github.com/nostr-protocol/nips/blob/master/70.md>.

use std::collections::BTreeSet;

use crate::{
    event::{Event, UnverifiedEvent},
    key::PublicKey,
    kind::EventKind,
    reason::{Prefix, Reason},
    tag::Tag,
};

/// Whether only its author may publish the event: it has a tag of the one string `-`.
pub fn is_protected(event: &Event) -> bool {
    has_mark(event.tags())
}

fn has_mark(tags: &[Tag]) -> bool {
    tags.iter()
        .any(|tag| tag.name() == "-" && tag.value().is_none())
}

/// Whether a client with these keys may publish the event (`NOS-31`): a protected one only as
/// its author, and no repost that embeds a protected one.
///
/// # Errors
/// The reason to give.
pub fn check(event: &Event, keys: &BTreeSet<PublicKey>) -> Result<(), Reason> {
    if embeds_protected(event) {
        let sentence = "a repost must not embed a protected event";
        return Err(Reason::new(Prefix::Blocked, sentence));
    }
    if !is_protected(event) || keys.contains(&event.pubkey()) {
        return Ok(());
    }
    let prefix = if keys.is_empty() {
        Prefix::AuthRequired
    } else {
        Prefix::Restricted
    };
    Err(Reason::new(
        prefix,
        "this event may only be published by its author",
    ))
}

fn embeds_protected(event: &Event) -> bool {
    let reposts = [EventKind::REPOST, EventKind::GENERIC_REPOST].contains(&event.kind());
    let embedded = reposts.then(|| UnverifiedEvent::parse(event.content()));
    // Only what it says of itself is looked at; nothing is made of it.
    embedded.is_some_and(|read| read.is_ok_and(|inner| has_mark(inner.claimed_tags())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// NOS-31.
    #[test]
    fn protected_events_come_from_their_author_alone() {
        let event = testing::event(1, 1, 1, &[&["-"]], "");
        let keys = |all: &[u8]| {
            all.iter()
                .map(|n| testing::pubkey(*n))
                .collect::<BTreeSet<_>>()
        };
        let prefix = |event: &Event, all: &[u8]| check(event, &keys(all)).err()?.prefix();
        assert_eq!(prefix(&event, &[]), Some(Prefix::AuthRequired));
        assert_eq!(prefix(&event, &[2]), Some(Prefix::Restricted));
        assert_eq!(prefix(&event, &[2, 1]), None);
        assert!(!is_protected(&testing::event(1, 1, 1, &[&["-", "x"]], "")));
        let repost = testing::event(1, 2, 6, &[], event.json());
        assert_eq!(prefix(&repost, &[1]), Some(Prefix::Blocked));
        assert_eq!(prefix(&testing::event(1, 2, 6, &[], "{"), &[]), None);
    }
}
