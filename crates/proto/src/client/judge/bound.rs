//! Whether a marker binds to this session (`CMP-6`) and agrees with what was said (`CMP-7`).

use osier_core::{EntryHash, NodeId, RequestId, SessionId, Signed, TopicId};

use super::super::{ClientSession, State};
use crate::{
    fault::{Fault, Rule},
    heads,
    limit::{HOLES_MAX, MARKER_HEADS_MAX, TOKEN_BYTES_MAX},
    marker::{FailureReason, HistorySyncComplete, HistorySyncFailed, Vouched, holes_digest},
};

impl ClientSession {
    /// Checks that a marker binds to this session and to no other (`CMP-6`), and that it does not
    /// contradict itself or what was said before (`CMP-7`).
    pub(in crate::client) fn bound(
        &mut self,
        signed: &Signed<HistorySyncComplete>,
    ) -> Result<HistorySyncComplete, Fault> {
        let verified = signed
            .clone()
            .verify(&mut self.keys)
            .map_err(|_| Rule::MarkerSignature)?;
        if verified.signer() != self.config.provider {
            return Err(Rule::MarkerSigner.into());
        }
        let marker = verified.into_inner();
        self.check_binding(
            marker.topic,
            marker.session,
            marker.requester,
            marker.request,
        )?;
        let State::Granted(granted) = &self.state else {
            return Err(Rule::MarkerSession.into());
        };
        let (covers, told) = (&marker.covers, &granted.ack.summary);
        let same = covers.set == told.set
            && covers.state == told.state
            && covers.authors == told.authors
            && covers.coverage == told.coverage
            && covers.window == granted.ack.window;
        if !same {
            return Err(Rule::MarkerSnapshot.into());
        }
        check_content(covers, &granted.vouching.holes)?;
        if marker.resume.0.len() > TOKEN_BYTES_MAX {
            return Err(Rule::TokenForm.into());
        }
        Ok(marker)
    }

    /// The same of a failure marker.
    pub(in crate::client) fn bound_failure(
        &mut self,
        signed: Signed<HistorySyncFailed>,
    ) -> Result<FailureReason, Fault> {
        let verified = signed
            .verify(&mut self.keys)
            .map_err(|_| Rule::MarkerSignature)?;
        if verified.signer() != self.config.provider {
            return Err(Rule::MarkerSigner.into());
        }
        self.check_binding(
            verified.topic,
            verified.session,
            verified.requester,
            verified.request,
        )?;
        Ok(verified.reason)
    }

    fn check_binding(
        &self,
        topic: TopicId,
        session: SessionId,
        requester: NodeId,
        request: RequestId,
    ) -> Result<(), Rule> {
        if topic != self.config.topic {
            return Err(Rule::MarkerTopic);
        }
        if Some(session) != self.session() {
            return Err(Rule::MarkerSession);
        }
        if requester != self.config.me {
            return Err(Rule::MarkerRequester);
        }
        if request != self.config.request {
            return Err(Rule::MarkerRequest);
        }
        Ok(())
    }
}

/// Digests and lists of one marker fit each other (`CMP-7`).
fn check_content(covers: &Vouched, holes_before: &[EntryHash]) -> Result<(), Rule> {
    let few = covers.heads.len() <= MARKER_HEADS_MAX && covers.holes.len() <= MARKER_HEADS_MAX;
    if !few || heads::check_form(&covers.heads).is_err() {
        return Err(Rule::MarkerContent);
    }
    let stated = (covers.state, covers.authors);
    if !covers.heads.is_empty() && heads::state_of(&covers.heads) != stated {
        return Err(Rule::MarkerContent);
    }
    if covers.hole_count > HOLES_MAX as u64 {
        let none = covers.holes.is_empty() && holes_before.is_empty();
        return if none {
            Ok(())
        } else {
            Err(Rule::MarkerContent)
        };
    }
    let holes = if covers.hole_count > MARKER_HEADS_MAX as u64 {
        holes_before
    } else {
        &covers.holes
    };
    let fits = holes.len() as u64 == covers.hole_count
        && holes.is_sorted_by(|a, b| a < b)
        && holes_digest(holes) == covers.holes_digest;
    if fits {
        Ok(())
    } else {
        Err(Rule::MarkerContent)
    }
}
