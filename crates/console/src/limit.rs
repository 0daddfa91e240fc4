//! Every bound of the local API: unit, reason, and what happens when it is reached.

/// Bytes of one request unless set otherwise: sixteen entries of the largest size.
/// Over it: refused with status 413.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of a request that needs no token: a code in JSON has room many times over, and nobody else
/// makes the node hold more. Over it: refused with status 413.
pub const OPEN_REQUEST_BYTES_MAX: usize = 4096;

/// Event streams served at once unless set otherwise: each holds a page of entries.
/// Over it: refused with status 503.
pub const STREAMS_MAX: usize = 64;

/// Entries of one page. A larger `limit` is cut to it.
pub const PAGE_ENTRIES_MAX: usize = 1000;

/// Entries of a page when the request does not say.
pub const PAGE_ENTRIES_DEFAULT: usize = 100;

/// Entries written together while lines arrive: one commit of the engine at most.
pub const LINES_AT_ONCE: usize = 4096;

/// Bytes written together while lines arrive. A single longer line is written alone.
pub const LINES_BYTES_AT_ONCE: usize = 1024 * 1024;

/// Time without an event after which a stream sends a comment, in seconds, so that both ends
/// notice a dead connection.
pub const KEEP_ALIVE_S: u64 = 15;

/// For how long a one-time link can be used, in seconds: long enough to find the terminal again,
/// short enough that one in an old log opens nothing. Over it: refused with status 401.
pub const LINK_LIFETIME_S: u64 = 3600;

/// One-time links that were made and not used. At the bound the oldest cannot be used any more.
pub const LINKS_MAX: usize = 16;

/// Origins that may ask beside the node's own: each is compared for every request that has one.
/// Over it: the API does not start.
pub const ORIGINS_MAX: usize = 64;
