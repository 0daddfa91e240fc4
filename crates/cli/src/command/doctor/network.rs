//! The node, its ports, and who can reach it.

use std::net::{TcpListener, UdpSocket};

use super::{Finding, Verdict};
use crate::{
    config::Config,
    reach::{Missing, Reach},
};

/// The running node with its addresses; or, when none runs, whether it could start.
pub(crate) fn node(config: &Config) -> Vec<Finding> {
    if let Ok(reach) = Reach::running(config) {
        let told = reach.api.get("/v1/node").unwrap_or_default();
        let addresses = told["addresses"].to_string();
        return vec![Finding::ok(
            "node",
            format!("running, reached at {addresses}"),
        )];
    }
    let mut findings = vec![Finding::ok("node", "not running")];
    findings.push(api_port(config));
    findings.push(p2p_port(config));
    if config.data_dir.join("store.redb").exists() {
        findings.push(store(config));
    }
    findings
}

fn api_port(config: &Config) -> Finding {
    let address = config.listen_api;
    match TcpListener::bind(address) {
        Ok(_) => Finding::ok("API port", format!("{address} is free")),
        Err(error) => {
            let (verdict, hint) = if config.listen_api_is_default {
                (
                    Verdict::Warn,
                    "`osier run` will take another port and say which",
                )
            } else {
                (
                    Verdict::Bad,
                    "stop what uses it, or choose another with --listen-api",
                )
            };
            Finding::new("API port", verdict, format!("{address}: {error}"), hint)
        }
    }
}

fn p2p_port(config: &Config) -> Finding {
    let address = config.listen_p2p;
    match UdpSocket::bind(address) {
        Ok(_) => Finding::ok("peer port", format!("{address} can be bound (UDP)")),
        Err(error) => {
            let hint = "stop what uses it, or choose another with --listen-p2p";
            Finding::new(
                "peer port",
                Verdict::Bad,
                format!("{address}: {error}"),
                hint,
            )
        }
    }
}

fn store(config: &Config) -> Finding {
    match Reach::any(config, Missing::Refuse) {
        Ok(_) => Finding::ok("store", "opens"),
        Err(failure) => {
            let hint = "docs/operating.md tells what each message means";
            Finding::new("store", Verdict::Bad, failure.to_string(), hint)
        }
    }
}

/// Whom the settings let the node reach, and be reached by.
pub(crate) fn reachability(config: &Config) -> Finding {
    if config.listen_p2p.ip().is_loopback() {
        let hint = "listen on 0.0.0.0 to be reached from other machines";
        return Finding::new("reachability", Verdict::Warn, "this machine only", hint);
    }
    let mdns = config.mdns.unwrap_or(true);
    let lan = if mdns {
        "found by mDNS on this network"
    } else {
        "mDNS is off"
    };
    let outside = match config.relays.len() {
        0 => "no relay: from elsewhere only by an address that routes here".to_owned(),
        relays => format!("reached through {relays} relays"),
    };
    let dns = if config.dns {
        "; published in public DNS"
    } else {
        ""
    };
    Finding::ok("reachability", format!("{lan}; {outside}{dns}"))
}
