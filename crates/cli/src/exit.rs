//! Exit codes: one table, here and in `docs/reference/exit-codes.md`, kept equal by a test.

use std::process::ExitCode;

/// How the command ended, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Ok = 0,
    /// Something failed that has no code of its own.
    Failure = 1,
    /// The command line or the configuration is not valid.
    Usage = 2,
    /// The topic, node, file or ticket that was named does not exist.
    NotFound = 3,
    /// The command needs a node, or a running one, and there is none.
    NoNode = 4,
    /// The data directory cannot be used: damaged, of another version, or open elsewhere.
    Store = 5,
    /// History did not become complete: synced from a floor, degraded, failed, or diverged.
    Incomplete = 6,
    /// The running node did not accept the request: wrong token, or it is not this node's API.
    Denied = 7,
}

/// Every code with its name and meaning, as the reference shows them.
pub(crate) const TABLE: &[(Exit, &str, &str)] = &[
    (Exit::Ok, "ok", "done"),
    (
        Exit::Failure,
        "failure",
        "something failed that has no code of its own",
    ),
    (
        Exit::Usage,
        "usage",
        "the command line or the configuration is not valid",
    ),
    (
        Exit::NotFound,
        "not found",
        "the topic, node, file or ticket that was named does not exist",
    ),
    (
        Exit::NoNode,
        "no node running",
        "the command needs a running node, or any node in the data directory, and there is none",
    ),
    (
        Exit::Store,
        "store",
        "the data directory cannot be used: damaged, of another version, or open elsewhere",
    ),
    (
        Exit::Incomplete,
        "incomplete",
        "history did not become complete: synced from a floor, degraded, failed, or diverged",
    ),
    (
        Exit::Denied,
        "denied",
        "the running node did not accept the request: wrong token, or not this node's API",
    ),
];

/// The table as the help shows it.
pub(crate) fn help() -> String {
    let rows = TABLE
        .iter()
        .map(|(exit, _, meaning)| format!("  {}  {meaning}", *exit as u8));
    format!("Exit codes:\n{}", rows.collect::<Vec<_>>().join("\n"))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_shows_this_table() {
        let page = include_str!("../../../docs/reference/exit-codes.md");
        for (exit, name, meaning) in TABLE {
            let row = format!("| {} | {name} | {meaning} |", *exit as u8);
            assert!(
                page.contains(&row),
                "docs/reference/exit-codes.md lacks: {row}"
            );
        }
    }

    #[test]
    fn codes_are_the_rows_in_order() {
        let codes: Vec<u8> = TABLE.iter().map(|(exit, ..)| *exit as u8).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
