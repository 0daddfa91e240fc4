//! Why a provider does not count, in words for people.

use osier_policy::{CutReason, RefuseReason};

/// What came between a session and its proof.
pub(crate) fn cut(reason: CutReason) -> String {
    match reason {
        CutReason::Truncated { floor: Some(floor) } => {
            let ms = floor.time.as_millis();
            format!("it no longer holds what is before {ms} ms, and that is needed")
        }
        CutReason::Truncated { floor: None } => {
            "it no longer holds a part that is needed".to_owned()
        }
        CutReason::Missing { entries: 1 } => "1 entry that it vouched for has not come".to_owned(),
        CutReason::Missing { entries } => {
            format!("{entries} entries that it vouched for have not come")
        }
        CutReason::Rejected => "its word does not match what it sent".to_owned(),
        CutReason::Closed => "it closed the stream before its word".to_owned(),
        CutReason::Cancelled => "it gave the session up".to_owned(),
        CutReason::Fault => "a rule of the wire was broken".to_owned(),
    }
}

/// Why it would not serve.
pub(crate) const fn refused(reason: RefuseReason) -> &'static str {
    match reason {
        RefuseReason::UnknownTopic => "it does not know the topic, or will not say",
        RefuseReason::Version => "it speaks no version of the wire that this node speaks",
        RefuseReason::Overloaded => "it has too much to do",
        RefuseReason::NotProvider => "it does not serve this topic",
        RefuseReason::Restarting => "it is starting or stopping",
        RefuseReason::StoreError => "it cannot read its store",
        RefuseReason::TokenUnserviceable => "it cannot go on from the last session",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_counted() {
        let cut_short = |entries| cut(CutReason::Missing { entries });
        assert_eq!(cut_short(1), "1 entry that it vouched for has not come");
        assert_eq!(cut_short(5), "5 entries that it vouched for have not come");
    }
}
