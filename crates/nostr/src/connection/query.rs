//! `REQ` and `CLOSE`: stored events, then live ones, without a hole or a double.

use std::sync::Arc;

use osier_core::{Duration, Instant};

use super::{Commit, Connection, Frame, Now, Output, Page, ScanEnd, send};
use crate::{
    event::Event,
    filter::Filter,
    kind::EventKind,
    limit,
    message::{Refusal, RelayMessage, Target},
    nip::{
        nip17::Access,
        nip40,
        nip67::{Hints, ScanFacts},
    },
    reason::{Prefix, Reason},
    subscription::{Generation, SubscriptionId},
};

/// An open subscription.
#[derive(Debug)]
pub(super) struct Subscription {
    id: SubscriptionId,
    // `["EVENT","id",`
    head: Arc<str>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Stored events are being read; live ones wait.
    Reading {
        /// Since when.
        begun_at: Instant,
        /// In order of arrival.
        held: Vec<Held>,
        /// What the filters themselves say of the end.
        outlook: Outlook,
        /// All filters, if only some of them are read.
        mixed: Option<Arc<[Filter]>>,
    },
    /// `EOSE` has been sent.
    Live {
        /// The last batch of the snapshot that was read: what is told late and was in it has been
        /// sent, or was there before a request that wants nothing that was.
        after: Commit,
        /// All filters, if only some of them were read: the snapshot is younger than the request,
        /// and what came between the two for the others has not been sent.
        mixed: Option<Arc<[Filter]>>,
    },
}

#[derive(Debug)]
struct Held {
    event: Event,
    commit: Option<Commit>,
}

/// What is known of an answer before it is looked up.
#[derive(Debug, Clone, Copy)]
struct Outlook {
    /// A filter asks for live events only: what is stored stays unknown.
    unread: bool,
    /// Something may be withheld from this viewer.
    withheld: bool,
}

impl Connection {
    /// A subscription is asked for. One of the same id is replaced (`NOS-43`).
    pub(super) fn req(
        &mut self,
        now: Now,
        id: SubscriptionId,
        filters: Vec<Filter>,
        out: &mut Vec<Output>,
    ) {
        self.close(&id, out);
        let target = Target::Request(id.clone());
        let access = filters.iter().map(|filter| self.viewer.access(filter));
        if let Some(reason) = Access::of_any(access).refusal() {
            return self.refuse(Refusal { target, reason }, out);
        }
        if self.subscriptions.len() >= self.settings.subscriptions_max {
            let sentence = "too many subscriptions are open";
            return self.refuse(Refusal::new(target, Prefix::RateLimited, sentence), out);
        }
        let withheld = filters.iter().any(|filter| self.viewer.may_miss(filter));
        let served = filters
            .into_iter()
            .filter(|it| self.viewer.access(it) == Access::Served);
        let filters: Arc<[Filter]> = served.collect();
        let generation = self.next_generation();
        let unread = !filters.iter().all(is_read);
        let pages = filters
            .iter()
            .filter(|it| is_read(it) && !it.matches_nothing());
        let pages: Vec<Page> = pages.map(|filter| self.page(filter)).collect();
        let mixed = (unread && !pages.is_empty()).then(|| Arc::clone(&filters));
        let state = State::Reading {
            begun_at: now.instant,
            held: Vec::new(),
            outlook: Outlook { unread, withheld },
            mixed,
        };
        let head = format!("[\"EVENT\",{},", id.to_json()).into();
        let subscription = Subscription {
            id: id.clone(),
            head,
            state,
        };
        self.subscriptions.insert(generation, subscription);
        self.by_id.insert(id, generation);
        out.push(Output::Subscribe {
            generation,
            filters: Arc::clone(&filters),
        });
        // Stored events are read, unless no filter asks for any (`NOS-17`).
        let viewer = self.viewer.clone();
        out.push(if pages.is_empty() {
            Output::Mark { generation }
        } else {
            Output::Scan {
                generation,
                pages,
                viewer,
            }
        });
    }

    fn page(&self, filter: &Filter) -> Page {
        let cap = self.settings.page_events_max;
        let asked = filter.limit().unwrap_or(u64::MAX);
        Page {
            filter: filter.clone(),
            events_max: cap.min(asked),
            whole_second: cap < asked,
        }
    }

    /// A subscription is over because the client says so; an unknown one is over already.
    pub(super) fn close(&mut self, id: &SubscriptionId, out: &mut Vec<Output>) {
        if let Some(generation) = self.by_id.remove(id) {
            self.subscriptions.remove(&generation);
            out.push(Output::Stop { generation });
        }
    }

    /// A scan found an event. Who may see it has been looked at; it is looked at again, since
    /// this is the last place where a mistake shows.
    pub(super) fn stored(&mut self, generation: Generation, event: &Event, out: &mut Vec<Output>) {
        let Some(subscription) = self.subscriptions.get(&generation) else {
            return;
        };
        if matches!(subscription.state, State::Reading { .. }) && self.viewer.sees(event) {
            out.push(Output::Send(subscription.frame(event)));
        }
    }

