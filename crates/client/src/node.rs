//! An open node.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use osier_core::{NodeId, Role, Ticket, TopicId, TopicSecret, Writing};
use osier_engine::Rule;
use osier_node::{Node, NodeConfig, is_space, mark_space, random_bytes};
use osier_store::Store;
use tokio::sync::{OnceCell, watch};

use crate::{
    builder::Builder,
    error::{Error, Result},
    home::Home,
    page::blocking,
    record,
    topic::Topic,
};

/// An open node. Clones are the same node.
///
/// Close it with [`Osier::shutdown`], so that peers are told and the store can be opened again.
#[derive(Debug, Clone)]
pub struct Osier {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    home: Home,
    config: NodeConfig,
    /// None once the node has been shut down, so that the file is closed.
    store: Mutex<Option<Store>>,
    replay_entries: u64,
    /// Set while it takes part in topics: from the start, or, opened offline, from the first write.
    node: OnceCell<Node>,
    /// How often topics have been joined and left.
    topic_changes: watch::Sender<u64>,
    /// What else a check of the store looks at.
    checks: Mutex<Vec<IndexCheck>>,
}

/// Looks whether an index agrees with the log; a sentence for each fault.
type IndexCheck = Box<dyn Fn() -> std::result::Result<Vec<String>, String> + Send + Sync>;

/// What a check of the store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Entries whose signatures were verified.
    pub entries: u64,
    /// Topics.
    pub topics: u64,
    /// What is wrong, a sentence each; none when all is well.
    pub faults: Vec<String>,
}

impl Osier {
    /// Settings for a node to open.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(home: Home, config: NodeConfig, store: Store, replay_entries: u64) -> Self {
        let inner = Inner {
            home,
            config,
            store: Mutex::new(Some(store)),
            replay_entries,
            node: OnceCell::new(),
            topic_changes: watch::Sender::default(),
            checks: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Takes part in the topics that the store knows.
    pub(crate) async fn start(&self) -> Result<()> {
        self.inner.node().await.map(|_| ())
    }

    /// The node's public key.
    pub fn id(&self) -> NodeId {
        self.inner.config.secret.node_id()
    }

    /// Where other nodes can reach it directly, as `ip:port`; none while it is offline.
    pub fn addresses(&self) -> Vec<String> {
        self.inner
            .running()
            .map(Node::addresses)
            .unwrap_or_default()
    }

    /// Whether it takes part in topics now; a node that was opened offline does so from its first
    /// write on.
    pub fn is_running(&self) -> bool {
        self.inner.running().is_some()
    }

    /// Its data directory.
    pub fn home(&self) -> &Home {
        &self.inner.home
    }

    /// Makes a topic that this node owns and archives.
    ///
    /// # Errors
    /// If the name is empty or longer than 128 bytes, or the store cannot be written.
    pub async fn create_topic(&self, name: &str) -> Result<Topic> {
        self.create_topic_for(Writing::Open, name).await
    }

    /// Makes a topic that this node owns and archives, in which these may write: everybody who has
    /// the ticket, or only this node and nodes that it grants. It cannot be changed later.
    ///
    /// # Errors
    /// As [`Osier::create_topic`].
    pub async fn create_topic_for(&self, writing: Writing, name: &str) -> Result<Topic> {
        let secret = TopicSecret::from_bytes(random_bytes()?);
        let ticket = Ticket::of(writing, self.id(), secret, name)?;
        self.join_as(&ticket, Role::Archive).await
    }

    /// Takes part in the topic of a ticket, keeping what it sees.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn join(&self, ticket: &Ticket) -> Result<Topic> {
        self.join_as(ticket, Role::Peer).await
    }

