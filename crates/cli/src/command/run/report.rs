//! While the node runs, a line on standard error for each word on a topic's history.

use std::{collections::BTreeSet, time::Duration};

use osier::{Event, Osier, SyncEvent, Topic};
use osier_console::json;
use tokio::{task::JoinSet, time::sleep};

use crate::{output::Output, text};

/// Topics are made and joined through the API too, so they are looked for this often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Follows every topic, present and later, until dropped.
pub(super) async fn follow_all(out: Output, osier: Osier) {
    let mut followed = BTreeSet::new();
    let mut tasks = JoinSet::new();
    loop {
        for topic in osier.topics().unwrap_or_default() {
            if followed.insert(topic.id()) {
                tasks.spawn(async move {
                    let id = topic.id();
                    follow(out, topic).await;
                    id
                });
            }
        }
        tokio::select! {
            () = sleep(LOOK_EVERY) => {}
            // A topic that was left, or joined anew in another role, is followed again.
            Some(Ok(id)) = tasks.join_next() => {
                followed.remove(&id);
                sleep(LOOK_EVERY).await;
            }
        }
    }
}

async fn follow(out: Output, topic: Topic) {
    let Ok(mut watch) = topic.watch_events().await else {
        return;
    };
    while let Some(event) = watch.next().await {
        if is_told(&event) {
            let value = json::event(topic.id(), watch.position(), &event);
            out.note(&format!("{}: {}", topic.name(), text::event(out, &value)));
        }
    }
}

/// What a person who looks after the node wants to see; progress and links are in `osier watch`.
fn is_told(event: &Event) -> bool {
    let Event::Sync(event) = event else {
        return matches!(event, Event::Broken(_));
    };
    matches!(
        event,
        SyncEvent::SyncStarted { .. }
            | SyncEvent::HistorySynced(_)
            | SyncEvent::HistorySyncDegraded { .. }
            | SyncEvent::HistorySyncFailed { .. }
            | SyncEvent::HistoryTruncated { .. }
            | SyncEvent::Diverged { .. }
            | SyncEvent::AuthorForked { .. }
            | SyncEvent::Withdrawn { .. }
    )
}