    /// A scan is over: `EOSE`, then what came in meanwhile.
    pub(super) fn scan_ended(
        &mut self,
        now: Now,
        generation: Generation,
        end: ScanEnd,
        out: &mut Vec<Output>,
    ) {
        if let ScanEnd::Failed(reason) = end {
            return self.end(generation, reason, out);
        }
        let held = self.eose(generation, &end, out);
        for it in held {
            self.live(now, generation, &it.event, it.commit, out);
        }
    }

    /// Sends `EOSE`; returns what waited for it (`NOS-44`).
    fn eose(&mut self, generation: Generation, end: &ScanEnd, out: &mut Vec<Output>) -> Vec<Held> {
        let (says_hints, needs_sync) = (self.settings.hints, self.settings.finish_needs_sync);
        let (
            Some(subscription),
            ScanEnd::Done {
                drained,
                more,
                synced,
                commit,
            },
        ) = (self.subscriptions.get_mut(&generation), end)
        else {
            return Vec::new();
        };
        let State::Reading {
            held,
            outlook,
            mixed,
            ..
        } = &mut subscription.state
        else {
            return Vec::new();
        };
        let known = Hints::decide(ScanFacts {
            drained: *drained && !outlook.unread,
            more: *more,
            withheld: outlook.withheld,
            challenged: true,
            synced: *synced || !needs_sync,
        });
        let hints = if says_hints { known } else { Hints::default() };
        let (held, mixed) = (std::mem::take(held), mixed.take());
        let after = *commit;
        subscription.state = State::Live { after, mixed };
        send(
            &RelayMessage::Eose {
                id: subscription.id.clone(),
                hints,
            },
            out,
        );
        held
    }

    /// An event has come in.
    pub(super) fn live(
        &mut self,
        now: Now,
        generation: Generation,
        event: &Event,
        commit: Option<Commit>,
        out: &mut Vec<Output>,
    ) {
        let Some(subscription) = self.subscriptions.get_mut(&generation) else {
            return;
        };
        let shown = event.kind() != EventKind::AUTH && !nip40::is_expired(event, now.wall);
        if !shown || !self.viewer.sees(event) {
            return;
        }
        match &mut subscription.state {
            State::Live { after, mixed }
                if commit.is_some_and(|own| own <= *after)
                    && mixed.as_ref().is_none_or(|all| is_read_by(all, event)) => {}
            State::Live { .. } => out.push(Output::Send(subscription.frame(event))),
            State::Reading { held, .. } if held.len() < limit::HELD_EVENTS_MAX => {
                held.push(Held {
                    event: event.clone(),
                    commit,
                });
            }
            State::Reading { .. } => self.lagged(generation, out),
        }
    }

    /// Something was lost: the subscription ends, loudly, and can be asked for again (`NOS-46`).
    pub(super) fn lagged(&mut self, generation: Generation, out: &mut Vec<Output>) {
        let sentence = "events came faster than they could be sent; subscribe again";
        self.end(generation, Reason::new(Prefix::Error, sentence), out);
    }

    /// Answers that have been read for so long that their snapshots cost too much (`NOS-48`).
    pub(super) fn end_old_reads(&mut self, now: Now, out: &mut Vec<Output>) {
        let old_after = Duration::from_millis(limit::SNAPSHOT_MS);
        let is_old = |subscription: &Subscription| match subscription.state {
            State::Reading { begun_at, .. } => now.instant.since(begun_at) >= old_after,
            State::Live { .. } => false,
        };
        let old = self.subscriptions.iter().filter(|(_, it)| is_old(it));
        for generation in old.map(|(generation, _)| *generation).collect::<Vec<_>>() {
            let sentence = "the stored events were not read in time; ask for fewer at once";
            self.end(generation, Reason::new(Prefix::Error, sentence), out);
        }
    }

    /// A subscription is over because we say so.
    fn end(&mut self, generation: Generation, reason: Reason, out: &mut Vec<Output>) {
        let Some(subscription) = self.subscriptions.remove(&generation) else {
            return;
        };
        self.by_id.remove(&subscription.id);
        out.push(Output::Stop { generation });
        self.refuse(
            Refusal {
                target: Target::Request(subscription.id),
                reason,
            },
            out,
        );
    }
}

/// Whether stored events of a filter are read (`NOS-17`).
fn is_read(filter: &Filter) -> bool {
    filter.limit() != Some(0)
}

/// Whether an event is of those that are read.
fn is_read_by(filters: &[Filter], event: &Event) -> bool {
    let mut read = filters.iter().filter(|filter| is_read(filter));
    read.any(|filter| filter.matches(event))
}

impl Subscription {
    fn frame(&self, event: &Event) -> Frame {
        Frame::Event {
            head: Arc::clone(&self.head),
            json: event.shared_json(),
        }
    }
}
