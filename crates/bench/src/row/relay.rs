//! B1 to B5: what a Nostr relay does, over real sockets, on ours and on every peer that is named.
//! CPU time of the relay's process stands beside every rate: wall clock moves with the machine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use osier_nostr::{Event, testing};
use tokio::{runtime::Runtime, sync::Semaphore, task::JoinSet};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    relay::{AUTHORS, Target, notes},
    report::{Must, Report},
};

/// Unanswered events of one connection.
const WINDOW: usize = 500;
/// Events of a page.
const PAGE: u64 = 500;
/// Live events, and how many in a second.
const LIVE: u64 = 600;
const LIVE_A_SECOND: u64 = 200;

/// B1: events are published, each acknowledged when it is durable.
pub(super) fn ingest(sizes: &[u64], peers: &[String], report: &mut Report) -> Result<()> {
    for &size in sizes {
        for connections in [1, 10] {
            for target in Target::all(peers)? {
                let frames = frames(&notes(size));
                let before = target.cpu();
                let begun = Instant::now();
                Runtime::new()?.block_on(publish(&target, frames, connections))?;
                let rate = size as f64 / begun.elapsed().as_secs_f64();
                let name = &target.name;
                let what = format!("{name}: events taken, {connections} connections");
                report.figure("B1", size, what, (rate, "events/s"), Must::BeShown);
                if let Some(us) = spent(before, target.cpu(), size) {
                    let what = format!("{name}: CPU an event, {connections} connections");
                    report.figure("B1", size, what, (us, "us"), Must::AtMost(50.0));
                }
            }
        }
    }
    Ok(())
}

/// B2: the newest 500 of a kind, again and again over one connection.
pub(super) fn request(sizes: &[u64], peers: &[String], report: &mut Report) -> Result<()> {
    for &size in sizes {
        for target in filled(size, peers)? {
            let before = target.cpu();
            let times = Runtime::new()?.block_on(ask(&target, 200))?;
            let name = &target.name;
            let total: f64 = times.iter().sum();
            let rate = 200.0 * PAGE as f64 / total;
            let what = format!("{name}: events of pages of 500, one connection");
            report.figure("B2", size, what, (rate, "events/s"), Must::BeShown);
            let what = format!("{name}: a page of 500, median");
            report.figure(
                "B2",
                size,
                what,
                (median(times) * 1e3, "ms"),
                Must::AtMost(1.0),
            );
            if let Some(us) = spent(before, target.cpu(), 200 * PAGE) {
                let what = format!("{name}: CPU an event of a page");
                report.figure("B2", size, what, (us, "us"), Must::AtMost(1.5));
            }
        }
    }
    Ok(())
}

/// B3: so many subscribers of one author each; paced events, none may be missing.
pub(super) fn fan_out(sizes: &[u64], peers: &[String], report: &mut Report) -> Result<()> {
    for &size in sizes {
        for target in Target::all(peers)? {
            let before = target.cpu();
            let heard = Runtime::new()?.block_on(live(Arc::new(target), size))?;
            let Heard { target, mut delays } = heard;
            let name = &target.name;
            delays.sort_by(f64::total_cmp);
            for (what, percent, must) in [
                ("median", 50, Must::AtMost(1.0)),
                ("p99", 99, Must::BeShown),
            ] {
                let ms = delays[(delays.len() - 1) * percent / 100] * 1e3;
                let what = format!("{name}: live, {what}");
                report.figure("B3", size, what, (ms, "ms"), must);
            }
            if let Some(us) = spent(before, target.cpu(), LIVE) {
                let what = format!("{name}: CPU an event, subscribing included");
                report.figure("B3", size, what, (us, "us"), Must::BeShown);
            }
        }
    }
    Ok(())
}

/// B4: connections with one subscription each that are quiet.
pub(super) fn idle(sizes: &[u64], peers: &[String], report: &mut Report) -> Result<()> {
    for &size in sizes {
        for target in Target::all(peers)? {
            let before = target.memory();
            let quiet = Runtime::new()?;
            let held = quiet.block_on(subscribers(&target, size))?;
            let grown = target
                .memory()
                .zip(before)
                .map(|(now, then)| now.saturating_sub(then));
            if let Some(grown) = grown {
                let each = grown as f64 / size as f64 / 1024.0;
                let what = format!("{}: memory a quiet connection", target.name);
                report.figure("B4", size, what, (each, "KiB"), Must::AtMost(8.0));
            }
            drop(held);
        }
    }
    Ok(())
}

