//! How a node is opened.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use osier_node::{Discovery, NodeConfig, new_secret, random_bytes};
use osier_proto::StoreId;
use osier_store::{Projection, StoreOptions};

use crate::{error::Result, home::Home, node::Osier, page};

/// Entries that a replay node keeps of a topic unless told otherwise.
const REPLAY_ENTRIES: u64 = 100_000;

/// Settings of a node. Every default keeps it off the network beyond this machine.
#[derive(Debug, Clone)]
pub struct Builder {
    data_dir: PathBuf,
    store: StoreOptions,
    listen: SocketAddr,
    discovery: Discovery,
    offline: bool,
    pub(crate) replay_entries: u64,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("osier-data"),
            store: StoreOptions::new(),
            listen: ([127, 0, 0, 1], 0).into(),
            discovery: Discovery::default(),
            offline: false,
            replay_entries: REPLAY_ENTRIES,
        }
    }
}

impl Builder {
    /// Where key and store are; made on first use. `osier-data` when not set.
    #[must_use]
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.data_dir = dir.into();
        self
    }

    /// Keeps an index over the log in the store, in the transactions of the log. Whoever opens the
    /// store without it leaves it behind.
    #[must_use]
    pub fn projection(mut self, projection: Arc<dyn Projection>) -> Self {
        self.store = self.store.projection(projection);
        self
    }

    /// Where other nodes reach this one, UDP; port 0 takes a free one. Loopback when not set.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Whether nodes on the local network find each other. When not set: unless on loopback.
    #[must_use]
    pub fn mdns(mut self, on: bool) -> Self {
        self.discovery.mdns = Some(on);
        self
    }

    /// URLs of iroh relays to be reached through. None when not set.
    #[must_use]
    pub fn relays(mut self, relays: impl IntoIterator<Item = String>) -> Self {
        self.discovery.relays = relays.into_iter().collect();
        self
    }

    /// Whether addresses are published in, and looked up from, n0's public DNS. Off when not set.
    #[must_use]
    pub fn dns(mut self, on: bool) -> Self {
        self.discovery.dns = on;
        self
    }

    /// Whether the router is asked to forward a port. Off when not set.
    #[must_use]
    pub fn port_mapping(mut self, on: bool) -> Self {
        self.discovery.port_mapping = on;
        self
    }

    /// How many entries this node keeps of a topic in which its role is replay.
    #[must_use]
    pub fn replay_entries(mut self, entries: u64) -> Self {
        self.replay_entries = entries;
        self
    }

    /// Takes part in nothing: for reading the store, and for writing to it while no node runs.
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.offline = true;
        self
    }

    /// Opens the node: makes its directory, key and store if they are not there, and takes part in
    /// every topic that it knows. Needs a multi-threaded tokio runtime.
    ///
    /// # Errors
    /// If the directory cannot be used, the store is damaged or open elsewhere, or the address
    /// cannot be bound.
    pub async fn open(self) -> Result<Osier> {
        let home = Home::at(&self.data_dir);
        let (opened, options) = (home.clone(), self.store);
        let (secret, store) = page::blocking(move || {
            opened.create()?;
            let secret = opened.key(|| Ok(new_secret()?))?;
            let fresh = StoreId::from_bytes(random_bytes()?);
            let store = options.open(&opened.store_path(), fresh)?;
            Ok((secret, store))
        })
        .await?;
        let config = NodeConfig::new(secret)
            .listen(self.listen)
            .discovery(self.discovery);
        let osier = Osier::new(home, config, store, self.replay_entries);
        if !self.offline {
            osier.start().await?;
        }
        Ok(osier)
    }
}
