//! NIP-40, expiration: <https://github.com/nostr-protocol/nips/blob/master/40.md>.

use crate::{event::Event, time::Seconds};

/// When the event expires: the value of its first `expiration` tag. A value that is no time is
/// none.
pub fn expiration(event: &Event) -> Option<Seconds> {
    let first = event.tags().iter().find(|tag| tag.name() == "expiration")?;
    let value = first.value()?;
    let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| plain).and_then(Seconds::new)
}

/// Whether the event has expired: from its second of expiration on (`NOS-24`).
pub fn is_expired(event: &Event, now: Seconds) -> bool {
    expiration(event).is_some_and(|at| at <= now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// NOS-24.
    #[test]
    fn an_event_expires_at_its_second() {
        let now = Seconds::new(1_000).unwrap();
        let expired =
            |value: &str| is_expired(&testing::event(1, 1, 1, &[&["expiration", value]], ""), now);
        assert!(expired("1000") && expired("0") && !expired("1001"));
        for value in ["", "-1", "+5", "soon", "1e2", &"9".repeat(30)] {
            assert!(!expired(value), "{value}");
        }
        assert!(!is_expired(&testing::note(1, 1, ""), now));
    }
}
