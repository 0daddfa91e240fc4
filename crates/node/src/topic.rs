//! How a topic begins: from its record, and from O(1) readings of the store.

use osier_core::{EntryHash, NodeId, OrderKey, Role, Seq, Ticket, Timestamp, TopicId};
use osier_engine::{OwnerWords, Rank, Rule, TopicSetup};
use osier_proto::{View, ViewError};
use osier_store::{ControlRow, Retention, Store, StoreError, TopicRecord, TrustRow};

use crate::error::NodeError;

/// The rank of a row that says "distrusted"; true ranks are below 65,536.
const DISTRUSTED: u32 = u32::MAX;

/// Starts the settings of a topic's record: their version.
const SETTINGS: &str = "1 ";

/// Ends the settings of a space's control topic.
const SPACE: &str = " space";

/// The record of a topic, as [`crate::Node::open`] takes it: ticket and completion rule in their
/// text forms.
pub fn topic_record(ticket: &Ticket, role: Role, retention: Retention, rule: Rule) -> TopicRecord {
    TopicRecord {
        ticket: ticket.to_string().into_bytes(),
        role,
        retention,
        policy: settings(rule, false),
    }
}

/// Marks a topic as the control topic of a space that this node takes part in: it follows the
/// owner's manifest. Whoever owns a topic cannot make others join more than they asked for.
///
/// # Errors
/// If the record was not made by [`topic_record`].
pub fn mark_space(record: &mut TopicRecord) -> Result<(), NodeError> {
    record.policy = settings(rule_of(record)?, true);
    Ok(())
}

/// Whether a record is marked so.
pub fn is_space(record: &TopicRecord) -> bool {
    read_settings(record).is_some_and(|(_, space)| space)
}

/// The ticket of a topic that the store knows, with its secret: whoever reads it can join.
///
/// # Errors
/// If the record was not made by [`topic_record`].
pub fn topic_ticket(record: &TopicRecord) -> Result<Ticket, NodeError> {
    let text = std::str::from_utf8(&record.ticket).map_err(|_| damaged("its ticket is no text"))?;
    text.parse().map_err(damaged)
}

fn settings(rule: Rule, space: bool) -> Vec<u8> {
    let space = if space { SPACE } else { "" };
    format!("{SETTINGS}{rule}{space}").into_bytes()
}

/// The rule, and whether the topic is a space's.
fn read_settings(record: &TopicRecord) -> Option<(Rule, bool)> {
    let text = std::str::from_utf8(&record.policy).ok()?;
    let text = text.strip_prefix(SETTINGS)?;
    let rule = text.strip_suffix(SPACE);
    Some((rule.unwrap_or(text).parse().ok()?, rule.is_some()))
}

fn rule_of(record: &TopicRecord) -> Result<Rule, NodeError> {
    let settings = read_settings(record);
    settings
        .map(|(rule, _)| rule)
        .ok_or_else(|| damaged("its settings are of a newer osier"))
}

fn damaged(cause: impl std::fmt::Display) -> NodeError {
    NodeError::Store {
        doing: "reading a topic's record",
        cause: cause.to_string(),
    }
}

/// Every topic that the store knows.
pub(crate) fn load_all(store: &Store, me: NodeId) -> Result<Vec<TopicSetup>, NodeError> {
    let topics = store.topics().map_err(failed("listing topics"))?;
    let records = topics.into_iter().map(|(_, record)| record);
    records.map(|record| load(store, me, &record)).collect()
}

/// Keeps a topic's record and reads what it starts from.
pub(crate) fn keep(
    store: &Store,
    me: NodeId,
    record: &TopicRecord,
) -> Result<TopicSetup, NodeError> {
    rule_of(record)?;
    let topic = topic_ticket(record)?.topic();
    store
        .set_topic(topic, record)
        .map_err(failed("keeping a topic"))?;
    load(store, me, record)
}

/// Keeps a topic's rule for the next start.
pub(crate) fn keep_rule(store: &Store, topic: TopicId, rule: Rule) -> Result<(), NodeError> {
    let known = store.topic(topic).map_err(failed("reading a topic"))?;
    let Some(mut record) = known else {
        return Ok(());
    };
    record.policy = settings(rule, is_space(&record));
    store
        .set_topic(topic, &record)
        .map_err(failed("keeping a topic's rule"))
}

/// What a topic starts from.
fn load(store: &Store, me: NodeId, record: &TopicRecord) -> Result<TopicSetup, NodeError> {
    let ticket = topic_ticket(record)?;
    let topic = ticket.topic();
    let trust = store.trust(topic).map_err(failed("reading trust"))?;
    let words = store.control(topic).map_err(failed("reading grants"))?;
    let words = words.iter().map(ControlRow::said);
    let words = OwnerWords::read(words);
    let tokens = store
        .tokens(topic)
        .map_err(failed("reading resume tokens"))?;
    let view = store.snapshot(topic).map_err(failed("reading a topic"))?;
    // ENT-44: the node's chain goes on from what was cut off, too.
    let cut_off = store
        .cut_off_tip(topic, me)
        .map_err(failed("reading what was cut off"))?;
    Ok(TopicSetup {
        role: record.role,
        rule: rule_of(record)?,
        trust: trust.into_iter().map(mark).collect(),
        tokens,
        words,
        summary: view.summary(),
        point: view.point(),
        newest: newest(&view).map_err(unreadable)?,
        own_tip: tip(&view, me).map_err(unreadable)?.max(cut_off),
        ticket,
    })
}

