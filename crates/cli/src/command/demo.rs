//! `osier demo`: the promise on one screen.
//!
//! An archive writes history, a replay node keeps the newest part of it, the archive goes away. A
//! joiner that finds only the replay node must be told where its history begins, and not that it is
//! complete. The archive comes back, and now it is.

mod cast;

use std::time::{Duration, Instant};

use osier::{Coverage, Event, Osier, Rank, Role, SyncEvent, Synced, Topic, Watch};
use osier_console::json;
use serde_json::json;
use tokio::{runtime::Runtime, time::timeout};

use self::cast::Cast;
use super::Context;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    output::Tone,
    progress, store_failure, text,
};

/// Entries that the archive writes.
const ENTRIES: usize = 3000;

/// Entries that the replay node keeps.
const RING: u64 = 500;

/// Entries written at once, so that the bar moves.
const WRITE_AT_ONCE: usize = 250;

/// Longest wait for a word on history: far beyond what loopback needs, so a fault is told.
const PATIENCE: Duration = Duration::from_secs(15);

/// Time for the nodes to say goodbye to each other at the end.
const GOODBYE_WITHIN: Duration = Duration::from_millis(200);

pub(crate) fn run(context: &Context) -> Outcome {
    let runtime = Runtime::new()
        .map_err(|error| Failure::other("cannot start worker threads").because(error))?;
    let played = runtime.block_on(play(context));
    // The process ends now, and with it what is left of the nodes' goodbyes.
    std::mem::forget(runtime);
    played
}

async fn play(context: &Context) -> Outcome {
    let began = Instant::now();
    let cast = Cast::new()?;
    say(
        context,
        "one topic, three nodes in this process, on this machine only",
    )?;

    let archive = cast.open("archive", |it| it).await?;
    let topic = ok(archive.create_topic("demo").await)?;
    write(context, &topic, &archive).await?;

    let replay = cast.open("replay", |it| it.replay_entries(RING)).await?;
    keep_a_ring(context, &archive, &topic, &replay).await?;

    say(context, "the archive goes away")?;
    let address = archive.addresses().iter().find_map(|at| at.parse().ok());
    archive.shutdown().await;
    drop((archive, topic));

    let joiner = cast.open("joiner", |it| it).await?;
    let mut joined = join_by_replay(context, &replay, &joiner).await?;

    say(context, "the archive comes back")?;
    let archive = cast
        .open("archive", |it| {
            address.map_or(it.clone(), |at| it.listen(at))
        })
        .await?;
    complete(context, &mut joined).await?;

    let took = began.elapsed().as_secs_f32();
    say(
        context,
        &format!("done in {took:.1} s; `osier run` starts a node of your own"),
    )?;
    let goodbyes = async { tokio::join!(archive.shutdown(), replay.shutdown(), joiner.shutdown()) };
    // Nothing is kept, so nobody waits for long goodbyes.
    drop(timeout(GOODBYE_WITHIN, goodbyes).await);
    Ok(())
}

