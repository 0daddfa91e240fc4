//! Reading and writing what clients send.

use data_encoding::HEXLOWER_PERMISSIVE;

use super::{ClientMessage, RelayMessage, Writer};
use crate::{
    event::{EventMalformed, UnverifiedEvent, rescue_id},
    filter::{Filter, FilterInvalid},
    json::{Malformed, Reader},
    key::EventId,
    limit,
    reason::{Prefix, Reason},
    subscription::SubscriptionId,
};

/// What a refusal is about: it carries the id that it refuses (`NOS-40`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A published event, or an authentication.
    Event(EventId),
    /// A subscription or a count.
    Request(SubscriptionId),
    /// A negentropy session.
    Negentropy(SubscriptionId),
    /// A frame without a usable id.
    Frame,
}

/// What was refused, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What it is about.
    pub target: Target,
    /// What the client is told.
    pub reason: Reason,
}

impl Refusal {
    /// A refusal.
    pub fn new(target: Target, prefix: Prefix, sentence: &str) -> Self {
        Self {
            target,
            reason: Reason::new(prefix, sentence),
        }
    }

    fn invalid(target: Target, why: &impl ToString) -> Self {
        Self::new(target, Prefix::Invalid, &why.to_string())
    }

    /// The message that says so.
    pub fn into_message(self) -> RelayMessage {
        let reason = self.reason;
        match self.target {
            Target::Event(id) => RelayMessage::Ok {
                id,
                accepted: false,
                reason,
            },
            Target::Request(id) => RelayMessage::Closed { id, reason },
            Target::Negentropy(id) => RelayMessage::NegErr {
                id,
                reason,
                cap: None,
            },
            Target::Frame => RelayMessage::Notice(reason),
        }
    }
}

impl ClientMessage {
    /// What it asks for that costs reading stored events; none if nothing.
    pub fn asks(&self) -> Option<Target> {
        match self {
            Self::Req { id, .. } | Self::Count { id, .. } => Some(Target::Request(id.clone())),
            Self::NegOpen { id, .. } => Some(Target::Negentropy(id.clone())),
            _ => None,
        }
    }

    /// Reads a text frame.
    ///
    /// # Errors
    /// The refusal to send back, with the id it is about wherever one can be made out.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut reader = Reader::new(text);
        let verb = verb(&mut reader).map_err(|why| Refusal::invalid(Target::Frame, &why))?;
        match &*verb {
            "EVENT" => event(&mut reader).map(Self::Event),
            "AUTH" => event(&mut reader).map(Self::Auth),
            "REQ" => {
                let id = subscription_id(&mut reader, Target::Request)?;
                let filters = filters(&mut reader, &id)?;
                Ok(Self::Req { id, filters })
            }
            "COUNT" => {
                let id = subscription_id(&mut reader, Target::Request)?;
                let filters = filters(&mut reader, &id)?;
                Ok(Self::Count { id, filters })
            }
            "CLOSE" => {
                let id = subscription_id(&mut reader, |_| Target::Frame)?;
                end(&mut reader, Target::Frame).map(|()| Self::Close { id })
            }
            "NEG-CLOSE" => {
                let id = subscription_id(&mut reader, Target::Negentropy)?;
                end(&mut reader, Target::Frame).map(|()| Self::NegClose { id })
            }
            "NEG-OPEN" => neg_open(&mut reader),
            "NEG-MSG" => {
                let id = subscription_id(&mut reader, Target::Negentropy)?;
                let frame = frame(&mut reader, &id)?;
                Ok(Self::NegMsg { id, frame })
            }
            other => {
                let echo: String = other.chars().take(limit::ECHO_CHARS_MAX).collect();
                let sentence = format!("the message {echo:?} is not known here");
                Err(Refusal::new(Target::Frame, Prefix::Unsupported, &sentence))
            }
        }
    }

    /// As it is sent.
    pub fn to_json(&self) -> String {
        let request = |verb: &str, id: &SubscriptionId, filters: &[Filter]| {
            let start = Writer::new(verb).string(id.as_str());
            let all = filters
                .iter()
                .fold(start, |out, filter| out.json(&filter.to_json()));
            all.finish()
        };
        match self {
            Self::Event(event) => Writer::new("EVENT").json(event.json()).finish(),
            Self::Auth(event) => Writer::new("AUTH").json(event.json()).finish(),
            Self::Req { id, filters } => request("REQ", id, filters),
            Self::Count { id, filters } => request("COUNT", id, filters),
            Self::Close { id } => Writer::new("CLOSE").string(id.as_str()).finish(),
            Self::NegClose { id } => Writer::new("NEG-CLOSE").string(id.as_str()).finish(),
            Self::NegMsg { id, frame } => Writer::new("NEG-MSG")
                .string(id.as_str())
                .hex(frame)
                .finish(),
            Self::NegOpen { id, filter, frame } => {
                let start = Writer::new("NEG-OPEN").string(id.as_str());
                start.json(&filter.to_json()).hex(frame).finish()
            }
        }
    }
}

