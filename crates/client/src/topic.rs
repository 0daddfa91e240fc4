//! One topic of a node: write, read, follow, trust.

use std::sync::Arc;

use bytes::Bytes;
use osier_core::{Coverage, EntryHash, Kind, NodeId, Role, StateHash, Ticket, TopicId, Writing};
use osier_engine::{PassedOn, Rule, TopicState};
use osier_node::{EphemeralStream, EventStream, Node, is_space, mark_space};
use osier_policy::{Rank, Standing};
use osier_proto::{Lsn, Source};

use crate::{
    error::{Error, Result},
    node::Inner,
    page::{self, Order, Page, blocking},
    position::Position,
    record,
    stream::Watch,
};

/// A topic that a node takes part in. Clones are the same topic.
#[derive(Debug, Clone)]
pub struct Topic {
    pub(crate) inner: Arc<Inner>,
    pub(crate) ticket: Ticket,
    id: TopicId,
    role: Role,
    rule: Rule,
}

/// What is known of a topic at one moment.
#[derive(Debug, Clone)]
pub struct TopicInfo {
    /// Its id.
    pub id: TopicId,
    /// Its name, for people.
    pub name: String,
    /// Who owns it.
    pub owner: NodeId,
    /// Whether this node owns it.
    pub owned: bool,
    /// Who may write in it.
    pub writing: Writing,
    /// Whether this node may, as far as it knows the owner's words.
    pub may_write: bool,
    /// This node's role in it.
    pub role: Role,
    /// When its history counts as complete.
    pub rule: Rule,
    /// Entries held.
    pub entries: u64,
    /// Authors known.
    pub authors: u64,
    /// Entries that are named and not held.
    pub holes: u64,
    /// Hash over all tips.
    pub state_hash: StateHash,
    /// How far back this node itself holds history.
    pub coverage: Coverage,
    /// The last place in the log.
    pub end: Position,
    /// How many entries this node itself has written.
    pub own_seq: u64,
    /// The present state of sync; none while the node is offline.
    pub state: Option<TopicState>,
}

/// A node whose word counts, or was said not to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// Who.
    pub node: NodeId,
    /// Lower is asked first; none when it is not trusted.
    pub rank: Option<Rank>,
    /// In which role.
    pub role: Option<Role>,
    /// Who says so: `owner`, `grant` or `own`.
    pub source: &'static str,
}

impl Trusted {
    fn granted((node, standing): (NodeId, Standing)) -> Self {
        Self {
            node,
            rank: Some(standing.rank),
            role: Some(standing.role),
            source: "grant",
        }
    }
}

impl Topic {
    pub(crate) fn new(inner: Arc<Inner>, ticket: Ticket, role: Role, rule: Rule) -> Self {
        let id = ticket.topic();
        Self {
            inner,
            ticket,
            id,
            role,
            rule,
        }
    }

    /// Its id.
    pub fn id(&self) -> TopicId {
        self.id
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        self.ticket.name()
    }

    /// Who owns it.
    pub fn owner(&self) -> NodeId {
        self.ticket.owner()
    }

    pub(crate) fn rule(&self) -> Rule {
        self.rule
    }

    /// The ticket that others join by, with this node's present addresses. Whoever has it can read
    /// the topic.
    ///
    /// # Errors
    /// If the topic's name and secret make no ticket, which a stored topic's always do.
    pub fn ticket(&self) -> Result<Ticket> {
        let bare = Ticket::of(
            self.ticket.writing(),
            self.ticket.owner(),
            self.ticket.secret().clone(),
            self.name(),
        )?;
        let me = self.inner.id();
        let own = self
            .inner
            .running()
            .map(Node::addresses)
            .unwrap_or_default();
        let mut ticket = own
            .iter()
            .fold(bare, |ticket, at| ticket.with_address(me, at));
        for (node, address) in self.ticket.bootstrap().filter(|(node, _)| *node != me) {
            ticket = ticket.with_address(node, address);
        }
        Ok(ticket)
    }

