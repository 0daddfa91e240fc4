//! Log rows: one entry, whole, in one row, unless its body is large.
//!
//! ```text
//! 1   version, 1
//! 2   length of the header
//! 64  signature
//! n   header, as signed
//! 2   number of items, then for each
//! 1     0 held here   4 length   n bytes
//!       1 dropped     32 hash
//!       2 held apart  4 length   (bytes in the `body` table)
//!       3 gone        32 hash    1 why
//! ```

use bytes::Bytes;
use osier_core::{
    DropReason, Entry, EntryHeader, Item, ItemHash, WireEntry, decode_canonical, limit,
};
use osier_proto::Lsn;

use crate::{
    error::Cause,
    key::{self, TopicNo},
    row::Cut,
};

const WHAT: &str = "log row";
const VERSION: u8 = 1;

/// Bodies up to this many bytes stay in the log row: one row an entry. Larger ones would make
/// scans over headers read them, so each of their items has a row of its own.
pub(crate) const INLINE_BODY_BYTES_MAX: usize = 16 * 1024;

const HELD: u8 = 0;
const DROPPED: u8 = 1;
const APART: u8 = 2;
const GONE: u8 = 3;

/// Writes the row of an entry into `out`, and says whether its held items go apart.
pub(crate) fn encode(entry: &Entry, out: &mut Vec<u8>) -> bool {
    let held: usize = entry
        .items()
        .iter()
        .filter_map(Item::bytes)
        .map(Bytes::len)
        .sum();
    let apart = held > INLINE_BODY_BYTES_MAX;
    let header = entry.header_bytes();
    out.clear();
    out.push(VERSION);
    out.extend_from_slice(&length16(header.len()));
    out.extend_from_slice(&entry.signature());
    out.extend_from_slice(header);
    out.extend_from_slice(&length16(entry.items().len()));
    for item in entry.items() {
        match item {
            Item::Dropped(hash) => {
                out.push(DROPPED);
                out.extend_from_slice(hash.as_bytes());
            }
            Item::Gone(hash, reason) => {
                out.push(GONE);
                out.extend_from_slice(hash.as_bytes());
                out.push(reason.to_byte());
            }
            Item::Held(bytes) => {
                let length = u32::try_from(bytes.len()).expect("bodies are at most 1 MiB");
                out.push(if apart { APART } else { HELD });
                out.extend_from_slice(&length.to_be_bytes());
                if !apart {
                    out.extend_from_slice(bytes);
                }
            }
        }
    }
    apart
}

fn length16(length: usize) -> [u8; 2] {
    u16::try_from(length)
        .expect("headers and item counts are bounded")
        .to_be_bytes()
}

/// Reads a row. `body` gives the item with a number from the `body` table.
pub(crate) fn decode(
    row: &[u8],
    body: &dyn Fn(u16) -> Result<Option<Bytes>, Cause>,
) -> Result<WireEntry, Cause> {
    let row = Bytes::copy_from_slice(row);
    let mut cut = Cut::new(WHAT, &row);
    let (header, signature) = head(&mut cut)?;
    let count = cut.u16()?;
    if usize::from(count) > limit::ENTRY_ITEMS_MAX {
        return Err(Cause::damaged(WHAT));
    }
    let mut items = Vec::with_capacity(usize::from(count));
    for number in 0..count {
        items.push(match cut.byte()? {
            HELD => {
                let length = cut.u32()? as usize;
                Item::Held(row.slice_ref(cut.bytes(length)?))
            }
            DROPPED => Item::Dropped(ItemHash::from_bytes(cut.fixed()?)),
            GONE => {
                let hash = ItemHash::from_bytes(cut.fixed()?);
                let reason = DropReason::from_byte(cut.byte()?);
                Item::Gone(hash, reason.ok_or(Cause::damaged(WHAT))?)
            }
            APART => {
                let length = cut.u32()? as usize;
                let bytes = body(number)?.filter(|bytes| bytes.len() == length);
                Item::Held(bytes.ok_or(Cause::damaged("body row"))?)
            }
            _ => return Err(Cause::damaged(WHAT)),
        });
    }
    cut.end()?;
    Ok(WireEntry::from_parts(
        row.slice_ref(header),
        &signature,
        items,
    ))
}

/// One item of a row.
pub(crate) enum Found<'a> {
    /// The entry has no such item, or it has been dropped.
    Nothing,
    /// Its bytes.
    Held(&'a [u8]),
    /// It is in the `body` table, with so many bytes.
    Apart(usize),
}

/// The item of a row with a number; those before it are stepped over.
pub(crate) fn item(row: &[u8], number: u16) -> Result<Found<'_>, Cause> {
    let mut cut = Cut::new(WHAT, row);
    head(&mut cut)?;
    let count = cut.u16()?;
    if number >= count {
        return Ok(Found::Nothing);
    }
    for at in 0..=number {
        let found = match cut.byte()? {
            HELD => {
                let length = cut.u32()? as usize;
                Found::Held(cut.bytes(length)?)
            }
            DROPPED => {
                cut.fixed::<32>()?;
                Found::Nothing
            }
            GONE => {
                cut.fixed::<33>()?;
                Found::Nothing
            }
            APART => Found::Apart(cut.u32()? as usize),
            _ => break,
        };
        if at == number {
            return Ok(found);
        }
    }
    Err(Cause::damaged(WHAT))
}

/// Header and hash of a row, without its body. Much cheaper for large entries.
pub(crate) fn decode_head(row: &[u8]) -> Result<(EntryHeader, osier_core::EntryHash), Cause> {
    let mut cut = Cut::new(WHAT, row);
    let (header, signature) = head(&mut cut)?;
    let bytes = Bytes::copy_from_slice(header);
    let hash = WireEntry::from_parts(bytes, &signature, Vec::new()).hash();
    let header = decode_canonical("stored header", header, limit::ENTRY_HEADER_BYTES_MAX)
        .map_err(|_| Cause::damaged(WHAT))?;
    Ok((header, hash))
}

/// The hash of a row.
pub(crate) fn hash(row: &[u8]) -> Result<osier_core::EntryHash, Cause> {
    let (header, signature) = head(&mut Cut::new(WHAT, row))?;
    Ok(WireEntry::from_parts(Bytes::copy_from_slice(header), &signature, Vec::new()).hash())
}

fn head<'a>(cut: &mut Cut<'a>) -> Result<(&'a [u8], [u8; 64]), Cause> {
    if cut.byte()? != VERSION {
        return Err(Cause::damaged(WHAT));
    }
    let length = usize::from(cut.u16()?);
    let signature = cut.fixed::<64>()?;
    Ok((cut.bytes(length)?, signature))
}

/// Bytes of an item from the `body` table.
pub(crate) fn body_item(
    table: &impl redb::ReadableTable<&'static [u8; 14], &'static [u8]>,
    no: TopicNo,
    lsn: Lsn,
    item: u16,
) -> Result<Option<Bytes>, Cause> {
    let row = table.get(&key::body(no, lsn, item))?;
    Ok(row.map(|row| Bytes::copy_from_slice(row.value())))
}
