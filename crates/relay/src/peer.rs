//! A connection as the rest of the relay sees it: an inbox with bounds, and when it was last heard.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::Waker,
};

use futures_util::task::AtomicWaker;
use osier_nostr::{
    Commit, ConnectionId, CountAnswer, Event, EventForged, EventId, Generation, Published, Purpose,
    Reason, ScanEnd,
    nip::{nip17::Viewer, nip77::NegEnd},
};

use crate::{
    limit,
    scan::{Cursor, Session},
};

/// What comes for a connection from elsewhere in the relay.
#[derive(Debug)]
pub(crate) enum Mail {
    /// An event has been checked.
    Verified {
        /// What for.
        purpose: Purpose,
        /// The id that it claims.
        id: EventId,
        /// What came of it.
        outcome: Result<Box<Event>, EventForged>,
    },
    /// An event has been stored, or not.
    Published {
        /// Which.
        id: EventId,
        /// What came of it.
        outcome: Published,
    },
    /// A part of an answer has been read.
    Scanned(Box<Scanned>),
    /// A count has been made.
    Counted {
        /// For which request.
        generation: Generation,
        /// The answer, or why there is none.
        outcome: Result<Box<CountAnswer>, Reason>,
    },
    /// A negentropy session has answered.
    NegAnswered {
        /// For which request.
        generation: Generation,
        /// The frame, or why the session is over.
        outcome: Result<Vec<u8>, NegEnd>,
        /// The session, for its next frame.
        session: Option<Box<Session>>,
    },
    /// Live events were lost.
    Lost,
    /// Time has passed.
    Tick,
    /// Ask the client for a sign of life.
    Ping,
    /// Close the connection.
    Close(Farewell),
}

/// A part of the stored events of a request.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// For which request.
    pub(crate) generation: Generation,
    /// What was found, in order.
    pub(crate) events: Vec<Event>,
    /// How to go on, or how it ended.
    pub(crate) rest: Rest,
}

/// What follows a part of an answer.
#[derive(Debug)]
pub(crate) enum Rest {
    /// More, from here.
    More(Box<Cursor>),
    /// The end.
    Ended(ScanEnd),
}

/// A new event, as it goes to subscriptions.
#[derive(Debug)]
pub(crate) struct Live {
    /// The event.
    pub(crate) event: Event,
    /// The batch that made it durable; none if it is ephemeral.
    pub(crate) commit: Option<Commit>,
}

/// Why the relay closes a connection: a WebSocket close code and a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// The relay stops.
    Stopping,
    /// Nothing has been heard for too long.
    Gone,
    /// Nothing that waits has been taken for too long.
    Stalled,
    /// Too many live events wait.
    Unread,
}

/// The shared part of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its name.
    pub(crate) id: ConnectionId,
    inbox: Mutex<Inbox>,
    /// Whom it speaks for.
    viewer: Mutex<Viewer>,
    waker: AtomicWaker,
    /// When a frame last came, in milliseconds of the relay's clock.
    heard_ms: AtomicU64,
    /// When it was last asked for a sign of life.
    asked_ms: AtomicU64,
    /// Since when bytes wait that the client does not take; 0 when none do.
    waiting_since_ms: AtomicU64,
    /// Whether it has a request that ends by time.
    wants_ticks: AtomicBool,
    /// Whether frames of the client are read now.
    listens: AtomicBool,
    /// Reads for it that wait or run.
    reads: AtomicUsize,
}

#[derive(Debug, Default)]
struct Inbox {
    mail: VecDeque<Mail>,
    live: VecDeque<(Generation, Arc<Live>)>,
    live_bytes: usize,
    overflowed: bool,
}

impl Peer {
    /// A connection that has just been heard.
    pub(crate) fn new(id: ConnectionId, viewer: Viewer, now_ms: u64) -> Self {
        Self {
            id,
            inbox: Mutex::default(),
            viewer: Mutex::new(viewer),
            waker: AtomicWaker::new(),
            heard_ms: AtomicU64::new(now_ms),
            asked_ms: AtomicU64::new(now_ms),
            waiting_since_ms: AtomicU64::new(0),
            wants_ticks: AtomicBool::new(false),
            listens: AtomicBool::new(true),
            reads: AtomicUsize::new(0),
        }
    }

    /// Puts something into the inbox. Its sender bounds how much it sends: each is an answer to
    /// something that the connection has asked for, which is counted there.
    pub(crate) fn post(&self, mail: Mail) {
        self.lock().mail.push_back(mail);
        self.waker.wake();
    }

    /// Puts a live event into the inbox; with too many of them the connection is closed.
    pub(crate) fn deliver(&self, generation: Generation, live: &Arc<Live>) {
        let mut inbox = self.lock();
        if inbox.overflowed {
            return;
        }
        inbox.live_bytes += size(live);
        if inbox.live_bytes > limit::LIVE_BYTES_WAITING_MAX {
            inbox.overflowed = true;
            inbox.live = VecDeque::new();
            inbox.live_bytes = 0;
            inbox.mail.push_front(Mail::Close(Farewell::Unread));
        } else {
            inbox.live.push_back((generation, Arc::clone(live)));
        }
        drop(inbox);
        self.waker.wake();
    }

