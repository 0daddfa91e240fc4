//! Byzantine providers: an honest session machine behind a wrapper that bends what it sends.
//!
//! A liar holds its own key and its own snapshot, so it can sign anything about them; it cannot
//! sign for others. `marker` bends what is signed at the end, `stream` bends what comes before,
//! `shown` leaves a part of the history out of the snapshot.

mod marker;
mod shown;
mod stream;

use bytes::Bytes;
use osier_core::{NodeSecret, Signed};
use osier_proto::{HistorySyncComplete, Message};
pub(crate) use shown::shown;

use crate::{clock::Time, dice::Dice};

/// What a byzantine provider does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lie {
    /// Sends its marker before its entries.
    EarlyMarker,
    /// Leaves entries out and vouches for them.
    Withholds,
    /// Leaves entries out, counts only what it sent, and vouches for all.
    WithholdsAndCounts,
    /// Counts one entry more than it sent; the last one is right.
    CountsOneMore,
    /// Counts one entry less than it sent; the last one is right.
    CountsOneLess,
    /// Names another last entry; the count is right.
    WrongLast,
    /// Vouches for heads that it does not hold.
    WrongHeads,
    /// Vouches for another state than it announced.
    WrongState,
    /// Shows the marker of an earlier session.
    Replays,
    /// Shows a marker for another request.
    OtherRequest,
    /// Shows a marker for another requester.
    OtherRequester,
    /// Shows a marker of another session.
    OtherSession,
    /// Shows a marker that someone else signed.
    OtherSigner,
    /// Shows a marker for another topic.
    OtherTopic,
    /// Takes the request and never answers.
    NeverAnswers,
    /// Grants, sends a little and stalls.
    Stalls,
    /// Sends half and says that this is complete.
    Truncates,
    /// Sends bytes that are no frames.
    Garbage,
    /// Sends entries that nobody signed.
    BentEntries,
    /// Sends its marker twice.
    MarkerTwice,
    /// Sends one entry each 400 ms; otherwise honest.
    Drips,
    /// Sends its marker eight seconds late.
    LateMarker,
    /// Sends everything and never a marker.
    NoMarker,
    /// Leaves a whole batch out and vouches for it.
    DropsBatch,
    /// Goes on with entries that it makes up, and does not come to an end.
    NeverEnds,
    /// Sends its marker hundreds of times, in many versions.
    FloodsMarkers,
    /// Serves the first half of its history as if it were all; what it signs is true of that.
    Stale,
    /// Hides one author from everybody; what it signs is true of the rest.
    HidesAuthor,
    /// Hides another author from each client.
    Equivocates,
    /// Sends everything, and instead of its marker signs of life, many at a time.
    Murmurs,
}

/// All of them, in the order of the knob `lie`.
pub const ALL_LIES: [Lie; LIES] = [
    Lie::EarlyMarker,
    Lie::Withholds,
    Lie::WithholdsAndCounts,
    Lie::CountsOneMore,
    Lie::CountsOneLess,
    Lie::WrongLast,
    Lie::WrongHeads,
    Lie::WrongState,
    Lie::Replays,
    Lie::OtherRequest,
    Lie::OtherRequester,
    Lie::OtherSession,
    Lie::OtherSigner,
    Lie::OtherTopic,
    Lie::NeverAnswers,
    Lie::Stalls,
    Lie::Truncates,
    Lie::Garbage,
    Lie::BentEntries,
    Lie::MarkerTwice,
    Lie::Drips,
    Lie::LateMarker,
    Lie::NoMarker,
    Lie::DropsBatch,
    Lie::NeverEnds,
    Lie::FloodsMarkers,
    Lie::Stale,
    Lie::HidesAuthor,
    Lie::Equivocates,
    Lie::Murmurs,
];

/// How many there are.
pub const LIES: usize = 30;

/// Seeds draw from the first so many: more would change what a known seed draws.
pub(crate) const DRAWN_LIES: usize = 29;

/// What goes on the wire.
#[derive(Debug)]
pub(crate) enum Said {
    /// A message.
    Message(Message),
    /// Bytes that are none.
    Raw(Bytes),
    /// A message, so much later.
    Later(Message, Time),
}

/// What a liar remembers between its sessions.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    marker: Option<Signed<HistorySyncComplete>>,
}

/// One session's lie.
#[derive(Debug)]
pub(crate) struct Telling {
    lie: Lie,
    secret: NodeSecret,
    /// What is held back to be sent later.
    held: Vec<Message>,
    /// Entries sent so far.
    sent: u64,
    last: Option<osier_core::EntryHash>,
    batches: u64,
    silent: bool,
}

impl Telling {
    pub(crate) fn new(lie: Lie, secret: NodeSecret) -> Self {
        Self {
            lie,
            secret,
            held: Vec::new(),
            sent: 0,
            last: None,
            batches: 0,
            silent: false,
        }
    }

    /// What is said in place of what the honest machine says.
    pub(crate) fn say(
        &mut self,
        message: Message,
        memory: &mut Memory,
        dice: &mut Dice,
    ) -> Vec<Said> {
        if self.silent {
            return Vec::new();
        }
        let bent = match self.lie {
            Lie::EarlyMarker => self.marker_first(message),
            Lie::Withholds
            | Lie::WithholdsAndCounts
            | Lie::NeverAnswers
            | Lie::Stalls
            | Lie::Truncates
            | Lie::NoMarker
            | Lie::DropsBatch
            | Lie::BentEntries => self.bend_stream(message, dice),
            Lie::Drips => return Self::drip(message),
            Lie::LateMarker => return Self::late(message),
            Lie::Murmurs => return Self::murmur(message),
            Lie::NeverEnds => return self.never_ends(message),
            Lie::Garbage => return self.garbage(message, dice),
            _ => vec![message],
        };
        let mut said = Vec::new();
        for message in bent {
            self.count(&message);
            for message in self.bend_marker(message, memory, dice) {
                said.push(Said::Message(message));
            }
        }
        said
    }

    fn count(&mut self, message: &Message) {
        if let Message::Entries(entries) = message {
            self.sent += entries.entries.len() as u64;
            self.last = entries.entries.last().map(osier_core::WireEntry::hash);
        }
    }
}
