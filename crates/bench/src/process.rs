//! What the operating system says of this process.

use std::{fs, time::Duration};

/// Resident memory in bytes; 0 where the system does not tell.
pub(crate) fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line
        .and_then(|line| line.split_whitespace().nth(1))
        .and_then(|n| n.parse().ok());
    kib.unwrap_or(0_u64) * 1024
}

/// CPU time of this process so far, user and system.
pub(crate) fn cpu_time() -> Duration {
    cpu_time_of("self")
}

/// Anonymous memory of a process in bytes; 0 where the system does not tell.
pub(crate) fn anonymous_bytes_of(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kib = line
        .and_then(|line| line.split_whitespace().nth(1))
        .and_then(|n| n.parse().ok());
    kib.unwrap_or(0_u64) * 1024
}

/// The same of any process.
pub(crate) fn cpu_time_of(process: &str) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let field = |n: usize| {
        after_name
            .split_whitespace()
            .nth(n)
            .and_then(|t| t.parse::<u64>().ok())
            .unwrap_or(0)
    };
    // Fields 14 and 15 of proc(5), counted from the state that follows the name; in hundredths.
    Duration::from_millis((field(11) + field(12)) * 10)
}