/// B5: how many of a kind, and of one author.
pub(super) fn count(sizes: &[u64], peers: &[String], report: &mut Report) -> Result<()> {
    for &size in sizes {
        for target in filled(size, peers)? {
            let author = testing::pubkey(1);
            let of_author = format!("{{\"authors\":[\"{author}\"]}}");
            let share = size.div_ceil(u64::from(AUTHORS));
            for (what, filter, expected) in [
                ("a kind", "{\"kinds\":[1]}".to_owned(), size),
                ("an author", of_author, share),
            ] {
                let times = Runtime::new()?.block_on(count_often(&target, &filter, expected))?;
                let what = format!("{}: count of {what}, median", target.name);
                report.figure("B5", size, what, (median(times) * 1e3, "ms"), Must::BeShown);
            }
        }
    }
    Ok(())
}

fn frames(events: &[Event]) -> Vec<String> {
    let frame = |event: &Event| format!("[\"EVENT\",{}]", event.json());
    events.iter().map(frame).collect()
}

/// Targets that hold so many notes.
fn filled(size: u64, peers: &[String]) -> Result<Vec<Target>> {
    let targets = Target::all(peers)?;
    let runtime = Runtime::new()?;
    for target in &targets {
        runtime.block_on(publish(target, frames(&notes(size)), 4))?;
    }
    Ok(targets)
}

/// Microseconds of CPU for each of `count`.
fn spent(before: Option<Duration>, after: Option<Duration>, count: u64) -> Option<f64> {
    let spent = after?.saturating_sub(before?);
    Some(spent.as_secs_f64() * 1e6 / count as f64)
}

