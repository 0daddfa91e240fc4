//! Taking expired events out of the index, and what is hidden for good out of the log. Both are
//! hidden before; this frees their room.

use osier_eventdb::EventIndex;
use tokio::time::{MissedTickBehavior, interval};

use crate::{clock::Clock, limit};

/// Looks for expired events now and then, until it is dropped. Texts stay in the log if `drops` is
/// not set.
pub(crate) async fn run(index: EventIndex, clock: Clock, drops: bool) {
    let mut ticks = interval(limit::PURGE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (index, now) = (index.clone(), clock.now().wall);
        let work = move || {
            let purged = index.purge(now)?;
            let dropped = if drops { index.drop_hidden()? } else { 0 };
            Ok::<_, osier_eventdb::EventDbError>((purged, dropped))
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok((0, 0))) => {}
            Ok(Ok((purged, dropped))) => tracing::debug!(purged, dropped, "events have gone"),
            Ok(Err(error)) => tracing::error!(%error, "hidden events cannot be removed"),
            Err(_) => return,
        }
    }
}
