//! The ends of sessions, judged a second time: by what the world itself saw on the wire, and by
//! who is known to be honest.

use osier_core::{NodeId, OrderKey};
use osier_proto::{ClientEnd, CutReason, ProviderEnd, Streamed, Vouched};

use super::Checks;
use crate::{clock::Time, event::NodeIndex, node::Live};

/// Who took part in a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parties {
    /// The node whose session ends.
    pub(crate) node: NodeIndex,
    /// Its id.
    pub(crate) id: NodeId,
    /// The other node's id.
    pub(crate) peer: NodeId,
}

impl Checks {
    /// A client session has its end.
    pub(crate) fn client_ended(
        &mut self,
        now: Time,
        parties: Parties,
        live: &Live,
        end: &ClientEnd,
    ) {
        let honest = !self.is_liar(live.peer);
        let (node, peer) = (parties.node, live.peer);
        match end {
            ClientEnd::Drained(_) => {
                self.drained += 1;
                if let Some(what) = self.drained_wrongly(parties, live) {
                    let lie = self.lies[peer];
                    self.fail(
                        now,
                        format!("n{node} drained n{peer} ({lie:?}), and {what}"),
                    );
                }
                return;
            }
            ClientEnd::Fault(fault) if honest && fault.blames_peer() => {
                self.fail(now, format!("n{node} blames honest n{peer}: {fault}"));
            }
            ClientEnd::Cut { reason } if honest && !self.may_be_cut(*reason) => {
                self.fail(
                    now,
                    format!("n{node} takes honest n{peer} for a liar: {reason:?}"),
                );
            }
            _ => {}
        }
        self.undrained += 1;
    }

    /// A hostile author can make more wait for proof than fits.
    fn may_be_cut(&self, reason: CutReason) -> bool {
        match reason {
            CutReason::Unauthentic => self.has_bad_signers,
            // One side does not know all of the owner's words yet.
            CutReason::Withheld | CutReason::Head => !self.owners.is_empty(),
            _ => false,
        }
    }

    /// A provider session has its end.
    pub(crate) fn provider_ended(
        &mut self,
        now: Time,
        parties: Parties,
        live: &Live,
        end: &ProviderEnd,
    ) {
        if let ProviderEnd::Fault(fault) = end
            && fault.blames_peer()
            && !self.is_liar(parties.node)
        {
            let (node, peer) = (parties.node, live.peer);
            self.fail(
                now,
                format!("provider n{node} blames honest n{peer}: {fault}"),
            );
        }
    }

    /// Why a session must not have drained: the marker's bindings, its count, and the store.
    fn drained_wrongly(&self, parties: Parties, live: &Live) -> Option<String> {
        let heard = &live.heard;
        let Some(ack) = &heard.ack else {
            return Some("it was never granted".to_owned());
        };
        let Some((signer, marker)) = heard.markers.first() else {
            return Some("no marker came".to_owned());
        };
        let bindings = [
            (*signer == parties.peer, "its signer is not the provider"),
            (marker.topic == live.topic, "it is for another topic"),
            (marker.session == ack.session, "it is of another session"),
            (
                marker.requester == parties.id,
                "it is for another requester",
            ),
            (
                Some(marker.request) == heard.request,
                "it is for another request",
            ),
            (
                same_snapshot(&marker.covers, ack),
                "it speaks for another snapshot",
            ),
            (
                heard.repaired || counts(heard, marker.streamed),
                "its count or last is wrong",
            ),
        ];
        if let Some((_, what)) = bindings.iter().find(|(holds, _)| !holds) {
            return Some((*what).to_owned());
        }
        let window = marker.covers.window.map(|window| window.floor);
        let floor = match marker.covers.coverage {
            osier_core::Coverage::Complete => OrderKey::MIN,
            osier_core::Coverage::From { floor } => floor,
        };
        let floor = window.unwrap_or(OrderKey::MIN).max(floor);
        self.lacks(parties.node, live.topic, ack.session, floor, None)
    }
}

fn same_snapshot(covers: &Vouched, ack: &osier_proto::HelloAck) -> bool {
    covers.set == ack.summary.set && covers.state == ack.summary.state
}

fn counts(heard: &crate::node::Heard, streamed: Streamed) -> bool {
    match streamed {
        Streamed::Nothing => heard.count == 0,
        Streamed::Entries { count, last } => count == heard.count && Some(last) == heard.last,
    }
}
