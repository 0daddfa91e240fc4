//! B1 to B7: what a Nostr relay does, over real sockets, on ours and on every peer that is named.
//! CPU time of the relay's process stands beside every rate: wall clock moves with the machine.

mod compare;
mod live;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use osier_nostr::{Event, testing};
use tokio::{runtime::Runtime, sync::Semaphore, task::JoinSet};
use tokio_tungstenite::tungstenite::Message;

pub(super) use self::{
    compare::compare,
    live::{churn, fan_out, idle},
};
use crate::{
    relay::{AUTHORS, Peers, Target, notes},
    report::{Must, Report},
};

/// Unanswered events of one connection.
const WINDOW: usize = 500;
/// Events of a page.
const PAGE: u64 = 500;

/// One figure of each relay, ours first.
#[derive(Debug, Default)]
struct Race(Vec<(String, f64)>);

impl Race {
    fn add(&mut self, target: &Target, value: f64) {
        self.0.push((target.name.clone(), value));
    }

    /// Ours over each peer's: how many times as much. Greater is better.
    fn rates(&self, report: &mut Report, (row, size): (&'static str, u64), what: &str) {
        self.ratios(report, (row, size), what, |own, peer| own / peer);
    }

    /// Each peer's over ours: how many times as long. Greater is better.
    fn times(&self, report: &mut Report, (row, size): (&'static str, u64), what: &str) {
        self.ratios(report, (row, size), what, |own, peer| peer / own);
    }

    fn ratios(
        &self,
        report: &mut Report,
        (row, size): (&'static str, u64),
        what: &str,
        ratio: impl Fn(f64, f64) -> f64,
    ) {
        let Some(((_, own), peers)) = self.0.split_first() else {
            return;
        };
        for (name, peer) in peers.iter().filter(|(_, peer)| *peer > 0.0 && *own > 0.0) {
            let what = format!("osier beside {name}: {what}");
            report.figure(row, size, what, (ratio(*own, *peer), "x"), Must::BeShown);
        }
    }
}

/// B1: events are published, each acknowledged when it is durable.
pub(super) fn ingest(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        for connections in [1, 10] {
            let mut race = Race::default();
            for target in Target::all(peers)? {
                let frames = frames(&notes(size));
                let before = target.cpu();
                let begun = Instant::now();
                Runtime::new()?.block_on(publish(&target, frames, connections))?;
                let rate = size as f64 / begun.elapsed().as_secs_f64();
                let name = &target.name;
                let what = format!("{name}: events taken, {connections} connections");
                report.figure("B1", size, what, (rate, "events/s"), Must::BeShown);
                race.add(&target, rate);
                if let Some(us) = spent(before, target.cpu(), size) {
                    let what = format!("{name}: CPU an event, {connections} connections");
                    let must = target.must(Must::AtMost(50.0));
                    report.figure("B1", size, what, (us, "us"), must);
                }
            }
            let what = format!("events taken, {connections} connections");
            race.rates(report, ("B1", size), &what);
        }
    }
    Ok(())
}

/// B2: the newest 500 of a kind, again and again over one connection.
pub(super) fn request(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        let mut race = Race::default();
        for target in filled(size, peers)? {
            let before = target.cpu();
            let times = Runtime::new()?.block_on(ask(&target, 200))?;
            let name = &target.name;
            let total: f64 = times.iter().sum();
            let rate = 200.0 * PAGE as f64 / total;
            race.add(&target, rate);
            let what = format!("{name}: events of pages of 500, one connection");
            report.figure("B2", size, what, (rate, "events/s"), Must::BeShown);
            let what = format!("{name}: a page of 500, median");
            let must = target.must(Must::AtMost(1.0));
            report.figure("B2", size, what, (median(times) * 1e3, "ms"), must);
            if let Some(us) = spent(before, target.cpu(), 200 * PAGE) {
                let what = format!("{name}: CPU an event of a page");
                let must = target.must(Must::AtMost(1.5));
                report.figure("B2", size, what, (us, "us"), must);
            }
        }
        race.rates(report, ("B2", size), "events of pages of 500");
    }
    Ok(())
}

/// B5: how many of a kind, and of one author.
pub(super) fn count(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        let targets = filled(size, peers)?;
        let author = testing::pubkey(1);
        let of_author = format!("{{\"authors\":[\"{author}\"]}}");
        let share = size.div_ceil(u64::from(AUTHORS));
        for (of, filter, expected) in [
            ("a kind", "{\"kinds\":[1]}".to_owned(), size),
            ("an author", of_author, share),
        ] {
            let mut race = Race::default();
            for target in &targets {
                let times = Runtime::new()?.block_on(count_often(target, &filter, expected))?;
                let ms = median(times) * 1e3;
                race.add(target, ms);
                let what = format!("{}: count of {of}, median", target.name);
                report.figure("B5", size, what, (ms, "ms"), Must::BeShown);
            }
            race.times(report, ("B5", size), &format!("count of {of}"));
        }
    }
    Ok(())
}

fn frames(events: &[Event]) -> Vec<String> {
    let frame = |event: &Event| format!("[\"EVENT\",{}]", event.json());
    events.iter().map(frame).collect()
}

/// Targets that hold so many notes.
fn filled(size: u64, peers: &Peers) -> Result<Vec<Target>> {
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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
