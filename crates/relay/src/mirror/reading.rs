//! What of a relay need not be read again (`NOS-73`).

use osier::TopicId;
use osier_eventdb::{CoveredKey, EventDbError, EventIndex};
use osier_nostr::{Coverage, Filter, Seconds, Span, nip::nip42::RelayUrl};

use super::Order;
use crate::limit;

/// What is known of one relay, for one order. It is only ever extended by what was read to its end
/// and is durable here.
#[derive(Debug)]
pub(super) struct Reading {
    index: EventIndex,
    /// Under which names a stretch is noted: a kind each, so that another choice of kinds profits.
    keys: Vec<CoveredKey>,
    covered: Coverage,
    within: Span,
    /// What is dated later may still come, dated as it is.
    settled: Seconds,
}

impl Reading {
    /// What has been read before, as of now; nothing of it where the order says so.
    pub(super) fn open(
        index: &EventIndex,
        topic: TopicId,
        order: &Order,
        now: Seconds,
    ) -> Result<Self, EventDbError> {
        let who = order.key.as_ref().map(osier_nostr::EventKey::pubkey);
        let url = RelayUrl::parse(&order.url);
        let url = url.as_ref().map_or(&*order.url, RelayUrl::as_str);
        let key = |filter: &Filter| CoveredKey::new(url, &topic, filter, who);
        let keys: Vec<CoveredKey> = each_kind(&order.filter).iter().map(key).collect();
        let mut covered = Coverage::none();
        if !order.again && order.filter.limit().is_none() {
            let mut of_kinds = Coverage::none();
            of_kinds.add(Span::ALL);
            for key in &keys {
                of_kinds = of_kinds.both(&index.coverage(*key)?);
            }
            let of_all = key(&order.filter.clone().of_any_kind());
            covered = index.coverage(of_all)?.either(&of_kinds);
        }
        let (since, until) = (order.filter.since(), order.filter.until());
        let (since, until) = (
            since.unwrap_or(Seconds::ZERO),
            until.unwrap_or(Seconds::MAX),
        );
        Ok(Self {
            index: index.clone(),
            keys: match order.filter.limit() {
                // Who names a limit does not read to an end.
                Some(_) => Vec::new(),
                None => keys,
            },
            covered,
            // An empty time is one second that matches nothing.
            within: Span::between(since, until).unwrap_or(Span {
                since,
                until: since,
            }),
            settled: now.before(limit::MIRROR_SETTLES_S),
        })
    }

    /// What is to be read, the latest first.
    pub(super) fn gaps(&self) -> Vec<Span> {
        self.covered.gaps(self.within)
    }

    /// Whether something need not be read.
    pub(super) fn is_resumed(&self) -> bool {
        self.gaps() != [self.within]
    }

    /// All that matches in a stretch is here, and durable.
    pub(super) fn cover(&self, span: Span) -> Result<(), EventDbError> {
        match Span::between(span.since, span.until.min(self.settled)) {
            Some(span) if !self.keys.is_empty() => self.index.cover(&self.keys, span),
            _ => Ok(()),
        }
    }

    /// All that matches is here, and durable.
    pub(super) fn cover_all(&self) -> Result<(), EventDbError> {
        self.cover(self.within)
    }
}

/// A filter for each kind, as long as that is not too many.
fn each_kind(filter: &Filter) -> Vec<Filter> {
    match filter.kinds() {
        Some(kinds) if kinds.len() <= limit::MIRROR_KINDS_MAX => {
            let one = |kind: &osier_nostr::EventKind| filter.clone().with_kinds([*kind]);
            kinds.iter().map(one).collect()
        }
        _ => vec![filter.clone()],
    }
}
