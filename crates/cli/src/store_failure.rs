//! A failure of the `osier` crate in the words and exit codes of the command line.

use osier::{Error, Fault};

use crate::{exit::Exit, failure::Failure};

/// The failure of a call.
pub(crate) fn from(error: &Error) -> Failure {
    let exit = if error.is_store() {
        Exit::Store
    } else {
        match error.fault() {
            Fault::Caller => Exit::Usage,
            Fault::Unknown => Exit::NotFound,
            Fault::Busy | Fault::Local => Exit::Failure,
        }
    };
    let failure = Failure::new(exit, error.to_string());
    match error.hint() {
        "" => failure,
        hint => failure.next(hint),
    }
}
