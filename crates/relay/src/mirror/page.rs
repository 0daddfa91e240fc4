//! Reading a relay page by page, from the newest event to the oldest: what every relay can do.

use std::collections::BTreeSet;

use osier::Topic;
use osier_nostr::{Ending, EventId, Filter, Seconds, UnverifiedEvent};

use super::{Link, Mirror, MirrorError, Mirrored};
use crate::limit;

const DOING: &str = "to send stored events";

/// Where paging stands.
#[derive(Debug)]
struct Pages {
    filter: Filter,
    until: Option<Seconds>,
    /// Ids of the last page's oldest second: they come again.
    edge: BTreeSet<EventId>,
    /// Whether some second had more events than a page shows.
    dense: bool,
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
    /// Reads all pages, newest first.
    pub(super) async fn pages(
        &self,
        link: &mut Link,
        topic: &Topic,
        filter: &Filter,
        done: &mut Mirrored,
    ) -> Result<(), MirrorError> {
        let mut pages = Pages::new(filter);
        loop {
            let mut events = Vec::new();
            let ending = link.read(DOING, &pages.next_filter(), &mut events).await?;
            events.retain(|event| !pages.edge.contains(&event.claimed_id()));
            self.take(topic, &events, done).await?;
            if let Some(error) = link.bad_end(DOING, &ending) {
                return Err(error);
            }
            match pages.read(&events, &ending) {
                Next::Page => {}
                Next::End { complete } => {
                    done.complete = complete;
                    return Ok(());
                }
            }
        }
    }
}

impl Pages {
    fn new(filter: &Filter) -> Self {
        Self {
            until: filter.until(),
            filter: filter.clone(),
            edge: BTreeSet::new(),
            dense: false,
        }
    }

    fn next_filter(&self) -> Filter {
        let limit = self.filter.limit().unwrap_or(limit::MIRROR_PAGE);
        let filter = self.filter.clone().with_until(self.until);
        filter.with_limit(Some(limit))
    }

    /// Takes in a page: what came and had not come before, and how it ended.
    fn read(&mut self, fresh: &[UnverifiedEvent], ending: &Ending) -> Next {
        // Who names a limit asks for one page.
        if self.filter.limit().is_some() {
            return Next::End { complete: true };
        }
        let oldest = match ending {
            Ending::Cut {
                oldest: Some(oldest),
                ..
            } => *oldest,
            Ending::Cut { oldest: None, more } => {
                // A relay without hints says the end by an empty page.
                return Next::End {
                    complete: !more && !self.dense,
                };
            }
            _ => {
                return Next::End {
                    complete: !self.dense,
                };
            }
        };
        if fresh.is_empty() || fresh.iter().all(|event| event.claimed_time() > oldest) {
            // Only what came before came again. If that was a whole page of one second, there may
            // be more of it that no page can show.
            self.dense |= self.edge.len() as u64 >= limit::MIRROR_PAGE;
            return self.before(oldest);
        }
        if self.until != Some(oldest) {
            self.edge.clear();
        }
        let of_edge = fresh.iter().filter(|it| it.claimed_time() == oldest);
        self.edge.extend(of_edge.map(UnverifiedEvent::claimed_id));
        self.until = Some(oldest);
        Next::Page
    }

    /// Goes on in the second before.
    fn before(&mut self, second: Seconds) -> Next {
        if second == Seconds::ZERO || self.filter.since().is_some_and(|since| since >= second) {
            return Next::End {
                complete: !self.dense,
            };
        }
        self.edge.clear();
        self.until = Some(second.before(1));
        Next::Page
    }
}

#[cfg(test)]
mod tests {
    use osier_nostr::{Event, testing};

    use super::*;

    /// A relay without hints that shows so many events a page.
    fn read_all(events: &[Event], page: usize) -> (BTreeSet<EventId>, bool) {
        let mut sorted = events.to_vec();
        sorted.sort_by_key(|it| (std::cmp::Reverse(it.created_at()), it.id()));
        let mut pages = Pages::new(&Filter::default());
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
            if let Next::End { complete } = pages.read(&fresh, &ending) {
                return (seen, complete);
            }
        }
        panic!("paging does not end");
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
            let (seen, complete) = read_all(&events, page);
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
        let (seen, complete) = read_all(&events, page);
        assert!(!complete);
        assert_eq!(seen.len(), 2 * page, "what can be read of both seconds");
    }

    /// CT-10: only a relay that has said so, or shows nothing more, is read to its end.
    #[test]
    fn hints_end_paging() {
        let some: Vec<UnverifiedEvent> = events(3, 1).into_iter().map(Into::into).collect();
        let mut pages = Pages::new(&Filter::default());
        assert_eq!(
            pages.read(&some, &Ending::Drained),
            Next::End { complete: true }
        );
        let more = Ending::Cut {
            oldest: None,
            more: true,
        };
        assert_eq!(pages.read(&[], &more), Next::End { complete: false });
    }
}
