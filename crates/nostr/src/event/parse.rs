//! Reading an event: one pass, every bound checked as it goes (`NOS-4`, `NOS-5`, `NOS-6`).

use super::{Fields, UnverifiedEvent};
use crate::{
    json::{Int, Malformed, Reader},
    key::{EventId, PublicKey, Signature},
    kind::EventKind,
    limit,
    tag::Tag,
    time::Seconds,
};

/// Why a text is not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventMalformed {
    /// Not the JSON that was expected.
    #[error(transparent)]
    Json(#[from] Malformed),
    /// A field that an event must have.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A field that is there twice: readers disagree on which one counts.
    #[error("{0} is there twice")]
    Twice(&'static str),
    /// `id`, `pubkey` or `sig` in another form.
    #[error("{0} is not lower-case hex of the right length")]
    NotHex(&'static str),
    /// `kind` or `created_at` outside its range.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// A tag without a name.
    #[error("a tag is empty")]
    EmptyTag,
    /// More than [`limit::EVENT_TAGS_MAX`].
    #[error("more than {} tags", limit::EVENT_TAGS_MAX)]
    TooManyTags,
    /// More than [`limit::TAG_VALUES_MAX`].
    #[error("a tag has more than {} strings", limit::TAG_VALUES_MAX)]
    TagTooLong,
    /// More than [`limit::EVENT_JSON_BYTES_MAX`].
    #[error("longer than {} bytes", limit::EVENT_JSON_BYTES_MAX)]
    TooLong,
}

#[derive(Debug, Default)]
struct Parts {
    id: Option<EventId>,
    pubkey: Option<PublicKey>,
    created_at: Option<Seconds>,
    kind: Option<EventKind>,
    tags: Option<Vec<Tag>>,
    content: Option<String>,
    signature: Option<Signature>,
}

impl UnverifiedEvent {
    /// Reads a text that holds an event and nothing else.
    ///
    /// # Errors
    /// If it breaks a rule of form; whoever sent it is at fault.
    pub fn parse(text: &str) -> Result<Self, EventMalformed> {
        let mut reader = Reader::new(text);
        let event = Self::read(&mut reader)?;
        reader.end()?;
        Ok(event)
    }

    /// Reads an event that stands in a message.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, EventMalformed> {
        let mut parts = Parts::default();
        reader.object(|reader, key| parts.field(reader, key))?;
        let event = parts.finish()?;
        if event.size() > limit::EVENT_JSON_BYTES_MAX {
            return Err(EventMalformed::TooLong);
        }
        Ok(event)
    }
}

impl Parts {
    fn field(&mut self, reader: &mut Reader<'_>, key: &str) -> Result<(), EventMalformed> {
        match key {
            "id" => once(&mut self.id, "id", hex(reader, "id", EventId::from_hex)?),
            "pubkey" => once(
                &mut self.pubkey,
                "pubkey",
                hex(reader, "pubkey", PublicKey::from_hex)?,
            ),
            "sig" => once(
                &mut self.signature,
                "sig",
                hex(reader, "sig", Signature::from_hex)?,
            ),
            "created_at" => {
                let seconds = number(reader, "created_at")?;
                let seconds = Seconds::new(seconds).ok_or(EventMalformed::OutOfRange("created_at"));
                once(&mut self.created_at, "created_at", seconds?)
            }
            "kind" => {
                let kind = u16::try_from(number(reader, "kind")?);
                let kind = kind.map_err(|_| EventMalformed::OutOfRange("kind"))?;
                once(&mut self.kind, "kind", EventKind::new(kind))
            }
            "tags" => once(&mut self.tags, "tags", tags(reader)?),
            "content" => once(&mut self.content, "content", reader.string()?.into_owned()),
            _ => Ok(reader.skip()?),
        }
    }

    fn finish(self) -> Result<UnverifiedEvent, EventMalformed> {
        let missing = EventMalformed::Missing;
        let id = self.id.ok_or(missing("id"))?;
        let signature = self.signature.ok_or(missing("sig"))?;
        let fields = Fields {
            pubkey: &self.pubkey.ok_or(missing("pubkey"))?,
            created_at: self.created_at.ok_or(missing("created_at"))?,
            kind: self.kind.ok_or(missing("kind"))?,
            tags: &self.tags.ok_or(missing("tags"))?,
            content: &self.content.ok_or(missing("content"))?,
        };
        Ok(UnverifiedEvent::new(id, signature, fields))
    }
}

fn once<T>(place: &mut Option<T>, name: &'static str, value: T) -> Result<(), EventMalformed> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(EventMalformed::Twice(name)),
    }
}

fn hex<T>(
    reader: &mut Reader<'_>,
    name: &'static str,
    read: fn(&str) -> Option<T>,
) -> Result<T, EventMalformed> {
    read(&reader.string()?).ok_or(EventMalformed::NotHex(name))
}

fn number(reader: &mut Reader<'_>, name: &'static str) -> Result<u64, EventMalformed> {
    match reader.integer()? {
        Int::Value(value) => Ok(value),
        Int::Negative | Int::TooLarge => Err(EventMalformed::OutOfRange(name)),
    }
}

fn tags(reader: &mut Reader<'_>) -> Result<Vec<Tag>, EventMalformed> {
    let mut tags = Vec::new();
    reader.array(|reader| {
        if tags.len() == limit::EVENT_TAGS_MAX {
            return Err(EventMalformed::TooManyTags);
        }
        tags.push(tag(reader)?);
        Ok(())
    })?;
    Ok(tags)
}

fn tag(reader: &mut Reader<'_>) -> Result<Tag, EventMalformed> {
    let mut strings: Vec<Box<str>> = Vec::new();
    reader.array(|reader| {
        if strings.len() == limit::TAG_VALUES_MAX {
            return Err(EventMalformed::TagTooLong);
        }
        strings.push(reader.string()?.into());
        Ok(())
    })?;
    Tag::new(strings).ok_or(EventMalformed::EmptyTag)
}
