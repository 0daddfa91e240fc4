//! Every bound of the vocabulary: unit, reason, and what happens when it is reached.

/// Items in one entry's body. A commit batch of a bridge fits; more makes two entries.
/// Over it: the entry is malformed.
pub const ENTRY_ITEMS_MAX: usize = 256;

/// Bytes of one entry's body, all items together (1 MiB): one entry must fit a few stream windows.
/// Over it: the entry is malformed, and `publish` refuses.
pub const ENTRY_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Dependencies of one entry. Enough for a busy topic's concurrent authors; more are left out by
/// the writer. Over it: the entry is malformed.
pub const ENTRY_DEPS_MAX: usize = 64;

/// Bytes of an encoded header: 64 deps of 32 bytes and some 150 bytes of fields.
/// Over it: the entry is malformed before it is decoded.
pub const ENTRY_HEADER_BYTES_MAX: usize = ENTRY_DEPS_MAX * 32 + 256;

/// Bytes of an entry on the wire: header, signature, body and lengths.
pub const ENTRY_WIRE_BYTES_MAX: usize =
    ENTRY_HEADER_BYTES_MAX + ENTRY_BODY_BYTES_MAX + ENTRY_ITEMS_MAX * 8 + 128;

/// Tips of one author that make up a leaf of the state hash (`ENT-15`). An honest author has one.
/// Of more, the smallest in order of (seq, hash) count, the same ones on every node; the others are
/// still known of, because they move up when a smaller one gets a successor.
pub const AUTHOR_TIPS_MAX: usize = 16;

/// Bytes of a topic's name: it is shown in tables and carried in tickets.
/// Over it: the ticket is refused.
pub const TOPIC_NAME_BYTES_MAX: usize = 128;

/// Bootstrap addresses in a ticket: a ticket is pasted by hand. Over it: refused.
pub const TICKET_ADDRESSES_MAX: usize = 8;

/// Bytes of a bootstrap address in text form. Over it: the ticket is refused.
pub const TICKET_ADDRESS_BYTES_MAX: usize = 256;

/// Bytes of a ticket before text encoding. Over it: refused before it is decoded.
pub const TICKET_BYTES_MAX: usize = 4096;

/// Bytes of a control entry's item: a manifest of 1,024 topics with long names.
/// Over it: the entry says nothing.
pub const CONTROL_BYTES_MAX: usize = 256 * 1024;

/// Topics of one space: each is a swarm, a store and sessions of its own at every member.
/// Over it: the manifest says nothing, and the owner is refused.
pub const SPACE_TOPICS_MAX: usize = 1024;

/// Bytes of a signed payload that is not an entry (marker, gossip message).
/// A marker with 64 heads, 64 holes and a token fits twice.
pub const ENVELOPE_PAYLOAD_BYTES_MAX: usize = 32 * 1024;

/// Decompressed keys kept by one verifier: 128 KiB or so. Over it: the cache starts afresh.
pub const KEY_CACHE_MAX: usize = 4096;

const _: () = assert!(ENTRY_ITEMS_MAX <= u16::MAX as usize);
const _: () = assert!(ENTRY_BODY_BYTES_MAX <= u32::MAX as usize);
const _: () = assert!(SPACE_TOPICS_MAX * (TOPIC_NAME_BYTES_MAX + 70) < CONTROL_BYTES_MAX);
const _: () = assert!(CONTROL_BYTES_MAX < ENTRY_BODY_BYTES_MAX);
const _: () = assert!(TICKET_ADDRESSES_MAX * TICKET_ADDRESS_BYTES_MAX < TICKET_BYTES_MAX);
