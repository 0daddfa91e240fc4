//! Replays the corpora of the fuzz targets that are about this crate.

use std::{fs, path::PathBuf};

#[path = "../../../tests/fuzz/src/nostr.rs"]
pub mod nostr;

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test reads its corpus, and names the file that fails"
)]
fn replay(target: &str, body: fn(&[u8])) {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus");
    let files = fs::read_dir(fuzz.join(target)).expect("the corpus is in the repository");
    let mut replayed = 0;
    for file in files {
        let path = file.expect("a name").path();
        println!("{}", path.display());
        body(&fs::read(path).expect("a file"));
        replayed += 1;
    }
    assert!(replayed > 0);
}

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
