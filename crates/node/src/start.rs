//! How a node begins: socket, disk thread, gossip, driver.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use osier_engine::{Engine, EngineConfig};
use osier_store::Store;
use tokio::sync::mpsc;

use crate::{
    clock::Clock,
    config::NodeConfig,
    disk::Disk,
    driver::{Arrivals, Driver},
    entropy::random_bytes,
    ephemeral::Listeners,
    error::NodeError,
    gossip::Swarms,
    handle::{Held, Inner},
    limit::{
        ARRIVALS_WAITING_MAX, COMMANDS_WAITING_MAX, DISK_ANSWERS_WAITING_MAX, GOSSIP_WAITING_MAX,
    },
    metric::SharedCounters,
    net::{Acceptor, Bound, Connections, bind},
    rows::StoreRows,
    shared::Shared,
    shutdown,
    watch::Watchers,
};

/// Starts everything; the driver runs until the handle's commands end or one says stop.
pub(crate) async fn start(config: NodeConfig, store: Store) -> Result<Inner, NodeError> {
    let clock = Clock::start();
    let counters = SharedCounters::default();
    let (commands_in, commands) = mpsc::channel(COMMANDS_WAITING_MAX);
    let (disk_in, from_disk) = mpsc::channel(DISK_ANSWERS_WAITING_MAX);
    let (network_in, network) = mpsc::channel(ARRIVALS_WAITING_MAX);
    let (gossip_in, gossip) = mpsc::channel(GOSSIP_WAITING_MAX);
    let seed = random_bytes()?;

    let Bound { endpoint, book } = bind(&config).await?;
    let rows = StoreRows::new(store.clone(), clock);
    let disk = Disk::start(rows, disk_in, Arc::clone(&counters))?;
    let shared = Arc::new(Shared::new(
        config.secret.clone(),
        Arc::new(store.clone()),
        clock,
        Arc::clone(&counters),
        network_in,
    ));
    let connections = Connections::new(endpoint.clone(), book.clone(), shared);
    let connections = Arc::new(connections);
    let swarms = Swarms::start(&endpoint, book, gossip_in, Arc::clone(&counters));
    let acceptor = tokio::spawn(Acceptor::new(Arc::clone(&connections), swarms.door()).run());

    let id = config.secret.node_id();
    let engine_config = EngineConfig {
        secret: config.secret,
        seed,
    };
    let watchers = Watchers::new(Arc::clone(&counters));
    let arrivals = Arrivals {
        disk: from_disk,
        commands,
        network,
        gossip,
        watchers: watchers.ready(),
    };
    let driver = Driver {
        engine: Engine::new(engine_config, clock.now()),
        clock,
        disk,
        swarms,
        connections,
        watchers,
        listeners: Listeners::new(Arc::clone(&counters)),
        counters: Arc::clone(&counters),
        sessions: BTreeMap::new(),
        asks: BTreeMap::new(),
        replies: BTreeMap::new(),
        last_command: 0,
    };
    tokio::spawn(shutdown::run_to_end(driver, arrivals, acceptor));
    Ok(Inner {
        id,
        commands: commands_in,
        counters,
        held: Mutex::new(Some(Held { endpoint, store })),
    })
}
