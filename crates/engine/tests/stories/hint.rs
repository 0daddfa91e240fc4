//! Watermarks of other histories, and those that say nothing new to a node whose own state is
//! another, as a ring's is (`GOS-8`, `GOS-11`).

use osier_core::testing::Chain;

use super::*;

/// What a provider holds, and what it says of that.
struct Theirs {
    entries: Vec<Verified<Entry>>,
    summary: Summary,
}

impl Theirs {
    fn new(body: &[u8]) -> Self {
        let entries = vec![Chain::in_topic(9, PairConfig::topic()).next(body)];
        let ClientEnd::Drained(evidence) = drained_of(&entries) else {
            panic!("an honest provider is drained");
        };
        let summary = Summary {
            set: evidence.set(),
            state: evidence.state(),
            ..Summary::empty()
        };
        Self { entries, summary }
    }

    fn watermark(&self) -> Gossip {
        let (summary, last) = (self.summary, Lsn::new(1));
        Gossip::Watermark(Watermark { summary, last })
    }
}

fn doubts(desk: &mut Desk) -> usize {
    let is_doubt = |event: &SyncEvent| matches!(event, SyncEvent::Behind { .. });
    desk.events().into_iter().filter(is_doubt).count()
}

/// A session with the owner has begun, and it says what its snapshot holds; another archive is
/// trusted as well.
fn asking(theirs: &Theirs) -> (Desk, SessionKey) {
    let mut desk = Desk::open(2, 1, Role::Peer);
    desk.trusts(3);
    let opened = desk.opened();
    let key = opened.iter().find(|(provider, _)| *provider == node(1));
    let (_, key) = *key.expect("the owner is asked");
    desk.starts_with(key, Mode::Ranges, theirs.summary);
    (desk, key)
}

/// Two that hold the same say so in turn: what one was drained in, the other's watermark names.
#[test]
fn what_another_provider_was_drained_in_is_no_hint() {
    let theirs = Theirs::new(b"x");
    let (mut desk, key) = asking(&theirs);
    desk.drains_one_of(key, &theirs.entries);
    assert_eq!(desk.phase(), TopicPhase::Synced);
    desk.hear(3, theirs.watermark());
    desk.pass(1_000);
    assert_eq!(doubts(&mut desk), 0);
    let others = Theirs::new(b"y");
    desk.hear(3, others.watermark());
    desk.pass(1_000);
    assert_eq!(doubts(&mut desk), 1, "another state is a hint");
}

/// A session over a slow link takes longer than hints take to settle. One of its own snapshot does
/// not make it worthless, or no session of a ring would end in time.
#[test]
fn a_hint_of_what_a_session_brings_waits_for_its_end() {
    let theirs = Theirs::new(b"x");
    for signer in [1, 3] {
        let (mut desk, key) = asking(&theirs);
        desk.hear(signer, theirs.watermark());
        desk.pass(2_000);
        desk.drains_one_of(key, &theirs.entries);
        assert_eq!(desk.phase(), TopicPhase::Synced, "signer {signer}");
        desk.pass(1_000);
        assert_eq!(doubts(&mut desk), 0, "signer {signer}");
    }
}

/// It waits for that end only: a session that turns out to be of another state has not brought it.
#[test]
fn a_hint_of_what_a_session_did_not_bring_stands() {
    let (theirs, others) = (Theirs::new(b"x"), Theirs::new(b"y"));
    let (mut desk, key) = asking(&theirs);
    desk.hear(3, theirs.watermark());
    desk.pass(1_000);
    desk.drains_one_of(key, &others.entries);
    assert_eq!(desk.phase(), TopicPhase::Synced);
    assert_eq!(doubts(&mut desk), 0);
    desk.pass(1_000);
    assert_eq!(doubts(&mut desk), 1);
}

/// Nor does it wait for long: who announces that it brings what another claims, and takes its time,
/// does not keep that from being told.
#[test]
fn a_hint_waits_for_a_session_for_a_moment_only() {
    let (theirs, others) = (Theirs::new(b"x"), Theirs::new(b"y"));
    let (mut desk, key) = asking(&theirs);
    desk.drains_one_of(key, &theirs.entries);
    let slow = desk.opened().into_iter().find(|(by, _)| *by == node(3));
    let (_, slow) = slow.expect("the other one is asked to verify");
    desk.starts_with(slow, Mode::Ranges, others.summary);
    desk.hear(1, others.watermark());
    for received in 1..40_u64 {
        desk.pass(200);
        let event = SessionEvent::Progress {
            received,
            expected: None,
        };
        desk.give(Input::Session { key: slow, event });
    }
    assert_eq!(doubts(&mut desk), 1);
}

/// Whatever else is looked at before a hole has had time to close, it is looked into.
#[test]
fn a_hole_is_not_accepted_unseen() {
    let theirs = Theirs::new(b"x");
    let (mut desk, key) = asking(&theirs);
    desk.drains_one_of(key, &theirs.entries);
    let mut chain = Chain::in_topic(9, desk.topic);
    let _lost = chain.next(b"lost");
    let next = chain.next(b"next");
    desk.holes = 1;
    desk.hear(9, Gossip::Live(next.to_wire()));
    desk.store();
    let (topic, peer) = (desk.topic, node(5));
    let up = true;
    desk.give(Input::Neighbor { topic, peer, up });
    desk.pass(1_000);
    assert_eq!(doubts(&mut desk), 1);
}

/// `GOS-8`: a trusted signer holds more: behind, and it is asked, both after the settling time.
#[test]
fn watermark_ahead() {
    let mut desk = Desk::open(1, 2, Role::Peer);
    desk.drains();
    assert_eq!(desk.phase(), TopicPhase::Synced);
    desk.hear_watermark(2, 5);
    desk.pass(100);
    assert_eq!(
        desk.phase(),
        TopicPhase::Synced,
        "gossip may still bring it"
    );
    desk.pass(1_000);
    assert_eq!(desk.phase(), TopicPhase::Behind);
    assert_eq!(desk.asked(), 1);
}

/// Who holds less is not asked, unless it stays behind (`GOS-11`).
#[test]
fn watermark_behind() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    desk.publish(b"x".to_vec());
    desk.store();
    desk.outputs.clear();
    desk.hear_watermark(2, 0);
    desk.pass(4_900);
    assert_eq!(desk.asked(), 0, "it hears of more and will ask");
    desk.pass(10_200);
    assert_eq!(desk.asked(), 1, "it did not");
    desk.hear_watermark(2, 0);
    desk.pass(50_000);
    assert_eq!(desk.asked(), 0, "once a minute at most");
}

/// A stranger's claim makes nobody behind.
#[test]
fn watermark_forged() {
    let mut desk = Desk::open(1, 1, Role::Archive);
    desk.events();
    desk.hear_watermark(7, 200);
    desk.pass(3_000);
    assert_eq!(desk.phase(), TopicPhase::Synced);
    let told = |event: &SyncEvent| matches!(event, SyncEvent::Behind { .. });
    assert!(!desk.events().iter().any(told));
}
