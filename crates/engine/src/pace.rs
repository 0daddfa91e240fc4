//! A pace that is hopeless: a stream that moves, and will not be done in any time worth waiting for
//! (`POL-19`).

use osier_core::Duration;

use crate::limit::{CRAWLING_AFTER_MS, STREAM_MAX_MS};

/// Whether a session of this age that has brought so many entries would, at this pace, need more
/// than [`STREAM_MAX_MS`] for the rest. Not said of a young session. Where nobody knows how much
/// there is, it may take that long in all.
pub(crate) fn is_hopeless(age: Duration, received: u64, expected: Option<u64>) -> bool {
    let Some(expected) = expected else {
        return age > Duration::from_millis(STREAM_MAX_MS);
    };
    let left = expected.saturating_sub(received);
    let needed = u128::from(left) * u128::from(age.as_millis());
    age >= Duration::from_millis(CRAWLING_AFTER_MS)
        && needed > u128::from(STREAM_MAX_MS) * u128::from(received)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_would_take_more_than_an_hour_is_hopeless() {
        let minute = Duration::from_secs(60);
        let hopeless = |received, expected| is_hopeless(minute, received, Some(expected));
        assert!(!hopeless(100, 6_000), "59 minutes more");
        assert!(hopeless(100, 6_200), "61 minutes more");
        assert!(hopeless(0, 1), "nothing in a minute");
        assert!(!hopeless(0, 0), "nothing is to come");
        assert!(hopeless(1_000, u64::MAX), "no end at all");
        assert!(
            !is_hopeless(Duration::from_secs(29), 0, Some(9)),
            "it has just begun"
        );
        assert!(!is_hopeless(minute, 0, None), "nobody knows yet");
        assert!(
            is_hopeless(Duration::from_secs(3_601), 9, None),
            "nobody will"
        );
    }
}
