//! Taking expired events out of the index. They are hidden from their second on (`NOS-24`); this
//! frees their rows, which counts and comparisons pay for until then.

use osier_eventdb::EventIndex;
use tokio::time::{MissedTickBehavior, interval};

use crate::{clock::Clock, limit};

/// Looks for expired events now and then, until it is dropped.
pub(crate) async fn run(index: EventIndex, clock: Clock) {
    let mut ticks = interval(limit::PURGE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (index, now) = (index.clone(), clock.now().wall);
        match tokio::task::spawn_blocking(move || index.purge(now)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::error!(%error, "expired events cannot be removed"),
            Err(_) => return,
        }
    }
}
