//! `osier run`: start the node, say where it is, run until Ctrl-C.

mod report;

use std::{
    fs,
    net::{SocketAddr, UdpSocket},
    path::Path,
    sync::Arc,
};

use osier::{Osier, RunFile};
use osier_console::{Console, ConsoleError, Refused, RelayFigures, RelayNumbers, Settings};
use osier_relay::{Bridge, Figures, Refusals, Server};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Context;
use crate::{
    bridge::{self, Intake},
    config::Config,
    exit::Exit,
    failure::{Failure, Outcome},
    store_failure,
};

/// The topic that a node makes for itself at its first start.
const FIRST_TOPIC: &str = "lobby";

/// Remembers the port for other nodes, so that tickets stay good over a restart.
const PORT_FILE: &str = "p2p.port";

pub(crate) fn run(context: &Context) -> Outcome {
    let runtime = Runtime::new()
        .map_err(|error| Failure::other("cannot start worker threads").because(error))?;
    runtime.block_on(serve(context))
}

async fn serve(context: &Context) -> Outcome {
    let config = &context.config;
    let first_start = !osier::Home::at(&config.data_dir).is_initialised();
    let bridge = bridge::prepare(config);
    let osier = open(config, &bridge)
        .await
        .map_err(|error| store_failure::from(&error))?;
    let ended = serve_opened(context, &osier, bridge, first_start).await;
    context.out.note("stopping");
    osier.shutdown().await;
    osier.home().remove_run();
    ended
}

async fn serve_opened(
    context: &Context,
    osier: &Osier,
    bridge: Bridge,
    first_start: bool,
) -> Outcome {
    let config = &context.config;
    let failed = |error: osier::Error| store_failure::from(&error);
    if first_start && osier.topics().map_err(failed)?.is_empty() {
        osier.create_topic(FIRST_TOPIC).await.map_err(failed)?;
    }
    for space in osier.spaces().map_err(failed)? {
        space.follow().await.map_err(failed)?;
    }
    let attached = bridge::attach(context.out, bridge, osier)?;
    let intake = Intake::of(&attached);
    let mut mirrors = bridge::mirrors(config, &attached, osier)?;
    let relay = match config.listen_relay {
        Some(_) => Some(bridge::serve(context.out, config, attached, osier).await?),
        None => None,
    };
    let token = osier.new_token().map_err(failed)?;
    let figures = relay.as_ref().map(figures);
    let console = start_console(context, osier, token, intake, figures).await?;
    let p2p = first_address(osier);
    remember_port(&config.data_dir, p2p);
    let run = RunFile {
        pid: std::process::id(),
        node: osier.id(),
        addresses: osier.addresses(),
        p2p,
        api: Some(console.address()),
        relay: relay.as_ref().map(Server::address),
    };
    osier.home().write_run(&run).map_err(failed)?;
    let link = console.link().map_err(failed)?;
    announce(context, osier, &run, &link)?;
    let reports = tokio::spawn(report::follow_all(context.out, osier.clone()));
    interrupted().await;
    reports.abort();
    mirrors.shutdown().await;
    if let Some(relay) = relay {
        relay.shutdown().await;
    }
    console.shutdown().await;
    Ok(())
}

async fn open(config: &Config, bridge: &Bridge) -> osier::Result<Osier> {
    let mut builder = Osier::builder()
        .data_dir(&config.data_dir)
        .listen(listen(config))
        .relays(config.relays.clone())
        .dns(config.dns)
        .port_mapping(config.port_mapping)
        .replay_entries(config.replay_entries);
    if let Some(on) = config.mdns {
        builder = builder.mdns(on);
    }
    builder.projection(bridge.projection()).open().await
}

/// The configured address; for port 0 the port of last time, if it is free.
fn listen(config: &Config) -> SocketAddr {
    let mut address = config.listen_p2p;
    if address.port() != 0 {
        return address;
    }
    let text = fs::read_to_string(config.data_dir.join(PORT_FILE)).unwrap_or_default();
    if let Ok(port) = text.trim().parse() {
        address.set_port(port);
        if UdpSocket::bind(address).is_ok() {
            return address;
        }
    }
    config.listen_p2p
}

fn remember_port(dir: &Path, p2p: Option<SocketAddr>) {
    let Some(p2p) = p2p else { return };
    if let Err(error) = fs::write(dir.join(PORT_FILE), p2p.port().to_string()) {
        tracing::warn!(%error, "cannot remember the port: tickets may go stale at a restart");
    }
}

/// All addresses of the node have one port.
fn first_address(osier: &Osier) -> Option<SocketAddr> {
    osier
        .addresses()
        .iter()
        .find_map(|address| address.parse().ok())
}

