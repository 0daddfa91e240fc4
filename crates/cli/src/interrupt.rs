//! Ctrl-C in commands that follow something that has no end.

use std::{process, thread};

use tokio::{runtime::Builder, signal};

/// From here on Ctrl-C ends the process with 0: to stop is what it is there for.
///
/// Such a command waits for the next line of an answer, and holds no store, so nothing is lost.
pub(crate) fn ends_well() {
    thread::spawn(|| {
        // Without a handler the signal itself ends the process.
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
            return;
        };
        if runtime.block_on(signal::ctrl_c()).is_ok() {
            process::exit(0);
        }
    });
}
