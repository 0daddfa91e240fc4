//! Asking several relays for a number, and adding the answers up (NIP-45).

use osier_nostr::{
    ClientMessage, CountAnswer, Filter, RelayMessage,
    nip::nip45::{self, RelayCount, Total},
};
use tokio::task::JoinSet;

use super::{Link, MirrorError, words};
use crate::{clock::Clock, limit};

const DOING: &str = "to count";

/// What one relay said.
#[derive(Debug)]
pub struct Answer {
    /// Which relay.
    pub url: String,
    /// The number, or why there is none.
    pub outcome: Result<CountAnswer, MirrorError>,
}

/// What all of them said.
#[derive(Debug)]
pub struct Counted {
    /// One by one, in the order in which they were asked.
    pub answers: Vec<Answer>,
    /// Together; none if no relay answered.
    pub total: Option<Total>,
}

/// Asks relays, all at once, how many events match.
pub async fn count(urls: &[String], filter: &Filter) -> Counted {
    let clock = Clock::start();
    let mut asked = JoinSet::new();
    for (at, url) in urls.iter().cloned().enumerate() {
        let filter = filter.clone();
        asked.spawn(async move {
            let outcome = ask(&url, filter, clock).await;
            (at, Answer { url, outcome })
        });
    }
    let mut answers = asked.join_all().await;
    answers.sort_unstable_by_key(|(at, _)| *at);
    let answers: Vec<Answer> = answers.into_iter().map(|(_, answer)| answer).collect();
    let counts = answers.iter().map(|answer| match &answer.outcome {
        Ok(answer) => RelayCount::Answered(answer.clone()),
        Err(_) => RelayCount::Missing,
    });
    let total = nip45::total(&counts.collect::<Vec<_>>());
    Counted { answers, total }
}

async fn ask(url: &str, filter: Filter, clock: Clock) -> Result<CountAnswer, MirrorError> {
    let mut link = Link::open(url, None, limit::MIRROR_PATIENCE, clock).await?;
    let own = link.next_id();
    let filters = vec![filter];
    let id = own.clone();
    link.send(DOING, &ClientMessage::Count { id, filters })
        .await?;
    let mut notice = String::new();
    loop {
        match link.next(DOING, limit::MIRROR_PATIENCE).await? {
            None => return Err(link.silent(DOING, &notice)),
            Some(RelayMessage::Count { id, answer }) if id == own => {
                link.close().await;
                return Ok(answer);
            }
            Some(RelayMessage::Closed { id, reason }) if id == own => {
                return Err(link.refused(DOING, &words(&reason)));
            }
            Some(RelayMessage::Notice(reason)) => notice = words(&reason),
            Some(_) => {}
        }
    }
}
