//! The promise to applications: complete only when it is, and never left waiting without a word.

use osier_core::{Coverage, OrderKey, SessionId, TopicId};
use osier_engine::{BehindCause, SyncEvent, Synced};
use osier_proto::Lsn;

use super::{Checks, Watch};
use crate::{
    clock::{MS, SEC, Time},
    event::NodeIndex,
};

/// A provider's silence at the start of a session, and the search for a provider (`POL-15`,
/// `POL-17`).
const START: Time = 5 * SEC;

/// A provider's silence after progress.
const PROGRESS: Time = 500 * MS;

/// Without a word that answers, at most so long: a search, then one provider after another that is
/// asked and says nothing of use.
const ANSWER: Time = 20 * SEC;

impl Checks {
    /// An application opens a topic.
    pub(crate) fn opened(&mut self, now: Time, node: NodeIndex, topic: TopicId, shown: Lsn) {
        let watch = Watch::opened(now, self.slack, shown);
        self.watches.insert((node, topic), watch);
    }

    /// A node does not run any more: its applications are gone with it.
    pub(crate) fn stopped(&mut self, node: NodeIndex) {
        self.watches.retain(|(of, _), _| *of != node);
        self.published.retain(|(of, _), _| *of != node);
    }

    /// A session has been opened: it has a deadline of its own.
    pub(crate) fn asked(&mut self, now: Time, node: NodeIndex, topic: TopicId) {
        let slack = self.slack;
        if let Some(watch) = self.watches.get_mut(&(node, topic)) {
            watch.asked(now, slack);
        }
    }

    /// The owner has said whose word counts: the search for a provider may begin afresh (`POL-15`).
    pub(crate) fn heeded(&mut self, now: Time, node: NodeIndex, topic: TopicId) {
        self.asked(now, node, topic);
    }

    /// Somebody has waited too long.
    pub(crate) fn overdue(&mut self, now: Time) {
        let late = self
            .watches
            .iter()
            .find(|(_, watch)| watch.due.is_some_and(|due| now > due));
        if let Some(((node, topic), _)) = late {
            let what = format!("n{node}: {topic:?} waits past its deadline without a word");
            self.fail(now, what);
        }
    }

    /// Gossip has dropped messages at a node that was synced: it must doubt that at once (`GOS-8`).
    /// Later it may be roused by others, which would hide that it did not.
    pub(crate) fn lagged(&mut self, now: Time, node: NodeIndex, topic: TopicId) {
        let cause = BehindCause::GossipLagged;
        let latest = self.told.iter().rev().take_while(|(at, ..)| *at == now);
        let doubts = latest.filter(|(_, of, at, _)| (*of, *at) == (node, topic)).any(
            |(.., event)| matches!(event, SyncEvent::Behind { cause: told, .. } if *told == cause),
        );
        if !doubts {
            self.fail(now, format!("n{node} stays synced over a lag of gossip"));
        }
    }

    /// An application has been told something.
    pub(crate) fn emitted(
        &mut self,
        now: Time,
        node: NodeIndex,
        topic: TopicId,
        upto: Lsn,
        event: SyncEvent,
    ) {
        let slack = self.slack;
        let Some(watch) = self.watches.get_mut(&(node, topic)) else {
            return self.fail(
                now,
                format!("n{node}: an event of a topic that is not open"),
            );
        };
        let wrong = watch.tell(now, slack, upto, &event);
        if let Some(what) = wrong {
            self.fail(now, format!("n{node}: {what}"));
        }
        if let SyncEvent::HistorySynced(synced) = &event {
            self.check_synced(now, node, topic, upto, synced);
        }
        self.told.push((now, node, topic, event));
    }

    /// `HistorySynced` is true to the extent stated.
    fn check_synced(
        &mut self,
        now: Time,
        node: NodeIndex,
        topic: TopicId,
        upto: Lsn,
        synced: &Synced,
    ) {
        let Some(session) = synced.session else {
            return;
        };
        let floor = match synced.coverage {
            Coverage::Complete => OrderKey::MIN,
            Coverage::From { floor } => floor,
        };
        if let Some(what) = self.lacks(node, topic, session, floor, Some(upto)) {
            self.fail(
                now,
                format!("n{node}: HistorySynced by {session:?}, and {what}"),
            );
        }
    }