    /// It has authenticated a key.
    pub(crate) fn speaks_for(&self, viewer: &Viewer) {
        let mut own = self.viewer.lock().unwrap_or_else(PoisonError::into_inner);
        own.clone_from(viewer);
    }

    /// Whether the client may see an event. Keys are only ever added.
    pub(crate) fn sees(&self, event: &Event) -> bool {
        let own = self.viewer.lock().unwrap_or_else(PoisonError::into_inner);
        own.sees(event)
    }

    /// Whether something is in the inbox; live events count only if there is room for them.
    pub(crate) fn has_mail(&self, room: bool) -> bool {
        let inbox = self.lock();
        !inbox.mail.is_empty() || room && !inbox.live.is_empty()
    }

    /// Takes all mail. What held it is given back to the allocator, since most inboxes stay empty.
    pub(crate) fn take_mail(&self) -> VecDeque<Mail> {
        std::mem::take(&mut self.lock().mail)
    }

    /// Takes live events, up to so many bytes.
    pub(crate) fn take_live(&self, bytes: usize) -> Vec<(Generation, Arc<Live>)> {
        let mut inbox = self.lock();
        let mut taken = Vec::new();
        let mut room = bytes;
        while let Some((_, live)) = inbox.live.front() {
            let size = size(live);
            if size > room && !taken.is_empty() {
                break;
            }
            room = room.saturating_sub(size);
            inbox.live_bytes -= size;
            taken.extend(inbox.live.pop_front());
        }
        if inbox.live.is_empty() {
            inbox.live = VecDeque::new();
        }
        taken
    }

    /// Who is woken by mail. To be called before looking for it.
    pub(crate) fn wake_by(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Wakes the connection to look again at what it may do.
    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// The client has sent a frame.
    pub(crate) fn heard(&self, now_ms: u64) {
        self.heard_ms.store(now_ms, Ordering::Relaxed);
    }

    /// A read for this connection waits from now on.
    pub(crate) fn read_begins(&self) {
        self.reads.fetch_add(1, Ordering::SeqCst);
    }

    /// It has been done, or given up.
    pub(crate) fn read_ended(&self) {
        if self.reads.fetch_sub(1, Ordering::SeqCst) >= limit::READS_MAX {
            self.waker.wake();
        }
    }

    /// Whether one more may wait; if not, the connection is woken when it may.
    pub(crate) fn may_read(&self) -> bool {
        self.reads.load(Ordering::SeqCst) < limit::READS_MAX
    }

    /// Whether frames of the client are read now. Where they are not, for whatever reason, it
    /// cannot be heard, and its silence says nothing.
    pub(crate) fn listens(&self, listens: bool, now_ms: impl FnOnce() -> u64) {
        if self.listens.swap(listens, Ordering::Relaxed) != listens && listens {
            self.heard(now_ms());
        }
    }

    /// Whether bytes wait that the client has to take, as of now.
    pub(crate) fn waits(&self, waiting: bool, progress: bool, now_ms: impl FnOnce() -> u64) {
        let since = self.waiting_since_ms.load(Ordering::Relaxed);
        if !waiting {
            if since != 0 {
                self.waiting_since_ms.store(0, Ordering::Relaxed);
            }
        } else if since == 0 || progress {
            self.waiting_since_ms
                .store(now_ms().max(1), Ordering::Relaxed);
        }
    }

    /// Whether the connection is to be told of time.
    pub(crate) fn want_ticks(&self, wants: bool) {
        self.wants_ticks.store(wants, Ordering::Relaxed);
    }

    /// Looks at how long nothing has happened, and does something about it.
    pub(crate) fn look(&self, now_ms: u64, ping_after_ms: u64, gone_after_ms: u64) {
        let heard = now_ms.saturating_sub(self.heard_ms.load(Ordering::Relaxed));
        let asked = now_ms.saturating_sub(self.asked_ms.load(Ordering::Relaxed));
        let waiting_since = self.waiting_since_ms.load(Ordering::Relaxed);
        let stalled_after = u64::try_from(limit::STALLED_AFTER.as_millis()).unwrap_or(u64::MAX);
        if waiting_since != 0 && now_ms.saturating_sub(waiting_since) >= stalled_after {
            self.post(Mail::Close(Farewell::Stalled));
        } else if !self.listens.load(Ordering::Relaxed) {
            // What it is not let say is not missed.
        } else if heard >= gone_after_ms {
            self.post(Mail::Close(Farewell::Gone));
        } else if heard >= ping_after_ms && asked >= ping_after_ms {
            self.asked_ms.store(now_ms, Ordering::Relaxed);
            self.post(Mail::Ping);
        }
        if self.wants_ticks.load(Ordering::Relaxed) {
            self.post(Mail::Tick);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a live event is charged with while it waits. Its text is shared, and charged to each.
fn size(live: &Live) -> usize {
    live.event.json().len() + 64
}

impl Farewell {
    /// The close code of RFC 6455 and its registry.
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Stopping => 1001,
            Self::Gone | Self::Stalled => 1008,
            Self::Unread => 1013,
        }
    }

    /// What the client is told; at most 123 bytes.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Stopping => "the relay stops",
            Self::Gone => "nothing was heard from you, not even an answer to pings",
            Self::Stalled => "you do not read what you have asked for",
            Self::Unread => "too many live events wait for you; connect and subscribe again",
        }
    }
}

