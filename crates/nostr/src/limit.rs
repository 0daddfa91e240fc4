//! Every bound of the bridge's pure half: unit, reason, and what happens when it is reached.
//!
//! Those that decide whether an event is one at all are the same on every node of a topic, or
//! nodes would disagree. The others are defaults of [`crate::Settings`].

/// Bytes of one text frame. A follow list of some 3,000 keys fits twice.
/// Over it: the driver closes the connection with 1009 before the frame is parsed.
pub const MESSAGE_BYTES_MAX: usize = 512 * 1024;

/// Bytes of an event's canonical JSON. An entry's body holds four of them.
/// Over it: `invalid:`; an item that is longer is not an event.
pub const EVENT_JSON_BYTES_MAX: usize = 256 * 1024;

/// Tags of one event. Follow lists have thousands. Over it: `invalid:`.
pub const EVENT_TAGS_MAX: usize = 5_000;

/// Strings of one tag. Lists of relays and of image variants have dozens. Over it: `invalid:`.
pub const TAG_VALUES_MAX: usize = 256;

/// How deep a value under an unknown key may be nested before it is refused; it is dropped anyway.
pub const SKIP_DEPTH_MAX: usize = 32;

/// Digits of a number that are looked at; more are refused, since no field needs them.
pub const NUMBER_DIGITS_MAX: usize = 64;

/// Filters of one `REQ` or `COUNT`. Over it: `CLOSED invalid:`.
pub const FILTERS_MAX: usize = 20;

/// Values of one filter, all lists together: the follow list of a busy reader.
/// Over it: `CLOSED invalid:`.
pub const FILTER_VALUES_MAX: usize = 5_000;

/// Characters of a subscription id (NIP-01). Over it: refused with the id cut to this length.
pub const SUBSCRIPTION_ID_CHARS_MAX: usize = 64;

/// Characters of a peer's text that are repeated in a reason. The rest is left out.
pub const ECHO_CHARS_MAX: usize = 64;

/// Open `REQ` subscriptions of one connection. Over it: `CLOSED rate-limited:`.
pub const SUBSCRIPTIONS_MAX: usize = 64;

/// `COUNT`s of one connection that are being answered. Over it: `CLOSED rate-limited:`.
pub const COUNTS_MAX: usize = 16;

/// Open negentropy sessions of one connection; each may hold a snapshot open.
/// Over it: `NEG-ERR rate-limited:`.
pub const NEG_SESSIONS_MAX: usize = 8;

/// Published events of one connection that have no `OK` yet. The driver stops reading at half of
/// it ([`crate::Connection::wants_input`]), so only a driver that reads on gets there.
/// Over it: `OK false rate-limited:`.
pub const UNANSWERED_EVENTS_MAX: usize = 2_000;

/// Live events that wait for one subscription's stored events to end.
/// Over it: `CLOSED error:`, and the client asks again; never a gap.
pub const HELD_EVENTS_MAX: usize = 2_000;

/// Keys that one connection may authenticate. Over it: `OK false rate-limited:`.
pub const AUTH_KEYS_MAX: usize = 32;

/// Seconds between an `AUTH` event's time and ours (NIP-42 suggests ten minutes).
/// Over it: `OK false invalid:`.
pub const AUTH_WINDOW_S: u64 = 600;

/// Characters of a challenge; longer ones are our own mistake and are cut.
pub const CHALLENGE_CHARS_MAX: usize = 128;

/// Stored events of one answer to one filter, when the client asks for more or says nothing.
/// Reached: the page ends, and `EOSE` says `more`.
pub const PAGE_EVENTS_MAX: u64 = 500;

/// Stored events of one answer when the last second of a page has many (NIP-67).
/// Reached: the page ends inside a second.
pub const PAGE_EVENTS_HARD_MAX: u64 = 5_000;

/// Items that are gathered for a negentropy session, 40 bytes each. Sets that have an index of
/// their own are not gathered. Over it: `NEG-ERR blocked:` with this number.
pub const NEG_ITEMS_MAX: u64 = 1_000_000;

/// Bytes of a negentropy frame that we write; its hex fits in a message.
pub const NEG_FRAME_BYTES_MAX: usize = 128 * 1024;

/// Frames of one negentropy session that we answer. At the smallest frames of honest clients a
/// million items need far fewer. Over it: `NEG-ERR closed:`.
pub const NEG_ROUNDS_MAX: u32 = 10_000;

/// Milliseconds for which one request may hold a snapshot of the store, whose file grows with
/// whatever is written meanwhile. In ten minutes the longest page, and a million records, pass over
/// a slow link. Reached: `CLOSED error:`, `NEG-ERR closed:`.
pub const SNAPSHOT_MS: u64 = 600_000;

/// Milliseconds after which a negentropy session without a frame of its own is ended.
/// Reached: `NEG-ERR closed:`.
pub const NEG_IDLE_MS: u64 = 60_000;

const _: () = assert!(EVENT_JSON_BYTES_MAX <= osier_core::limit::ENTRY_BODY_BYTES_MAX);
const _: () = assert!(EVENT_JSON_BYTES_MAX + 1024 <= MESSAGE_BYTES_MAX);
const _: () = assert!(2 * NEG_FRAME_BYTES_MAX + 1024 <= MESSAGE_BYTES_MAX);
const _: () = assert!(NEG_IDLE_MS < SNAPSHOT_MS);
const _: () = assert!(PAGE_EVENTS_MAX <= PAGE_EVENTS_HARD_MAX);
