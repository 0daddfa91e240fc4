//! The Nostr relay of a node: from the settings to a running one.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use osier::{Osier, Topic};
use osier_console::Nostr;
use osier_relay::{
    Attached, Bridge, Direction, EventKey, Filter, Gate, Identity, Importer, Mirror, Mirrored,
    Order, RelayError, Server, Settings, Target, limit,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    config::Config,
    exit::Exit,
    failure::{Failure, Outcome},
    output::Output,
    progress, store_failure,
};

/// The event index of a node that is to be opened, with the settings of its relay.
pub(crate) fn prepare(config: &Config) -> Bridge {
    // Without a relay the index is kept all the same, for imports and for later.
    let nowhere = ([127, 0, 0, 1], 0).into();
    Bridge::new(settings(config, config.listen_relay.unwrap_or(nowhere)))
}

/// Brings the event index up to what the node's log holds.
pub(crate) fn attach(out: Output, bridge: Bridge, osier: &Osier) -> Outcome<Attached> {
    let bar = progress::open(out, "event index");
    let attached = bridge.attach(osier, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    attached.map_err(|error| {
        Failure::new(Exit::Store, "the index of Nostr events cannot be used").because(error)
    })
}

fn settings(config: &Config, listen: SocketAddr) -> Settings {
    let relay = &config.relay;
    let mut settings = Settings::new(listen);
    settings.urls.clone_from(&relay.urls);
    if !relay.topics.is_empty() {
        settings.topics = Some(relay.topics.iter().copied().collect());
    }
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    settings.identity = Identity {
        name: relay.name.clone(),
        description: some(&relay.description).unwrap_or(settings.identity.description),
        pubkey: relay.pubkey,
        contact: some(&relay.contact),
        icon: some(&relay.icon),
        ..Identity::default()
    };
    let nostr = &mut settings.nostr;
    nostr.hints = relay.eose_hints;
    nostr.finish_needs_sync = relay.finish_needs_sync;
    if !relay.gate_messages {
        nostr.gate = Gate::open();
    }
    nostr.counts = relay.count;
    nostr.hll_rule = relay.hll_rule;
    nostr.negentropy = relay.negentropy;
    nostr.min_pow = relay.min_pow;
    nostr.newest_s = relay.newest_s;
    nostr.page_events_max = relay.page_events_max;
    nostr.quotas = relay.quotas;
    settings.drop_hidden = relay.drop_hidden;
    settings.connections_max = relay.connections_max;
    settings.connections_per_ip_max = relay.connections_per_ip_max;
    settings
}

/// Serves clients. If nobody chose the port and it is taken, any free one will do.
pub(crate) async fn serve(
    out: Output,
    config: &Config,
    attached: Attached,
    osier: &Osier,
) -> Outcome<Server> {
    let target = target(osier, config)?;
    match attached.clone().serve(target.clone()).await {
        Ok(server) => Ok(server),
        Err(RelayError::Bind { listen, cause }) if config.listen_relay_is_default => {
            out.note(&format!(
                "{listen} is taken ({cause}): the relay takes a free port"
            ));
            let free = SocketAddr::new(listen.ip(), 0);
            let served = attached.listen(free).serve(target).await;
            served.map_err(|error| no_relay(&error))
        }
        Err(error) => Err(no_relay(&error)),
    }
}

/// First wait before a relay is connected to again; doubles up to [`AGAIN_AFTER_MAX`].
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Longest wait.
const AGAIN_AFTER_MAX: Duration = Duration::from_mins(1);

/// Takes in the events of the relays that are to be mirrored, until dropped.
pub(crate) fn mirrors(config: &Config, attached: &Attached, osier: &Osier) -> Outcome<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    if config.relay.mirrors.is_empty() {
        return Ok(tasks);
    }
    let topic = topic(osier, DEFAULT, &config.relay.topic)?;
    for url in &config.relay.mirrors {
        let order = Order {
            url: url.as_str().to_owned(),
            filter: Filter::default(),
            direction: Direction::Pull,
            key: None,
            again: false,
            patience: limit::MIRROR_PATIENCE,
        };
        tasks.spawn(keep_mirroring(attached.mirror(), topic.clone(), order));
    }
    Ok(tasks)
}

