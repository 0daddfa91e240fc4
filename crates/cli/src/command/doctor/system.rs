//! The program, the clock, the limits of the process.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use super::{Finding, Verdict};

/// No clock of a working machine is before this program was written: 2026-01-01.
const EARLIEST: Duration = Duration::from_hours(490_896);

/// A hundred connections with their sockets, the store, and room.
const FILES_MIN: u64 = 1024;

pub(crate) fn version() -> Finding {
    Finding::ok("version", concat!("osier ", env!("CARGO_PKG_VERSION")))
}

/// Entries carry their author's clock as a hint; a wrong one puts them in the wrong place.
pub(crate) fn clock() -> Finding {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    judge_clock(since)
}

fn judge_clock(since_epoch: Duration) -> Finding {
    let ms = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
    let time = chrono::DateTime::from_timestamp_millis(ms);
    let seen = time.map_or_else(|| "beyond all dates".to_owned(), |time| time.to_rfc3339());
    if since_epoch >= EARLIEST && time.is_some() {
        return Finding::ok("clock", seen);
    }
    let hint = "the clock is wrong, so new entries would sort before all others; set it, or start \
                a time service such as systemd-timesyncd or chrony";
    Finding::new("clock", Verdict::Bad, seen, hint)
}

/// How many files and sockets this process may have open.
pub(crate) fn file_limit() -> Finding {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    match soft_file_limit(&limits) {
        None => Finding::ok("open files", "this system does not tell its limit"),
        Some(limit) if limit >= FILES_MIN => Finding::ok("open files", format!("up to {limit}")),
        Some(limit) => {
            let hint = format!("raise it with `ulimit -n {FILES_MIN}`, or LimitNOFILE in systemd");
            Finding::new(
                "open files",
                Verdict::Warn,
                format!("only up to {limit}"),
                hint,
            )
        }
    }
}

fn soft_file_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))?;
    let soft = line.split_whitespace().nth(3)?;
    if soft == "unlimited" {
        Some(u64::MAX)
    } else {
        soft.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_at_the_epoch_is_wrong() {
        assert_eq!(judge_clock(Duration::ZERO).verdict, Verdict::Bad);
        assert_eq!(judge_clock(EARLIEST).verdict, Verdict::Ok);
    }

    #[test]
    fn the_soft_limit_is_read() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
                      Max open files            256                  4096                 files\n";
        assert_eq!(soft_file_limit(limits), Some(256));
        assert_eq!(soft_file_limit(""), None);
    }
}
