//! A chat in a terminal: `cargo run -p osier --example chat -- DIR [TICKET]`.
//!
//! Without a ticket it makes a topic and prints the ticket. What is typed is sent. Messages are
//! shown as they come; lines that begin with `--` say how complete the history above them is, and
//! never more than the node says.

use std::io::{BufRead, stdin};

use osier::{
    Coverage, Entry, Event, NodeId, Osier, Position, SyncEvent, Synced, Ticket, Topic, TopicPhase,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("usage: chat DIR [TICKET]")?;
    let node = Osier::builder().data_dir(dir).open().await?;
    let topic = match args.next() {
        Some(ticket) => node.join(&ticket.parse::<Ticket>()?).await?,
        None => node.create_topic("chat").await?,
    };
    show(&format!("-- ticket: {}", topic.ticket()?));
    let chatting = topic.watch(Position::START).await?;
    let sending = tokio::task::spawn_blocking(move || send_what_is_typed(&topic));
    let showing = tokio::spawn(show_all(chatting));
    let sent = sending.await?;
    showing.abort();
    node.shutdown().await;
    Ok(sent?)
}

/// Sends each line, until the input ends.
fn send_what_is_typed(topic: &Topic) -> osier::Result<()> {
    let runtime = tokio::runtime::Handle::current();
    for line in stdin().lock().lines().map_while(Result::ok) {
        if !line.is_empty() {
            runtime.block_on(topic.publish(line))?;
        }
    }
    Ok(())
}

async fn show_all(mut watch: osier::Watch) {
    while let Some(event) = watch.next().await {
        match event {
            Event::Entry { entry, .. } => show(&message(&entry)),
            Event::Sync(event) => {
                if let Some(line) = in_words(&event) {
                    show(&format!("-- {line}"));
                }
            }
            Event::Broken(error) => show(&format!("-- the history cannot be read: {error}")),
        }
    }
}

fn message(entry: &Entry) -> String {
    let texts = entry.items().iter().map(|item| match item.bytes() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "(removed)".to_owned(),
    });
    let text: Vec<String> = texts.collect();
    format!("{}: {}", name(entry.header().author()), text.join(" "))
}

/// What an app shows of an event; nothing for what only helps to find out why.
fn in_words(event: &SyncEvent) -> Option<String> {
    match event {
        SyncEvent::State(state) => Some(match (&state.synced, state.phase) {
            (Some(synced), _) => complete(synced),
            (None, TopicPhase::Syncing) => "looking for what is missing".to_owned(),
            (None, phase) => format!("not known to be complete: {phase:?}"),
        }),
        SyncEvent::Progress {
            received,
            expected: Some(expected),
            ..
        } => Some(format!("{received} of {expected} have come")),
        SyncEvent::HistorySynced(synced) => Some(complete(synced)),
        SyncEvent::HistorySyncDegraded { provider, .. } => {
            Some(format!("{} does not answer as it should", name(*provider)))
        }
        SyncEvent::HistorySyncFailed { .. } => {
            Some("nobody who is trusted can complete this history now".to_owned())
        }
        SyncEvent::Diverged { .. } => Some("trusted nodes hold different histories".to_owned()),
        SyncEvent::Behind { .. } => Some("there is more than what is shown".to_owned()),
        SyncEvent::CaughtUp { .. } => Some("caught up".to_owned()),
        _ => None,
    }
}

fn complete(synced: &Synced) -> String {
    match synced.coverage {
        Coverage::Complete => format!("all {} messages are here", synced.entries),
        Coverage::From { .. } => "older messages are not here; ask someone deeper".to_owned(),
    }
}

/// A node as people read it.
fn name(node: NodeId) -> String {
    node.to_string().chars().take(8).collect()
}

#[expect(clippy::print_stdout, reason = "a program for a terminal")]
fn show(line: &str) {
    println!("{line}");
}
