//! How a ticket is written: version 1 of an open topic, version 2 of a granted one (`ENT-22`).

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use super::{Bootstrap, Ticket, TopicSecret};
use crate::{codec::Malformed, id::NodeId, writing::Writing};

/// Owner, secret, name and addresses; as it always was.
const OPEN: u8 = 1;
/// The same, and then who may write.
const ANY: u8 = 2;

/// Refuses a ticket of a later version by name, before it is read as what it is not.
pub(super) fn check_version(content: &[u8]) -> Result<(), Malformed> {
    match content.first() {
        Some(&version) if version != OPEN && version != ANY => Err(Malformed::Rule {
            what: "ticket",
            rule: "ENT-22: ticket version is 1 or 2; a newer osier may have made it",
        }),
        _ => Ok(()),
    }
}

impl Serialize for Ticket {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rest = (&self.owner, &self.secret, &self.name, &self.bootstrap);
        match self.writing {
            // A tuple is written as its fields one after the other.
            Writing::Open => (OPEN, rest).serialize(serializer),
            writing @ Writing::Granted => (ANY, rest, writing).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Ticket {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(3, Fields)
    }
}

struct Fields;

type Rest = (NodeId, TopicSecret, String, Vec<Bootstrap>);

impl<'de> Visitor<'de> for Fields {
    type Value = Ticket;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a ticket of version 1 or 2")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Ticket, A::Error> {
        let missing = || A::Error::custom("a ticket is cut off");
        let version: u8 = fields.next_element()?.ok_or_else(missing)?;
        let rest: Rest = fields.next_element()?.ok_or_else(missing)?;
        let writing = match version {
            OPEN => Writing::Open,
            ANY => fields.next_element()?.ok_or_else(missing)?,
            _ => return Err(A::Error::custom("not a version of a ticket")),
        };
        let (owner, secret, name, bootstrap) = rest;
        Ok(Ticket {
            owner,
            secret,
            name,
            bootstrap,
            writing,
        })
    }
}