    /// What a node lacks of the snapshot that a session's provider had.
    pub(super) fn lacks(
        &self,
        node: NodeIndex,
        topic: TopicId,
        session: SessionId,
        floor: OrderKey,
        upto: Option<Lsn>,
    ) -> Option<String> {
        let vouch = self.vouches.get(&session)?;
        if vouch.topic != topic {
            return Some("the session is of another topic".to_owned());
        }
        assert_eq!(
            vouch.life_of_disk, self.disks[vouch.provider],
            "wiped ones are forgotten"
        );
        let theirs = self.holdings.get(&(vouch.provider, topic))?;
        let mine = self.holdings.get(&(node, topic));
        if vouch.floor.is_some_and(|theirs| theirs > floor) {
            return Some(format!("n{} begins at a later floor", vouch.provider));
        }
        let own_floor = mine.and_then(|mine| mine.floor).unwrap_or(OrderKey::MIN);
        let from = floor.max(own_floor);
        let mut needed = theirs.log[..vouch.len]
            .iter()
            .filter(|(hash, key)| *key >= from && !self.withdrawn.contains(hash));
        let lacking = needed.find(|(hash, _)| {
            let place = mine.and_then(|mine| mine.at.get(hash));
            place.is_none_or(|place| upto.is_some_and(|upto| *place > upto))
        });
        lacking.map(|(hash, _)| format!("{hash:?} of n{}'s snapshot is not held", vouch.provider))
    }
}

impl Watch {
    /// An application opens a topic and is shown its log up to there.
    pub(crate) fn opened(now: Time, slack: Time, shown: Lsn) -> Self {
        Self {
            shown,
            due: Some(now + START + slack),
            due_max: now + ANSWER,
            ..Self::default()
        }
    }

    /// When it must have been told something; none while nothing is awaited.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// A session has been opened: it has a deadline of its own.
    pub(crate) fn asked(&mut self, now: Time, slack: Time) {
        self.put_off(now + START + slack);
    }

    fn put_off(&mut self, to: Time) {
        if let Some(due) = self.due {
            self.due = Some(due.max(to.min(self.due_max)));
        }
    }

    fn expect_by(&mut self, now: Time, due: Time) {
        self.due = Some(due);
        self.due_max = now + ANSWER;
    }

    /// Takes an event in; gives what is wrong with it.
    pub(crate) fn tell(
        &mut self,
        now: Time,
        slack: Time,
        upto: Lsn,
        event: &SyncEvent,
    ) -> Option<String> {
        if let Some(what) = self.doubt.tell(event) {
            return Some(what.to_owned());
        }
        match event {
            SyncEvent::Appended {
                from, upto: last, ..
            } => {
                if last < from {
                    return Some(format!("a stretch from {from:?} to {last:?}"));
                }
                if *last > upto {
                    return Some("a stretch beyond the log".to_owned());
                }
                self.shown = self.shown.max(*last);
                self.progress(now, slack);
            }
            SyncEvent::SyncStarted { session, .. } => {
                if self.ended.contains(session) || self.begun.insert(*session, 0).is_some() {
                    return Some(format!("{session:?} starts twice"));
                }
                self.progress(now, slack);
            }
            SyncEvent::Progress {
                session, received, ..
            } => {
                let Some(before) = self.begun.get_mut(session) else {
                    return Some(format!("progress of {session:?}, which is not under way"));
                };
                if *received < *before {
                    return Some(format!("progress of {session:?} goes backwards"));
                }
                *before = *received;
                self.progress(now, slack);
            }
            SyncEvent::SyncEnded { session, .. } => {
                if self.begun.remove(session).is_none() || !self.ended.insert(*session) {
                    return Some(format!("{session:?} ends and was not under way"));
                }
            }
            SyncEvent::HistorySynced(_)
            | SyncEvent::Diverged { .. }
            | SyncEvent::CaughtUp { .. } => {
                self.due = None;
                self.failed = false;
            }
            SyncEvent::HistorySyncFailed { .. } => {
                self.due = None;
                self.failed = true;
            }
            SyncEvent::HistorySyncDegraded { .. } if self.due.is_some() => {
                self.expect_by(now, now + START + slack);
            }
            SyncEvent::Behind { .. } => self.expect_by(now, now + START + SEC + slack),
            SyncEvent::AuthorForked { author, .. } => {
                if !self.forked.insert(*author) {
                    return Some(format!("{author:?} is told to have forked twice"));
                }
            }
            // What is taken out, and let in again, is told anew.
            SyncEvent::Withdrawn { .. } => self.forked.clear(),
            SyncEvent::State(_)
            | SyncEvent::HistorySyncDegraded { .. }
            | SyncEvent::HistoryTruncated { .. }
            | SyncEvent::ProviderUp { .. }
            | SyncEvent::ProviderDown { .. }
            | SyncEvent::Lagged { .. } => {}
        }
        None
    }

    /// A session moves: its provider has half a second more, however long it has taken.
    fn progress(&mut self, now: Time, slack: Time) {
        if let Some(due) = self.due {
            self.due = Some(due.max(now + PROGRESS + slack));
        }
    }

    /// The last place shown.
    pub(super) fn shown(&self) -> Lsn {
        self.shown
    }

    /// Sessions that have begun and not ended.
    pub(crate) fn open_sessions(&self) -> usize {
        self.begun.len()
    }
}
