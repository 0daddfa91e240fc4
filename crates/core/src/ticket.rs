//! Tickets: one pasteable string that joins a node to a topic (`ENT-20` to `ENT-23`, `ENT-40`).

mod form;

use std::{fmt, str::FromStr};

use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::{
    codec::{Malformed, decode_canonical, encode_canonical},
    domain::{Domain, keyed_hash},
    id::{NodeId, RequestId, TopicId},
    limit,
    writing::Writing,
};

/// Starts every ticket's text.
const PREFIX: &str = "osier1";

/// A topic's shared secret: who holds it can read. Zeroized when dropped; never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicSecret([u8; 32]);

impl TopicSecret {
    /// The secret with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for the store. Never log them.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The secret of a public topic: everybody can derive it from the name (`ENT-21`).
    pub fn public(name: &str) -> Self {
        Self(Domain::PublicTopic.hash(&[name.as_bytes()]))
    }
}

impl Drop for TopicSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for TopicSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TopicSecret(..)")
    }
}

/// What follows from a topic's secret: its id, its gossip swarm, its session proof.
#[derive(Clone)]
pub struct TopicKeys {
    topic: TopicId,
    gossip: [u8; 32],
    proof: [u8; 32],
}

impl TopicKeys {
    /// Derives the keys of the open topic with this owner, secret and name.
    pub fn derive(owner: NodeId, secret: &TopicSecret, name: &str) -> Self {
        Self::of(Writing::Open, owner, secret, name)
    }

    /// Derives the keys of the topic with this owner, secret and name in which these may write: a
    /// granted topic is another than the open one (`ENT-40`).
    pub fn of(writing: Writing, owner: NodeId, secret: &TopicSecret, name: &str) -> Self {
        let secret_hash = blake3::hash(secret.as_bytes());
        let domain = match writing {
            Writing::Open => Domain::Topic,
            Writing::Granted => Domain::GrantedTopic,
        };
        let id = domain.hash(&[owner.as_bytes(), secret_hash.as_bytes(), name.as_bytes()]);
        let topic = TopicId::from_bytes(id);
        let gossip = Domain::GossipTopic.hash(&[secret.as_bytes(), topic.as_bytes()]);
        let proof = Domain::SessionProof.hash(&[secret.as_bytes(), topic.as_bytes()]);
        Self {
            topic,
            gossip,
            proof,
        }
    }

    /// The topic's id.
    pub fn topic(&self) -> TopicId {
        self.topic
    }

    /// The gossip swarm's id: an outsider cannot find it without the secret.
    pub fn gossip_topic(&self) -> [u8; 32] {
        self.gossip
    }

    /// Proof of holding the secret, from `prover` to `verifier`, over one connection and request
    /// (`SES-2`). `binding` is exported from the connection's key exchange, so both sides have put
    /// a nonce into it and a proof cannot be carried to another connection.
    pub fn proof(
        &self,
        prover: NodeId,
        verifier: NodeId,
        binding: &[u8; 32],
        request: RequestId,
    ) -> [u8; 32] {
        let parts: [&[u8]; 4] = [
            prover.as_bytes(),
            verifier.as_bytes(),
            binding,
            request.as_bytes(),
        ];
        keyed_hash(&self.proof, &parts)
    }
}

impl fmt::Debug for TopicKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TopicKeys({:?})", self.topic)
    }
}

/// Everything that a node needs to join a topic. Whoever holds it can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    owner: NodeId,
    secret: TopicSecret,
    name: String,
    bootstrap: Vec<Bootstrap>,
    writing: Writing,
}

/// A node to dial first, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Bootstrap {
    node: NodeId,
    address: String,
}