    /// Takes part in the topic of a ticket in a role. A topic that is known already takes the new
    /// role and addresses.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn join_as(&self, ticket: &Ticket, role: Role) -> Result<Topic> {
        let marked = self.inner.store()?.topic(ticket.topic())?;
        let space = marked.is_some_and(|record| is_space(&record));
        self.take_part(ticket, role, space).await
    }

    /// The same, and whether the topic is the control topic of a space that is followed.
    pub(crate) async fn take_part(
        &self,
        ticket: &Ticket,
        role: Role,
        space: bool,
    ) -> Result<Topic> {
        let known = self.topic(ticket.topic()).ok();
        let rule = known.as_ref().map_or(Rule::default(), Topic::rule);
        let mut record = record::encode(ticket, role, rule, self.inner.replay_entries);
        if space {
            mark_space(&mut record)?;
        }
        if let Some(node) = self.inner.running() {
            if known.is_some() {
                // An open topic keeps its role and addresses until it is closed.
                node.close(ticket.topic()).await?;
            }
            node.open(record).await?;
        } else {
            let (store, id) = (self.inner.store()?, ticket.topic());
            blocking(move || Ok(store.set_topic(id, &record)?)).await?;
        }
        self.inner.topics_changed();
        Ok(Topic::new(
            Arc::clone(&self.inner),
            ticket.clone(),
            role,
            rule,
        ))
    }

    /// The topics that this node takes part in, by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn topics(&self) -> Result<Vec<Topic>> {
        let mut topics = Vec::new();
        for (_, record) in self.inner.store()?.topics()? {
            topics.push(self.open_topic(&record)?);
        }
        topics.sort_by(|a, b| (a.name(), a.id()).cmp(&(b.name(), b.id())));
        Ok(topics)
    }

    /// One of them.
    ///
    /// # Errors
    /// If this node does not take part in it, or the store cannot be read.
    pub fn topic(&self, id: TopicId) -> Result<Topic> {
        let record = self
            .inner
            .store()?
            .topic(id)?
            .ok_or(Error::UnknownTopic(id))?;
        self.open_topic(&record)
    }

    fn open_topic(&self, record: &osier_store::TopicRecord) -> Result<Topic> {
        let (ticket, rule) = record::decode(record)?;
        Ok(Topic::new(
            Arc::clone(&self.inner),
            ticket,
            record.role,
            rule,
        ))
    }

    /// Stops taking part in a topic and removes its history from this node.
    ///
    /// # Errors
    /// If this node does not take part in it, or the store cannot be written.
    pub async fn leave(&self, id: TopicId) -> Result<()> {
        self.topic(id)?;
        if let Some(node) = self.inner.running() {
            node.close(id).await?;
        }
        let store = self.inner.store()?;
        blocking(move || Ok(store.remove_topic(id)?)).await?;
        self.inner.topics_changed();
        Ok(())
    }

    /// Changes when a topic is joined, made or left: read [`Osier::topics`] again then.
    pub fn topic_changes(&self) -> watch::Receiver<u64> {
        self.inner.topic_changes.subscribe()
    }

    /// The store, for reading an index that was registered with [`Builder::projection`]. Whoever
    /// keeps a clone keeps the file open after [`Osier::shutdown`].
    ///
    /// # Errors
    /// After a shutdown.
    pub fn store(&self) -> Result<Store> {
        self.inner.store()
    }

    /// Has a check of the store look at an index too, by this function: it gives a sentence for
    /// each fault, or says why the index cannot be read. Kept until the node is shut down.
    pub fn check_also(
        &self,
        check: impl Fn() -> std::result::Result<Vec<String>, String> + Send + Sync + 'static,
    ) {
        lock(&self.inner.checks).push(Box::new(check));
    }

    /// Verifies the whole store: every signature, every derived table, every index that was named.
    ///
    /// # Errors
    /// If the store cannot be read at all.
    pub async fn check(&self) -> Result<CheckReport> {
        let (store, inner) = (self.inner.store()?, Arc::clone(&self.inner));
        blocking(move || {
            let report = store.check(&mut |_, _| {})?;
            let listed = report.findings.into_iter();
            let mut faults: Vec<String> = listed
                .map(|it| format!("topic {}: {}; {}", it.topic, it.what, it.advice))
                .collect();
            if report.more > 0 {
                faults.push(format!("and {} more", report.more));
            }
            for check in lock(&inner.checks).iter() {
                faults.extend(check().map_err(Error::Read)?);
            }
            Ok(CheckReport {
                entries: report.entries,
                topics: report.topics,
                faults,
            })
        })
        .await
    }

    /// Copies the store to a new file, as of now; returns its bytes.
    ///
    /// # Errors
    /// If the file is there already or cannot be written.
    pub async fn backup(&self, to: &Path) -> Result<u64> {
        let (store, to) = (self.inner.store()?, to.to_owned());
        blocking(move || {
            store.backup(&to)?;
            let found = std::fs::metadata(&to);
            Ok(found
                .map_err(|cause| Error::file("read", &to, cause))?
                .len())
        })
        .await
    }

    /// Draws a new token for the local API and writes it to the data directory.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new_token(&self) -> Result<String> {
        let token = Self::random_text()?;
        self.inner.home.write_token(&token)?;
        Ok(token)
    }

    /// 32 bytes that nobody can guess, as hex: for one-time codes.
    ///
    /// # Errors
    /// If the operating system gives no randomness.
    pub fn random_text() -> Result<String> {
        Ok(data_encoding::HEXLOWER.encode(&random_bytes::<32>()?))
    }

    /// Tells peers, writes what is on its way to disk, and stops. Takes some seconds at most. On
    /// return the data directory can be opened again; calls on this node fail as stopped.
    pub async fn shutdown(&self) {
        if let Some(node) = self.inner.running() {
            node.shutdown().await;
        }
        // Indexes hold the store too.
        lock(&self.inner.checks).clear();
        *self.inner.lock() = None;
    }
}

impl Inner {
    /// The node that takes part in topics; started if it was not yet.
    pub(crate) async fn node(&self) -> Result<&Node> {
        let start = async || Ok(Node::start(self.config.clone(), self.store()?).await?);
        self.node.get_or_try_init(start).await
    }

    /// The node, if it takes part in topics now.
    pub(crate) fn running(&self) -> Option<&Node> {
        self.node.get()
    }

    /// The store, until the node is shut down.
    pub(crate) fn store(&self) -> Result<Store> {
        self.lock().clone().ok_or(Error::Stopped)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Store>> {
        lock(&self.store)
    }

    fn topics_changed(&self) {
        self.topic_changes.send_modify(|changes| *changes += 1);
    }

    pub(crate) fn replay_entries(&self) -> u64 {
        self.replay_entries
    }

    pub(crate) fn id(&self) -> NodeId {
        self.config.secret.node_id()
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({} in {})", self.id(), self.home.dir().display())
    }
}

/// A panic elsewhere leaves nothing half done that these locks guard.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
