//! One peer in one topic: whether it can be reached, and what its history came to.

use osier_core::{Bucket, Instant, Role, SessionId, StateHash};
use osier_policy::{Backoff, Outcome, UNTRUSTED_MARKER_KEPT};

use crate::{
    claim::Claim,
    dispute::Disputed,
    input::SessionKey,
    laggard::{Lagging, Roused},
    proof::Drained,
};

/// Whether sessions reach a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Not tried since the topic was opened.
    Untried,
    /// The last session was answered, and the connection has not closed since.
    Up,
    /// The last try failed, or the connection has closed.
    Down,
}

/// What is shown of a peer's present or last session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionShown {
    pub(crate) session: Option<SessionId>,
    pub(crate) received: u64,
    pub(crate) expected: Option<u64>,
}

/// A peer, trusted or not.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Where it may be, in text form, from the ticket.
    pub(crate) addresses: Vec<String>,
    /// Whether it is a gossip neighbour.
    pub(crate) neighbor: bool,
    pub(crate) link: Link,
    pub(crate) outcome: Outcome<Drained>,
    /// When it drained, if that is its outcome.
    pub(crate) drained_at: Instant,
    /// When the session began by which it did: what came up later its word says nothing of.
    pub(crate) drained_since: Instant,
    /// Since when it is asked without an answer: sessions that give way to its own and are opened
    /// again do not put off its deadline (`POL-17`).
    pub(crate) unanswered: Option<Instant>,
    /// The session that this node has open with it as client.
    pub(crate) asking: Option<SessionKey>,
    pub(crate) shown: SessionShown,
    /// The role that it says it has.
    pub(crate) role_said: Role,
    pub(crate) backoff: Backoff,
    /// Not to be asked before this.
    pub(crate) retry_at: Option<Instant>,
    /// What it has said to hold that this node may not, until it is looked into.
    pub(crate) claim: Option<Claim>,
    /// When it was last known to hold what this node holds, by its watermark or by a session.
    pub(crate) agreed: Option<Instant>,
    /// What it and this node held when its watermark last showed a difference.
    pub(crate) differed: Option<(StateHash, StateHash)>,
    /// The last session about a disagreement.
    pub(crate) disputed: Option<Disputed>,
    /// Set while it is known to hold less than this node.
    pub(crate) lagging: Option<Lagging>,
    /// The last session that this node has opened because it stayed behind.
    pub(crate) roused: Option<Roused>,
    /// How much of its share of ephemeral items is used.
    pub(crate) ephemeral: Bucket,
    /// When it was last heard of; the peer unheard of for longest is forgotten first.
    pub(crate) heard: Instant,
}

impl Peer {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            addresses: Vec::new(),
            neighbor: false,
            link: Link::Untried,
            outcome: Outcome::Unasked,
            drained_at: now,
            drained_since: now,
            unanswered: None,
            asking: None,
            shown: SessionShown::default(),
            role_said: Role::Peer,
            backoff: Backoff::new(),
            retry_at: None,
            claim: None,
            agreed: None,
            differed: None,
            disputed: None,
            lagging: None,
            roused: None,
            ephemeral: Bucket::default(),
            heard: now,
        }
    }

    /// A marker whose signer was not trusted is kept for a while only (`POL-22`), and not over a
    /// reason to be behind (`CMP-33`): after that it is as if the peer had not been asked.
    pub(crate) fn drop_old_marker(&mut self, now: Instant, doubted: Option<Instant>) {
        let is_late = now > self.drained_at.after(UNTRUSTED_MARKER_KEPT);
        let is_overtaken = doubted.is_some_and(|doubted| self.drained_since < doubted);
        if matches!(self.outcome, Outcome::Drained(_)) && (is_late || is_overtaken) {
            self.outcome = Outcome::Unasked;
            self.retry_at = None;
        }
    }

    /// Whether it can be reached as far as is known. A peer that has not been tried counts until
    /// its deadline says otherwise; one that was lost counts again when it answers, not when it is
    /// dialed: what is synced must not be taken back for each try.
    pub(crate) fn is_connected(&self) -> bool {
        self.neighbor || self.link != Link::Down
    }

    /// Whether it has been reached and not lost since.
    pub(crate) fn is_reached(&self) -> bool {
        self.neighbor || self.link == Link::Up
    }

    /// Whether it may be asked now.
    pub(crate) fn may_ask(&self, now: Instant) -> bool {
        self.asking.is_none() && self.retry_at.is_none_or(|at| at <= now)
    }
}
