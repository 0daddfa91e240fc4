//! Entries: as they are read, and as they are written.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Hex, hex};

/// An entry of a topic.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Entry {
    hash: Hex,
    /// Who signed it.
    author: Hex,
    /// Its place in the author's chain, from 1.
    seq: u64,
    /// The author's entry before it.
    prev: Option<Hex>,
    /// Entries of others that it names.
    deps: Vec<Hex>,
    /// The author's clock, in milliseconds since 1970.
    time_ms: u64,
    kind: u64,
    items: Vec<Item>,
    /// Its place in this node's log; only in order of arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    position: Option<String>,
}

/// A piece of an entry's body.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Item {
    /// UTF-8.
    Text(String),
    /// Other bytes.
    Base64(String),
    /// Its hash; the piece itself was dropped, and nobody has said why.
    Dropped(Hex),
    /// The piece was dropped, for a reason.
    Gone(Gone),
}

/// A piece that was dropped by the rules of its kind.
#[derive(Debug, Serialize, ToSchema)]
struct Gone {
    hash: Hex,
    /// `deleted`, `vanished`, `replaced` or `expired`.
    why: &'static str,
}

impl Entry {
    pub(crate) fn new(entry: &osier::Entry, at: Option<osier::Position>) -> Self {
        let header = entry.header();
        Self {
            hash: hex(entry.hash()),
            author: hex(header.author()),
            seq: header.seq().get(),
            prev: header.prev().map(hex),
            deps: header.deps().iter().map(hex).collect(),
            time_ms: header.time().as_millis(),
            kind: header.kind().get().into(),
            items: entry.items().iter().map(Item::new).collect(),
            position: at.map(|at| at.to_string()),
        }
    }
}

impl Item {
    fn new(item: &osier::Item) -> Self {
        match (item.bytes(), item.reason()) {
            (None, None) => Self::Dropped(hex(item.hash())),
            (None, Some(reason)) => Self::Gone(Gone {
                hash: hex(item.hash()),
                why: reason.as_str(),
            }),
            (Some(bytes), _) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::Base64(data_encoding::BASE64.encode(bytes)),
            },
        }
    }
}

/// Entries in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryPage {
    pub(crate) entries: Vec<Entry>,
    /// Reads what follows, as `after`.
    pub(crate) next: String,
    /// Whether nothing follows now.
    pub(crate) done: bool,
}

/// Entries to append, in order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Publish {
    pub(crate) entries: Vec<Draft>,
}

/// An entry of one item: text, or bytes in base64.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Draft {
    Plain(String),
    Text { text: String },
    Base64 { base64: String },
}

/// What was appended, durable.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Written {
    /// Of a JSON body, or of bytes: the hash of each entry.
    Hashes { hashes: Vec<Hex> },
    /// Of lines.
    Lines {
        /// How many entries.
        entries: u64,
        /// Hash of the last; null if there was none.
        last: Option<Hex>,
        /// The end of the log now.
        position: String,
    },
}
