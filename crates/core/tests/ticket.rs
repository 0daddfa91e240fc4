//! Tickets (`ENT-20` to `ENT-23`): what is made is read again; what is bent is refused.

use osier_core::{
    NodeId, NodeSecret, RequestId, Ticket, TicketInvalid, TopicKeys, TopicSecret, Writing, limit,
    testing::secret,
};
use proptest::prelude::*;

prop_compose! {
    fn ticket()(
        owner in any::<[u8; 32]>(),
        secret in any::<[u8; 32]>(),
        name in "[ -~]{1,60}|\\PC{1,30}",
        granted in any::<bool>(),
        addresses in prop::collection::vec(("\\PC{0,40}", any::<[u8; 32]>()), 0..12),
    ) -> Ticket {
        let secret = TopicSecret::from_bytes(secret);
        let writing = if granted { Writing::Granted } else { Writing::Open };
        let ticket = Ticket::of(writing, NodeId::from_bytes(owner), secret, &name)
            .expect("a short name");
        addresses.into_iter().fold(ticket, |ticket, (address, node)| {
            ticket.with_address(NodeId::from_bytes(node), &address)
        })
    }
}

proptest! {
    #[test]
    fn a_ticket_comes_back_whatever_the_case_and_space(ticket in ticket()) {
        let text = ticket.to_string();
        prop_assert_eq!(&text.parse::<Ticket>().expect("own tickets parse"), &ticket);
        let shouted = format!("\t osier1{} \n", text[6..].to_uppercase());
        prop_assert_eq!(&shouted.parse::<Ticket>().expect("case is nothing"), &ticket);
        prop_assert!(ticket.bootstrap().count() <= limit::TICKET_ADDRESSES_MAX);
    }

    /// The check sum catches a slip of the hand.
    #[test]
    fn a_changed_letter_is_told(
        ticket in ticket(), at in any::<prop::sample::Index>(), letter in "[a-z2-7]",
    ) {
        let mut text = ticket.to_string();
        let at = 6 + at.index(text.len() - 6);
        prop_assume!(text[at..=at] != letter);
        text.replace_range(at..=at, &letter);
        prop_assert_eq!(text.parse::<Ticket>(), Err(TicketInvalid::Damaged));
    }

    #[test]
    fn noise_is_refused(text in "(osier1)?\\PC{0,300}") {
        prop_assert!(text.parse::<Ticket>().is_err());
    }
}

/// ENT-22: what is no ticket and what is damaged are told apart.
#[test]
fn a_cut_and_foreign_text_are_told_apart() {
    let text = Ticket::public("commons").expect("a short name").to_string();
    for end in 6..text.len() {
        assert_eq!(
            text[..end].parse::<Ticket>(),
            Err(TicketInvalid::Damaged),
            "{end}"
        );
    }
    assert_eq!("hello".parse::<Ticket>(), Err(TicketInvalid::Prefix));
}

/// ENT-20, ENT-40: the id binds owner, secret, name and who may write.
#[test]
fn another_owner_secret_or_name_is_another_topic() {
    let node = |n| secret(n).node_id();
    let key = |n| TopicSecret::from_bytes([n; 32]);
    let keys = TopicKeys::derive(node(1), &key(1), "a");
    for other in [
        TopicKeys::derive(node(2), &key(1), "a"),
        TopicKeys::derive(node(1), &key(2), "a"),
        TopicKeys::derive(node(1), &key(1), "b"),
        TopicKeys::of(Writing::Granted, node(1), &key(1), "a"),
    ] {
        assert_ne!(other.topic(), keys.topic());
        assert_ne!(other.gossip_topic(), keys.gossip_topic(), "ENT-23");
    }
    assert_ne!(
        &keys.gossip_topic(),
        keys.topic().as_bytes(),
        "ENT-23: the id does not tell it"
    );
}

/// ENT-21: whoever knows the name of a public topic can join it.
#[test]
fn a_public_topic_follows_from_its_name() {
    let one = Ticket::public("commons").expect("a short name");
    assert_eq!(
        one.topic(),
        Ticket::public("commons").expect("a short name").topic()
    );
    assert_ne!(
        one.topic(),
        Ticket::public("common").expect("a short name").topic()
    );
    assert_eq!(one.owner(), NodeId::NOBODY);
}

/// Nothing that prints a ticket's keys prints a secret.
#[test]
fn secrets_are_not_printed() {
    let key = TopicSecret::from_bytes([0xab; 32]);
    let owner = NodeSecret::from_bytes(&[0xcd; 32]);
    let ticket = Ticket::new(owner.node_id(), key.clone(), "a").expect("a short name");
    let said = format!("{key:?} {owner:?} {ticket:?} {:?}", ticket.keys());
    assert!(!said.contains("abab") && !said.contains("cdcd") && !said.contains("171, 171"));
}

/// SES-2: a proof is good for one prover, verifier, connection, request and topic.
#[test]
fn a_proof_is_for_one_use() {
    let keys = |name| TopicKeys::derive(NodeId::NOBODY, &TopicSecret::from_bytes([1; 32]), name);
    let (a, b) = (secret(1).node_id(), secret(2).node_id());
    let request = |n| RequestId::from_bytes([n; 16]);
    let proofs = [
        keys("a").proof(a, b, &[0; 32], request(1)),
        keys("a").proof(b, a, &[0; 32], request(1)),
        keys("a").proof(a, b, &[1; 32], request(1)),
        keys("a").proof(a, b, &[0; 32], request(2)),
        keys("b").proof(a, b, &[0; 32], request(1)),
    ];
    for (at, proof) in proofs.iter().enumerate() {
        assert!(!proofs[..at].contains(proof));
    }
}
