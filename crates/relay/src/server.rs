//! Listening, and ending.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use osier::{Osier, Projection};
use osier_eventdb::{EventDb, EventIndex};
use osier_nostr::nip::nip11::{self, Identity, Retention};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    clock::Clock,
    door::Door,
    ephemeral::Ephemeral,
    error::RelayError,
    feed::{Feeder, Stretch},
    figures::Figures,
    http,
    hub::Hub,
    import::Importer,
    ingest::{Appender, Passer},
    limit,
    mirror::Mirror,
    peer::{Farewell, Mail},
    purge,
    relay::{Relay, cores},
    settings::Settings,
    target::Target,
    topics::{Completion, Feed, Followed},
    workers::Workers,
};

/// The event index of a node that is to be opened, and the settings of its relay.
#[derive(Debug, Clone)]
pub struct Bridge {
    settings: Settings,
    db: Arc<EventDb>,
}

/// An open node with its event index up to date: what it can be used for besides a relay.
#[derive(Debug, Clone)]
pub struct Attached {
    settings: Settings,
    osier: Osier,
    index: EventIndex,
    clock: Clock,
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
    /// Time for a handshake.
    pub(crate) handshake_within: Duration,
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
        let db = EventDb::new(settings.index());
        Self { settings, db }
    }

    /// The event index, for [`osier::Builder::projection`].
    pub fn projection(&self) -> Arc<dyn Projection> {
        Arc::clone(&self.db) as Arc<dyn Projection>
    }

    /// Brings the index up to what the node's log holds; from here on a check of the node looks at
    /// it too. `progress` is told how many entries have been looked at, and of how many. Needs a
    /// multi-threaded tokio runtime.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn attach(
        self,
        osier: &Osier,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Attached, RelayError> {
        let Self { settings, db } = self;
        let store = osier.store()?;
        let attach = || db.attach(&store, progress);
        let index = tokio::task::block_in_place(attach).map_err(RelayError::Index)?;
        let checked = index.clone();
        osier.check_also(move || check(&checked));
        Ok(Attached {
            settings,
            osier: osier.clone(),
            index,
            clock: Clock::start(),
        })
    }
}

fn check(index: &EventIndex) -> Result<Vec<String>, String> {
    let report = index
        .check(&mut |_, _| {})
        .map_err(|error| error.to_string())?;
    let told = report
        .findings
        .iter()
        .map(|it| format!("event index, table {}: {}", it.table, it.what));
    let mut faults: Vec<String> = told.collect();
    if report.more > 0 {
        faults.push(format!("and {} more in the event index", report.more));
    }
    Ok(faults)
}

impl Attached {
    /// The same, with a relay that listens elsewhere.
    #[must_use]
    pub fn listen(mut self, listen: SocketAddr) -> Self {
        self.settings.listen = listen;
        self
    }

    /// Takes events in that come from elsewhere than a client.
    pub fn importer(&self) -> Importer {
        Importer::new(self.index.clone(), self.clock)
    }

    /// Mirrors other relays.
    pub fn mirror(&self) -> Mirror {
        Mirror::new(self.index.clone(), self.clock)
    }

    /// Serves clients. Events that they publish go to `target`; what they read is of all topics
    /// that are served. Needs a multi-threaded tokio runtime.
    ///
    /// # Errors
    /// If the address is taken, or the node's topics cannot be read.
    pub async fn serve(self, target: impl Into<Target>) -> Result<Server, RelayError> {
        let Self {
            settings,
            osier,
            index,
            clock,
        } = self;
        let listen = settings.listen;
        let bind = |cause| RelayError::Bind { listen, cause };
        let listener = TcpListener::bind(listen).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;

        let hub = Arc::new(Hub::new(cores()));
        let feeds = feeds(&index, &hub, clock)?;
        let ephemeral = Ephemeral::new(index.clone(), Arc::clone(&hub), clock);
        let ephemeral = Arc::new(ephemeral);
        let heard = Arc::clone(&ephemeral);
        let followed = Followed::start(osier, settings.topics.clone(), feeds, heard).await?;
        let nostr = settings.enforced(address);
        let completion = followed.completion();
        let shown = Arc::clone(&completion);
        let relay = Relay::start(clock, nostr, hub, index.clone(), completion);
        let relay = Arc::new(relay.map_err(RelayError::Thread)?);
        let purging = purge::run(index.clone(), clock, settings.drop_hidden);
        let target = target.into();
        let passer = Passer {
            waiting: relay.ingest.passing(),
            target: target.clone(),
            ephemeral,
        };
        let appender = Appender {
            waiting: relay.ingest.waiting(),
            index,
            target,
            clock,
        };
        let front = Arc::new(Front {
            relay,
            door: Door::new(settings.connections_max, settings.connections_per_ip_max),
            tasks: TaskTracker::new(),
            handshake_within: settings.handshake_within,
            identity: settings.identity.clone(),
            completion: shown,
        });
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&front), stop.clone()));
        tasks.spawn(followed.run());
        tasks.spawn(appender.run());
        tasks.spawn(passer.run());
        tasks.spawn(purging);
        tasks.spawn(look(Arc::clone(&front), settings));
        Ok(Server {
            address,
            front,
            stop,
            tasks,
        })
    }
}

/// The thread that takes new events to subscriptions.
fn feeds(index: &EventIndex, hub: &Arc<Hub>, clock: Clock) -> Result<Feed, RelayError> {
    let feeder = Feeder {
        index: index.clone(),
        hub: Arc::clone(hub),
        clock,
    };
    let run = move |all: Vec<Stretch>| all.into_iter().for_each(|it| feeder.run(it));
    let workers = Workers::start("osier-feed", 1, 64, run).map_err(RelayError::Thread)?;
    Ok(Arc::new(workers))
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it is doing, for as long as it runs.
    pub fn figures(&self) -> Figures {
        Figures::of(&self.front.relay)
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
