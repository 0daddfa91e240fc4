//! Settings: flags over environment over `osier.toml` over defaults, each value with its origin.

mod key;
mod layer;
mod relay;

use std::{net::SocketAddr, path::PathBuf};

use self::layer::Origin;
pub(crate) use self::{
    layer::{Flags, Layers},
    relay::RelayConfig,
};
use crate::failure::{Failure, Outcome};

/// The effective settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that do not depend on each other"
)]
pub(crate) struct Config {
    /// Where key, store, token and `run.json` are.
    pub(crate) data_dir: PathBuf,
    /// For other nodes.
    pub(crate) listen_p2p: SocketAddr,
    /// For the local API.
    pub(crate) listen_api: SocketAddr,
    /// Whether nobody chose `listen_api`, so that another port will do when it is taken.
    pub(crate) listen_api_is_default: bool,
    /// Origins of pages that may ask the local API.
    pub(crate) api_origins: Vec<String>,
    /// For Nostr clients; none when there is no relay.
    pub(crate) listen_relay: Option<SocketAddr>,
    /// Whether nobody chose `listen_relay`, so that another port will do when it is taken.
    pub(crate) listen_relay_is_default: bool,
    /// The relay's own settings.
    pub(crate) relay: RelayConfig,
    /// Role in topics that are joined.
    pub(crate) role: String,
    /// What is logged.
    pub(crate) log: String,
    /// Whether nodes on the local network find each other; none: unless bound to loopback.
    pub(crate) mdns: Option<bool>,
    /// Whether addresses are published in, and looked up from, public DNS.
    pub(crate) dns: bool,
    /// Whether the router is asked to forward a port.
    pub(crate) port_mapping: bool,
    /// Iroh relays to be reachable through.
    pub(crate) relays: Vec<String>,
    /// Entries that a replay node keeps of a topic.
    pub(crate) replay_entries: u64,
    /// Bytes of one request to the local API.
    pub(crate) request_bytes_max: usize,
    /// Event streams that the local API serves at once.
    pub(crate) streams_max: usize,
}

impl Config {
    /// Parses the winning value of each key.
    pub(crate) fn from_layers(layers: &Layers) -> Outcome<Self> {
        let listen_relay = layers.text("listen_relay")?;
        let config = Self {
            data_dir: PathBuf::from(layers.text("data_dir")?),
            listen_p2p: layers.parsed("listen_p2p", "an address such as 0.0.0.0:0")?,
            listen_api: layers.parsed("listen_api", "an address such as 127.0.0.1:7780")?,
            listen_api_is_default: layers.origin("listen_api") == &Origin::Default,
            api_origins: layers.list("api_origins")?,
            listen_relay: match listen_relay.as_str() {
                "" => None,
                _ => Some(layers.parsed("listen_relay", "an address such as 127.0.0.1:7777")?),
            },
            listen_relay_is_default: layers.origin("listen_relay") == &Origin::Default,
            relay: RelayConfig::from_layers(layers)?,
            role: layers.one_of("role", &["archive", "replay", "peer"])?,
            log: layers.text("log")?,
            mdns: match layers
                .one_of("discovery.mdns", &["auto", "on", "off"])?
                .as_str()
            {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            },
            dns: layers.flag("discovery.dns")?,
            port_mapping: layers.flag("discovery.port_mapping")?,
            relays: layers.list("discovery.relays")?,
            replay_entries: layers.number("limits.replay_entries", 1)?,
            request_bytes_max: size(layers, "limits.request_bytes_max", 64 * 1024)?,
            streams_max: size(layers, "limits.streams_max", 1)?,
        };
        config.check(layers)?;
        Ok(config)
    }

    fn check(&self, layers: &Layers) -> Outcome {
        if self.listen_api.ip().is_loopback() {
            return Ok(());
        }
        let why = "the local API has one token and no encryption, so it listens on this machine";
        let next = "Use 127.0.0.1 or [::1], and a reverse proxy for other machines";
        Err(layers.invalid("listen_api", why).next(next))
    }
}

fn size(layers: &Layers, key: &'static str, least: u64) -> Outcome<usize> {
    let number = layers.number(key, least)?;
    usize::try_from(number).map_err(|_| layers.invalid(key, "too large for this machine"))
}

/// The default data directory: `$XDG_DATA_HOME/osier`, `~/.local/share/osier`, or `osier-data`
/// here when there is no home.
fn default_data_dir(var: impl Fn(&str) -> Option<String>) -> String {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    match (set("XDG_DATA_HOME"), set("HOME")) {
        (Some(data), _) => format!("{data}/osier"),
        (None, Some(home)) => format!("{home}/.local/share/osier"),
        (None, None) => "osier-data".to_owned(),
    }
}

/// The nearest of `known` to what was typed, if it is near.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let scored = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(typed, name), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then_some(best.1)
}

/// A setting that is not valid, in the words of its layer.
fn usage(what: String) -> Failure {
    Failure::new(crate::exit::Exit::Usage, what)
}

#[cfg(test)]
mod tests;
