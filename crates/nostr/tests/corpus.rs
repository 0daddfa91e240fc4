//! Replays the corpora of the fuzz targets that are about this crate.

#[path = "../../../tests/fuzz/src/nostr.rs"]
pub mod nostr;

#[path = "../../../tests/fuzz/src/replay.rs"]
pub mod replay;

use replay::replay;

#[test]
fn the_corpus_of_nostr_event_holds() {
    replay("nostr-event", nostr::event);
}

#[test]
fn the_corpus_of_nostr_filter_holds() {
    replay("nostr-filter", nostr::filter);
}

#[test]
fn the_corpus_of_nostr_client_message_holds() {
    replay("nostr-client-message", nostr::client_message);
}

#[test]
fn the_corpus_of_nostr_relay_message_holds() {
    replay("nostr-relay-message", nostr::relay_message);
}

/// The frames of any comparison do: those of `reconcile`.
#[test]
fn the_corpus_of_range_holds_at_the_relay() {
    replay("range", nostr::negentropy);
}