fn newest(view: &impl View) -> Result<Option<OrderKey>, ViewError> {
    let order = view.order();
    let Some(last) = order.len()?.checked_sub(1) else {
        return Ok(None);
    };
    let item = order.at(last)?;
    Ok(Some(OrderKey {
        time: Timestamp::from_millis(item.time),
        hash: EntryHash::from_bytes(item.id),
    }))
}

/// An author's last entry, found by asking for the heads after the author just below.
fn tip(view: &impl View, author: NodeId) -> Result<Option<(Seq, EntryHash)>, ViewError> {
    let heads = view.heads(below(author), 1)?;
    let own = heads.into_iter().filter(|head| head.author == author);
    Ok(own.map(|head| (head.seq, head.hash)).max())
}

/// The greatest id below this one; none for the smallest.
fn below(node: NodeId) -> Option<NodeId> {
    let mut bytes = *node.as_bytes();
    for byte in bytes.iter_mut().rev() {
        let (less, borrow) = byte.overflowing_sub(1);
        *byte = less;
        if !borrow {
            return Some(NodeId::from_bytes(bytes));
        }
    }
    None
}

fn mark(row: TrustRow) -> (NodeId, Option<(Rank, Role)>) {
    let rank = u16::try_from(row.rank).ok();
    (row.node, rank.map(|rank| (Rank::new(rank), row.role)))
}

/// The row of a change of the trust list; none stands for distrust, which is kept too.
pub(crate) fn trust_row(node: NodeId, entry: Option<(Rank, Role)>) -> TrustRow {
    match entry {
        Some((rank, role)) => TrustRow {
            node,
            rank: u32::from(rank.get()),
            role,
        },
        None => TrustRow {
            node,
            rank: DISTRUSTED,
            role: Role::Peer,
        },
    }
}

fn failed(doing: &'static str) -> impl Fn(StoreError) -> NodeError {
    move |error| NodeError::Store {
        doing,
        cause: error.to_string(),
    }
}

fn unreadable(error: ViewError) -> NodeError {
    NodeError::Store {
        doing: error.doing,
        cause: error.cause,
    }
}

#[cfg(test)]
mod tests {
    use osier_core::{
        TopicSecret,
        testing::{Chain, secret},
    };
    use osier_proto::StoreId;
    use osier_store::Batch;

    use super::*;

    fn ticket() -> Ticket {
        let owner = secret(1).node_id();
        Ticket::new(owner, TopicSecret::from_bytes([4; 32]), "lobby").unwrap()
    }

    #[test]
    fn a_topic_starts_from_what_was_kept_of_it() {
        let store = Store::in_memory(StoreId::from_bytes([1; 16])).unwrap();
        let (me, other) = (secret(1).node_id(), secret(2).node_id());
        let topic = ticket().topic();
        let rule = Rule::FirstTrusted;
        let record = topic_record(&ticket(), Role::Archive, Retention::All, rule);
        let fresh = keep(&store, me, &record).unwrap();
        assert_eq!((fresh.newest, fresh.own_tip), (None, None));

        let mut batch = Batch::new();
        let (mut mine, mut theirs) = (Chain::in_topic(1, topic), Chain::in_topic(2, topic));
        mine.next(b"a");
        let entries = [mine.clone().next(b"b"), theirs.next(b"c")];
        let mut chain = Chain::in_topic(1, topic);
        batch.extend([chain.next(b"a"), chain.next(b"b"), entries[1].clone()]);
        store.commit(&batch).unwrap();
        store.set_trust(topic, trust_row(other, None)).unwrap();
        keep_rule(&store, topic, Rule::StrictMajority).unwrap();

        let [setup] = load_all(&store, me).unwrap().try_into().unwrap();
        assert_eq!(setup.own_tip.map(|(seq, _)| seq.get()), Some(2));
        assert_eq!(
            setup.newest.map(|key| key.hash),
            entries
                .iter()
                .map(|e| e.order_key())
                .max()
                .map(|key| key.hash)
        );
        assert_eq!(setup.trust, [(other, None)]);
        assert_eq!(setup.rule, Rule::StrictMajority);
        assert_eq!(setup.summary.set.count(), 3);
    }

    #[test]
    fn the_id_below_borrows_across_bytes() {
        let mut bytes = [0; 32];
        bytes[0] = 1;
        let under = below(NodeId::from_bytes(bytes)).unwrap();
        assert_eq!(under.as_bytes()[0], 0);
        assert_eq!(under.as_bytes()[1..], [0xff; 31]);
        assert_eq!(below(NodeId::from_bytes([0; 32])), None);
    }

    #[test]
    fn a_record_of_another_maker_is_refused_with_its_reason() {
        let mut record = topic_record(&ticket(), Role::Peer, Retention::All, Rule::default());
        record.policy = b"2 whatever".to_vec();
        assert!(rule_of(&record).unwrap_err().to_string().contains("newer"));
        record.ticket = b"osier1abc".to_vec();
        assert!(topic_ticket(&record).is_err());
    }
}
