//! NIP-42, authentication of clients: <https://github.com/nostr-protocol/nips/blob/master/42.md>.

use std::collections::BTreeSet;

use crate::{
    event::Event,
    kind::EventKind,
    limit,
    reason::{Prefix, Reason},
    time::Seconds,
};

/// The URL of a relay in one form: scheme and host in lower case, the port left out where the
/// scheme implies it, no slash at the end, no fragment (`NOS-51`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelayUrl(Box<str>);

impl RelayUrl {
    /// Brings a URL into that form; none if it is not one of a WebSocket.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let implied = match &*scheme {
            "ws" => "80",
            "wss" => "443",
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let path_at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(path_at)?;
        let (host, port) = host_and_port(authority)?;
        let mut url = format!("{scheme}://{host}");
        if let Some(port) = port.filter(|port| port != implied) {
            url.push(':');
            url.push_str(&port);
        }
        url.push_str(path.trim_end_matches('/'));
        Some(Self(url.into()))
    }

    /// The one form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The host in one form, and the port without leading zeros. An IPv6 address stands in brackets.
fn host_and_port(authority: &str) -> Option<(String, Option<String>)> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        let address: std::net::Ipv6Addr = address.parse().ok()?;
        let port = after.strip_prefix(':');
        (port.is_some() || after.is_empty()).then_some((format!("[{address}]"), port))?
    } else {
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let plain = |c: char| c.is_alphanumeric() || "-._".contains(c);
        let legal = !host.is_empty() && host.chars().all(plain);
        legal.then(|| (host.trim_end_matches('.').to_lowercase(), port))?
    };
    let port = match port {
        None | Some("") => None,
        Some(port) => Some(port.parse::<u16>().ok()?.to_string()),
    };
    Some((host, port))
}

/// The URLs under which a relay is known; all nodes of a topic that honours requests to vanish
/// have the same ones (NIP-62).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelayUrls(BTreeSet<RelayUrl>);

impl RelayUrls {
    /// Whether this URL is one of them, in whatever form.
    pub fn contain(&self, text: &str) -> bool {
        RelayUrl::parse(text).is_some_and(|url| self.0.contains(&url))
    }

    /// All of them, in the order of their one form.
    pub fn iter(&self) -> impl Iterator<Item = &RelayUrl> {
        self.0.iter()
    }
}

impl FromIterator<RelayUrl> for RelayUrls {
    fn from_iter<I: IntoIterator<Item = RelayUrl>>(urls: I) -> Self {
        Self(urls.into_iter().collect())
    }
}

/// What a client signs to authenticate, and what we compare it with.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The challenge of this connection.
    pub challenge: &'a str,
    /// Our URLs.
    pub urls: &'a RelayUrls,
    /// The present time.
    pub now: Seconds,
}

/// Whether a verified event authenticates its signer on this connection (`NOS-50`).
///
/// # Errors
/// The reason to give.
pub fn check(event: &Event, expected: &Expected<'_>) -> Result<(), Reason> {
    let fail = |prefix, sentence| Err(Reason::new(prefix, sentence));
    if event.kind() != EventKind::AUTH {
        return fail(Prefix::Invalid, "an authentication event has kind 22242");
    }
    if event.created_at().distance(expected.now) > limit::AUTH_WINDOW_S {
        return fail(
            Prefix::Invalid,
            "the event is more than ten minutes off our clock",
        );
    }
    if event.values("challenge").next() != Some(expected.challenge) {
        return fail(
            Prefix::Invalid,
            "the challenge is not the one of this connection",
        );
    }
    let relay = event.values("relay").next();
    if !relay.is_some_and(|url| expected.urls.contain(url)) {
        return fail(Prefix::Invalid, "the event is meant for another relay");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, two: &str) -> bool {
        RelayUrl::parse(one).is_some() && RelayUrl::parse(one) == RelayUrl::parse(two)
    }

    /// NOS-51.
    #[test]
    fn urls_that_mean_the_same_are_equal() {
        for (one, two) in [
            ("wss://h:3443/relay", "WSS://H:3443/relay/"),
            ("wss://h/", "wss://h:443"),
            ("ws://h:80", "ws://h"),
            ("wss://h./#x", "wss://h"),
            ("ws://[::1]:7777", "ws://[0:0:0:0:0:0:0:1]:7777/"),
            ("ws://[::A]:80", "ws://[::a]"),
            ("wss://h?x=1", "wss://h?x=1"),
            ("wss://h:0443", "wss://h"),
        ] {
            assert!(same(one, two), "{one} {two}");
        }
        for (one, two) in [
            ("wss://h:3443/relay", "wss://h:3443/other"),
            ("wss://h:3443", "wss://h"),
            ("wss://h", "wss://g"),
            ("wss://h", "ws://h:443"),
            ("wss://h/Relay", "wss://h/relay"),
            ("wss://h?x=1", "wss://h"),
        ] {
            assert!(!same(one, two), "{one} {two}");
        }
        for text in [
            "",
            "h",
            "https://h",
            "wss://",
            "wss://h:x",
            "wss://[::1",
            "wss://u@h",
            "wss://h h",
        ] {
            assert_eq!(RelayUrl::parse(text), None, "{text}");
        }
    }
}
