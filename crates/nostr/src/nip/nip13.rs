//! NIP-13, proof of work: <https://github.com/nostr-protocol/nips/blob/master/13.md>.

use crate::{
    event::Event,
    key::EventId,
    reason::{Prefix, Reason},
};

/// Leading zero bits of an id: 0 to 256.
pub fn difficulty(id: &EventId) -> u32 {
    let zeros = id.as_bytes().iter().take_while(|byte| **byte == 0).count();
    let next = id
        .as_bytes()
        .get(zeros)
        .map_or(0, |byte| byte.leading_zeros());
    8 * u32::try_from(zeros).expect("at most 32") + next
}

/// The difficulty that the event commits to: the third string of its first `nonce` tag.
pub fn committed(event: &Event) -> Option<u32> {
    let nonce = event.tags().iter().find(|tag| tag.name() == "nonce")?;
    nonce.get(2)?.parse().ok()
}

/// Whether the event has the work that is asked for (`NOS-30`). One that commits to less got
/// lucky, and does not count.
///
/// # Errors
/// The reason to give, beginning with `pow:`.
pub fn check(event: &Event, required: u32) -> Result<(), Reason> {
    let found = difficulty(&event.id());
    let committed = committed(event).unwrap_or(required);
    if found >= required && committed >= required {
        return Ok(());
    }
    let sentence = if found < required {
        format!("difficulty {found} is less than {required}")
    } else {
        format!("the event commits to a difficulty of {committed}, less than {required}")
    };
    Err(Reason::new(Prefix::Pow, &sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// The two ids are those of NIP-13.
    #[test]
    fn difficulty_counts_leading_zero_bits() {
        let of = |hex: &str| difficulty(&EventId::from_hex(hex).unwrap());
        let text = "000000000e9d97a1ab09fc381030b346cdd7a142ad57e6df0b46dc9bef6c7e2d";
        assert_eq!(of(text), 36);
        assert_eq!(of(&format!("002f{}", "f".repeat(60))), 10);
        assert_eq!(of(&"0".repeat(64)), 256);
        assert_eq!(of(&"f".repeat(64)), 0);
    }

    /// NOS-30.
    #[test]
    fn a_commitment_to_less_does_not_count() {
        let event = |target: &str| testing::event(1, 1, 1, &[&["nonce", "1", target]], "");
        assert!(check(&event("0"), 0).is_ok());
        let refused = check(&event("300"), 200).unwrap_err();
        assert!(refused.text().starts_with("pow: difficulty "));
        let lucky = (0..64).map(|n| testing::event(1, n, 1, &[&["nonce", "x", "1"]], ""));
        let lucky = lucky.max_by_key(|event| difficulty(&event.id())).unwrap();
        assert!(check(&lucky, 2).unwrap_err().text().contains("commits to"));
    }
}
