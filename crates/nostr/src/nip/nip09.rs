//! NIP-09, deletion requests: <https://github.com/nostr-protocol/nips/blob/master/09.md>.

use crate::{
    event::Event,
    key::{EventId, PublicKey},
    kind::EventKind,
    tag::Address,
    time::Seconds,
};

/// One thing that a deletion request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// This event, if the signer may delete it ([`may_delete`]), whatever its time.
    Event(EventId),
    /// All versions of an address up to the time of the request. The address is the signer's own:
    /// others are left out.
    Address {
        /// Which one.
        address: Address,
        /// The last second that is deleted.
        until: Seconds,
    },
}

/// What an event asks to delete; nothing unless it is a deletion request (`NOS-23`).
pub fn deletions(event: &Event) -> Vec<Deletion> {
    if event.kind() != EventKind::DELETION {
        return Vec::new();
    }
    let ids = event
        .values("e")
        .filter_map(EventId::from_hex)
        .map(Deletion::Event);
    let addresses = event.values("a").filter_map(Address::from_text);
    let own = addresses.filter(|address| address.pubkey == event.pubkey());
    let until = event.created_at();
    ids.chain(own.map(|address| Deletion::Address { address, until }))
        .collect()
}

/// Whether a request by this key deletes the event (`NOS-23`): its signer's does, and for a gift
/// wrap, which is signed by a key that nobody keeps, its recipient's (NIP-59). Deletion requests
/// and requests to vanish are deleted by nobody.
pub fn may_delete(by: &PublicKey, target: &Event) -> bool {
    let lasting = [EventKind::DELETION, EventKind::VANISH].contains(&target.kind());
    !lasting && (target.pubkey() == *by || recipients(target).any(|recipient| recipient == *by))
}

/// Who else than its signer may delete an event: the recipients of a gift wrap.
pub fn recipients(event: &Event) -> impl Iterator<Item = PublicKey> + '_ {
    let wrapped = event.kind() == EventKind::GIFT_WRAP;
    event
        .values("p")
        .filter(move |_| wrapped)
        .filter_map(PublicKey::from_hex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// NOS-23.
    #[test]
    fn only_what_is_the_signers_own_is_deleted() {
        let (own, other) = (testing::pubkey(1), testing::pubkey(2));
        let mine = format!("30000:{own}:d");
        let theirs = format!("30000:{other}:d");
        let id = "ab".repeat(32);
        let tags: &[&[&str]] = &[&["e", &id], &["e", "x"], &["a", &mine], &["a", &theirs]];
        let request = testing::event(1, 20, 5, tags, "");
        let address = Address::from_text(&mine).unwrap();
        let until = request.created_at();
        let expected = vec![
            Deletion::Event(EventId::from_hex(&id).unwrap()),
            Deletion::Address { address, until },
        ];
        assert_eq!(deletions(&request), expected);
        assert_eq!(deletions(&testing::event(1, 20, 1, tags, "")), []);

        assert!(may_delete(&own, &testing::note(1, 1, "")));
        assert!(!may_delete(&other, &testing::note(1, 1, "")));
        assert!(
            !may_delete(&own, &request),
            "a deletion of a deletion has no effect"
        );
        let wrap = testing::event(3, 1, 1059, &[&["p", &own.to_string()]], "");
        assert!(may_delete(&own, &wrap) && !may_delete(&other, &wrap));
    }
}