fn verb(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    reader.expect(b'[', "an array")?;
    reader.string().map(String::from)
}

/// The rest of `["EVENT", event]`; a refusal names the event even if it cannot be read.
fn event(reader: &mut Reader<'_>) -> Result<UnverifiedEvent, Refusal> {
    let rest = reader.rest();
    let read = next(reader).map_err(EventMalformed::from);
    let event = read
        .and_then(|()| UnverifiedEvent::read(reader))
        .map_err(|why| {
            let target = rescue_id(rest).map_or(Target::Frame, Target::Event);
            Refusal::invalid(target, &why)
        })?;
    let id = event.claimed_id();
    end(reader, Target::Event(id)).map(|()| event)
}

/// The next element, an id; one that is too long is refused with what is left of it.
fn subscription_id(
    reader: &mut Reader<'_>,
    target: impl Fn(SubscriptionId) -> Target,
) -> Result<SubscriptionId, Refusal> {
    let text = next(reader).and_then(|()| reader.string());
    let text = text.map_err(|why| Refusal::invalid(Target::Frame, &why))?;
    SubscriptionId::new(&text).ok_or_else(|| {
        let most = limit::SUBSCRIPTION_ID_CHARS_MAX;
        let why = format!("a subscription id has 1 to {most} characters");
        Refusal::invalid(target(SubscriptionId::cut(&text)), &why)
    })
}

/// The remaining elements: 1 to [`limit::FILTERS_MAX`] filters.
fn filters(reader: &mut Reader<'_>, id: &SubscriptionId) -> Result<Vec<Filter>, Refusal> {
    let target = || Target::Request(id.clone());
    let mut filters = Vec::new();
    while reader.take(b',') {
        if filters.len() == limit::FILTERS_MAX {
            let why = format!("more than {} filters", limit::FILTERS_MAX);
            return Err(Refusal::invalid(target(), &why));
        }
        filters.push(filter(reader, target())?);
    }
    end(reader, target())?;
    if filters.is_empty() {
        return Err(Refusal::invalid(target(), &"there is no filter"));
    }
    Ok(filters)
}

fn filter(reader: &mut Reader<'_>, target: Target) -> Result<Filter, Refusal> {
    let read = Filter::read(reader);
    read.map_err(|why: FilterInvalid| Refusal {
        target,
        reason: why.reason(),
    })
}

/// The rest of `["NEG-OPEN", id, filter, frame]`; the filter may be the only one of a list
/// (`NOS-85`).
fn neg_open(reader: &mut Reader<'_>) -> Result<ClientMessage, Refusal> {
    let id = subscription_id(reader, Target::Negentropy)?;
    let target = || Target::Negentropy(id.clone());
    next(reader).map_err(|why| Refusal::invalid(target(), &why))?;
    let is_listed = reader.take(b'[');
    let filter = filter(reader, target())?;
    if is_listed {
        let listed = reader.expect(b']', "the end of a list of one filter");
        listed.map_err(|why| Refusal::invalid(target(), &why))?;
    }
    let frame = frame(reader, &id)?;
    Ok(ClientMessage::NegOpen { id, filter, frame })
}

/// The last element: bytes in hex, in either case.
fn frame(reader: &mut Reader<'_>, id: &SubscriptionId) -> Result<Vec<u8>, Refusal> {
    let target = || Target::Negentropy(id.clone());
    let hex = next(reader).and_then(|()| reader.string());
    let hex = hex.map_err(|why| Refusal::invalid(target(), &why))?;
    end(reader, target())?;
    let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes());
    bytes.map_err(|_| Refusal::invalid(target(), &"the frame is not hex"))
}

fn next(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    reader.expect(b',', "a comma and another element")
}

fn end(reader: &mut Reader<'_>, target: Target) -> Result<(), Refusal> {
    let ended = reader
        .expect(b']', "the end of the message")
        .and_then(|()| reader.end());
    ended.map_err(|why| Refusal::invalid(target, &why))
}
