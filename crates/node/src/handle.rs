//! What callers hold of a running node.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use iroh::Endpoint;
use osier_core::{EntryHash, Kind, NodeId, Role, TopicId};
use osier_engine::{CommandError, PassedOn, Rank, Reply, Rule, TopicSetup, TopicState};
use osier_store::{Store, TopicRecord};
use tokio::sync::{mpsc, oneshot};

use crate::{
    arrival::{Answer, Command},
    config::NodeConfig,
    ephemeral::EphemeralStream,
    error::NodeError,
    metric::{NodeMetrics, SharedCounters},
    net, start, topic,
    watch::EventStream,
};

/// A running node. Clones are the same node; it stops when the last one is dropped, and says
/// goodbye only when [`Node::shutdown`] is called.
///
/// Every call is cancel-safe: a write whose caller has gone is carried out all the same.
#[derive(Debug, Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) id: NodeId,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) counters: SharedCounters,
    /// None once the node has been shut down.
    pub(crate) held: Mutex<Option<Held>>,
}

/// What is open for as long as somebody holds it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) endpoint: Endpoint,
    pub(crate) store: Store,
}

impl Node {
    /// Starts a node over a store: binds its socket and takes part in every topic that the store
    /// knows. Needs a multi-threaded tokio runtime to verify and read the disk beside other work.
    ///
    /// # Errors
    /// If the socket cannot be bound, or the store cannot be read.
    pub async fn start(config: NodeConfig, store: Store) -> Result<Self, NodeError> {
        let inner = start::start(config, store).await?;
        let node = Self {
            inner: Arc::new(inner),
        };
        for setup in node.with_store(topic::load_all).await? {
            node.open_setup(setup).await?;
        }
        Ok(node)
    }

    /// The node's public key.
    pub fn id(&self) -> NodeId {
        self.inner.id
    }

    /// Where the node can be reached directly, as `ip:port`; nowhere after a shutdown.
    pub fn addresses(&self) -> Vec<String> {
        let held = self.held();
        let addresses = held.as_ref().map(|held| net::addresses(&held.endpoint));
        let addresses = addresses.unwrap_or_default();
        addresses.iter().map(ToString::to_string).collect()
    }

    /// The node's store. Whoever keeps a clone keeps the file open after [`Node::shutdown`].
    ///
    /// # Errors
    /// After a shutdown.
    pub fn store(&self) -> Result<Store, NodeError> {
        let held = self.held();
        let store = held.as_ref().map(|held| held.store.clone());
        store.ok_or(NodeError::Stopped)
    }

    /// What the node has counted since it started.
    pub fn metrics(&self) -> NodeMetrics {
        self.inner.counters.read()
    }

    /// Keeps a topic's record in the store, so that the next start takes part too, and takes part
    /// in it. See [`crate::topic_record`]. One that is open already goes on as it is.
    ///
    /// # Errors
    /// If the record cannot be read, the store cannot be written, or the node has stopped.
    pub async fn open(&self, record: TopicRecord) -> Result<(), NodeError> {
        let setup = self.with_store(move |store, me| topic::keep(store, me, &record));
        self.open_setup(setup.await?).await
    }

