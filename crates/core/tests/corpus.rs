//! Replays the corpora of the fuzz targets that are about this crate.

#[path = "../../../tests/fuzz/src/vocabulary.rs"]
pub mod vocabulary;

#[path = "../../../tests/fuzz/src/replay.rs"]
pub mod replay;

use replay::replay;

#[test]
fn the_corpus_of_entry_holds() {
    replay("entry", vocabulary::entry);
}

#[test]
fn the_corpus_of_ticket_holds() {
    replay("ticket", vocabulary::ticket);
}

#[test]
fn the_corpus_of_control_holds() {
    replay("control", vocabulary::control);
}