#[cfg(test)]
mod tests {
    use osier_nostr::testing;

    use super::*;

    fn live(content: usize) -> Arc<Live> {
        let draft = testing::draft(1, 1, &[], &"x".repeat(content));
        Arc::new(Live {
            event: draft.unsigned(&testing::pubkey(1)),
            commit: Some(Commit(1)),
        })
    }

    /// NR-30.
    #[test]
    fn a_client_that_does_not_read_is_closed_and_never_has_a_gap() {
        let peer = Peer::new(ConnectionId(1), Viewer::default(), 0);
        let event = live(200_000);
        let fits = limit::LIVE_BYTES_WAITING_MAX / size(&event);
        for _ in 0..fits {
            peer.deliver(Generation(1), &event);
        }
        assert!(peer.take_mail().is_empty());
        assert_eq!(peer.take_live(usize::MAX).len(), fits);
        for _ in 0..fits + 9 {
            peer.deliver(Generation(1), &event);
        }
        let mail = peer.take_mail();
        assert!(
            matches!(mail.front(), Some(Mail::Close(Farewell::Unread))),
            "{mail:?}"
        );
        assert_eq!(mail.len(), 1);
        assert!(peer.take_live(usize::MAX).is_empty());
    }

    #[test]
    fn live_events_wait_for_room_and_mail_does_not() {
        let peer = Peer::new(ConnectionId(1), Viewer::default(), 0);
        (0..3).for_each(|_| peer.deliver(Generation(1), &live(1_000)));
        assert!(!peer.has_mail(false) && peer.has_mail(true));
        assert_eq!(peer.take_live(2_500).len(), 1);
        assert_eq!(peer.take_live(1).len(), 1, "at least one");
        peer.post(Mail::Tick);
        assert!(peer.has_mail(false));
    }

    /// NR-28.
    #[test]
    fn silence_is_asked_about_and_then_ends_the_connection() {
        let peer = Peer::new(ConnectionId(1), Viewer::default(), 0);
        let look = |now| {
            peer.look(now, 30, 90);
            peer.take_mail().pop_front()
        };
        assert!(look(29).is_none());
        assert!(matches!(look(31), Some(Mail::Ping)));
        assert!(look(40).is_none(), "once in a while");
        peer.heard(41);
        assert!(look(70).is_none());
        assert!(matches!(look(75), Some(Mail::Ping)));
        assert!(matches!(look(106), Some(Mail::Ping)));
        assert!(matches!(look(131), Some(Mail::Close(Farewell::Gone))));
    }

    /// A client that reads slowly is not read from, so its answers to pings are not seen.
    #[test]
    fn who_is_not_listened_to_is_not_silent() {
        let peer = Peer::new(ConnectionId(1), Viewer::default(), 0);
        let look = |now| {
            peer.look(now, 30, 90);
            peer.take_mail().pop_front()
        };
        peer.listens(false, || 10);
        assert!(look(31).is_none() && look(500).is_none());
        peer.listens(true, || 600);
        assert!(look(629).is_none());
        assert!(matches!(look(631), Some(Mail::Ping)));
        peer.listens(true, || 650);
        assert!(matches!(look(691), Some(Mail::Close(Farewell::Gone))));
    }

    /// NOS-47.
    #[test]
    fn reads_that_wait_have_a_bound() {
        let peer = Peer::new(ConnectionId(1), Viewer::default(), 0);
        for _ in 0..limit::READS_MAX {
            assert!(peer.may_read());
            peer.read_begins();
        }
        assert!(!peer.may_read());
        peer.read_ended();
        assert!(peer.may_read());
    }

    #[test]
    fn a_client_that_takes_nothing_is_closed() {
        let peer = Peer::new(ConnectionId(1), Viewer::default(), 0);
        let after = u64::try_from(limit::STALLED_AFTER.as_millis()).unwrap();
        let closes = |now| {
            peer.heard(now);
            peer.look(now, after * 9, after * 9);
            !peer.take_mail().is_empty()
        };
        peer.waits(true, true, || 5);
        peer.waits(true, false, || 500);
        assert!(!closes(after + 4) && closes(after + 5));
        peer.waits(true, true, || 700);
        assert!(!closes(after + 5));
        peer.waits(false, false, || 800);
        assert!(!closes(after * 3));
    }

    #[test]
    fn a_farewell_fits_into_a_close_frame() {
        for farewell in [
            Farewell::Stopping,
            Farewell::Gone,
            Farewell::Stalled,
            Farewell::Unread,
        ] {
            assert!(farewell.sentence().len() <= 123);
        }
    }
}
