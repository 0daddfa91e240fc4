//! What the index is: whether it is of this version and these settings, and how far it is.

use osier_core::TopicId;
use osier_nostr::{Commit, Seconds, nip::nip45::HllRule};
use redb::{ReadableTable, Table, WriteTransaction};

use crate::{row::damaged, schema, settings::Settings};

type Text = &'static str;
type Bytes = &'static [u8];

/// The format of the tables. An index of another one is built anew (`NOS-100`).
pub(crate) const FORMAT: u32 = 2;

const STATE: &str = "state";
const COMMIT: &str = "commit";
const PURGED: &str = "purged";
const BEHIND: &str = "behind";

/// The state row of an index of this format with these settings: an index that says otherwise
/// holds something else.
pub(crate) fn state(settings: &Settings) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |name: &str, value: &str| {
        for text in [name, value] {
            hasher.update(&(text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
    };
    settings
        .urls
        .iter()
        .for_each(|url| add("url", url.as_str()));
    settings
        .gate
        .kinds()
        .for_each(|kind| add("gate", &kind.get().to_string()));
    let rule = match settings.hll_rule {
        HllRule::Merged => "merged",
        HllRule::Draft => "draft",
    };
    add("hll", rule);
    for topic in settings.topics.iter().flatten() {
        add("topic", &TopicId::to_string(topic));
    }
    add(
        "topics",
        if settings.topics.is_some() {
            "these"
        } else {
            "all"
        },
    );
    for filter in &settings.compared {
        add("compared", &filter.to_json());
    }
    let mut state = FORMAT.to_be_bytes().to_vec();
    state.extend_from_slice(hasher.finalize().as_bytes());
    state
}

/// Whether the index is what it should be; the other tables may be opened only then.
pub(crate) fn is_current(txn: &WriteTransaction, state: &[u8]) -> Result<bool, redb::Error> {
    let meta = txn.open_table(schema::meta)?;
    let row = meta.get(STATE)?;
    Ok(row.is_some_and(|row| row.value() == state))
}

/// Says that it is.
pub(crate) fn set_state(
    meta: &mut Table<'_, Text, Bytes>,
    state: &[u8],
) -> Result<(), redb::Error> {
    meta.insert(STATE, state)?;
    Ok(())
}

/// The last batch that the index holds.
pub(crate) fn commit(meta: &impl ReadableTable<Text, Bytes>) -> Result<Commit, redb::Error> {
    number(meta, COMMIT).map(Commit)
}

/// Counts a batch.
pub(crate) fn next_commit(meta: &mut Table<'_, Text, Bytes>) -> Result<Commit, redb::Error> {
    let next = commit(meta)?.0 + 1;
    meta.insert(COMMIT, next.to_be_bytes().as_slice())?;
    Ok(Commit(next))
}

/// Whether the log holds more than the index: then nothing is known to be drained (`NOS-107`).
pub(crate) fn is_behind(meta: &impl ReadableTable<Text, Bytes>) -> Result<bool, redb::Error> {
    Ok(meta.get(BEHIND)?.is_some())
}

/// Says whether it does.
pub(crate) fn set_behind(
    meta: &mut Table<'_, Text, Bytes>,
    behind: bool,
) -> Result<(), redb::Error> {
    if behind {
        meta.insert(BEHIND, [].as_slice())?;
    } else {
        meta.remove(BEHIND)?;
    }
    Ok(())
}

/// Up to when expired events have been taken out.
pub(crate) fn purged(meta: &impl ReadableTable<Text, Bytes>) -> Result<Seconds, redb::Error> {
    let until = number(meta, PURGED)?;
    Seconds::new(until).ok_or_else(|| damaged("when it was purged"))
}

/// Expired events up to here are out.
pub(crate) fn set_purged(
    meta: &mut Table<'_, Text, Bytes>,
    until: Seconds,
) -> Result<(), redb::Error> {
    meta.insert(PURGED, until.get().to_be_bytes().as_slice())?;
    Ok(())
}

fn number(meta: &impl ReadableTable<Text, Bytes>, name: &str) -> Result<u64, redb::Error> {
    let Some(row) = meta.get(name)? else {
        return Ok(0);
    };
    let bytes = row
        .value()
        .try_into()
        .map_err(|_| damaged("a number in its meta table"))?;
    Ok(u64::from_be_bytes(bytes))
}
