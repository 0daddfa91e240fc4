//! `HyperLogLog` sketches of who signed the events that match (NIP-45), and the questions for
//! which a relay keeps one.

use std::fmt;

use data_encoding::HEXLOWER_PERMISSIVE;

use crate::{event::Event, filter::Filter, kind::EventKind, tag::Letter};

/// Registers of a sketch; NIP-45 fixes their number.
pub const REGISTERS: usize = 256;

/// 256 registers, each the longest run of leading zeros seen among the keys that fell to it.
///
/// Merging takes the greater register, so that it does not matter in which order, how often or
/// on which relay a key was seen (`NOS-62`).
#[derive(Clone, PartialEq, Eq)]
pub struct Sketch(Box<[u8; REGISTERS]>);

impl Sketch {
    /// Nothing has been seen.
    pub fn empty() -> Self {
        Self(Box::new([0; REGISTERS]))
    }

    /// With these registers.
    pub fn from_registers(registers: [u8; REGISTERS]) -> Self {
        Self(Box::new(registers))
    }

    /// The registers.
    pub fn registers(&self) -> &[u8; REGISTERS] {
        &self.0
    }

    /// Reads 512 digits of hex.
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self::from_registers)
    }

    /// As 512 digits of lower-case hex.
    pub fn to_hex(&self) -> String {
        data_encoding::HEXLOWER.encode(self.0.as_slice())
    }

    /// Raises a register to at least this.
    pub fn raise(&mut self, register: u8, to: u8) {
        if let Some(own) = self.0.get_mut(usize::from(register)) {
            *own = (*own).max(to);
        }
    }

    /// Takes in what another sketch has seen, if both use one offset and one rule (`NOS-62`).
    pub fn merge(&mut self, other: &Self) {
        for (own, others) in self.0.iter_mut().zip(other.0.iter()) {
            *own = (*own).max(*others);
        }
    }

    /// About how many keys have been seen: the estimator of Flajolet and others (2007), with
    /// linear counting while registers are empty. Within some 6.5 percent (1.04 / 16), one time
    /// in three further off.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate is not negative, and saturates"
    )]
    pub fn estimate(&self) -> u64 {
        let registers = 256.0_f64;
        let alpha = 0.7213 / (1.0 + 1.079 / registers);
        let sum: f64 = self
            .0
            .iter()
            .map(|rank| 2.0_f64.powi(-i32::from(*rank)))
            .sum();
        let raw = alpha * registers * registers / sum;
        let empty: u16 = self.0.iter().map(|rank| u16::from(*rank == 0)).sum();
        let empty = f64::from(empty);
        let estimate = if raw <= 2.5 * registers && empty > 0.0 {
            registers * (registers / empty).ln()
        } else {
            raw
        };
        estimate.round() as u64
    }
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sketch(about {})", self.estimate())
    }
}

/// The questions that NIP-45 lists: what a relay keeps a sketch for, one per question and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CanonicalQuestion {
    /// Kind 7 with this `e`.
    Reactions,
    /// Kind 6 with this `e`.
    Reposts,
    /// Kinds 1 and 1111 with this `q`.
    Quotes,
    /// Kind 1 with this `e`.
    Replies,
    /// Kind 1111 with this `E`.
    Comments,
    /// Kind 3 with this `p`.
    Followers,
}

