//! Which stretches of time of another relay have been read to their end (`NOS-73`).
//!
//! Times only; whose events they are of is for whoever keeps them.

use crate::time::Seconds;

/// A stretch of time, both ends in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first second.
    pub since: Seconds,
    /// The last second.
    pub until: Seconds,
}

impl Span {
    /// All of time.
    pub const ALL: Self = Self {
        since: Seconds::ZERO,
        until: Seconds::MAX,
    };

    /// The stretch between two seconds; none if the first is later.
    pub fn between(since: Seconds, until: Seconds) -> Option<Self> {
        (since <= until).then_some(Self { since, until })
    }
}

/// Stretches that do not touch, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage(Vec<Span>);

impl Coverage {
    /// Nothing is covered.
    pub fn none() -> Self {
        Self::default()
    }

    /// The stretches, the earliest first.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Adds a stretch; what it touches becomes one with it.
    pub fn add(&mut self, span: Span) {
        let mut whole = span;
        self.0.retain(|held| {
            let apart = is_before(held, &span) || is_before(&span, held);
            if !apart {
                whole.since = whole.since.min(held.since);
                whole.until = whole.until.max(held.until);
            }
            apart
        });
        let at = self.0.partition_point(|held| *held < whole);
        self.0.insert(at, whole);
    }

    /// What of a stretch is not covered, the latest first: in the order in which it is read.
    pub fn gaps(&self, within: Span) -> Vec<Span> {
        let mut gaps = Vec::new();
        let mut since = Some(within.since);
        for held in &self.0 {
            let Some(from) = since else { break };
            if held.until < from {
                continue;
            }
            if held.since > within.until {
                break;
            }
            if held.since > from {
                gaps.extend(Span::between(from, held.since.before(1)));
            }
            since = after(held.until);
        }
        gaps.extend(since.and_then(|since| Span::between(since, within.until)));
        gaps.reverse();
        gaps
    }

    /// What both cover.
    #[must_use]
    pub fn both(&self, other: &Self) -> Self {
        let mut both = Self::none();
        for own in &self.0 {
            for its in &other.0 {
                let (since, until) = (own.since.max(its.since), own.until.min(its.until));
                if let Some(span) = Span::between(since, until) {
                    both.add(span);
                }
            }
        }
        both
    }

    /// What either covers.
    #[must_use]
    pub fn either(&self, other: &Self) -> Self {
        let mut either = self.clone();
        other.0.iter().for_each(|span| either.add(*span));
        either
    }

    /// Keeps so many stretches, the longest: what is forgotten is read again.
    pub fn keep(&mut self, spans_max: usize) {
        while self.0.len() > spans_max {
            let spans = self.0.iter().enumerate();
            let shortest = spans.min_by_key(|(_, span)| span.until.distance(span.since));
            let Some((at, _)) = shortest else { return };
            self.0.remove(at);
        }
    }
}

/// Whether there is a second between the end of one and the start of the other.
fn is_before(one: &Span, other: &Span) -> bool {
    after(one.until).is_some_and(|next| next < other.since)
}

/// The next second; none after the last.
fn after(second: Seconds) -> Option<Seconds> {
    (second < Seconds::MAX).then(|| second.after(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn second(s: u64) -> Seconds {
        Seconds::new(s).unwrap()
    }

    fn span(since: u64, until: u64) -> Span {
        Span::between(second(since), second(until)).unwrap()
    }

    /// NOS-73.
    #[test]
    fn stretches_that_touch_become_one() {
        let mut held = Coverage::none();
        assert_eq!(held.gaps(Span::ALL), [Span::ALL]);
        held.add(span(10, 19));
        held.add(span(30, 39));
        held.add(span(20, 25));
        assert_eq!(held.spans(), [span(10, 25), span(30, 39)]);
        assert_eq!(held.gaps(span(12, 35)), [span(26, 29)]);
        assert_eq!(held.gaps(span(5, 31)), [span(26, 29), span(5, 9)]);
        held.add(Span::ALL);
        assert_eq!(held.spans(), [Span::ALL]);
        assert_eq!(held.gaps(Span::ALL), []);
        assert_eq!(held.both(&Coverage::none()), Coverage::none());
    }

    #[test]
    fn the_shortest_are_forgotten_first() {
        let mut held = Coverage::none();
        (0..10).for_each(|n| held.add(span(n * 100, n * 100 + n)));
        held.keep(3);
        assert_eq!(
            held.spans(),
            [span(700, 707), span(800, 808), span(900, 909)]
        );
    }

    const TOP: u64 = 40;

    fn index(second: u64) -> usize {
        usize::try_from(second).expect("less than TOP")
    }

    fn seconds(held: &Coverage) -> Vec<bool> {
        let holds = |s| {
            held.spans()
                .iter()
                .any(|it| (it.since..=it.until).contains(&second(s)))
        };
        (0..TOP).map(holds).collect()
    }

    fn any_coverage() -> impl Strategy<Value = (Coverage, Vec<bool>)> {
        prop::collection::vec((0..TOP, 0..TOP), 0..12).prop_map(|pairs| {
            let (mut held, mut model) = (Coverage::none(), vec![false; 40]);
            for (a, b) in pairs {
                held.add(span(a.min(b), a.max(b)));
                for it in a.min(b)..=a.max(b) {
                    model[index(it)] = true;
                }
            }
            (held, model)
        })
    }

    proptest! {
        /// The oracle is a list of seconds.
        #[test]
        fn it_is_a_set_of_seconds(
            (one, of_one) in any_coverage(),
            (two, of_two) in any_coverage(),
            (a, b) in (0..TOP, 0..TOP),
        ) {
            prop_assert_eq!(seconds(&one), of_one.clone());
            for pair in one.spans().windows(2) {
                prop_assert!(pair[0].until.after(1) < pair[1].since, "they do not touch");
            }
            let both: Vec<bool> = of_one.iter().zip(&of_two).map(|(x, y)| *x && *y).collect();
            let either: Vec<bool> = of_one.iter().zip(&of_two).map(|(x, y)| *x || *y).collect();
            prop_assert_eq!(seconds(&one.both(&two)), both);
            prop_assert_eq!(seconds(&one.either(&two)), either);
            let (from, to) = (a.min(b), a.max(b));
            let gaps = one.gaps(span(from, to));
            let in_gaps = |s: u64| gaps.iter().any(|it| (it.since..=it.until).contains(&second(s)));
            for s in 0..TOP {
                let expected = (from..=to).contains(&s) && !of_one[index(s)];
                prop_assert_eq!(in_gaps(s), expected, "second {}", s);
            }
            prop_assert!(gaps.windows(2).all(|pair| pair[0].since > pair[1].until));
        }
    }
}
