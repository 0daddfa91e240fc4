//! Listening, and ending.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use osier::{Osier, Projection, Topic};
use osier_eventdb::EventDb;
use osier_nostr::{
    Routes,
    nip::nip11::{self, Identity, Retention},
};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    clock::Clock,
    door::Door,
    error::RelayError,
    feed::{Feeder, Stretch},
    http,
    hub::Hub,
    ingest::{Appender, Target},
    limit,
    peer::{Farewell, Mail},
    relay::{Relay, cores},
    settings::Settings,
    topics::{Completion, Followed},
    workers::Workers,
};

/// A relay that is to be: its event index goes into the store before the node is opened.
#[derive(Debug, Clone)]
pub struct Bridge {
    settings: Settings,
    db: Arc<EventDb>,
}

/// A relay that runs. Dropping it ends it without a word to its clients.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    front: Arc<Front>,
    stop: CancellationToken,
    /// Accepting, following, looking for silence.
    tasks: JoinSet<()>,
}

/// What the front of the relay needs.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) relay: Arc<Relay>,
    pub(crate) door: Arc<Door>,
    /// Connections.
    pub(crate) tasks: TaskTracker,
    identity: Identity,
    completion: Arc<Completion>,
}

impl Front {
    /// The document of NIP-11 as of now.
    pub(crate) fn document(&self) -> String {
        let forever = Retention {
            kinds: Vec::new(),
            time_s: None,
            count: None,
        };
        let topics = self.completion.shown();
        nip11::document(&self.identity, &self.relay.settings, &[forever], &topics)
    }
}

impl Bridge {
    /// A relay with these settings.
    pub fn new(settings: Settings) -> Self {
        let mut nostr = settings.nostr.clone();
        nostr.urls = settings.all_urls(settings.listen);
        let db = EventDb::new(osier_eventdb::Settings::from(&nostr));
        Self { settings, db }
    }

    /// The event index, for [`osier::Builder::projection`].
    pub fn projection(&self) -> Arc<dyn Projection> {
        Arc::clone(&self.db) as Arc<dyn Projection>
    }

    /// Brings the index up to date and serves clients. Events that they publish go to `topic`; what
    /// they read is of all topics of the node. Needs a multi-threaded tokio runtime.
    ///
    /// # Errors
    /// If the address is taken, or the store cannot be read.
    pub async fn serve(self, osier: &Osier, topic: Topic) -> Result<Server, RelayError> {
        let Self { settings, db } = self;
        let store = osier.store()?;
        let index = tokio::task::block_in_place(|| db.attach(&store, &mut |_, _| {}))
            .map_err(RelayError::Index)?;
        drop(store);
        let clock = Clock::start();
        let hub = Arc::new(Hub::new(cores()));
        let feeder = Feeder {
            index: index.clone(),
            hub: Arc::clone(&hub),
            clock,
        };
        let fed = move |all: Vec<Stretch>| all.into_iter().for_each(|it| feeder.run(it));
        let feeds = Workers::start("osier-feed", 1, 64, fed).map_err(RelayError::Thread)?;
        let followed = Followed::start(osier.clone(), Arc::new(feeds)).await?;

        let listen = settings.listen;
        let bind = |cause| RelayError::Bind { listen, cause };
        let listener = TcpListener::bind(listen).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let mut nostr = settings.nostr.clone();
        nostr.urls = settings.all_urls(address);
        let completion = followed.completion();
        let relay = Relay::start(
            clock,
            nostr,
            Arc::clone(&hub),
            index.clone(),
            Arc::clone(&completion),
        );
        let relay = Arc::new(relay.map_err(RelayError::Thread)?);
        let appender = Appender {
            waiting: relay.ingest.waiting(),
            index,
            target: Target {
                routes: Routes::to(topic.id()),
                topics: [(topic.id(), topic)].into(),
            },
            clock,
        };
        let front = Arc::new(Front {
            relay,
            door: Door::new(settings.connections_max, settings.connections_per_ip_max),
            tasks: TaskTracker::new(),
            identity: settings.identity.clone(),
            completion,
        });
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&front), stop.clone()));
        tasks.spawn(followed.run());
        tasks.spawn(appender.run());
        tasks.spawn(look(Arc::clone(&front), settings));
        Ok(Server {
            address,
            front,
            stop,
            tasks,
        })
    }
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many clients are connected.
    pub fn connections(&self) -> usize {
        self.front.relay.hub.connections()
    }

    /// Tells clients, and stops. Takes some seconds at most; nothing of it holds the store then.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        for peer in self.front.relay.hub.peers() {
            peer.post(Mail::Close(Farewell::Stopping));
        }
        self.front.tasks.close();
        let patience = limit::CLOSE_WITHIN * 2;
        let _ = tokio::time::timeout(patience, self.front.tasks.wait()).await;
        self.tasks.shutdown().await;
    }
}

/// Takes connections until told to stop.
async fn accept(listener: TcpListener, front: Arc<Front>, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, from)) => {
                tokio::spawn(http::serve(Arc::clone(&front), stream, from.ip()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: those that close make room.
                tracing::warn!(%error, "cannot accept a connection; check `ulimit -n`");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// Time until accepting is tried again after a failure.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Looks for silence now and then.
async fn look(front: Arc<Front>, settings: Settings) {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let (ping, gone) = (millis(settings.ping_after), millis(settings.gone_after));
    let mut ticks = tokio::time::interval(settings.look_every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let now = front.relay.clock.millis();
        for peer in front.relay.hub.peers() {
            peer.look(now, ping, gone);
        }
    }
}