async fn keep_mirroring(mirror: Mirror, topic: Topic, order: Order) {
    let mut wait = AGAIN_AFTER;
    loop {
        let begun = Instant::now();
        let log = |done: &Mirrored| tracing::info!(url = %order.url, ?done, "mirrored");
        if let Err(error) = mirror.follow(&topic, &order, log).await {
            tracing::warn!(%error, wait_s = wait.as_secs(), "a mirror is connected to again");
        }
        if begun.elapsed() > AGAIN_AFTER_MAX {
            wait = AGAIN_AFTER;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(AGAIN_AFTER_MAX);
    }
}

/// Where published events go: by whole id, by name, or by the start of an id. The name that is the
/// default may be missing where there is but one topic.
fn topic(osier: &Osier, key: &'static str, wanted: &str) -> Outcome<Topic> {
    let topics = osier
        .topics()
        .map_err(|error| store_failure::from(&error))?;
    let id = |topic: &&Topic| topic.id().to_string() == wanted;
    if let Some(topic) = topics.iter().find(id) {
        return Ok(topic.clone());
    }
    let no_topic = |why| no_topic(key, wanted, why);
    let named: Vec<&Topic> = topics.iter().filter(|it| it.name() == wanted).collect();
    // Of several of one name, the node's own.
    let own = named.iter().find(|topic| topic.owner() == osier.id());
    if let Some(topic) = own.or(named.first()) {
        return Ok((*topic).clone());
    }
    let starts = |topic: &&Topic| !wanted.is_empty() && topic.id().to_string().starts_with(wanted);
    match topics.iter().filter(starts).collect::<Vec<_>>()[..] {
        [topic] => return Ok(topic.clone()),
        [] => {}
        _ => return Err(no_topic("several ids start so")),
    }
    match &topics[..] {
        [only] if key == DEFAULT => Ok(only.clone()),
        _ => Err(no_topic("there is no such topic")),
    }
}

fn no_topic(key: &str, wanted: &str, why: &str) -> Failure {
    let next = format!(
        "`osier topic ls` lists the topics; set {key} to one, or listen_relay to \"\" for no relay"
    );
    Failure::new(Exit::NotFound, format!("{key} is {wanted:?}"))
        .because(why)
        .next(next)
}

/// Where published events go, each in a topic that is served.
fn target(osier: &Osier, config: &Config) -> Outcome<Target> {
    let relay = &config.relay;
    let mut target = Target::to(topic(osier, DEFAULT, &relay.topic)?);
    for route in &relay.routes {
        target.route(route.filter.clone(), topic(osier, ROUTE, &route.topic)?);
    }
    let served = |topic: &Topic| relay.topics.is_empty() || relay.topics.contains(&topic.id());
    if let Some(hidden) = target.topics().find(|topic| !served(topic)) {
        let what = format!(
            "events go to the topic {:?}, which is not served",
            hidden.name()
        );
        let next = format!("Add {} to relay.topics", hidden.id());
        return Err(Failure::new(Exit::Usage, what)
            .because("relay.topics lacks it")
            .next(next));
    }
    Ok(target)
}

/// The setting that names the topic of events that no route takes.
const DEFAULT: &str = "relay.topic";

/// The setting that names the topic of a route.
const ROUTE: &str = "relay.route's topic";

fn no_relay(error: &RelayError) -> Failure {
    let failure = Failure::other("the Nostr relay cannot be served").because(error);
    match error {
        RelayError::Bind { .. } => {
            failure.next("Choose another port with --listen-relay, or \"\" for no relay")
        }
        _ => failure,
    }
}

/// The bridge as the local API has it.
#[derive(Debug)]
pub(crate) struct Intake {
    importer: Importer,
    mirror: Mirror,
}

impl Intake {
    pub(crate) fn of(attached: &Attached) -> Arc<Self> {
        Arc::new(Self {
            importer: attached.importer(),
            mirror: attached.mirror(),
        })
    }
}

impl Nostr for Intake {
    fn import(&self, topic: Topic, lines: Bytes) -> BoxFuture<'static, Result<Value, String>> {
        let importer = self.importer.clone();
        async move {
            let imported = importer.import(&topic, &lines).await;
            let done = imported.map_err(|error| error.to_string())?;
            let reasons = done.reasons.iter();
            let reasons: Vec<Value> = reasons
                .map(|(line, why)| json!({ "line": line, "why": why }))
                .collect();
            Ok(json!({
                "stored": done.stored, "held": done.held,
                "refused": done.refused, "reasons": reasons,
            }))
        }
        .boxed()
    }

    fn mirror(&self, topic: Topic, order: Value) -> BoxFuture<'static, Result<Value, String>> {
        let mirror = self.mirror.clone();
        async move {
            let (order, follow) = mirror_order(&order)?;
            let done = if follow {
                let log = |done: &Mirrored| tracing::info!(url = %order.url, ?done, "mirrored");
                let ended = mirror.follow(&topic, &order, log).await;
                ended.map(|()| Mirrored::default())
            } else {
                mirror.run(&topic, &order).await
            };
            done.map(|done| mirrored(&done))
                .map_err(|error| error.to_string())
        }
        .boxed()
    }
}

fn mirror_order(order: &Value) -> Result<(Order, bool), String> {
    let text = |key: &str| order[key].as_str().map(str::to_owned);
    let filter = match text("filter") {
        Some(text) => Filter::parse(&text).map_err(|error| format!("in the filter, {error}"))?,
        None => Filter::default(),
    };
    let key = match text("key") {
        Some(hex) => Some(event_key(&hex).ok_or("the key is not one of 64 hex digits")?),
        None => None,
    };
    let patience = order["patience_s"].as_u64().map(Duration::from_secs);
    let patience = patience.unwrap_or(limit::MIRROR_PATIENCE);
    let order_of = |direction| Order {
        url: text("url").unwrap_or_default(),
        filter: filter.clone(),
        direction,
        key: key.clone(),
        again: order["again"] == true,
        patience,
    };
    let follow = order["follow"] == true;
    match order["direction"].as_str() {
        Some("pull") => Ok((order_of(Direction::Pull), follow)),
        Some("push") => Ok((order_of(Direction::Push), follow)),
        Some("sync") => Ok((order_of(Direction::Sync), follow)),
        _ => Err("the direction is pull, push or sync".to_owned()),
    }
}

fn event_key(hex: &str) -> Option<EventKey> {
    let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(hex.trim().as_bytes());
    let bytes: [u8; 32] = bytes.ok()?.try_into().ok()?;
    EventKey::from_bytes(&bytes)
}

fn mirrored(done: &Mirrored) -> Value {
    json!({
        "paged_because": done.paged_because, "complete": done.complete,
        "resumed": done.resumed,
        "received": done.received, "stored": done.stored, "held": done.held,
        "refused": done.refused, "sent": done.sent, "taken": done.taken,
        "rejected": done.rejected, "reasons": done.reasons,
    })
}
