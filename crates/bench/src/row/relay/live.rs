//! B3, B4 and B7: many who listen, quietly or beside others who come and go.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use osier_nostr::testing;
use tokio::{
    runtime::Runtime,
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use super::{Race, frames, spent};
use crate::{
    relay::{AUTHORS, Client, Peers, Target, notes},
    report::{Must, Report},
};

/// Live events, and how many in a second.
const LIVE: u64 = 600;
const LIVE_A_SECOND: u64 = 200;
/// Connections that subscribe again, and how often each does.
const CHURNERS: u64 = 10;
const CHURN_A_SECOND: u64 = 1_000;
/// How often a churning connection sends what has become due.
const CHURN_TICK: Duration = Duration::from_millis(5);

/// B3: so many subscribers of one author each; paced events, none may be missing.
pub(in crate::row) fn fan_out(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        let mut races = [Race::default(), Race::default()];
        for target in Target::all(peers)? {
            let before = target.cpu();
            let heard = Runtime::new()?.block_on(live(&target, size))?;
            for ((what, percent, must), race) in [
                ("median", 50, target.must(Must::AtMost(1.0))),
                ("p99", 99, Must::BeShown),
            ]
            .into_iter()
            .zip(&mut races)
            {
                let ms = percentile(&heard, percent);
                race.add(&target, ms);
                let what = format!("{}: live, {what}", target.name);
                report.figure("B3", size, what, (ms, "ms"), must);
            }
            if let Some(us) = spent(before, target.cpu(), LIVE) {
                let what = format!("{}: CPU an event, subscribing included", target.name);
                report.figure("B3", size, what, (us, "us"), Must::BeShown);
            }
        }
        for (race, what) in races.iter().zip(["live, median", "live, p99"]) {
            race.times(report, ("B3", size), what);
        }
    }
    Ok(())
}

/// B4: connections with one subscription each that are quiet.
pub(in crate::row) fn idle(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        let mut race = Race::default();
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
                race.add(&target, each);
                let what = format!("{}: memory a quiet connection", target.name);
                let must = target.must(Must::AtMost(8.0));
                report.figure("B4", size, what, (each, "KiB"), must);
            }
            drop(held);
        }
        race.times(report, ("B4", size), "memory a quiet connection");
    }
    Ok(())
}

/// B7: the same as B3, alone and then beside connections that subscribe again 10,000 times a
/// second, each time under the same name. Every request gets its `EOSE`.
pub(in crate::row) fn churn(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        for target in Target::all(peers)? {
            let runtime = Runtime::new()?;
            let name = target.name.clone();
            let alone = runtime.block_on(live(&target, size))?;
            let before = target.cpu();
            let (beside, churned) = runtime.block_on(live_beside_churn(&target, size))?;
            let [quiet, busy] = [&alone, &beside].map(|heard| percentile(heard, 99));
            for (what, ms) in [("alone", quiet), ("beside re-subscriptions", busy)] {
                let what = format!("{name}: live, p99, {what}");
                report.figure("B7", size, what, (ms, "ms"), Must::BeShown);
            }
            let what = format!("{name}: p99 beside re-subscriptions, of that alone");
            let must = target.must(Must::AtMost(1.3));
            report.figure("B7", size, what, (busy / quiet, "x"), must);
            let what = format!("{name}: re-subscriptions answered");
            let must = target.must(Must::AtLeast(9_000.0));
            report.figure("B7", size, what, (churned.a_second, "1/s"), must);
            if let Some(us) = spent(before, target.cpu(), churned.count) {
                let what = format!("{name}: CPU a re-subscription, live events included");
                report.figure("B7", size, what, (us, "us"), Must::BeShown);
            }
        }
    }
    Ok(())
}

/// What came of subscribing again and again.
struct Churned {
    count: u64,
    a_second: f64,
}

async fn live_beside_churn(target: &Target, size: u64) -> Result<(Vec<f64>, Churned)> {
    let over = Arc::new(AtomicBool::new(false));
    let mut churners = JoinSet::new();
    for _ in 0..CHURNERS {
        let client = target.connect().await?;
        churners.spawn(subscribe_again(client, Arc::clone(&over)));
    }
    let begun = Instant::now();
    let heard = live(target, size).await;
    over.store(true, Ordering::Relaxed);
    let mut count = 0;
    while let Some(done) = churners.join_next().await {
        count += done??;
    }
    let a_second = count as f64 / begun.elapsed().as_secs_f64();
    Ok((heard?, Churned { count, a_second }))
}

/// Replaces one subscription at a pace until told to stop; how often. What is due and has not been
/// sent, because answers are awaited, is not sent later: the rate that is shown was reached.
async fn subscribe_again(mut client: Client, over: Arc<AtomicBool>) -> Result<u64> {
    let mut ticks = interval(CHURN_TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let each_tick = CHURN_A_SECOND * u64::try_from(CHURN_TICK.as_millis())? / 1_000;
    let mut count = 0;
    while !over.load(Ordering::Relaxed) {
        ticks.tick().await;
        for n in count..count + each_tick {
            let author = testing::pubkey(u8::try_from(n % u64::from(AUTHORS))? + 1);
            let filter = format!("{{\"authors\":[\"{author}\"],\"kinds\":[7],\"limit\":0}}");
            client.say(format!("[\"REQ\",\"again\",{filter}]")).await?;
        }
        for _ in 0..each_tick {
            client.until("[\"EOSE\"").await?;
        }
        count += each_tick;
    }
    Ok(count)
}

/// Clients that are subscribed to one author each.
async fn subscribers(target: &Target, count: u64) -> Result<Vec<Client>> {
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

/// Publishes at a pace and takes the time of each delivery: seconds from the frame's sending, in
/// order.
async fn live(target: &Target, count: u64) -> Result<Vec<f64>> {
    let clients = subscribers(target, count).await?;
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
    let mut ticks = interval(pace);
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
    delays.sort_by(f64::total_cmp);
    Ok(delays)
}

async fn listen(
    mut client: Client,
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

/// Milliseconds under which so many of a hundred sorted delays lie.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100] * 1e3
}
