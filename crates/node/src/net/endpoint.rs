//! Binds iroh's endpoint so that it contacts only what is configured.

use std::net::SocketAddr;

use iroh::{
    Endpoint, RelayMap, RelayMode, RelayUrl, SecretKey,
    address_lookup::{DnsAddressLookup, PkarrPublisher, PkarrResolver},
    endpoint::{Builder, IdleTimeout, PortmapperConfig, QuicTransportConfig, presets},
};
use iroh_mdns_address_lookup::MdnsAddressLookup;

use super::{PeerBook, SYNC_ALPN};
use crate::{
    config::NodeConfig,
    error::NodeError,
    limit::{
        CONNECTION_IDLE, CONNECTION_WINDOW_BYTES, GOSSIP_STREAMS_PER_CONNECTION_MAX, KEEP_ALIVE,
        STREAMS_PER_CONNECTION_MAX,
    },
};

/// Keeps our nodes apart from other iroh applications on the local network.
const MDNS_SERVICE: &str = "osier";

/// An endpoint and the addresses it looks up.
#[derive(Debug)]
pub(crate) struct Bound {
    /// The socket and its connections.
    pub(crate) endpoint: Endpoint,
    /// Where peers are.
    pub(crate) book: PeerBook,
}

/// Binds the node's socket.
pub(crate) async fn bind(config: &NodeConfig) -> Result<Bound, NodeError> {
    let book = PeerBook::default();
    for (node, text) in &config.discovery.addresses {
        book.note_text(*node, text)
            .map_err(|_| NodeError::Address { text: text.clone() })?;
    }
    let fail = |cause: String| NodeError::Bind {
        listen: config.listen,
        cause,
    };
    let builder = with_discovery(builder(config)?, config, &book)
        .clear_ip_transports()
        .bind_addr(config.listen)
        .map_err(|error| fail(error.to_string()))?;
    let endpoint = builder
        .bind()
        .await
        .map_err(|error| fail(format!("{error:#}")))?;
    if config.uses_mdns() {
        add_mdns(&endpoint)?;
    }
    Ok(Bound { endpoint, book })
}

fn builder(config: &NodeConfig) -> Result<Builder, NodeError> {
    let port_mapping = if config.discovery.port_mapping {
        PortmapperConfig::default()
    } else {
        PortmapperConfig::Disabled
    };
    Ok(Endpoint::builder(presets::Minimal)
        .secret_key(SecretKey::from_bytes(&config.secret.to_bytes()))
        .alpns(vec![
            SYNC_ALPN.to_vec(),
            iroh_gossip::net::GOSSIP_ALPN.to_vec(),
        ])
        .relay_mode(relay_mode(&config.discovery.relays)?)
        .portmapper_config(port_mapping)
        .transport_config(transport()))
}

fn with_discovery(mut builder: Builder, config: &NodeConfig, book: &PeerBook) -> Builder {
    builder = builder.address_lookup(book.lookup());
    if config.discovery.dns {
        builder = builder
            .address_lookup(PkarrPublisher::n0_dns())
            .address_lookup(PkarrResolver::n0_dns())
            .address_lookup(DnsAddressLookup::n0_dns());
    }
    builder
}

fn relay_mode(relays: &[String]) -> Result<RelayMode, NodeError> {
    if relays.is_empty() {
        return Ok(RelayMode::Disabled);
    }
    let urls: Result<Vec<RelayUrl>, NodeError> = relays.iter().map(|text| relay(text)).collect();
    Ok(RelayMode::Custom(RelayMap::from_iter(urls?)))
}

fn relay(text: &str) -> Result<RelayUrl, NodeError> {
    text.parse().map_err(|error| NodeError::Relay {
        text: text.to_owned(),
        cause: format!("{error}"),
    })
}

/// The stream window stays at its default of 1.25 MB: larger ones lose slow readers.
fn transport() -> QuicTransportConfig {
    let idle = IdleTimeout::try_from(CONNECTION_IDLE).expect("ten seconds fit");
    QuicTransportConfig::builder()
        .keep_alive_interval(KEEP_ALIVE)
        .max_idle_timeout(Some(idle))
        .receive_window(CONNECTION_WINDOW_BYTES.into())
        .max_concurrent_bidi_streams(STREAMS_PER_CONNECTION_MAX.into())
        .max_concurrent_uni_streams(GOSSIP_STREAMS_PER_CONNECTION_MAX.into())
        .build()
}

fn add_mdns(endpoint: &Endpoint) -> Result<(), NodeError> {
    let fail = |error: String| NodeError::Mdns(error);
    let mdns = MdnsAddressLookup::builder()
        .service_name(MDNS_SERVICE)
        .build(endpoint.id())
        .map_err(|error| fail(format!("{error:#}")))?;
    let services = endpoint
        .address_lookup()
        .map_err(|error| fail(format!("{error:#}")))?;
    services.add(mdns);
    Ok(())
}

/// Where the endpoint can be reached directly, as far as it knows.
pub(crate) fn addresses(endpoint: &Endpoint) -> Vec<SocketAddr> {
    endpoint.addr().ip_addrs().copied().collect()
}
