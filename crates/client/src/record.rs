//! How a topic's record in the store is written and read; the node crate owns its form.

use osier_core::{NodeId, Role, Ticket, TopicId};
use osier_engine::Rule;
use osier_node::{topic_record, topic_ticket};
use osier_policy::Rank;
use osier_store::{Retention, Store, TopicRecord};

use crate::error::Result;

/// The record of a topic.
pub(crate) fn encode(ticket: &Ticket, role: Role, rule: Rule, replay_entries: u64) -> TopicRecord {
    let retention = match role {
        Role::Replay => Retention::Newest {
            entries: replay_entries,
        },
        Role::Archive | Role::Peer => Retention::All,
    };
    topic_record(ticket, role, retention, rule)
}

/// The ticket and the rule of a record.
pub(crate) fn decode(record: &TopicRecord) -> Result<(Ticket, Rule)> {
    let ticket = topic_ticket(record)?;
    // Version, then rule: one of a newer osier shows as the default until the node refuses it.
    let settings = String::from_utf8_lossy(&record.policy);
    let rule = settings.split(' ').nth(1).unwrap_or_default();
    Ok((ticket, rule.parse().unwrap_or_default()))
}

/// A node's standing in this node's own list; none if it is distrusted.
type Standing = Option<(Rank, Role)>;

/// This node's own trust list.
pub(crate) fn trust(store: &Store, topic: TopicId) -> Result<Vec<(NodeId, Standing)>> {
    let rows = store.trust(topic)?.into_iter();
    // A rank beyond all ranks says that the node is distrusted.
    let standing = |rank: u32, role| u16::try_from(rank).ok().map(|rank| (Rank::new(rank), role));
    Ok(rows
        .map(|row| (row.node, standing(row.rank, row.role)))
        .collect())
}

#[cfg(test)]
mod tests {
    use osier_core::TopicSecret;

    use super::*;

    #[test]
    fn a_record_returns() {
        let owner = NodeId::from_bytes([1; 32]);
        let ticket = Ticket::new(owner, TopicSecret::from_bytes([2; 32]), "lobby").unwrap();
        let record = encode(&ticket, Role::Replay, Rule::FirstTrusted, 7);
        assert_eq!(record.retention, Retention::Newest { entries: 7 });
        assert_eq!(decode(&record).unwrap(), (ticket, Rule::FirstTrusted));
    }
}