/// Publishes over so many connections; every event must be accepted.
async fn publish(target: &Target, frames: Vec<String>, connections: usize) -> Result<()> {
    let mut tasks = JoinSet::new();
    let share = frames.len().div_ceil(connections);
    for part in frames.chunks(share) {
        let client = target.connect().await?;
        tasks.spawn(publish_part(client.0, part.to_vec()));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

async fn publish_part<S>(socket: S, frames: Vec<String>) -> Result<()>
where
    S: futures_util::Stream<Item = Result<Message, tokio_tungstenite::tungstenite::Error>>
        + futures_util::Sink<Message, Error = tokio_tungstenite::tungstenite::Error>
        + Send
        + 'static,
{
    let (mut sink, mut stream) = socket.split();
    let (room, count) = (Arc::new(Semaphore::new(WINDOW)), frames.len());
    let freed = Arc::clone(&room);
    let answers = tokio::spawn(async move {
        let mut accepted = 0;
        while accepted < count {
            let frame = stream
                .next()
                .await
                .context("the relay closed the connection")??;
            let Ok(text) = frame.to_text() else { continue };
            if text.starts_with("[\"OK\"") {
                ensure!(text.contains(",true,"), "an event was refused: {text}");
                accepted += 1;
                freed.add_permits(1);
            }
        }
        Ok(())
    });
    for frame in frames {
        room.acquire().await?.forget();
        sink.send(Message::text(frame)).await?;
    }
    answers.await?
}

/// Seconds of each page.
async fn ask(target: &Target, times: u32) -> Result<Vec<f64>> {
    let mut client = target.connect().await?;
    let mut spent = Vec::new();
    for n in 0..times {
        let begun = Instant::now();
        client
            .say(format!(
                "[\"REQ\",\"{n}\",{{\"kinds\":[1],\"limit\":{PAGE}}}]"
            ))
            .await?;
        let mut events = 0;
        loop {
            let frame = client.next().await?;
            let text = frame.to_text()?;
            if text.starts_with("[\"EVENT\"") {
                events += 1;
            } else if text.starts_with("[\"EOSE\"") {
                break;
            }
        }
        spent.push(begun.elapsed().as_secs_f64());
        ensure!(events == PAGE, "a page has {events} events");
        client.say(format!("[\"CLOSE\",\"{n}\"]")).await?;
    }
    Ok(spent)
}

async fn count_often(target: &Target, filter: &str, expected: u64) -> Result<Vec<f64>> {
    let mut client = target.connect().await?;
    let mut spent = Vec::new();
    for n in 0..50 {
        let begun = Instant::now();
        client.say(format!("[\"COUNT\",\"{n}\",{filter}]")).await?;
        let frame = client.until("[\"COUNT\"").await?;
        spent.push(begun.elapsed().as_secs_f64());
        let answer: serde_json::Value = serde_json::from_str(frame.to_text()?)?;
        ensure!(
            answer[2]["count"] == expected,
            "{answer} instead of {expected}"
        );
    }
    Ok(spent)
}

/// Clients that are subscribed to one author each.
async fn subscribers(target: &Target, count: u64) -> Result<Vec<crate::relay::Client>> {
    let mut clients = Vec::new();
    for n in 0..count {
        let mut client = target.connect().await?;
        let author = testing::pubkey(u8::try_from(n % u64::from(AUTHORS)).unwrap_or(0) + 1);
        client
            .say(format!(
                "[\"REQ\",\"s\",{{\"authors\":[\"{author}\"],\"limit\":0}}]"
            ))
            .await?;
        client.until("[\"EOSE\"").await?;
        clients.push(client);
    }
    Ok(clients)
}

struct Heard {
    target: Arc<Target>,
    /// Seconds from the frame's sending to its delivery.
    delays: Vec<f64>,
}

/// Publishes at a pace and takes the time of each delivery.
async fn live(target: Arc<Target>, count: u64) -> Result<Heard> {
    let clients = subscribers(&target, count).await?;
    let events = notes(LIVE);
    let listeners = |author: u64| {
        let full = count / u64::from(AUTHORS);
        full + u64::from(author < count % u64::from(AUTHORS))
    };
    let expected: u64 = (0..LIVE).map(|n| listeners(n % u64::from(AUTHORS))).sum();
    let origin = Instant::now();
    let sent: Arc<Vec<AtomicU64>> = Arc::new((0..LIVE).map(|_| AtomicU64::new(0)).collect());
    let mut tasks = JoinSet::new();
    for (at, client) in (0_u64..).zip(clients) {
        let author = at % u64::from(AUTHORS);
        let own = (0..LIVE)
            .filter(|n| n % u64::from(AUTHORS) == author)
            .count();
        tasks.spawn(listen(client, own, origin, Arc::clone(&sent)));
    }
    let mut publisher = target.connect().await?;
    let pace = Duration::from_micros(1_000_000 / LIVE_A_SECOND);
    let mut ticks = tokio::time::interval(pace);
    for (n, frame) in frames(&events).into_iter().enumerate() {
        ticks.tick().await;
        let now = u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        sent[n].store(now, Ordering::Relaxed);
        publisher.say(frame).await?;
        publisher.until("[\"OK\"").await?;
    }
    let mut delays = Vec::new();
    while let Some(heard) = tasks.join_next().await {
        delays.extend(heard??);
    }
    ensure!(
        delays.len() as u64 == expected,
        "{} of {expected} came",
        delays.len()
    );
    Ok(Heard { target, delays })
}

async fn listen(
    mut client: crate::relay::Client,
    count: usize,
    origin: Instant,
    sent: Arc<Vec<AtomicU64>>,
) -> Result<Vec<f64>> {
    let mut delays = Vec::with_capacity(count);
    while delays.len() < count {
        let frame = client.until("[\"EVENT\"").await?;
        let now = origin.elapsed().as_secs_f64();
        let event: serde_json::Value = serde_json::from_str(frame.to_text()?)?;
        let content = event[2]["content"].as_str().unwrap_or_default();
        let number = content
            .split(' ')
            .next()
            .and_then(|n| n.parse::<usize>().ok());
        let at = number
            .and_then(|n| sent.get(n))
            .context("an event that was not published")?;
        delays.push(now - at.load(Ordering::Relaxed) as f64 / 1e9);
    }
    Ok(delays)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