impl CanonicalQuestion {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Reactions,
        Self::Reposts,
        Self::Quotes,
        Self::Replies,
        Self::Comments,
        Self::Followers,
    ];

    /// The letter of the tag, and the kinds.
    pub const fn shape(self) -> (u8, &'static [EventKind]) {
        match self {
            Self::Reactions => (b'e', &[EventKind::REACTION]),
            Self::Reposts => (b'e', &[EventKind::REPOST]),
            Self::Quotes => (b'q', &[EventKind::TEXT, EventKind::COMMENT]),
            Self::Replies => (b'e', &[EventKind::TEXT]),
            Self::Comments => (b'E', &[EventKind::COMMENT]),
            Self::Followers => (b'p', &[EventKind::FOLLOWS]),
        }
    }

    /// The question that a filter asks, and of which value; none for any other filter (`NOS-63`).
    pub fn of_filter(filter: &Filter) -> Option<(Self, &str)> {
        let [condition] = filter.tags() else {
            return None;
        };
        let [value] = condition.values() else {
            return None;
        };
        let plain = filter.ids().is_none()
            && filter.authors().is_none()
            && filter.since().is_none()
            && filter.until().is_none()
            && filter.limit().is_none();
        let asks = |question: &Self| {
            let (letter, kinds) = question.shape();
            Letter::new(letter) == Some(condition.letter()) && filter.kinds() == Some(kinds)
        };
        let question = Self::ALL.into_iter().find(asks).filter(|_| plain)?;
        Some((question, value))
    }

    /// Which sketches an event belongs in, each once (`NOS-63`).
    pub fn of_event(event: &Event) -> Vec<(Self, Box<str>)> {
        let of = |question: Self| {
            let (letter, kinds) = question.shape();
            let tags = event
                .tags()
                .iter()
                .filter(|_| kinds.contains(&event.kind()));
            let indexed = tags.filter_map(|tag| tag.indexed());
            let named = indexed.filter(move |(own, _)| own.get() == letter);
            named.map(move |(_, value)| (question, value.into()))
        };
        let mut all: Vec<_> = Self::ALL.into_iter().flat_map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The filter that asks it of this value.
    pub fn filter_text(self, value: &str) -> String {
        let (letter, kinds) = self.shape();
        let letter = char::from(letter);
        let kinds: Vec<String> = kinds.iter().map(|kind| kind.get().to_string()).collect();
        let value = crate::escape::string(value);
        format!(
            "{{\"kinds\":[{}],\"#{letter}\":[{value}]}}",
            kinds.join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing;

    fn sketch() -> impl Strategy<Value = Sketch> {
        prop::collection::vec((any::<u8>(), 0_u8..=200), 0..40).prop_map(|raised| {
            let mut sketch = Sketch::empty();
            for (register, to) in raised {
                sketch.raise(register, to);
            }
            sketch
        })
    }

    fn merged(one: &Sketch, two: &Sketch) -> Sketch {
        let mut merged = one.clone();
        merged.merge(two);
        merged
    }

    /// NOS-63.
    #[test]
    fn canonical_questions_are_those_of_nip_45() {
        for question in CanonicalQuestion::ALL {
            let text = question.filter_text(&"ab".repeat(32));
            let filter = Filter::parse(&text).unwrap();
            let found = CanonicalQuestion::of_filter(&filter);
            assert_eq!(found, Some((question, &*"ab".repeat(32))));
            let more = filter.with_limit(Some(5));
            assert_eq!(CanonicalQuestion::of_filter(&more), None);
        }
        let p = testing::pubkey(2).to_string();
        let event = testing::event(1, 1, 3, &[&["p", &p], &["p", &p, "x"], &["e", "y"]], "");
        let expected = [(CanonicalQuestion::Followers, p.into_boxed_str())];
        assert_eq!(CanonicalQuestion::of_event(&event), expected);
    }

    #[test]
    fn an_estimate_of_nothing_is_nothing_and_full_registers_do_not_overflow() {
        assert_eq!(Sketch::empty().estimate(), 0);
        assert!(Sketch::from_registers([255; REGISTERS]).estimate() > 1 << 60);
        assert_eq!(Sketch::from_hex(&"0".repeat(510)), None);
    }

    proptest! {
        #![proptest_config(testing::cases())]

        /// NOS-62: the laws of a join.
        #[test]
        fn merging_is_commutative_associative_and_idempotent(
            one in sketch(), two in sketch(), three in sketch(),
        ) {
            prop_assert_eq!(merged(&one, &two), merged(&two, &one));
            let left = merged(&merged(&one, &two), &three);
            prop_assert_eq!(&left, &merged(&one, &merged(&two, &three)));
            prop_assert_eq!(&merged(&left, &one), &left);
            prop_assert_eq!(Sketch::from_hex(&left.to_hex()), Some(left));
        }
    }
}
