//! NIP-45, counts: <https://github.com/nostr-protocol/nips/blob/master/45.md>.
//!
//! Two rules for sketches are about. The merged NIP reads one hex digit of the filter's first tag
//! value, adds 8, and keeps leading zeros + 1. An early draft took the character as a byte modulo
//! 24, 16 where there is no tag, and kept leading zeros alone. Sketches of different rules must
//! not be merged (`NOS-64`).

use sha2::{Digest, Sha256};

use crate::{filter::Filter, key::PublicKey, message::CountAnswer, sketch::Sketch};

/// How an offset is found and what a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HllRule {
    /// As merged: what relays agree on.
    #[default]
    Merged,
    /// The early draft.
    Draft,
}

/// Where in a key a sketch looks: 8 to 23 by the merged rule, 0 to 23 by the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset(u8);

/// The digit of the 64 that the offset is read from.
const DIGIT: usize = 32;

impl Offset {
    /// As a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl HllRule {
    /// The offset for a filter; none if the rule has none, and then no sketch is made (`NOS-64`).
    pub fn offset(self, filter: &Filter) -> Option<Offset> {
        match (self, filter.first_tag_value()) {
            (_, Some(value)) => Some(self.offset_of_value(value)),
            (Self::Merged, None) => None,
            (Self::Draft, None) => Some(Offset(16)),
        }
    }

    /// The offset for a filter whose first tag has this value first: what an index of tags knows
    /// before anybody asks.
    pub fn offset_of_value(self, value: &str) -> Offset {
        match self {
            Self::Merged => merged_offset(value),
            Self::Draft => {
                let byte = value.as_bytes().get(DIGIT);
                Offset(byte.map_or(16, |byte| byte % 24))
            }
        }
    }

    /// Takes in the signer of an event that is counted (`NOS-65`).
    pub fn add(self, sketch: &mut Sketch, offset: Offset, key: &PublicKey) {
        let (register, rank) = self.contribution(offset, key);
        sketch.raise(register, rank);
    }

    /// The register that a signer raises, and to what (`NOS-65`).
    pub fn contribution(self, offset: Offset, key: &PublicKey) -> (u8, u8) {
        let (register, tail) = match key.as_bytes().get(usize::from(offset.0)..) {
            Some([register, tail @ ..]) => (*register, tail),
            // An offset is at most 23.
            _ => (0, [].as_slice()),
        };
        let zeros = tail.iter().take_while(|byte| **byte == 0).count();
        let next = tail.get(zeros).map_or(0, |byte| byte.leading_zeros());
        // At most 31 bytes of 8 bits, and one.
        let rank = 8 * u32::try_from(zeros).unwrap_or(0) + next + u32::from(self == Self::Merged);
        (register, u8::try_from(rank).unwrap_or(u8::MAX))
    }
}

/// The hex that a tag value stands for: its own, the key of an address, or its SHA-256.
fn merged_offset(value: &str) -> Offset {
    let key_of_address = value
        .split(':')
        .nth(1)
        .filter(|_| value.split(':').count() > 2);
    let hex = [Some(value), key_of_address]
        .into_iter()
        .flatten()
        .find_map(PublicKey::from_hex);
    let bytes = hex.map_or_else(
        || Sha256::digest(value.as_bytes()).into(),
        |key| *key.as_bytes(),
    );
    // Digit 32 is the upper half of byte 16.
    let digit = bytes.get(DIGIT / 2).map_or(0, |byte| byte >> 4);
    Offset(digit + 8)
}

/// What one relay said to a question that several were asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayCount {
    /// It answered.
    Answered(CountAnswer),
    /// It refused, failed or kept silent.
    Missing,
}

/// What several relays' answers add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Total {
    /// At least as large as the largest single answer, never their sum: relays mirror each other.
    pub count: u64,
    /// Whether it is an estimate, or a lower bound.
    pub approximate: bool,
    /// Whether a relay did not answer.
    pub partial: bool,
    /// All sketches together.
    pub sketch: Option<Sketch>,
}

/// Adds up the answers of several relays (`NOS-66`). None if no relay answered.
pub fn total(answers: &[RelayCount]) -> Option<Total> {
    let mut total: Option<Total> = None;
    let mut differs = false;
    for answer in answers {
        let RelayCount::Answered(answer) = answer else {
            continue;
        };
        let so_far = total.get_or_insert(Total {
            count: answer.count,
            approximate: false,
            partial: false,
            sketch: None,
        });
        differs |= so_far.count != answer.count;
        so_far.count = so_far.count.max(answer.count);
        so_far.approximate |= answer.approximate;
        merge_sketch(&mut so_far.sketch, answer.sketch.as_ref());
    }
    let mut total = total?;
    let estimate = total.sketch.as_ref().map_or(0, Sketch::estimate);
    total.approximate |= differs || estimate > total.count;
    total.count = total.count.max(estimate);
    total.partial = answers.contains(&RelayCount::Missing);
    Some(total)
}

fn merge_sketch(own: &mut Option<Sketch>, other: Option<&Sketch>) {
    if let Some(other) = other {
        own.get_or_insert_with(Sketch::empty).merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(rule: HllRule, filter: &str) -> Option<u8> {
        rule.offset(&Filter::parse(filter).unwrap())
            .map(Offset::get)
    }

    /// NOS-64.
    #[test]
    fn an_offset_is_read_from_the_first_tag_value() {
        let hex = format!("{}a{}", "0".repeat(32), "0".repeat(31));
        let e = format!(r##"{{"#e":["{hex}"],"#t":["x"]}}"##);
        assert_eq!(offset(HllRule::Merged, &e), Some(18));
        let a = format!(r##"{{"#a":["30023:{hex}:x:y"]}}"##);
        assert_eq!(offset(HllRule::Merged, &a), Some(18));
        // SHA-256 of "x" has the digit 9 at position 32.
        let x: [u8; 32] = Sha256::digest(b"x").into();
        let digit = x[16] >> 4;
        assert_eq!(
            offset(HllRule::Merged, r##"{"#t":["x"]}"##),
            Some(digit + 8)
        );
        assert_eq!(offset(HllRule::Merged, r#"{"kinds":[1]}"#), None);
        assert_eq!(offset(HllRule::Merged, r##"{"#t":[]}"##), None);
        assert_eq!(offset(HllRule::Draft, &e), Some(b'a' % 24));
        assert_eq!(offset(HllRule::Draft, r##"{"#t":["x"]}"##), Some(16));
        assert_eq!(offset(HllRule::Draft, r#"{"kinds":[1]}"#), Some(16));
    }
}