    /// Takes part in a topic until the node stops, without a record of it.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn open_setup(&self, setup: TopicSetup) -> Result<(), NodeError> {
        let setup = Box::new(setup);
        self.ask(|answer| Command::Open { setup, answer }).await
    }

    /// Stops taking part in a topic until the next start. Its history and its record stay in the
    /// store; its watchers' streams end.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn close(&self, topic: TopicId) -> Result<(), NodeError> {
        self.ask(|answer| Command::Close { topic, answer }).await
    }

    /// Writes entries under the node's key, one for each list of items, and gives their hashes
    /// once they are durable.
    ///
    /// # Errors
    /// If the topic is not open, an entry breaks a bound, too many writes wait, or the disk did
    /// not take them: nothing of the failed ones is kept.
    pub async fn publish(
        &self,
        topic: TopicId,
        kind: Kind,
        entries: Vec<Vec<Bytes>>,
    ) -> Result<Vec<EntryHash>, NodeError> {
        let publish = |answer| Command::Publish {
            topic,
            kind,
            entries,
            answer,
        };
        match self.ask(publish).await? {
            Reply::Published(hashes) => Ok(hashes),
            Reply::Done | Reply::PassedOn(_) => Ok(Vec::new()),
        }
    }

    /// Passes an ephemeral item on to the nodes of a topic that listen now, and says how far it
    /// got. Nothing is stored and nothing is promised.
    ///
    /// # Errors
    /// If the topic is not open, or the node has stopped.
    pub async fn pass_on(
        &self,
        topic: TopicId,
        kind: Kind,
        item: Bytes,
    ) -> Result<PassedOn, NodeError> {
        let pass_on = |answer| Command::PassOn {
            topic,
            kind,
            item,
            answer,
        };
        match self.ask(pass_on).await? {
            Reply::PassedOn(passed) => {
                if passed == PassedOn::Sent {
                    self.inner.counters.ephemeral_sent.one();
                }
                Ok(passed)
            }
            Reply::Done | Reply::Published(_) => Ok(PassedOn::Alone),
        }
    }

    /// Listens for ephemeral items of other nodes. They are as some node of the topic has sent
    /// them: whoever listens judges them.
    ///
    /// # Errors
    /// If the topic is not open, or the node has stopped.
    pub async fn ephemeral(&self, topic: TopicId) -> Result<EphemeralStream, NodeError> {
        self.ask(|answer| Command::Listen { topic, answer }).await
    }

    /// Puts a node on this node's own trust list, or with none takes it off. Durable on return.
    ///
    /// # Errors
    /// If the topic is not open, the list is full, or the disk did not take it.
    pub async fn trust(
        &self,
        topic: TopicId,
        node: NodeId,
        entry: Option<(Rank, Role)>,
    ) -> Result<(), NodeError> {
        let trust = |answer| Command::Trust {
            topic,
            node,
            entry,
            answer,
        };
        self.ask(trust).await.map(|_| ())
    }

    /// Chooses when a topic's history counts as complete, now and after the next start.
    ///
    /// # Errors
    /// If the topic is not open, or the store cannot be written.
    pub async fn set_rule(&self, topic: TopicId, rule: Rule) -> Result<(), NodeError> {
        let set = |answer| Command::SetRule {
            topic,
            rule,
            answer,
        };
        self.ask(set).await?;
        self.with_store(move |store, _| topic::keep_rule(store, topic, rule))
            .await
    }

    /// Where a topic stands; none when the node does not take part in it, or has stopped.
    pub async fn state(&self, topic: TopicId) -> Option<TopicState> {
        let state = self.ask(|answer| Command::State { topic, answer }).await;
        state.ok().flatten().map(|state| *state)
    }

    /// The topics that are open, sorted.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn topics(&self) -> Result<Vec<TopicId>, NodeError> {
        self.ask(|answer| Command::Topics { answer }).await
    }

    /// Follows a topic. The first item is its present state.
    ///
    /// # Errors
    /// If the topic is not open, or has too many watchers.
    pub async fn events(&self, topic: TopicId) -> Result<EventStream, NodeError> {
        self.ask(|answer| Command::Watch { topic, answer }).await
    }

    /// Stops the node: sessions are told, what was handed to the disk is written and answered, the
    /// socket and the store are closed. On return the same store and port can be opened again.
    /// Harmless when done twice; takes some seconds at most when peers do not answer.
    pub async fn shutdown(&self) {
        let (answer, stopped) = oneshot::channel();
        let stop = Command::Stop { answer };
        if self.inner.commands.send(stop).await.is_ok() {
            let _ = stopped.await;
        }
        // A driver that takes no commands is stopping for another caller.
        self.inner.commands.closed().await;
        *self.held() = None;
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.inner
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, NodeError> {
        let (answer, answered) = oneshot::channel();
        let sent = self.inner.commands.send(command(answer)).await;
        sent.map_err(|_| NodeError::Stopped)?;
        answered.await.map_err(|_| NodeError::Stopped)?
    }

    /// Runs what reads or writes the store beside other work.
    async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, NodeId) -> Result<T, NodeError> + Send + 'static,
    ) -> Result<T, NodeError> {
        let (store, me) = (self.store()?, self.id());
        let done = tokio::task::spawn_blocking(move || work(&store, me)).await;
        done.map_err(|_| NodeError::Stopped)?
    }
}

/// The error of a topic that is not open.
pub(crate) fn unknown(topic: TopicId) -> NodeError {
    CommandError::UnknownTopic(topic).into()
}
