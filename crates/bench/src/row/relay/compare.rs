//! B6: NIP-77 with ten differing, five on each side, spread over history.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use osier_reconcile::{FrameLimit, Item, MemoryInitiator};
use tokio::runtime::Runtime;

use super::{Race, frames, median, publish, spent};
use crate::{
    relay::{Client, Peers, Target, notes_of},
    report::{Must, Report},
};

/// Missing on each side.
const MISSING: u64 = 5;
/// Comparisons of each filter, after a first one.
const TIMES: u32 = 10;
/// Events that are made and published at a time: at the largest size they would fill memory.
const PART: u64 = 20_000;
/// Peers are filled at a few thousand events a second: not with a million.
const PEER_SIZE_MAX: u64 = 200_000;
/// Bytes of a client's frame: those that a message of any relay holds as hex.
const FRAME_BYTES: usize = 60_000;

/// Times of one filter.
struct Compared {
    /// Seconds until the last answer, the client's own part left out.
    waited: f64,
    rounds: u64,
    bytes: u64,
}

/// B6: `{}` and a filter of kinds, each compared again and again over one connection.
pub(in crate::row) fn compare(sizes: &[u64], peers: &Peers, report: &mut Report) -> Result<()> {
    for &size in sizes {
        let mut races = [Race::default(), Race::default()];
        let mut targets = Target::all(peers)?;
        targets.retain(|target| target.is_ours() || size <= PEER_SIZE_MAX);
        for target in targets {
            let own = fill(&target, size)?;
            let filters = [("{}", "{}"), ("kinds", "{\"kinds\":[1]}")];
            for ((of, filter), race) in filters.into_iter().zip(&mut races) {
                let ms = measure(&target, (of, filter), &own, size, report)?;
                race.add(&target, ms);
            }
        }
        for (race, of) in races.iter().zip(["{}", "kinds"]) {
            race.times(report, ("B6", size), &format!("comparison of {of}"));
        }
    }
    Ok(())
}

/// What the client holds: all that the relay holds but for some, and some others.
struct Own {
    items: Vec<Item>,
    have: Vec<[u8; 32]>,
    need: Vec<[u8; 32]>,
}

fn fill(target: &Target, size: u64) -> Result<Own> {
    let runtime = Runtime::new()?;
    let step = size / MISSING;
    let mut own = Own {
        items: Vec::new(),
        have: Vec::new(),
        need: Vec::new(),
    };
    for from in (0..size).step_by(usize::try_from(PART)?) {
        let part = from..(from + PART).min(size);
        let events = notes_of(size, part.clone());
        for (event, n) in events.iter().zip(part) {
            let id = *event.id().as_bytes();
            let time = event.created_at().get();
            if n % step == step / 2 {
                own.need.push(id);
            } else {
                own.items.push(Item::new(time, id));
            }
            if n % step == step / 3 {
                // What only the client has: no event, but an id like any other.
                let other = id.map(|byte| !byte);
                own.have.push(other);
                own.items.push(Item::new(time, other));
            }
        }
        runtime.block_on(publish(target, frames(&events), 4))?;
    }
    own.have.sort_unstable();
    own.need.sort_unstable();
    Ok(own)
}

/// Compares a filter's events again and again; the median in milliseconds.
fn measure(
    target: &Target,
    (of, filter): (&str, &str),
    own: &Own,
    size: u64,
    report: &mut Report,
) -> Result<f64> {
    let runtime = Runtime::new()?;
    let mut client = runtime.block_on(target.connect())?;
    let first = runtime.block_on(run(&mut client, filter, own))?;
    let before = target.cpu();
    let mut all = Vec::new();
    for _ in 0..TIMES {
        all.push(runtime.block_on(run(&mut client, filter, own))?);
    }
    let cpu = spent(before, target.cpu(), u64::from(TIMES));
    let name = &target.name;
    let ms = median(all.iter().map(|it| it.waited * 1e3).collect());
    let must = match of {
        "{}" => target.must(Must::AtMost(4.0)),
        _ => Must::BeShown,
    };
    let mut show = |what: &str, value, unit, must| {
        let what = format!("{name}: comparison of {of}, {what}");
        report.figure("B6", size, what, (value, unit), must);
    };
    show("median", ms, "ms", must);
    show("first", first.waited * 1e3, "ms", Must::BeShown);
    if let Some(us) = cpu {
        show("CPU", us / 1e3, "ms", Must::BeShown);
    }
    show("rounds", first.rounds as f64, "", Must::BeShown);
    show(
        "bytes both ways",
        first.bytes as f64,
        "bytes",
        Must::BeShown,
    );
    Ok(ms)
}

/// One comparison; it must find exactly what differs.
async fn run(client: &mut Client, filter: &str, own: &Own) -> Result<Compared> {
    let limit = FrameLimit::new(FRAME_BYTES)?;
    let (mut initiator, frame) = MemoryInitiator::start(&own.items, limit)?;
    let (mut have, mut need) = (Vec::new(), Vec::new());
    let mut done = Compared {
        waited: 0.0,
        rounds: 0,
        bytes: 0,
    };
    let mut text = format!("[\"NEG-OPEN\",\"n\",{filter},\"{}\"]", hex(&frame));
    loop {
        let begun = Instant::now();
        done.bytes += text.len() as u64;
        client.say(text).await?;
        let answer = client.until("[\"NEG-").await?;
        done.waited += Duration::as_secs_f64(&begun.elapsed());
        let answer = answer.to_text()?;
        done.bytes += answer.len() as u64;
        done.rounds += 1;
        let answer: serde_json::Value = serde_json::from_str(answer)?;
        ensure!(answer[0] == "NEG-MSG", "the relay refuses: {answer}");
        let reply = unhex(answer[2].as_str().context("a frame")?)?;
        let progress = initiator.reconcile(&reply)?;
        have.extend(progress.have);
        need.extend(progress.need);
        let Some(next) = progress.next else { break };
        text = format!("[\"NEG-MSG\",\"n\",\"{}\"]", hex(&next));
    }
    client.say("[\"NEG-CLOSE\",\"n\"]".to_owned()).await?;
    for ids in [&mut have, &mut need] {
        ids.sort_unstable();
        ids.dedup();
    }
    let right = have == own.have && need == own.need;
    ensure!(right, "{} and {} differ", have.len(), need.len());
    Ok(done)
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    Ok(data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes())?)
}
