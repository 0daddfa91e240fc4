//! Who is at fault, and the code that the connection is closed with (`SES-15`).

use osier_core::Malformed;

use crate::{frame::FrameError, view::ViewError};

/// Why a session cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The peer's bytes are not what they claim to be.
    #[error("the peer's bytes are malformed: {0}")]
    Malformed(#[from] MalformedBytes),
    /// The peer's bytes are well formed and break a rule.
    #[error("the peer broke {id}: {0}", id = .0.id())]
    PeerMisbehaved(#[from] Rule),
    /// The two nodes do not speak the same language.
    #[error("the peer is incompatible: {0}")]
    Incompatible(#[from] Incompatible),
    /// Our own disk.
    #[error(transparent)]
    Local(#[from] ViewError),
}

/// Which of the peer's bytes are malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedBytes {
    /// A frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// An entry or a marker.
    #[error(transparent)]
    Content(#[from] Malformed),
    /// A range frame.
    #[error("range frame: {0}")]
    Range(#[from] osier_reconcile::Malformed),
}

/// Where the languages differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Incompatible {
    /// The provider chose a wire version that the client did not offer.
    #[error("wire version {0} was not offered")]
    WireVersion(u16),
    /// The peer's range frames are of another version.
    #[error("range frames of version {0:#04x}")]
    RangeVersion(u8),
}

/// A rule that a peer broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// A message that has no place here.
    #[error("{message} has no place while {at}")]
    Unexpected {
        /// Which message.
        message: &'static str,
        /// What the session was doing.
        at: &'static str,
    },
    /// The provider does not hold the topic's secret.
    #[error("the provider's proof does not hold")]
    Proof,
    /// A mode that what both sides said rules out.
    #[error("the mode contradicts the summaries")]
    Mode,
    /// Heads not sorted, not unique or too many.
    #[error("heads are not sorted, unique and at most 4096")]
    HeadsForm,
    /// Heads that do not hash to the state that was stated.
    #[error("the heads do not hash to the state")]
    HeadsState,
    /// A range exchange that breaks its own rules.
    #[error("ranges: {0}")]
    Ranges(osier_reconcile::Misbehaved),
    /// A range frame over the bound.
    #[error("a range frame of more than 512 KiB")]
    RangeLong,
    /// A client that lists more ids than it said it holds.
    #[error("more ids than entries")]
    RangeIds,
    /// A window that is not the higher floor.
    #[error("the window does not follow from the floors")]
    Window,
    /// A batch without entries, or with too many.
    #[error("a batch has 1 to 4096 entries")]
    BatchForm,
    /// An entry of another topic.
    #[error("an entry of another topic")]
    ForeignTopic,
    /// More entries than were announced or can be.
    #[error("more entries than announced")]
    TooManyEntries,
    /// An announcement that what was said or sent before rules out.
    #[error("the number of entries contradicts what was said before")]
    Expect,
    /// An entry that nobody asked for.
    #[error("an entry that was not asked for")]
    NotAsked,
    /// An entry that its author did not sign, and no authentic successor.
    #[error("an entry that is not authentic")]
    Unauthentic,
    /// A `Want` with too many hashes, or for what the asker knows not to be held.
    #[error("wants what is not held, or too much")]
    Want,
    /// Uploads that end before everything was sent.
    #[error("uploads that are not what was announced or asked for")]
    Uploads,
    /// Holes not sorted, not unique, too many or never asked for.
    #[error("holes are not sorted, unique and bounded")]
    HolesForm,
    /// A token that is too long.
    #[error("a token of at most 256 bytes")]
    TokenForm,
    /// A marker whose signature does not hold.
    #[error("the marker's signature does not hold")]
    MarkerSignature,
    /// A marker by another signer than the session's peer.
    #[error("the marker's signer is not the session's provider")]
    MarkerSigner,
    /// A marker for another topic.
    #[error("a marker for another topic")]
    MarkerTopic,
    /// A marker of another session.
    #[error("a marker of another session")]
    MarkerSession,
    /// A marker for another requester.
    #[error("a marker for another requester")]
    MarkerRequester,
    /// A marker for another request.
    #[error("a marker for another request")]
    MarkerRequest,
    /// A marker for another snapshot than the one that was announced.
    #[error("the marker speaks for another snapshot than was announced")]
    MarkerSnapshot,
    /// A marker whose heads or holes contradict its own digests.
    #[error("the marker contradicts itself")]
    MarkerContent,
    /// Two markers in one session that differ.
    #[error("two markers in one session")]
    MarkerTwice,
    /// A last word about another session.
    #[error("a verdict on another session")]
    ReceivedSession,
}

impl Rule {
    /// The rule's id in `specs/`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Unexpected { .. } => "SES-12",
            Self::Proof => "SES-2",
            Self::Mode => "SES-5",
            Self::HeadsForm | Self::HeadsState => "SES-7",
            Self::Ranges(_) | Self::RangeLong | Self::RangeIds => "SES-8",
            Self::Window => "SES-9",
            Self::BatchForm
            | Self::ForeignTopic
            | Self::TooManyEntries
            | Self::Expect
            | Self::TokenForm => "SES-10",
            Self::Unauthentic => "ENT-10",
            Self::NotAsked | Self::Want | Self::Uploads => "SES-11",
            Self::HolesForm => "CMP-5",
            Self::MarkerSignature
            | Self::MarkerSigner
            | Self::MarkerTopic
            | Self::MarkerSession
            | Self::MarkerRequester
            | Self::MarkerRequest => "CMP-6",
            Self::MarkerSnapshot | Self::MarkerContent => "CMP-7",
            Self::MarkerTwice | Self::ReceivedSession => "CMP-8",
        }
    }
}

/// The code that a stream or connection is closed with: one table for the wire (`SES-15`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum CloseCode {
    /// The session ended as it should.
    Done = 0,
    /// This side ended it, or the other side did.
    Cancelled = 1,
    /// The other side's bytes were malformed.
    Malformed = 2,
    /// The other side broke a rule.
    Misbehaved = 3,
    /// No common language.
    Incompatible = 4,
    /// This side's own disk failed.
    Internal = 5,
    /// The other side fell silent.
    Silent = 6,
}

impl CloseCode {
    /// The number on the wire.
    pub const fn get(self) -> u32 {
        self as u32
    }
}

impl Fault {
    /// The code that the stream is closed with.
    pub const fn close_code(&self) -> CloseCode {
        match self {
            Self::Malformed(_) => CloseCode::Malformed,
            Self::PeerMisbehaved(_) => CloseCode::Misbehaved,
            Self::Incompatible(_) => CloseCode::Incompatible,
            Self::Local(_) => CloseCode::Internal,
        }
    }

    /// Whether the peer is to blame, rather than this node.
    pub const fn blames_peer(&self) -> bool {
        !matches!(self, Self::Local(_))
    }
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed.into())
    }
}

impl From<FrameError> for Fault {
    fn from(error: FrameError) -> Self {
        Self::Malformed(error.into())
    }
}

impl From<osier_reconcile::ReconcileError<ViewError>> for Fault {
    fn from(error: osier_reconcile::ReconcileError<ViewError>) -> Self {
        use osier_reconcile::ReconcileError as E;
        match error {
            E::Malformed(malformed) => Self::Malformed(malformed.into()),
            E::Incompatible { version } => Incompatible::RangeVersion(version).into(),
            E::Misbehaved(rule) => Rule::Ranges(rule).into(),
            E::Storage(error) => Self::Local(error),
            E::Ended => Rule::Unexpected {
                message: "Range",
                at: "the ranges are settled",
            }
            .into(),
        }
    }
}