    /// Where it stands now.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn info(&self) -> Result<TopicInfo> {
        let state = match self.inner.running() {
            Some(node) => node.state(self.id).await,
            None => None,
        };
        let (store, id, me) = (self.inner.store()?, self.id, self.inner.id());
        let (summary, point, holes, own_seq) = blocking(move || {
            let view = store
                .view(id)
                .map_err(|error| Error::Read(error.to_string()))?;
            let own_seq = page::last_seq(&*view, me)?;
            Ok((view.summary(), view.point(), view.hole_count(), own_seq))
        })
        .await?;
        Ok(TopicInfo {
            id: self.id,
            name: self.name().to_owned(),
            owner: self.ticket.owner(),
            owned: self.ticket.owner() == self.inner.id(),
            writing: self.ticket.writing(),
            may_write: self.may_write().await?,
            role: self.role,
            rule: state.as_ref().map_or(self.rule, |state| state.rule),
            entries: summary.set.count(),
            authors: summary.authors,
            holes,
            state_hash: summary.state,
            coverage: summary.coverage,
            end: Position::new(point.last),
            own_seq,
            state,
        })
    }

    /// Writes an entry of one item under the node's key. Durable when this returns.
    ///
    /// # Errors
    /// If it is larger than 1 MiB, this node may not write in the topic, or the disk did not take
    /// it.
    pub async fn publish(&self, bytes: impl Into<Bytes>) -> Result<EntryHash> {
        let hashes = self.publish_many(vec![bytes.into()]).await?;
        hashes.first().copied().ok_or(Error::Stopped)
    }

    /// Writes an entry for each, in order. All durable when this returns, or none.
    ///
    /// # Errors
    /// As [`Topic::publish`].
    pub async fn publish_many(&self, entries: Vec<Bytes>) -> Result<Vec<EntryHash>> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let entries = entries.into_iter().map(|bytes| vec![bytes]).collect();
        self.publish_entries(Kind::APPLICATION, entries).await
    }

    /// Writes an entry of this kind for each list of items, in order. All durable when this
    /// returns, or none. What is written while others are on their way to disk goes into the next
    /// transaction together.
    ///
    /// # Errors
    /// If one has no items, more than 256, or more than 1 MiB of them; if too many writes wait, or
    /// the disk did not take them.
    pub async fn publish_entries(
        &self,
        kind: Kind,
        entries: Vec<Vec<Bytes>>,
    ) -> Result<Vec<EntryHash>> {
        let node = self.inner.node().await?;
        Ok(node.publish(self.id, kind, entries).await?)
    }

    /// Passes an item of at most 3,840 bytes on to the nodes that take part now, and says how far
    /// it got. It is not stored, comes to each at most a few times and to some perhaps not at all:
    /// for what is worth nothing later, such as who is typing.
    ///
    /// # Errors
    /// If the node is offline.
    pub async fn pass_on(&self, kind: Kind, item: impl Into<Bytes>) -> Result<PassedOn> {
        let node = self.inner.running().ok_or(Error::Offline)?;
        Ok(node.pass_on(self.id, kind, item.into()).await?)
    }

    /// Listens for what other nodes pass on. Any node of the topic may have made an item up: judge
    /// it by what it says.
    ///
    /// # Errors
    /// If the node is offline.
    pub async fn ephemeral(&self) -> Result<EphemeralStream> {
        let node = self.inner.running().ok_or(Error::Offline)?;
        Ok(node.ephemeral(self.id).await?)
    }

    /// Follows the topic from a position: the present state first, then every entry behind the
    /// position, and events in order.
    ///
    /// # Errors
    /// If the node is offline, the position is beyond the log, or there are too many watchers.
    pub async fn watch(&self, from: Position) -> Result<Watch> {
        let node = self.inner.running().ok_or(Error::Offline)?;
        let end = self.info().await?.end;
        if from > end {
            return Err(Error::PositionBeyond { at: from, end });
        }
        let events = node.events(self.id).await?;
        let store = self.inner.store()?;
        Ok(Watch::new(store, self.id, from, events, true))
    }

    /// Follows what becomes of the topic, without its entries: the present state first.
    ///
    /// # Errors
    /// If the node is offline, or there are too many watchers.
    pub async fn watch_events(&self) -> Result<Watch> {
        let node = self.inner.running().ok_or(Error::Offline)?;
        let end = self.info().await?.end;
        let events = node.events(self.id).await?;
        let store = self.inner.store()?;
        Ok(Watch::new(store, self.id, end, events, false))
    }

    /// A position with at most so many entries behind it: where to begin with the newest.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn before_last(&self, entries: u64) -> Result<Position> {
        let (store, id) = (self.inner.store()?, self.id);
        blocking(move || {
            let view = store
                .view(id)
                .map_err(|error| Error::Read(error.to_string()))?;
            let last = view.point().last.get();
            Ok(Position::new(Lsn::new(last.saturating_sub(entries))))
        })
        .await
    }

    /// What the node tells of the topic, each with the place in the log that it follows: first the
    /// present state; then, unlike in [`Topic::watch`], also [`osier_engine::SyncEvent::Appended`],
    /// once for every stretch of entries that has become durable, whoever wrote them. For those who
    /// keep an index over the log.
    ///
    /// # Errors
    /// If the node is offline, or there are too many watchers.
    pub async fn events(&self) -> Result<EventStream> {
        let node = self.inner.running().ok_or(Error::Offline)?;
        Ok(node.events(self.id).await?)
    }

    /// Reads a page of at most `limit` entries.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn page(&self, order: Order, limit: usize) -> Result<Page> {
        let (store, id) = (self.inner.store()?, self.id);
        blocking(move || page::read(&store, id, order, limit)).await
    }

    /// Whose word counts: the owner's by itself, others by the owner's grants or by this node's own
    /// list, which speaks first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn trust_list(&self) -> Result<Vec<Trusted>> {
        let owner = Trusted {
            node: self.ticket.owner(),
            rank: Some(Standing::OWNER.rank),
            role: Some(Standing::OWNER.role),
            source: "owner",
        };
        let own = record::trust(&self.inner.store()?, self.id)?;
        let own: Vec<Trusted> = own
            .into_iter()
            .map(|(node, standing)| Trusted {
                node,
                rank: standing.map(|(rank, _)| rank),
                role: standing.map(|(_, role)| role),
                source: "own",
            })
            .collect();
        let granted = self
            .words()?
            .grants()
            .map(Trusted::granted)
            .collect::<Vec<_>>();
        let owner = (owner.node != NodeId::NOBODY).then_some(owner);
        // The first word on a node counts: the own list's, then the owner's.
        let mut list = own;
        for trusted in granted.into_iter().chain(owner) {
            if list.iter().all(|it| it.node != trusted.node) {
                list.push(trusted);
            }
        }
        Ok(list)
    }

    /// Lets a node's word count in this topic. Durable when this returns.
    ///
    /// # Errors
    /// If the list is full, or the disk did not take it.
    pub async fn trust(&self, node: NodeId, rank: Rank, role: Role) -> Result<()> {
        let running = self.inner.node().await?;
        Ok(running.trust(self.id, node, Some((rank, role))).await?)
    }

    /// Does not let a node's word count any more. Durable when this returns.
    ///
    /// # Errors
    /// If the disk did not take it.
    pub async fn distrust(&self, node: NodeId) -> Result<()> {
        let running = self.inner.node().await?;
        Ok(running.trust(self.id, node, None).await?)
    }

    /// Chooses when history counts as complete, now and after a restart.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn set_rule(&self, rule: Rule) -> Result<()> {
        if let Some(node) = self.inner.running() {
            return Ok(node.set_rule(self.id, rule).await?);
        }
        let kept = self.inner.replay_entries();
        let (store, id) = (self.inner.store()?, self.id);
        let mut record = record::encode(&self.ticket, self.role, rule, kept);
        if store.topic(id)?.is_some_and(|known| is_space(&known)) {
            mark_space(&mut record)?;
        }
        blocking(move || Ok(store.set_topic(id, &record)?)).await
    }
}
