//! What a test runner's closing line says.

use std::{
    fmt,
    ops::{Add, AddAssign},
};

/// Tests that passed and tests that did not.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// Tests that ended well.
    pub(crate) passed: u64,
    /// Tests that failed, ran out of time, or could not be started.
    pub(crate) failed: u64,
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The runners whose closing lines we read.
///
/// Each reads only its own form: the output of a failed test may hold another runner's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    /// `Summary [ 1.2s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`
    Nextest,
    /// `test result: ok. 3 passed; 0 failed; 0 ignored; ...`
    Libtest,
    /// `3 passed, 0 failed`, alone on a line
    Plain,
    /// Node's own runner: `# pass 3`, `# fail 0` and `# cancelled 0`, a line each; the mark before
    /// the word depends on the reporter
    Node,
}

impl Runner {
    /// The count in `line`, if it is a closing line.
    pub(crate) fn read(self, line: &str) -> Option<Count> {
        let line = line.trim();
        match self {
            Self::Nextest => {
                let (head, parts) = line.split_once(" run: ")?;
                (head.starts_with("Summary") && head.contains(" test")).then_some(())?;
                Some(sum(parts.split(", ")))
            }
            Self::Libtest => {
                let (_, parts) = line.strip_prefix("test result: ")?.split_once(". ")?;
                Some(sum(parts.split("; ").take(2)))
            }
            Self::Node => {
                let mut words = line.split(' ');
                let (Some("#" | "\u{2139}"), Some(word), Some(number), None) =
                    (words.next(), words.next(), words.next(), words.next())
                else {
                    return None;
                };
                let number = number.parse().ok()?;
                match word {
                    "pass" => Some(Count {
                        passed: number,
                        failed: 0,
                    }),
                    // What was cut short or left for later has not passed.
                    "fail" | "cancelled" | "skipped" | "todo" => Some(Count {
                        passed: 0,
                        failed: number,
                    }),
                    _ => None,
                }
            }
            Self::Plain => {
                let mut parts = line.split(", ");
                let (passed, failed) = (parts.next()?, parts.next()?);
                let alone = number_of(passed, "passed").is_some()
                    && number_of(failed, "failed").is_some()
                    && parts.all(|part| number_of(part, "skipped").is_some());
                alone.then(|| sum([passed, failed].into_iter()))
            }
        }
    }
}

/// Adds up parts such as `3 passed (1 slow)`. What is neither passed nor skipped has failed.
fn sum<'a>(parts: impl Iterator<Item = &'a str>) -> Count {
    let mut count = Count::default();
    for (number, word) in parts.filter_map(|part| part.trim().split_once(' ')) {
        let number = number.parse().unwrap_or(0);
        match word.split(' ').next() {
            Some("passed") => count.passed += number,
            Some("skipped") => {}
            _ => count.failed += number,
        }
    }
    count
}

fn number_of(part: &str, word: &str) -> Option<u64> {
    part.strip_suffix(word)?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(passed: u64, failed: u64) -> Count {
        Count { passed, failed }
    }

    #[test]
    fn node() {
        let read = |line| Runner::Node.read(line);
        assert_eq!(read("# pass 12"), Some(count(12, 0)));
        assert_eq!(read("\u{2139} fail 1"), Some(count(0, 1)));
        assert_eq!(read("\u{2139} cancelled 2"), Some(count(0, 2)));
        assert_eq!(read("# skipped 2"), Some(count(0, 2)));
        for line in [
            "# tests 3",
            "pass 12",
            "# pass twelve",
            "# pass 1 2",
            "3 passed, 0 failed",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn nextest() {
        let read = |line| Runner::Nextest.read(line);
        let line = "     Summary [   0.021s] 12 tests run: 12 passed, 0 skipped";
        assert_eq!(read(line), Some(count(12, 0)));
        let line =
            "Summary [ 9s] 4/5 tests run: 1 passed (1 leaky), 2 failed, 1 timed out, 7 skipped";
        assert_eq!(read(line), Some(count(1, 3)));
        assert_eq!(
            read("Summary [ 9s] 1 test run: 1 passed, 0 skipped"),
            Some(count(1, 0))
        );
        assert_eq!(
            read("test result: FAILED. 0 passed; 1 failed; 0 ignored"),
            None
        );
    }

    #[test]
    fn libtest() {
        let read = |line| Runner::Libtest.read(line);
        assert_eq!(
            read("test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured"),
            Some(count(3, 0))
        );
        assert_eq!(
            read("test result: FAILED. 3 passed; 1 failed; 2 ignored"),
            Some(count(3, 1))
        );
        assert_eq!(read("running 3 tests"), None);
    }

    #[test]
    fn plain() {
        let read = |line| Runner::Plain.read(line);
        assert_eq!(read("3 passed, 1 failed"), Some(count(3, 1)));
        assert_eq!(read("3 passed, 1 failed, 2 skipped"), Some(count(3, 1)));
        assert_eq!(read("3 passed, 1 failed, and more"), None);
        assert_eq!(read("all passed"), None);
    }
}
