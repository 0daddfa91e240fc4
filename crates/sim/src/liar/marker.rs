//! Lies in the signed marker.

use osier_core::{
    EntryHash, KeyCache, NodeId, NodeSecret, RequestId, SessionId, Signed, StateHash, TopicId,
};
use osier_proto::{HistorySyncComplete, Message, Streamed, Token};

use super::{Lie, Memory, Telling};
use crate::dice::Dice;

/// Markers in a flood, of either kind.
const FLOOD: usize = 150;

impl Telling {
    /// The marker as this liar shows it; other messages as they are.
    pub(super) fn bend_marker(
        &self,
        message: Message,
        memory: &mut Memory,
        dice: &mut Dice,
    ) -> Vec<Message> {
        let Message::Complete(marker) = message else {
            return vec![message];
        };
        let shown = match self.lie {
            Lie::Replays => memory.marker.clone().unwrap_or_else(|| marker.clone()),
            Lie::OtherSigner => {
                let other = NodeSecret::from_bytes(&dice.bytes());
                resigned(&marker, &other, |_| {})
            }
            Lie::MarkerTwice => {
                return vec![Message::Complete(marker.clone()), Message::Complete(marker)];
            }
            Lie::FloodsMarkers => return self.flood(&marker, dice),
            _ => resigned(&marker, &self.secret, |content| self.bend(content, dice)),
        };
        memory.marker = Some(marker);
        vec![Message::Complete(shown)]
    }

    /// The same marker many times, then as many that differ.
    fn flood(&self, marker: &Signed<HistorySyncComplete>, dice: &mut Dice) -> Vec<Message> {
        let mut all = vec![Message::Complete(marker.clone()); FLOOD];
        for _ in 0..FLOOD {
            let other = resigned(marker, &self.secret, |content| {
                content.resume = Token(dice.bytes::<16>().to_vec());
            });
            all.push(Message::Complete(other));
        }
        all
    }

    fn bend(&self, marker: &mut HistorySyncComplete, dice: &mut Dice) {
        match self.lie {
            Lie::CountsOneMore => recount(marker, |count| count + 1),
            Lie::CountsOneLess => recount(marker, |count| count - 1),
            Lie::WithholdsAndCounts | Lie::Truncates => {
                marker.streamed = match self.last {
                    Some(last) => Streamed::Entries {
                        count: self.sent,
                        last,
                    },
                    None => Streamed::Nothing,
                };
            }
            Lie::WrongLast => {
                if let Streamed::Entries { last, .. } = &mut marker.streamed {
                    *last = EntryHash::from_bytes(dice.bytes());
                }
            }
            Lie::WrongHeads => match marker.covers.heads.first_mut() {
                Some(head) => head.hash = EntryHash::from_bytes(dice.bytes()),
                None => marker.covers.authors += 1,
            },
            Lie::WrongState => marker.covers.state = StateHash::from_bytes(dice.bytes()),
            Lie::OtherRequest => marker.request = RequestId::from_bytes(dice.bytes()),
            Lie::OtherRequester => marker.requester = NodeId::from_bytes(dice.bytes()),
            Lie::OtherSession => marker.session = SessionId::from_bytes(dice.bytes()),
            Lie::OtherTopic => marker.topic = TopicId::from_bytes(dice.bytes()),
            _ => {}
        }
    }
}

fn recount(marker: &mut HistorySyncComplete, change: impl Fn(u64) -> u64) {
    match &mut marker.streamed {
        Streamed::Entries { count, .. } => *count = change(*count),
        // "Nothing" can only be claimed to be more.
        Streamed::Nothing => {
            marker.streamed = Streamed::Entries {
                count: 1,
                last: EntryHash::MIN,
            };
        }
    }
}

/// The marker with something changed, signed afresh.
fn resigned(
    marker: &Signed<HistorySyncComplete>,
    secret: &NodeSecret,
    change: impl FnOnce(&mut HistorySyncComplete),
) -> Signed<HistorySyncComplete> {
    let verified = marker.clone().verify(&mut KeyCache::new());
    let mut content = verified.expect("an own marker holds").into_inner();
    change(&mut content);
    Signed::sign(secret, &content)
}