/// What the dashboard and the metrics show of the relay.
fn figures(relay: &Server) -> RelayFigures {
    let (url, figures) = (format!("ws://{}", relay.address()), relay.figures());
    RelayFigures::new(move || {
        let refused = refused(&figures);
        RelayNumbers {
            url: url.clone(),
            connections: figures.connections() as u64,
            subscriptions: Some(figures.subscriptions() as u64),
            events_in_total: Some(figures.events_taken()),
            events_known_total: Some(figures.events_known()),
            events_out_total: Some(figures.events_sent()),
            refused_total: Some(refused.iter().map(|it| it.total).sum()),
            refused,
        }
    })
}

fn refused(figures: &Figures) -> Vec<Refused> {
    let of = |what, refusals: Refusals| {
        let refused = move |(reason, total)| Refused {
            what,
            reason,
            total,
        };
        refusals.into_iter().map(refused)
    };
    let events = of("event", figures.events_refused());
    events
        .chain(of("request", figures.requests_refused()))
        .collect()
}

async fn start_console(
    context: &Context,
    osier: &Osier,
    token: String,
    intake: Arc<Intake>,
    relay: Option<RelayFigures>,
) -> Outcome<Console> {
    let config = &context.config;
    let mut settings = Settings::new(config.listen_api, token);
    settings.request_bytes_max = config.request_bytes_max;
    settings.streams_max = config.streams_max;
    settings.origins.clone_from(&config.api_origins);
    settings.nostr = Some(intake);
    settings.relay = relay;
    match Console::start(osier.clone(), settings.clone()).await {
        Ok(console) => Ok(console),
        Err(ConsoleError::Bind { listen, cause }) if config.listen_api_is_default => {
            context.out.note(&format!(
                "{listen} is taken ({cause}): the API takes a free port"
            ));
            settings.listen.set_port(0);
            Console::start(osier.clone(), settings)
                .await
                .map_err(|error| no_console(&error))
        }
        Err(error) => Err(no_console(&error)),
    }
}

fn no_console(error: &ConsoleError) -> Failure {
    Failure::new(Exit::Failure, "the local API cannot be served").because(error)
}

/// Says where everything is.
fn announce(context: &Context, osier: &Osier, run: &RunFile, link: &str) -> Outcome {
    let mut topics = Vec::new();
    for topic in osier
        .topics()
        .map_err(|error| store_failure::from(&error))?
    {
        let ticket = topic
            .ticket()
            .map_err(|error| store_failure::from(&error))?;
        topics.push(json!({
            "id": topic.id(), "name": topic.name(), "ticket": ticket.to_string(),
        }));
    }
    let value = json!({
        "node": run.node,
        "pid": run.pid,
        "addresses": run.addresses,
        "p2p": run.p2p,
        "api": run.api.map(|api| format!("http://{api}")),
        "dashboard": link,
        "relay": run.relay.map(|relay| format!("ws://{relay}")),
        "data_dir": context.config.data_dir,
        "topics": topics,
    });
    context.out.either(&value, &announcement(&value))?;
    context.out.note("running; Ctrl-C stops it");
    Ok(())
}

fn announcement(value: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let addresses = value["addresses"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let addresses: Vec<String> = addresses.iter().map(text).collect();
    let data = text(&value["data_dir"]);
    let mut lines = vec![
        format!("node    {}", text(&value["node"])),
        format!("peers   {}", addresses.join(" ")),
        format!(
            "API     {} (token in {data}/api.token)",
            text(&value["api"])
        ),
        format!(
            "page    {} (opens once; `osier dashboard` prints another)",
            text(&value["dashboard"])
        ),
        format!("relay   {}", text(&value["relay"])),
        format!("data    {data}"),
    ];
    for topic in value["topics"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        lines.push(format!(
            "topic   {} ({})",
            text(&topic["name"]),
            text(&topic["id"])
        ));
        lines.push(format!("ticket  {}", text(&topic["ticket"])));
    }
    lines.join("\n")
}

/// Waits for Ctrl-C, or for what a service manager sends.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler the process ends at once, which the store survives.
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_everything_is() {
        let value = json!({
            "node": "aa", "addresses": ["127.0.0.1:4", "192.0.2.1:4"],
            "api": "http://127.0.0.1:7780", "dashboard": "http://127.0.0.1:7780/#c0de",
            "relay": "ws://127.0.0.1:7777", "data_dir": "d",
            "topics": [{ "id": "bb", "name": "lobby", "ticket": "osier1x" }],
        });
        insta::assert_snapshot!(announcement(&value));
    }
}