/// The archive writes history.
async fn write(context: &Context, topic: &Topic, archive: &Osier) -> Outcome {
    let who = archive.id().short();
    say(
        context,
        &format!("archive {who} writes {ENTRIES} entries and keeps them all"),
    )?;
    let bar = progress::count(context.out, "write", ENTRIES as u64);
    for from in (0..ENTRIES).step_by(WRITE_AT_ONCE) {
        let entries = (from..from + WRITE_AT_ONCE).map(|n| format!("entry {}", n + 1).into());
        ok(topic.publish_many(entries.collect()).await)?;
        bar.inc(WRITE_AT_ONCE as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The replay node syncs, and drops all but the newest.
async fn keep_a_ring(context: &Context, archive: &Osier, topic: &Topic, replay: &Osier) -> Outcome {
    let (who, from) = (replay.id().short(), archive.id().short());
    say(
        context,
        &format!("replay {who} syncs from {from} and keeps about the newest {RING}"),
    )?;
    let ring = ok(replay.join_as(&ok(topic.ticket())?, Role::Replay).await)?;
    let mut watch = ok(ring.watch(osier::Position::START).await)?;
    follow(context, "replay", &ring, &mut watch, |_| true).await?;
    drop(watch);
    let held = ok(ring.info().await)?;
    let from = text::coverage(&json!(held.coverage));
    say(
        context,
        &format!("replay {who} now holds {} entries, {from}", held.entries),
    )
}

/// A node that finds only the replay node must not be told that history is complete.
async fn join_by_replay(
    context: &Context,
    replay: &Osier,
    joiner: &Osier,
) -> Outcome<(Topic, Watch)> {
    let (who, by) = (joiner.id().short(), replay.id().short());
    say(
        context,
        &format!("joiner {who} joins; the replay node {by} is all that it finds"),
    )?;
    let ring = ok(replay.topics())?.into_iter().next();
    let ring = ring.ok_or_else(|| Failure::other("the replay node has lost its topic"))?;
    let topic = ok(joiner.join(&ok(ring.ticket())?).await)?;
    ok(topic.trust(replay.id(), Rank::DEFAULT, Role::Replay).await)?;
    let mut watch = ok(topic.watch(osier::Position::START).await)?;
    let synced = follow(context, "joiner", &topic, &mut watch, |_| true).await?;
    if synced.coverage.is_complete() {
        let what = "a replay node's history was called complete: the promise is broken";
        return Err(Failure::new(Exit::Failure, what));
    }
    let word = context.out.paint(Tone::Warn, "not complete");
    say(
        context,
        &format!("{word}: a ring can vouch for its history only down to its floor"),
    )?;
    Ok((topic, watch))
}

/// With the archive back, history becomes complete.
async fn complete(context: &Context, (topic, watch): &mut (Topic, Watch)) -> Outcome {
    let whole = |synced: &Synced| synced.coverage.is_complete();
    let synced = follow(context, "joiner", topic, watch, whole).await?;
    assert_eq!(synced.coverage, Coverage::Complete, "that was waited for");
    let held = ok(topic.info().await)?.entries;
    let word = context.out.paint(Tone::Good, "complete");
    say(
        context,
        &format!("{word}: {held} of {ENTRIES} entries are here, and proven linked"),
    )
}

/// Shows what a node's watcher is told, until history is synced as wanted.
async fn follow(
    context: &Context,
    who: &str,
    topic: &Topic,
    watch: &mut Watch,
    wanted: impl Fn(&Synced) -> bool,
) -> Outcome<Synced> {
    let bar = progress::count(context.out, who, 0);
    loop {
        let event = match timeout(PATIENCE, watch.next()).await {
            Ok(Some(event)) => event,
            Ok(None) => return Err(Failure::other("the stream ended")),
            Err(_) => return Err(Failure::other("no word on history came in time")),
        };
        match &event {
            Event::Entry { .. } => {
                bar.inc_length(1);
                bar.inc(1);
                continue;
            }
            Event::Sync(SyncEvent::ProviderUp { .. } | SyncEvent::ProviderDown { .. }) => continue,
            Event::Sync(SyncEvent::Progress {
                expected: Some(expected),
                ..
            }) => bar.set_length(*expected),
            _ => {}
        }
        bar.suspend(|| show(context, who, topic, watch, &event))?;
        if let Event::Sync(SyncEvent::HistorySynced(synced)) = event
            && wanted(&synced)
        {
            bar.finish_and_clear();
            return Ok(synced);
        }
    }
}

fn show(context: &Context, who: &str, topic: &Topic, watch: &Watch, event: &Event) -> Outcome {
    let mut value = json::event(topic.id(), watch.position(), event);
    if context.out.json {
        value["node"] = json!(who);
        return context.out.value(&value);
    }
    context
        .out
        .line(&format!("  {who}: {}", text::event(context.out, &value)))
}

fn say(context: &Context, text: &str) -> Outcome {
    context
        .out
        .either(&json!({ "type": "demo", "text": text }), text)
}

fn ok<T>(result: osier::Result<T>) -> Outcome<T> {
    result.map_err(|error| store_failure::from(&error))
}
