//! Finding the difference by negentropy (NIP-77).

use osier_nostr::{
    Asking, ClientMessage, Ending, EventId, Filter, Step,
    nip::{nip17::Viewer, nip77::NegAsking},
};

use super::{Link, Mirror, MirrorError, words};

const DOING: &str = "to compare";

/// What each end has and the other lacks.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) have: Vec<EventId>,
    pub(super) need: Vec<EventId>,
}

impl Mirror {
    /// Compares what matches here and there, or says why it cannot be: then there are pages.
    pub(super) async fn compare(
        &self,
        link: &mut Link,
        filter: &Filter,
        viewer: &Viewer,
    ) -> Result<Result<Difference, String>, MirrorError> {
        let now = self.clock.now().wall;
        let view = self.index.view()?;
        let records = match view.records(filter, viewer, now, u64::MAX) {
            Ok(records) => records,
            Err(error) if error.is_too_much() => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let (mut own, frame) = match NegAsking::open(&records) {
            Ok(opened) => opened,
            Err(why) => return Ok(Err(why)),
        };
        let id = link.next_id();
        let now = self.clock.now().instant;
        let (mut asking, open) =
            Asking::compare(id.clone(), filter.clone(), frame, link.for_asking(), now);
        if let Some(challenge) = link.challenge() {
            asking.challenged(challenge);
        }
        link.send(DOING, &open).await?;
        let mut difference = Difference::default();
        loop {
            match link.step(DOING, &mut asking).await? {
                Step::None | Step::Event(_) => {}
                Step::Authenticate(challenge) => {
                    if !link.authenticate(DOING, &challenge).await? {
                        let why = "it wants to know who asks; set OSIER_NOSTR_KEY";
                        return Err(link.refused(DOING, why));
                    }
                    link.send(DOING, &open).await?;
                }
                Step::Ended(Ending::Refused(reason)) => return Ok(Err(words(&reason))),
                Step::Ended(_) => {
                    let why = "it does not answer NEG-OPEN; it may not know NIP-77";
                    return Ok(Err(why.to_owned()));
                }
                Step::Frame(frame) => {
                    let found = match own.reply(&records, &frame) {
                        Ok(found) => found,
                        Err(why) => return Ok(Err(why)),
                    };
                    difference.have.extend(found.have);
                    difference.need.extend(found.need);
                    let id = id.clone();
                    let Some(frame) = found.next else {
                        link.send(DOING, &ClientMessage::NegClose { id }).await?;
                        return Ok(Ok(difference));
                    };
                    link.send(DOING, &ClientMessage::NegMsg { id, frame })
                        .await?;
                }
            }
        }
    }
}
