//! Reading a relay page by page, from the newest event to the oldest: what every relay can do.

use std::collections::BTreeSet;

use osier::Topic;
use osier_nostr::{Ending, EventId, Filter, Seconds, Span, UnverifiedEvent};

use super::{Link, Mirror, MirrorError, Mirrored, reading::Reading};
use crate::limit;

const DOING: &str = "to send stored events";

/// Where paging stands, in one stretch of time.
#[derive(Debug)]
struct Pages {
    filter: Filter,
    within: Span,
    until: Seconds,
    /// Ids of the last page's oldest second: they come again.
    edge: BTreeSet<EventId>,
    /// Whether some second had more events than a page shows.
    dense: bool,
    /// Whether events came in another order than newest first: then a page says nothing of what
    /// lies between them.
    unordered: bool,
    /// The last second that has not been told as drained.
    top: Option<Seconds>,
}

/// What a page means.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Read on.
    Page,
    /// That was the last one; whether everything was read.
    End { complete: bool },
}

impl Mirror {
    /// Reads what has not been read before, newest first, and notes what has been drained.
    pub(super) async fn pages(
        &self,
        link: &mut Link,
        topic: &Topic,
        (filter, reading): (&Filter, &Reading),
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        done.resumed = reading.is_resumed();
        done.complete = true;
        for gap in reading.gaps() {
            let mut pages = Pages::new(filter, gap);
            let complete = self.gap(link, topic, (&mut pages, reading), done).await?;
            done.complete &= complete;
        }
        Ok(())
    }

    async fn gap(
        &self,
        link: &mut Link,
        topic: &Topic,
        (pages, reading): (&mut Pages, &Reading),
        done: &mut Mirrored,
    ) -> Result<bool, MirrorError> {
        loop {
            let mut events = Vec::new();
            let ending = link.read(DOING, &pages.next_filter(), &mut events).await?;
            pages.look_at_order(&events);
            events.retain(|event| !pages.edge.contains(&event.claimed_id()));
            self.take(topic, &events, done).await?;
            if let Some(error) = link.bad_end(DOING, &ending) {
                return Err(error);
            }
            let (next, drained) = pages.read(&events, &ending);
            if let Some(span) = drained {
                reading.cover(span)?;
            }
            if let Next::End { complete } = next {
                return Ok(complete);
            }
        }
    }
}

impl Pages {
    fn new(filter: &Filter, within: Span) -> Self {
        Self {
            filter: filter.clone(),
            within,
            until: within.until,
            edge: BTreeSet::new(),
            dense: false,
            unordered: false,
            top: Some(within.until),
        }
    }

    fn next_filter(&self) -> Filter {
        let limit = self.filter.limit().unwrap_or(limit::MIRROR_PAGE);
        let filter = self.filter.clone().with_limit(Some(limit));
        // The ends of time go without saying.
        let since = Some(self.within.since).filter(|since| *since > Seconds::ZERO);
        let until = Some(self.until).filter(|until| *until < Seconds::MAX);
        filter.with_since(since).with_until(until)
    }

    /// Newest first is what NIP-01 asks for.
    fn look_at_order(&mut self, events: &[UnverifiedEvent]) {
        let mut pairs = events.windows(2);
        self.unordered |= pairs.any(|pair| pair[0].claimed_time() < pair[1].claimed_time());
    }

    /// Takes in a page: what came and had not come before, and how it ended. With what is to be
    /// done next comes the stretch that is drained by it.
    fn read(&mut self, fresh: &[UnverifiedEvent], ending: &Ending) -> (Next, Option<Span>) {
        // Who names a limit asks for one page.
        if self.filter.limit().is_some() {
            return (Next::End { complete: true }, None);
        }
        let oldest = match ending {
            Ending::Cut {
                oldest: Some(oldest),
                ..
            } => *oldest,
            // A relay without hints says the end by an empty page.
            Ending::Cut { oldest: None, more } => return self.end(!more),
            _ => return self.end(true),
        };
        if fresh.is_empty() || fresh.iter().all(|event| event.claimed_time() > oldest) {
            return self.before(oldest);
        }
        let drained = self.drained_from(oldest.after(1));
        if self.until != oldest {
            self.edge.clear();
        }
        let of_edge = fresh.iter().filter(|it| it.claimed_time() == oldest);
        self.edge.extend(of_edge.map(UnverifiedEvent::claimed_id));
        self.until = oldest;
        (Next::Page, drained)
    }

    /// Only what came before came again: goes on in the second before. If that was a whole page of
    /// one second, there may be more of it that no page can show.
    fn before(&mut self, second: Seconds) -> (Next, Option<Span>) {
        let is_dense = self.edge.len() as u64 >= limit::MIRROR_PAGE;
        self.dense |= is_dense;
        let drained = if is_dense {
            let above = self.drained_from(second.after(1));
            self.top = (second > self.within.since).then(|| second.before(1));
            above
        } else {
            self.drained_from(second)
        };
        if second <= self.within.since {
            let complete = !self.dense;
            return (Next::End { complete }, drained);
        }
        self.edge.clear();
        self.until = second.before(1);
        (Next::Page, drained)
    }

