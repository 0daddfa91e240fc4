//! What the owner of a topic says about it, in entries of kind control (`ENT-30` to `ENT-34`):
//! whose marker counts, who may write, and which topics make up a space.

mod wire;

use serde::{Deserialize, Serialize};

use crate::{
    codec::{Malformed, decode_canonical, encode_canonical},
    coverage::Role,
    entry::{Entry, Kind, Seq},
    id::{EntryHash, NodeId, TopicId},
    limit,
    ticket::{Ticket, TicketInvalid, TopicSecret},
    writing::{Leave, Writing},
};

/// One word of the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "wire::Word", into = "wire::Word")]
pub enum Control {
    /// The node's marker counts, in this rank and role; in a granted topic it may write.
    Grant {
        /// Who.
        node: NodeId,
        /// Lower is asked first.
        rank: u16,
        /// What it is trusted to keep.
        role: Role,
    },
    /// It no longer does; in a granted topic it may write no more.
    Revoke {
        /// Who.
        node: NodeId,
        /// The last entry of the node that counts in a granted topic: its place in the node's
        /// chain, and which entry. None: nothing of it counts.
        last: Option<(Seq, EntryHash)>,
    },
    /// The topic is the control topic of a space.
    Space(Manifest),
}

/// Which topics make up a space: a list that is replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    version: u64,
    topics: Vec<SpaceTopic>,
}

/// A topic of a space, with what it takes to join it: who reads the manifest may read the topics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceTopic {
    /// The topic's owner.
    pub owner: NodeId,
    /// Its secret.
    pub secret: TopicSecret,
    /// Its name, of 1 to 128 bytes.
    pub name: String,
    /// Who may write there.
    pub writing: Writing,
}

impl SpaceTopic {
    /// The topic of a ticket, without its addresses.
    pub fn of(ticket: &Ticket) -> Self {
        Self {
            owner: ticket.owner(),
            secret: ticket.secret().clone(),
            name: ticket.name().to_owned(),
            writing: ticket.writing(),
        }
    }

    /// A ticket to join with, without addresses.
    ///
    /// # Errors
    /// If the name is empty or longer than 128 bytes, or nobody could write there.
    pub fn ticket(&self) -> Result<Ticket, TicketInvalid> {
        Ticket::of(self.writing, self.owner, self.secret.clone(), &self.name)
    }
}

impl Manifest {
    /// The manifest of this version: the topics in the owner's order, each once.
    ///
    /// # Errors
    /// If there are more than 1,024 topics, or one has no legal name.
    pub fn new(version: u64, tickets: &[Ticket]) -> Result<Self, Malformed> {
        let mut topics: Vec<SpaceTopic> = Vec::new();
        for topic in tickets.iter().map(SpaceTopic::of) {
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        let manifest = Self { version, topics };
        manifest.check()?;
        Ok(manifest)
    }

    /// Grows with each change; of two manifests the greater version counts.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The topics, in the owner's order.
    pub fn topics(&self) -> &[SpaceTopic] {
        &self.topics
    }

    fn check(&self) -> Result<(), Malformed> {
        let rule = |rule| Malformed::Rule {
            what: "space manifest",
            rule,
        };
        if self.topics.len() > limit::SPACE_TOPICS_MAX {
            return Err(rule("ENT-33: at most 1,024 topics"));
        }
        let mut ids: Vec<TopicId> = Vec::with_capacity(self.topics.len());
        for topic in &self.topics {
            let ticket = topic.ticket();
            ids.push(
                ticket
                    .map_err(|_| rule("ENT-33: topics that a ticket can be for"))?
                    .topic(),
            );
        }
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(rule("ENT-33: each topic once"));
        }
        Ok(())
    }
}

impl Control {
    /// The bytes of a control entry's only item.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_canonical(self)
    }

    /// Reads the item of a control entry.
    ///
    /// # Errors
    /// If it is longer than 256 KiB, not canonical, of a kind that this version does not know, or
    /// breaks a rule: the entry stays a member of the history and says nothing.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let control: Self = decode_canonical("control entry", bytes, limit::CONTROL_BYTES_MAX)?;
        if let Self::Space(manifest) = &control {
            manifest.check()?;
        }
        Ok(control)
    }

    /// Whose writing the word is about, and what it says of it (`ENT-41`); none for a manifest.
    pub fn leave(&self) -> Option<(NodeId, Leave)> {
        match self {
            Self::Grant { node, .. } => Some((*node, Leave::All)),
            Self::Revoke { node, last } => Some((*node, Leave::UpTo(*last))),
            Self::Space(_) => None,
        }
    }

    /// What an entry says; none if it is not a control entry of one held item that can be read
    /// (`ENT-30`). Whether its author has a say is for the caller to look at.
    pub fn of(entry: &Entry) -> Option<Self> {
        if entry.header().kind() != Kind::CONTROL {
            return None;
        }
        let [item] = entry.items() else {
            return None;
        };
        Self::parse(item.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::secret;

    fn ticket(name: &str) -> Ticket {
        let owner = secret(1).node_id();
        Ticket::new(owner, TopicSecret::from_bytes([7; 32]), name).unwrap()
    }

    #[test]
    fn a_manifest_comes_back_equal_and_joins() {
        let tickets = [ticket("a"), ticket("b"), ticket("a")];
        let manifest = Manifest::new(3, &tickets).unwrap();
        assert_eq!(manifest.topics().len(), 2, "each topic once");
        let control = Control::Space(manifest.clone());
        assert_eq!(Control::parse(&control.to_bytes()), Ok(control));
        let joined = manifest.topics()[1].ticket().unwrap();
        assert_eq!(joined.topic(), ticket("b").topic());
    }

    /// `ENT-33`.
    #[test]
    fn a_manifest_with_a_topic_twice_is_refused() {
        let topic = SpaceTopic::of(&ticket("a"));
        let topics = vec![topic.clone(), topic];
        let twice = Control::Space(Manifest { version: 1, topics });
        assert!(matches!(
            Control::parse(&twice.to_bytes()),
            Err(Malformed::Rule { .. })
        ));
    }

    #[test]
    fn more_topics_than_fit_are_refused() {
        let tickets: Vec<_> = (0..=limit::SPACE_TOPICS_MAX)
            .map(|n| ticket(&format!("{n}")))
            .collect();
        assert!(Manifest::new(1, &tickets).is_err());
        assert!(Manifest::new(1, &tickets[1..]).is_ok());
    }
}
