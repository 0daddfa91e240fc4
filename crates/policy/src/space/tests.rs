//! Tests of spaces.

use TopicState::{Degraded, Pending, Synced};

use super::*;

fn topic(n: u8) -> TopicId {
    TopicId::from_bytes([n; 32])
}

fn manifest(version: u64, topics: &[u8]) -> SpaceManifest {
    SpaceManifest {
        version,
        topics: topics.iter().map(|n| topic(*n)).collect(),
    }
}

fn facts(version: u64, topics: &[(u8, TopicState)]) -> SpaceFacts {
    let listed: Vec<_> = topics.iter().map(|(n, _)| *n).collect();
    SpaceFacts {
        control: Synced,
        manifest: Some(manifest(version, &listed)),
        topics: topics
            .iter()
            .map(|(n, state)| (topic(*n), *state))
            .collect(),
    }
}

/// `POL-23`: each state of the control topic and of two topics.
#[test]
fn whole_table() {
    for control in [Pending, Synced, Degraded] {
        for (first, second) in [Pending, Synced, Degraded]
            .into_iter()
            .flat_map(|a| [Pending, Synced, Degraded].map(|b| (a, b)))
        {
            let mut facts = facts(7, &[(1, first), (2, second)]);
            facts.control = control;
            let of = |wanted| -> Vec<_> {
                let states = [(topic(1), first), (topic(2), second)];
                let found = states.into_iter().filter(|(_, state)| *state == wanted);
                found.map(|(topic, _)| topic).collect()
            };
            let expected = match control {
                Pending => SpaceVerdict::ControlPending,
                Degraded => SpaceVerdict::ControlDegraded,
                Synced if first == Pending || second == Pending => SpaceVerdict::Pending {
                    version: 7,
                    waiting: of(Pending),
                },
                Synced => SpaceVerdict::Synced {
                    version: 7,
                    topics: 2,
                    degraded: of(Degraded),
                },
            };
            assert_eq!(space_verdict(&facts), expected);
        }
    }
}

/// `POL-23`: a topic that is not joined is waited for; one that is not listed is not.
#[test]
fn only_the_manifest_counts() {
    let mut facts = facts(1, &[(1, Synced), (2, Synced)]);
    facts.manifest = Some(manifest(1, &[1, 3]));
    facts.topics.insert(topic(2), Pending);
    let waiting = vec![topic(3)];
    let version = 1;
    assert_eq!(
        space_verdict(&facts),
        SpaceVerdict::Pending { version, waiting }
    );
    facts.manifest = None;
    assert_eq!(space_verdict(&facts), SpaceVerdict::NoManifest);
    facts.manifest = Some(manifest(1, &[]));
    let empty = SpaceVerdict::Synced {
        version: 1,
        topics: 0,
        degraded: Vec::new(),
    };
    assert_eq!(space_verdict(&facts), empty);
}

/// Row "manifest grows while joining", `POL-24`: synced, withdrawn with the reason, synced again.
#[test]
fn manifest_grows() {
    let steps = [
        facts(1, &[(1, Pending)]),
        facts(1, &[(1, Synced)]),
        facts(2, &[(1, Synced), (2, Pending)]),
        facts(3, &[(1, Synced), (2, Degraded), (3, Pending)]),
        facts(3, &[(1, Synced), (2, Degraded), (3, Synced)]),
        facts(3, &[(1, Synced), (2, Degraded), (3, Synced)]),
        facts(3, &[(1, Synced), (2, Synced), (3, Synced)]),
    ];
    let synced = |version, topics, degraded| {
        Some(SpaceChange::Synced {
            version,
            topics,
            degraded,
        })
    };
    let grew = WithdrawReason::ManifestGrew {
        from: 1,
        to: 2,
        waiting: vec![topic(2)],
    };
    let changes = [
        synced(1, 1, vec![]),
        Some(SpaceChange::Withdrawn(grew)),
        None,
        synced(3, 3, vec![topic(2)]),
        None,
        synced(3, 3, vec![]),
    ];
    for (pair, expected) in steps.windows(2).zip(changes) {
        let [before, after] = [&pair[0], &pair[1]].map(space_verdict);
        assert_eq!(space_change(&before, &after), expected);
    }
}

/// `POL-24`: the other reasons.
#[test]
fn withdrawn_when_something_falls_behind() {
    let synced = space_verdict(&facts(1, &[(1, Synced)]));
    let behind = space_verdict(&facts(1, &[(1, Pending)]));
    let waiting = vec![topic(1)];
    let reason = WithdrawReason::TopicsBehind { waiting };
    let withdrawn = Some(SpaceChange::Withdrawn(reason));
    assert_eq!(space_change(&synced, &behind), withdrawn);
    assert_eq!(space_change(&behind, &behind), None);
    for control in [Pending, Degraded] {
        let mut facts = facts(1, &[(1, Synced)]);
        facts.control = control;
        let change = space_change(&synced, &space_verdict(&facts));
        let reason = WithdrawReason::ControlBehind;
        assert_eq!(change, Some(SpaceChange::Withdrawn(reason)));
    }
}
