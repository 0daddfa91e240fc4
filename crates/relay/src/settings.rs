//! What an operator may set.

use std::{collections::BTreeSet, net::SocketAddr, time::Duration};

use osier::TopicId;
use osier_nostr::{
    Quotas,
    nip::{
        nip11::Identity,
        nip42::{RelayUrl, RelayUrls},
    },
};

use crate::limit;

/// Settings of the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The URLs at which clients reach the relay from elsewhere, through a proxy say. Those on this
    /// machine are added.
    pub urls: Vec<RelayUrl>,
    /// The topics whose events are served; none is all of the node's.
    pub topics: Option<BTreeSet<TopicId>>,
    /// What clients are held to. Its URLs are replaced by those above, and its connections by
    /// those below.
    pub nostr: osier_nostr::Settings,
    /// What NIP-11 says of the operator.
    pub identity: Identity,
    /// Whether the texts of events that are hidden for good leave the log (`NOS-113`).
    pub drop_hidden: bool,
    /// Connections open at once.
    pub connections_max: usize,
    /// Connections of one IP address that is not this machine.
    pub connections_per_ip_max: usize,
    /// Time from the TCP connection to the whole request head.
    pub handshake_within: Duration,
    /// Silence after which a client is asked for a sign of life.
    pub ping_after: Duration,
    /// Silence after which a client is gone.
    pub gone_after: Duration,
    /// How often silence is looked for.
    pub look_every: Duration,
}

impl Settings {
    /// The defaults, at an address.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            urls: Vec::new(),
            topics: None,
            nostr: osier_nostr::Settings {
                quotas: Quotas {
                    events_per_address: Some(limit::EVENTS_PER_ADDRESS),
                    ..Quotas::default()
                },
                ..osier_nostr::Settings::default()
            },
            identity: Identity {
                name: "Osier".to_owned(),
                description: "A relay whose `finish` means that the whole swarm's history of its \
                              topics has been sent."
                    .to_owned(),
                ..Identity::default()
            },
            drop_hidden: true,
            connections_max: limit::CONNECTIONS_MAX,
            connections_per_ip_max: limit::CONNECTIONS_PER_IP_MAX,
            handshake_within: limit::HANDSHAKE_WITHIN,
            ping_after: limit::PING_AFTER,
            gone_after: limit::GONE_AFTER,
            look_every: limit::LOOK_EVERY,
        }
    }
}

impl Settings {
    /// What clients of a relay at this address are held to, as NIP-11 shows it.
    pub(crate) fn enforced(&self, listen: SocketAddr) -> osier_nostr::Settings {
        let shown = |count: usize| u32::try_from(count).ok();
        let mut nostr = self.nostr.clone();
        nostr.urls = self.all_urls(listen);
        nostr.quotas.connections = shown(self.connections_max);
        nostr.quotas.connections_per_address = shown(self.connections_per_ip_max);
        nostr.bounded()
    }

    /// Those of the index. Where the relay listens is no part of it: it would be built anew for
    /// another port, and requests to vanish are to mean the same on every node of a topic.
    pub(crate) fn index(&self) -> osier_eventdb::Settings {
        let mut nostr = self.nostr.clone();
        nostr.urls = self.urls.iter().cloned().collect();
        osier_eventdb::Settings {
            topics: self.topics.clone(),
            ..osier_eventdb::Settings::from(&nostr)
        }
    }

    /// All URLs of the relay when it listens at this address.
    pub(crate) fn all_urls(&self, listen: SocketAddr) -> RelayUrls {
        self.urls
            .iter()
            .cloned()
            .chain(local_urls(listen))
            .collect()
    }
}

/// The URLs of a relay that listens here, as programs on this machine write them.
fn local_urls(listen: SocketAddr) -> impl Iterator<Item = RelayUrl> {
    let port = listen.port();
    let hosts = [
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        "[::1]".to_owned(),
    ];
    let own = match listen {
        SocketAddr::V4(at) => at.ip().to_string(),
        SocketAddr::V6(at) => format!("[{}]", at.ip()),
    };
    hosts
        .into_iter()
        .chain([own])
        .filter_map(move |host| RelayUrl::parse(&format!("ws://{host}:{port}")))
}

#[cfg(test)]
mod tests {
    use osier_nostr::limit as nostr_limit;

    use super::*;

    /// NOS-90: what is shown is what is enforced.
    #[test]
    fn a_page_has_its_bound_where_settings_are_enforced() {
        let listen = ([127, 0, 0, 1], 7_777).into();
        for (asked, enforced) in [
            (0, 1),
            (300, 300),
            (u64::MAX, nostr_limit::PAGE_EVENTS_HARD_MAX),
        ] {
            let mut settings = Settings::new(listen);
            settings.nostr.page_events_max = asked;
            assert_eq!(settings.enforced(listen).page_events_max, enforced);
        }
    }

    /// NOS-100: the index does not depend on where the relay listens.
    #[test]
    fn the_index_knows_configured_urls_only() {
        let index = |port: u16| {
            let mut settings = Settings::new(([127, 0, 0, 1], port).into());
            settings.urls.extend(RelayUrl::parse("wss://relay.example"));
            settings.index().urls
        };
        let own = RelayUrl::parse("wss://relay.example").into_iter().collect();
        assert_eq!([index(1), index(2)], [own, index(1)]);
    }
}
