//! What a node is told before it starts. The defaults contact nobody.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use osier_core::{NodeId, NodeSecret};

/// How a node is reached and how it finds others.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// The node's key; its public half is the node's id.
    pub secret: NodeSecret,
    /// Where to listen for peers, UDP. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// How other nodes are found.
    pub discovery: Discovery,
}

impl NodeConfig {
    /// A node on this machine only: loopback, a free port, nothing contacted.
    pub fn new(secret: NodeSecret) -> Self {
        Self {
            secret,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            discovery: Discovery::default(),
        }
    }

    /// The same node listening elsewhere.
    #[must_use]
    pub fn listen(mut self, listen: SocketAddr) -> Self {
        self.listen = listen;
        self
    }

    /// The same node finding others in another way.
    #[must_use]
    pub fn discovery(mut self, discovery: Discovery) -> Self {
        self.discovery = discovery;
        self
    }

    /// Whether the local network is asked for peers: as configured, and by default only by a node
    /// that the local network can reach.
    pub fn uses_mdns(&self) -> bool {
        self.discovery
            .mdns
            .unwrap_or(!self.listen.ip().is_loopback())
    }
}

/// How other nodes are found. Beyond the local network, only what is set here is contacted.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Ask the local network by multicast DNS; none: only when not bound to loopback.
    pub mdns: Option<bool>,
    /// Addresses known beforehand: `ip:port`, or a relay's URL.
    pub addresses: Vec<(NodeId, String)>,
    /// URLs of iroh relays to be reached through when no direct path exists. Empty: none.
    pub relays: Vec<String>,
    /// Publish the node's addresses to, and look others up in, n0's public DNS.
    pub dns: bool,
    /// Ask the router to forward a port (`UPnP`, `NAT-PMP`, `PCP`).
    pub port_mapping: bool,
}
