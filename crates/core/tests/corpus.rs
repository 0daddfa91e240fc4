//! Replays the corpora of the fuzz targets that are about this crate.

use std::{fs, path::PathBuf};

#[path = "../../../tests/fuzz/src/vocabulary.rs"]
pub mod vocabulary;

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
