//! Replaying a committed corpus with the body of its target, as the ordinary tests of a crate do.

use std::{fs, path::PathBuf};

/// The folder of a target's corpus, from the crate that includes this file.
#[must_use]
pub fn corpus(target: &str) -> PathBuf {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus");
    fuzz.join(target)
}

/// Runs the body on every file of the corpus, and names each first.
///
/// # Panics
/// If the body does, or there is no corpus.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test reads its corpus, and names the file that fails"
)]
pub fn replay(target: &str, body: fn(&[u8])) {
    let files = fs::read_dir(corpus(target)).expect("the corpus is in the repository");
    let mut replayed = 0;
    for file in files {
        let path = file.expect("a name").path();
        println!("{}", path.display());
        body(&fs::read(path).expect("a file"));
        replayed += 1;
    }
    assert!(replayed > 0);
}
