//! `EVENT` and `AUTH`: from the frame to its `OK`. Every event gets exactly one (`NOS-40`).

use super::{Connection, Frame, Now, Output, Published, Purpose, Reach, send};
use crate::{
    event::{Event, EventForged, UnverifiedEvent},
    key::EventId,
    kind::EventKind,
    limit,
    message::RelayMessage,
    nip::{nip13, nip40, nip42, nip70},
    reason::{Prefix, Reason},
};

impl Connection {
    /// An event has been read: it is checked on a worker.
    pub(super) fn verify(
        &mut self,
        purpose: Purpose,
        event: UnverifiedEvent,
        out: &mut Vec<Output>,
    ) {
        if self.unanswered >= limit::UNANSWERED_EVENTS_MAX {
            let reason = Reason::new(Prefix::RateLimited, "too many events wait for their OK");
            return ok(event.claimed_id(), Err(reason), out);
        }
        self.unanswered += 1;
        if purpose == Purpose::Authenticate {
            self.authenticating.push(event.claimed_id());
        }
        out.push(Output::Verify { purpose, event });
    }

    /// An event has been checked.
    pub(super) fn verified(
        &mut self,
        now: Now,
        purpose: Purpose,
        id: EventId,
        outcome: Result<Event, EventForged>,
        out: &mut Vec<Output>,
    ) {
        if purpose == Purpose::Authenticate {
            self.is_checked(id);
        }
        let event = match outcome {
            Ok(event) => event,
            Err(forged) => {
                let reason = Reason::new(Prefix::Invalid, &forged.to_string());
                return self.answer(id, Err(reason), out);
            }
        };
        match purpose {
            Purpose::Authenticate => {
                let outcome = self.authenticate(now, &event);
                self.unanswered = self.unanswered.saturating_sub(1);
                // It is no event that came to be stored.
                let text = ok_message(id, outcome).to_json();
                out.push(Output::Send(Frame::Text(text)));
            }
            Purpose::Publish => match self.admit(now, &event) {
                Err(reason) => self.answer(id, Err(reason), out),
                Ok(()) if event.kind().is_ephemeral() => out.push(Output::Broadcast(event)),
                Ok(()) => out.push(Output::Append(event)),
            },
        }
    }

    /// An `AUTH` need not be waited for any more.
    fn is_checked(&mut self, id: EventId) {
        let at = self.authenticating.iter().position(|own| *own == id);
        if let Some(at) = at {
            self.authenticating.swap_remove(at);
        }
    }

    /// An event has been stored or broadcast, or not. An `AUTH` comes here if it was refused
    /// unchecked.
    pub(super) fn published(&mut self, id: EventId, outcome: Published, out: &mut Vec<Output>) {
        self.is_checked(id);
        let said = match outcome {
            Published::Duplicate => {
                Ok(Reason::new(Prefix::Duplicate, "this event is here already"))
            }
            Published::Broadcast { listeners, reach } => broadcast(listeners, reach),
            Published::Stored => Ok(Reason::none()),
            Published::Refused(reason) => Err(reason),
        };
        self.answer(id, said, out);
    }

    /// The signer of a verified event may be whom this connection speaks for (`NOS-50`).
    fn authenticate(&mut self, now: Now, event: &Event) -> Result<Reason, Reason> {
        let urls = &self.settings.urls;
        let expected = nip42::Expected {
            challenge: &self.challenge,
            urls,
            now: now.wall,
        };
        nip42::check(event, &expected)?;
        let known = self.viewer.keys().contains(&event.pubkey());
        if !known && self.viewer.keys().len() >= limit::AUTH_KEYS_MAX {
            let sentence = "this connection has authenticated too many keys";
            return Err(Reason::new(Prefix::RateLimited, sentence));
        }
        self.viewer.authenticate(event.pubkey());
        Ok(Reason::none())
    }

    /// Whether a verified event may be published here and now (`NOS-33`). What others have done
    /// to it (deletion, a newer version) is seen where it is stored.
    fn admit(&self, now: Now, event: &Event) -> Result<(), Reason> {
        let settings = &self.settings;
        let invalid = |sentence: &str| Err(Reason::new(Prefix::Invalid, sentence));
        if event.kind() == EventKind::AUTH {
            return invalid("events of kind 22242 authenticate; they are not published");
        }
        if event.created_at() > now.wall.after(settings.newest_s) {
            return invalid("the event is dated too far in the future");
        }
        let oldest = settings.oldest_s.map(|oldest_s| now.wall.before(oldest_s));
        if oldest.is_some_and(|oldest| event.created_at() < oldest) {
            return invalid("the event is too old");
        }
        if nip40::is_expired(event, now.wall) {
            return invalid("the event has expired");
        }
        let most = settings.content_chars_max;
        if event.content().len() > most && event.content().chars().count() > most {
            return invalid("the content is too long");
        }
        nip13::check(event, settings.min_pow)?;
        nip70::check(event, self.viewer.keys())
    }

    fn answer(&mut self, id: EventId, said: Result<Reason, Reason>, out: &mut Vec<Output>) {
        self.unanswered = self.unanswered.saturating_sub(1);
        ok(id, said, out);
    }
}

/// What is said of an ephemeral event: who got it, as far as this node can know (`NOS-34`).
fn broadcast(listeners: usize, reach: Reach) -> Result<Reason, Reason> {
    let cut = match reach {
        Reach::Topic => return Ok(Reason::none()),
        Reach::Alone if listeners > 0 => return Ok(Reason::none()),
        Reach::Alone => return Err(Reason::new(Prefix::Mute, NOBODY)),
        Reach::TooLarge => "it is too large to be passed on to other nodes",
        Reach::TooMany => "too many are passed on to other nodes at once",
    };
    if listeners > 0 {
        let sentence = format!("only clients of this node got it: {cut}");
        return Ok(Reason::remark(&sentence));
    }
    Err(Reason::new(Prefix::Mute, &format!("{NOBODY}; {cut}")))
}

const NOBODY: &str = "nobody listens to this ephemeral event here";

fn ok(id: EventId, said: Result<Reason, Reason>, out: &mut Vec<Output>) {
    send(&ok_message(id, said), out);
}

fn ok_message(id: EventId, said: Result<Reason, Reason>) -> RelayMessage {
    let accepted = said.is_ok();
    let (Ok(reason) | Err(reason)) = said;
    RelayMessage::Ok {
        id,
        accepted,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-34.
    #[test]
    fn the_publisher_is_told_how_far_an_ephemeral_event_went() {
        assert_eq!(broadcast(0, Reach::Topic), Ok(Reason::none()));
        assert_eq!(broadcast(3, Reach::Alone), Ok(Reason::none()));
        for reach in [Reach::Alone, Reach::TooLarge, Reach::TooMany] {
            let refused = broadcast(0, reach).unwrap_err();
            assert_eq!(refused.prefix(), Some(Prefix::Mute), "{refused:?}");
        }
        for reach in [Reach::TooLarge, Reach::TooMany] {
            let remark = broadcast(1, reach).unwrap();
            assert!(remark.text().starts_with("only clients"), "{remark:?}");
        }
    }
}