    /// There is nothing below, or the relay says that there is and does not show it.
    fn end(&mut self, drained: bool) -> (Next, Option<Span>) {
        let complete = drained && !self.dense;
        let span = drained.then(|| self.drained_from(self.within.since));
        (Next::End { complete }, span.flatten())
    }

    /// All of this second and what is later has come, down from what was told before.
    fn drained_from(&mut self, since: Seconds) -> Option<Span> {
        if self.unordered {
            return None;
        }
        let span = Span::between(since.max(self.within.since), self.top?)?;
        self.top = (span.since > self.within.since).then(|| span.since.before(1));
        Some(span)
    }
}

#[cfg(test)]
mod tests {
    use osier_nostr::{Coverage, Event, testing};

    use super::*;

    /// A relay without hints that shows so many events a page.
    fn read_all(events: &[Event], page: usize) -> (BTreeSet<EventId>, bool, Coverage) {
        let mut covered = Coverage::none();
        let mut sorted = events.to_vec();
        sorted.sort_by_key(|it| (std::cmp::Reverse(it.created_at()), it.id()));
        let mut pages = Pages::new(&Filter::default(), Span::ALL);
        let mut seen = BTreeSet::new();
        for _ in 0..10_000 {
            let filter = pages.next_filter();
            let found = sorted.iter().filter(|it| filter.matches(it)).take(page);
            let found: Vec<UnverifiedEvent> = found.cloned().map(Into::into).collect();
            let oldest = found.last().map(UnverifiedEvent::claimed_time);
            let fresh: Vec<UnverifiedEvent> = found
                .into_iter()
                .filter(|it| !pages.edge.contains(&it.claimed_id()))
                .collect();
            seen.extend(fresh.iter().map(UnverifiedEvent::claimed_id));
            let ending = Ending::Cut {
                oldest,
                more: false,
            };
            let (next, drained) = pages.read(&fresh, &ending);
            if let Some(span) = drained {
                // What is covered is never ahead of what has come.
                for event in sorted.iter().filter(|it| holds(span, it)) {
                    assert!(seen.contains(&event.id()), "{span:?}");
                }
                covered.add(span);
            }
            if let Next::End { complete } = next {
                return (seen, complete, covered);
            }
        }
        panic!("paging does not end");
    }

    fn holds(span: Span, event: &Event) -> bool {
        (span.since..=span.until).contains(&event.created_at())
    }

    fn events(count: u64, per_second: u64) -> Vec<Event> {
        let author = testing::pubkey(1);
        let draft = |n: u64| testing::draft(n / per_second, 1, &[], &n.to_string());
        (0..count).map(|n| draft(n).unsigned(&author)).collect()
    }

    #[test]
    fn every_event_is_read_whatever_the_page() {
        for (count, per_second, page) in
            [(0, 1, 5), (1, 1, 5), (100, 1, 7), (100, 3, 7), (60, 6, 7)]
        {
            let events = events(count, per_second);
            let (seen, complete, covered) = read_all(&events, page);
            assert_eq!(covered.spans(), [Span::ALL]);
            assert_eq!(
                seen.len() as u64,
                count,
                "{per_second} a second, {page} a page"
            );
            assert!(complete);
        }
    }

    /// A second with more events than a page cannot be read, and is never called complete.
    #[test]
    fn a_dense_second_is_passed_and_told() {
        let page = usize::try_from(limit::MIRROR_PAGE).unwrap();
        let events = events(3 * limit::MIRROR_PAGE, 2 * limit::MIRROR_PAGE);
        let (seen, complete, covered) = read_all(&events, page);
        assert!(!complete);
        let dense = Span::between(Seconds::ZERO, Seconds::ZERO.after(1)).unwrap();
        assert_eq!(covered.gaps(Span::ALL), [dense], "it is read again");
        assert_eq!(seen.len(), 2 * page, "what can be read of both seconds");
    }

    /// CT-10: only a relay that has said so, or shows nothing more, is read to its end.
    #[test]
    fn hints_end_paging() {
        let some: Vec<UnverifiedEvent> = events(3, 1).into_iter().map(Into::into).collect();
        let mut pages = Pages::new(&Filter::default(), Span::ALL);
        let drained = (Next::End { complete: true }, Some(Span::ALL));
        assert_eq!(pages.read(&some, &Ending::Drained), drained);
        let mut pages = Pages::new(&Filter::default(), Span::ALL);
        let more = Ending::Cut {
            oldest: None,
            more: true,
        };
        assert_eq!(
            pages.read(&[], &more),
            (Next::End { complete: false }, None)
        );
    }

    /// NOS-73: a relay that sends in another order says nothing by the oldest that it sent.
    #[test]
    fn what_comes_in_another_order_covers_nothing() {
        let some: Vec<UnverifiedEvent> = events(3, 1).into_iter().map(Into::into).collect();
        let mut pages = Pages::new(&Filter::default(), Span::ALL);
        pages.look_at_order(&some);
        let ending = Ending::Cut {
            oldest: Some(Seconds::ZERO),
            more: false,
        };
        assert_eq!(pages.read(&some, &ending), (Next::Page, None));
    }
}