/// A text that is not a ticket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TicketInvalid {
    /// Does not start as a ticket does.
    #[error(
        "not a ticket: a ticket starts with {PREFIX:?}; copy it whole from `osier topic ticket`"
    )]
    Prefix,
    /// Letters outside base32, or cut off.
    #[error("the ticket is damaged: a letter is wrong or the end is missing; copy it again")]
    Damaged,
    /// The content breaks a rule.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl Ticket {
    /// A ticket for the open topic with this owner, secret and name, without addresses.
    ///
    /// # Errors
    /// If the name is empty or longer than 128 bytes.
    pub fn new(owner: NodeId, secret: TopicSecret, name: &str) -> Result<Self, TicketInvalid> {
        Self::of(Writing::Open, owner, secret, name)
    }

    /// A ticket for the topic with this owner, secret and name in which these may write, without
    /// addresses.
    ///
    /// # Errors
    /// If the name is empty or longer than 128 bytes, or a granted topic has no owner.
    pub fn of(
        writing: Writing,
        owner: NodeId,
        secret: TopicSecret,
        name: &str,
    ) -> Result<Self, TicketInvalid> {
        let ticket = Self {
            owner,
            secret,
            name: name.to_owned(),
            bootstrap: Vec::new(),
            writing,
        };
        ticket.check()?;
        Ok(ticket)
    }

    /// The ticket of a public topic: owner nobody, secret from the name.
    ///
    /// # Errors
    /// As [`Ticket::new`].
    pub fn public(name: &str) -> Result<Self, TicketInvalid> {
        Self::new(NodeId::NOBODY, TopicSecret::public(name), name)
    }

    /// Adds a node to dial and its address in text form; beyond 8, or longer than 256 bytes, it is
    /// left out.
    #[must_use]
    pub fn with_address(mut self, node: NodeId, address: &str) -> Self {
        let fits = address.len() <= limit::TICKET_ADDRESS_BYTES_MAX;
        if fits && self.bootstrap.len() < limit::TICKET_ADDRESSES_MAX {
            self.bootstrap.push(Bootstrap {
                node,
                address: address.to_owned(),
            });
        }
        self
    }

    /// Who owns the topic; nobody for a public one.
    pub fn owner(&self) -> NodeId {
        self.owner
    }

    /// The shared secret.
    pub fn secret(&self) -> &TopicSecret {
        &self.secret
    }

    /// The topic's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who may write in the topic.
    pub fn writing(&self) -> Writing {
        self.writing
    }

    /// Nodes to dial first, with their addresses in text form.
    pub fn bootstrap(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.bootstrap.iter().map(|b| (b.node, b.address.as_str()))
    }

    /// What follows from owner, secret, name and who may write.
    pub fn keys(&self) -> TopicKeys {
        TopicKeys::of(self.writing, self.owner, &self.secret, &self.name)
    }

    /// The topic's id; whoever holds the ticket can compute it.
    pub fn topic(&self) -> TopicId {
        self.keys().topic()
    }

    fn check(&self) -> Result<(), Malformed> {
        let rule = |rule| Malformed::Rule {
            what: "ticket",
            rule,
        };
        if self.writing == Writing::Granted && self.owner == NodeId::NOBODY {
            return Err(rule("ENT-40: a granted topic has an owner"));
        }
        if self.name.is_empty() || self.name.len() > limit::TOPIC_NAME_BYTES_MAX {
            return Err(rule("ENT-22: name of 1 to 128 bytes"));
        }
        if self.bootstrap.len() > limit::TICKET_ADDRESSES_MAX
            || self
                .bootstrap
                .iter()
                .any(|b| b.address.len() > limit::TICKET_ADDRESS_BYTES_MAX)
        {
            return Err(rule("ENT-22: at most 8 addresses of at most 256 bytes"));
        }
        Ok(())
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = encode_canonical(self);
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(&check.as_bytes()[..4]);
        write!(
            f,
            "{PREFIX}{}",
            BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
        )
    }
}

impl FromStr for Ticket {
    type Err = TicketInvalid;

    fn from_str(text: &str) -> Result<Self, TicketInvalid> {
        let body = text
            .trim()
            .strip_prefix(PREFIX)
            .ok_or(TicketInvalid::Prefix)?;
        if body.len() > limit::TICKET_BYTES_MAX * 2 {
            return Err(TicketInvalid::Damaged);
        }
        let bytes = BASE32_NOPAD
            .decode(body.to_ascii_uppercase().as_bytes())
            .map_err(|_| TicketInvalid::Damaged)?;
        let (content, check) = bytes
            .split_last_chunk::<4>()
            .ok_or(TicketInvalid::Damaged)?;
        if blake3::hash(content).as_bytes()[..4] != check[..] {
            return Err(TicketInvalid::Damaged);
        }
        form::check_version(content)?;
        let ticket: Self = decode_canonical("ticket", content, limit::TICKET_BYTES_MAX)?;
        ticket.check()?;
        Ok(ticket)
    }
}
