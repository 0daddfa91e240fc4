//! What a command says when it fails: what failed, why, what to do next, in one short paragraph.

use std::fmt;

use crate::exit::Exit;

/// A failed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    what: String,
    why: Option<String>,
    next: Option<String>,
}

/// What a command returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure that is described by `what`: a sentence without its full stop.
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            why: None,
            next: None,
        }
    }

    /// Something that has no code of its own.
    pub(crate) fn other(what: impl Into<String>) -> Self {
        Self::new(Exit::Failure, what)
    }

    /// Adds the cause.
    #[must_use]
    pub(crate) fn because(mut self, why: impl fmt::Display) -> Self {
        self.why = Some(why.to_string());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(why) = &self.why {
            write!(f, ": {}", why.trim_end_matches('.'))?;
        }
        f.write_str(".")?;
        match &self.next {
            Some(next) if next.ends_with('?') => write!(f, " {next}"),
            Some(next) => write!(f, " {}.", next.trim_end_matches('.')),
            None => Ok(()),
        }
    }
}

/// A reader of our output has gone: not a fault of the command.
pub(crate) fn is_closed_pipe(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_one_paragraph() {
        let failure = Failure::new(Exit::NotFound, "cannot read notes.jsonl")
            .because("no such file")
            .next("Check the path");
        assert_eq!(
            failure.to_string(),
            "cannot read notes.jsonl: no such file. Check the path."
        );
        assert_eq!(Failure::other("it broke").to_string(), "it broke.");
    }
}
