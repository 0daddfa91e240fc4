//! Writing and reading what relays send.

use data_encoding::HEXLOWER_PERMISSIVE;

use super::{CountAnswer, RelayMessage, Writer};
use crate::{
    escape,
    event::{EventMalformed, UnverifiedEvent},
    json::{Int, Malformed, Reader},
    key::EventId,
    nip::nip67::Hints,
    reason::Reason,
    sketch::Sketch,
    subscription::SubscriptionId,
};

/// Why a text is no message of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RelayMessageInvalid {
    /// Not the JSON that was expected.
    #[error(transparent)]
    Json(#[from] Malformed),
    /// An event that is none.
    #[error("in an EVENT, {0}")]
    Event(#[from] EventMalformed),
    /// A verb that we do not know; a client ignores it.
    #[error("the message is not known")]
    UnknownVerb,
    /// An id, a count or a frame in another form.
    #[error("{0} has another form")]
    Form(&'static str),
}

impl RelayMessage {
    /// As it is sent.
    pub fn to_json(&self) -> String {
        match self {
            Self::Event { id, event } => Writer::new("EVENT")
                .string(id.as_str())
                .json(event.json())
                .finish(),
            Self::Ok {
                id,
                accepted,
                reason,
            } => {
                let start = Writer::new("OK").string(&id.to_string());
                start
                    .json(if *accepted { "true" } else { "false" })
                    .string(reason.text())
                    .finish()
            }
            Self::Eose { id, hints } => {
                let start = Writer::new("EOSE").string(id.as_str());
                hints
                    .to_json()
                    .map_or(start.0.clone(), |hints| format!("{},{hints}", start.0))
                    + "]"
            }
            Self::Closed { id, reason } => Writer::new("CLOSED")
                .string(id.as_str())
                .string(reason.text())
                .finish(),
            Self::Notice(reason) => Writer::new("NOTICE").string(reason.text()).finish(),
            Self::Count { id, answer } => Writer::new("COUNT")
                .string(id.as_str())
                .json(&count_json(answer))
                .finish(),
            Self::Auth { challenge } => Writer::new("AUTH").string(challenge).finish(),
            Self::NegMsg { id, frame } => Writer::new("NEG-MSG")
                .string(id.as_str())
                .hex(frame)
                .finish(),
            Self::NegErr { id, reason, cap } => {
                let start = Writer::new("NEG-ERR")
                    .string(id.as_str())
                    .string(reason.text());
                cap.map(|cap| cap.to_string())
                    .iter()
                    .fold(start, |out, cap| out.json(cap))
                    .finish()
            }
        }
    }

    /// Reads a text frame of a relay. What follows the known elements is ignored, and so are
    /// hints that are not known (NIP-67).
    ///
    /// # Errors
    /// If it is not a message that we know; the relay is at fault, and the connection stays.
    pub fn parse(text: &str) -> Result<Self, RelayMessageInvalid> {
        let mut reader = Reader::new(text);
        reader.expect(b'[', "an array")?;
        let verb = reader.string()?.into_owned();
        let message = Self::read(&mut reader, &verb)?;
        while reader.take(b',') {
            reader.skip()?;
        }
        reader.expect(b']', "the end of the message")?;
        reader.end()?;
        Ok(message)
    }

    fn read(reader: &mut Reader<'_>, verb: &str) -> Result<Self, RelayMessageInvalid> {
        Ok(match verb {
            "EVENT" => Self::Event {
                id: id(reader)?,
                event: next(reader)
                    .map_err(Into::into)
                    .and_then(|()| UnverifiedEvent::read(reader))?,
            },
            "OK" => Self::Ok {
                id: event_id(reader)?,
                accepted: next(reader).and_then(|()| reader.boolean())?,
                reason: optional_reason(reader)?,
            },
            "EOSE" => Self::Eose {
                id: id(reader)?,
                hints: hints(reader)?,
            },
            "CLOSED" => Self::Closed {
                id: id(reader)?,
                reason: optional_reason(reader)?,
            },
            "NOTICE" => Self::Notice(optional_reason(reader)?),
            "COUNT" => Self::Count {
                id: id(reader)?,
                answer: count(reader)?,
            },
            "AUTH" => Self::Auth {
                challenge: string(reader)?.into(),
            },
            "NEG-MSG" => Self::NegMsg {
                id: id(reader)?,
                frame: frame(reader)?,
            },
            "NEG-ERR" => Self::NegErr {
                id: id(reader)?,
                reason: optional_reason(reader)?,
                cap: cap(reader)?,
            },
            _ => return Err(RelayMessageInvalid::UnknownVerb),
        })
    }
}

fn count_json(answer: &CountAnswer) -> String {
    let mut out = format!("{{\"count\":{}", answer.count);
    if answer.approximate {
        out.push_str(",\"approximate\":true");
    }
    if let Some(sketch) = &answer.sketch {
        out.push_str(",\"hll\":");
        escape::push_string(&mut out, &sketch.to_hex());
    }
    out.push('}');
    out
}

fn next(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    reader.expect(b',', "a comma and another element")
}

fn string(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    next(reader)?;
    reader.string().map(String::from)
}

fn id(reader: &mut Reader<'_>) -> Result<SubscriptionId, RelayMessageInvalid> {
    let form = RelayMessageInvalid::Form("a subscription id");
    SubscriptionId::new(&string(reader)?).ok_or(form)
}

fn event_id(reader: &mut Reader<'_>) -> Result<EventId, RelayMessageInvalid> {
    EventId::from_hex(&string(reader)?).ok_or(RelayMessageInvalid::Form("an event id"))
}

/// Some relays leave an empty reason out.
fn optional_reason(reader: &mut Reader<'_>) -> Result<Reason, Malformed> {
    if !reader.take(b',') {
        return Ok(Reason::none());
    }
    reader.string().map(|text| Reason::from_peer(&text))
}

/// Hints of any shape: what is no list of strings says nothing.
fn hints(reader: &mut Reader<'_>) -> Result<Hints, Malformed> {
    let mut hints = Hints::default();
    if !reader.take(b',') {
        return Ok(hints);
    }
    if reader.peek() != Some(b'[') {
        reader.skip()?;
        return Ok(hints);
    }
    reader.array(|reader| {
        if reader.peek() == Some(b'"') {
            hints.read(&reader.string()?);
            return Ok(());
        }
        reader.skip()
    })?;
    Ok(hints)
}

fn count(reader: &mut Reader<'_>) -> Result<CountAnswer, RelayMessageInvalid> {
    let form = RelayMessageInvalid::Form;
    let (mut count, mut approximate, mut sketch) = (None, false, None);
    next(reader)?;
    reader.object(|reader, key| {
        match key {
            "count" => match reader.integer()? {
                Int::Value(value) => count = Some(value),
                _ => return Err(form("a count")),
            },
            "approximate" => approximate = reader.boolean()?,
            "hll" => sketch = Some(Sketch::from_hex(&reader.string()?).ok_or(form("a sketch"))?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let count = count.ok_or(form("a count"))?;
    Ok(CountAnswer {
        count,
        approximate,
        sketch,
    })
}

fn frame(reader: &mut Reader<'_>) -> Result<Vec<u8>, RelayMessageInvalid> {
    let hex = string(reader)?;
    let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes());
    bytes.map_err(|_| RelayMessageInvalid::Form("a frame"))
}

fn cap(reader: &mut Reader<'_>) -> Result<Option<u64>, Malformed> {
    if !reader.take(b',') {
        return Ok(None);
    }
    if !matches!(reader.peek(), Some(b'0'..=b'9')) {
        return reader.skip().map(|()| None);
    }
    Ok(match reader.integer()? {
        Int::Value(cap) => Some(cap),
        Int::Negative | Int::TooLarge => None,
    })
}
