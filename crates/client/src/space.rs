//! Spaces: several topics under one owner, complete when all of them are (`POL-23`, `POL-24`).
//!
//! A space is a control topic whose owner lists the topics. A node that takes part in a space joins
//! every topic of the newest list; nobody can make it join more, since it asked for this space.

mod watch;

use std::collections::BTreeMap;

use osier_core::{Control, Manifest, Role, Ticket, TopicId};
use osier_node::is_space;
use osier_policy::{SpaceFacts, SpaceManifest};
pub use watch::{SpaceEvent, SpaceMember, SpaceState, SpaceWatch};

use crate::{
    error::{Error, Result},
    node::Osier,
    topic::Topic,
};

/// A space that a node takes part in. Clones are the same space.
#[derive(Debug, Clone)]
pub struct Space {
    node: Osier,
    control: Topic,
}

impl Osier {
    /// Makes a space that this node owns, without topics so far.
    ///
    /// # Errors
    /// If the name is empty or longer than 128 bytes, or the store cannot be written.
    pub async fn create_space(&self, name: &str) -> Result<Space> {
        let topic = self.create_topic(name).await?;
        let control = self
            .take_part(&topic.ticket()?, Role::Archive, true)
            .await?;
        let space = Space::new(self, control);
        let empty = Manifest::new(1, &[])?;
        space.control.decree(&Control::Space(empty)).await?;
        Ok(space)
    }

    /// Takes part in the space of a ticket, and in every topic that its owner lists.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn join_space(&self, ticket: &Ticket) -> Result<Space> {
        let control = self.take_part(ticket, Role::Peer, true).await?;
        Ok(Space::new(self, control))
    }

    /// The spaces that this node takes part in, by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn spaces(&self) -> Result<Vec<Space>> {
        let mut spaces = Vec::new();
        for topic in self.topics()? {
            let record = topic.inner.store()?.topic(topic.id())?;
            if record.is_some_and(|record| is_space(&record)) {
                spaces.push(Space::new(self, topic));
            }
        }
        Ok(spaces)
    }

    /// One of them, by its control topic.
    ///
    /// # Errors
    /// If this node does not take part in such a space, or the store cannot be read.
    pub fn space(&self, id: TopicId) -> Result<Space> {
        let spaces = self.spaces()?.into_iter();
        spaces
            .into_iter()
            .find(|space| space.id() == id)
            .ok_or(Error::NoSpace(id))
    }
}

impl Space {
    fn new(node: &Osier, control: Topic) -> Self {
        let node = node.clone();
        Self { node, control }
    }

    /// The id of its control topic, which names the space.
    pub fn id(&self) -> TopicId {
        self.control.id()
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        self.control.name()
    }

    /// Its control topic.
    pub fn control(&self) -> &Topic {
        &self.control
    }

    /// The ticket that others join by. Whoever has it can read the space and all its topics.
    ///
    /// # Errors
    /// As [`Topic::ticket`].
    pub fn ticket(&self) -> Result<Ticket> {
        self.control.ticket()
    }

    /// The newest list of topics that this node knows; none until it has come.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn manifest(&self) -> Result<Option<Manifest>> {
        Ok(self.control.words()?.manifest().cloned())
    }

    /// Adds a topic for everybody in the space; gives the version of the list. One that is listed
    /// already stays as it is.
    ///
    /// # Errors
    /// If this node does not own the space, the list is full, or the disk did not take it.
    pub async fn add(&self, topic: &Topic) -> Result<u64> {
        let ticket = &topic.ticket;
        self.change(|topics| {
            if topics.iter().all(|known| known.topic() != ticket.topic()) {
                topics.push(ticket.clone());
            }
        })
        .await
    }

    /// Takes a topic off the list. Nodes that have joined it keep it.
    ///
    /// # Errors
    /// As [`Space::add`].
    pub async fn remove(&self, topic: TopicId) -> Result<u64> {
        self.change(|topics| topics.retain(|known| known.topic() != topic))
            .await
    }

    async fn change(&self, edit: impl FnOnce(&mut Vec<Ticket>)) -> Result<u64> {
        let now = self.manifest()?;
        let listed = now.as_ref().map_or(&[][..], Manifest::topics);
        let mut topics = listed
            .iter()
            .map(|topic| topic.ticket().map_err(Error::from))
            .collect::<Result<Vec<_>>>()?;
        let before = topics.len();
        edit(&mut topics);
        let version = now.as_ref().map_or(0, Manifest::version);
        if topics.len() == before && now.is_some() {
            return Ok(version);
        }
        let next = Manifest::new(version + 1, &topics)?;
        self.control.decree(&Control::Space(next)).await?;
        Ok(version + 1)
    }

    /// Where the space stands now.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn state(&self) -> Result<SpaceState> {
        let manifest = self.manifest()?;
        let mut topics = BTreeMap::new();
        let mut names = BTreeMap::new();
        for listed in manifest.iter().flat_map(Manifest::topics) {
            let id = listed.ticket()?.topic();
            names.insert(id, listed.name.clone());
            if let Ok(topic) = self.node.topic(id) {
                topics.insert(id, watch::standing_of(&topic).await?);
            }
        }
        let facts = SpaceFacts {
            control: watch::standing_of(&self.control).await?,
            manifest: manifest.map(|manifest| SpaceManifest {
                version: manifest.version(),
                topics: names.keys().copied().collect(),
            }),
            topics,
        };
        Ok(SpaceState::of(&facts, &names))
    }

    /// Joins topics as the owner lists them, for as long as the node runs.
    ///
    /// # Errors
    /// As [`Space::watch`].
    pub async fn follow(&self) -> Result<()> {
        let mut watch = self.watch().await?;
        tokio::spawn(async move { while watch.next().await.is_some() {} });
        Ok(())
    }

    /// Joins what the list names and this node has not joined, through the nodes that the space
    /// was joined through.
    async fn join_listed(&self, manifest: &Manifest) -> Result<Vec<Topic>> {
        let mut topics = Vec::new();
        for listed in manifest.topics() {
            let mut ticket = listed.ticket()?;
            let topic = match self.node.topic(ticket.topic()) {
                Ok(known) => known,
                Err(Error::UnknownTopic(_)) => {
                    for (node, address) in self.control.ticket.bootstrap() {
                        ticket = ticket.with_address(node, address);
                    }
                    self.node.join(&ticket).await?
                }
                Err(error) => return Err(error),
            };
            topics.push(topic);
        }
        Ok(topics)
    }
}
