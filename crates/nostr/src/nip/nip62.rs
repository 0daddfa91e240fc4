//! NIP-62, requests to vanish: <https://github.com/nostr-protocol/nips/blob/master/62.md>.

use super::nip42::RelayUrls;
use crate::{event::Event, key::PublicKey, kind::EventKind, time::Seconds};

/// The value of a `relay` tag that means every relay.
const ALL_RELAYS: &str = "ALL_RELAYS";

/// Everything of a key up to a second is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vanish {
    /// Whose.
    pub pubkey: PublicKey,
    /// The last second that goes.
    pub until: Seconds,
}

/// What an event asks to vanish, if it is a request that names all relays or one of ours
/// (`NOS-28`). A request that names others only is kept like any event and has no effect here.
pub fn vanish(event: &Event, urls: &RelayUrls) -> Option<Vanish> {
    let named = |url: &str| url == ALL_RELAYS || urls.contain(url);
    let asks = event.kind() == EventKind::VANISH && event.values("relay").any(named);
    asks.then(|| Vanish {
        pubkey: event.pubkey(),
        until: event.created_at(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nip::nip42::RelayUrl, testing};

    /// NOS-28.
    #[test]
    fn only_requests_that_name_us_count() {
        let urls: RelayUrls = RelayUrl::parse("wss://us").into_iter().collect();
        let asks = |kind, url: &str| {
            vanish(&testing::event(1, 9, kind, &[&["relay", url]], ""), &urls).is_some()
        };
        assert!(asks(62, "ALL_RELAYS") && asks(62, "wss://US:443/"));
        assert!(!asks(62, "all_relays") && !asks(62, "wss://them") && !asks(1, "ALL_RELAYS"));
    }
}
