//! Liars in a minority, of every kind, under the rules that must see through them.

use osier_core::Role;
use osier_engine::{Convergence, Rule, TopicPhase};
use osier_sim::{ALL_LIES, Knobs, Lie, NodeSpec, SEC, TraceMode, World};

use crate::support::{entries, no_violation, phase, reaches, synced, world};

/// Entries that each archive has written.
const EACH: u64 = 6;

/// Three to five archives with the same history, fewer than half of them liars, and a joiner who
/// trusts them all. In every other world the liars are ranked best.
struct Minority {
    world: World,
    liars: Vec<(usize, Lie)>,
    joiner: usize,
    all: u64,
}

fn minority(seed: u64, rule: Rule) -> Minority {
    let archives = 3 + usize::try_from(seed % 3).expect("small");
    let few = 1 + usize::try_from(seed / 3).expect("small") % ((archives - 1) / 2);
    let lie = |at: usize| {
        let first = usize::try_from(seed).expect("small");
        ALL_LIES[(first + 11 * at) % ALL_LIES.len()]
    };
    let liars: Vec<_> = (1..=few).map(|at| (at, lie(at - 1))).collect();
    let best = seed.is_multiple_of(2);
    let mut joiner = NodeSpec::peer();
    joiner.rule = rule;
    let mut world = World::new(seed, Knobs::calm(), TraceMode::Off);
    for node in 0..archives {
        let lies = (1..=few).contains(&node);
        let rank = if lies == best { 10 } else { 20 } + u16::try_from(node).expect("small");
        joiner = joiner.trusting(node, rank, Role::Archive);
        let mut spec = NodeSpec::archive();
        for other in (0..archives).filter(|other| *other != node) {
            spec = spec.trusting(other, 10, Role::Archive);
        }
        spec.lie = lies.then(|| lie(node - 1));
        world.add_node(spec);
    }
    let joiner = world.add_node(joiner);
    world.add_topic(&[0]);
    for node in 0..archives {
        world.start(node);
    }
    world.run_for(3 * SEC);
    for node in 0..archives {
        world.publish(node, 0, EACH);
    }
    let all = EACH * archives as u64;
    let full = world.run_while(60 * SEC, |world| {
        (0..archives).any(|node| entries(world, node) < all)
    });
    assert!(full, "seed {seed}");
    world.deafen(joiner, seed % 4 < 2);
    world.start(joiner);
    world.run_for(50 * SEC);
    no_violation(&world);
    Minority {
        world,
        liars,
        joiner,
        all,
    }
}

impl Minority {
    /// Liars whose word is true of what they show, and false of what they hold.
    fn omitting(&self) -> Vec<usize> {
        let omitting = self.liars.iter().filter(|(_, lie)| lie.omits());
        omitting.map(|(node, _)| *node).collect()
    }

    fn is_complete_in_the_end(&self, seed: u64) {
        let Self { world, joiner, .. } = self;
        let state = world.state(*joiner, 0);
        assert_eq!(
            phase(world, *joiner),
            Some(TopicPhase::Synced),
            "seed {seed} {:?}: {state:?}",
            self.liars
        );
        assert!(
            entries(world, *joiner) >= self.all,
            "seed {seed} {:?}",
            self.liars
        );
    }

    /// Whoever leaves something out is named, and apart from those who do not.
    fn names_those_who_omit(&self, seed: u64) {
        let camps = self.world.state(self.joiner, 0).expect("it runs").camps;
        for node in self.omitting() {
            let liar = self.world.node_id(node);
            let honest = self.world.node_id(0);
            let named = camps
                .iter()
                .any(|(_, members)| members.contains(&liar) && !members.contains(&honest));
            assert!(named, "seed {seed} {:?}: {camps:?}", self.liars);
        }
    }
}

/// POL-10: whatever fewer than half of them do, what the majority's word completes is complete.
#[test]
fn strict_majority_is_never_wrong() {
    for seed in 0..58 {
        let run = minority(seed, Rule::StrictMajority);
        for (_, said) in synced(&run.world, run.joiner) {
            assert!(
                said.entries >= run.all,
                "seed {seed} {:?}: {said:?}",
                run.liars
            );
        }
        run.is_complete_in_the_end(seed);
        run.names_those_who_omit(seed);
    }
}

/// POL-6, POL-13: no lie about what was sent completes anything. One that leaves something out and
/// signs truly for the rest cannot be told from an honest provider by itself: its word stands until
/// the next one has been asked, and then it is named.
#[test]
fn storage_first_is_wrong_only_until_the_next_is_asked() {
    for seed in 0..58 {
        let run = minority(seed, Rule::StorageFirst);
        let omitting = run.omitting();
        for (_, said) in synced(&run.world, run.joiner) {
            let by_omission = omitting
                .iter()
                .any(|node| run.world.node_id(*node) == said.provider);
            let is_open = said.still_pending > 0 || said.convergence == Convergence::Diverged;
            let whole = said.entries >= run.all || by_omission && is_open;
            assert!(whole, "seed {seed} {:?}: {said:?}", run.liars);
        }
        run.is_complete_in_the_end(seed);
        run.names_those_who_omit(seed);
    }
}

/// A liar that hides another author from each client: both are told who differs, and both end with
/// everything.
#[test]
fn equivocating_between_clients() {
    let joiner = || {
        NodeSpec::peer()
            .trusting(1, 1, Role::Archive)
            .trusting(0, 2, Role::Archive)
    };
    let liar = NodeSpec::archive()
        .trusting(0, 10, Role::Archive)
        .lying(Lie::Equivocates);
    let mut world = world(vec![NodeSpec::archive(), liar, joiner(), joiner()]);
    world.start(0);
    world.start(1);
    world.run_for(3 * SEC);
    world.publish(0, 0, 10);
    world.publish(1, 0, 10);
    reaches(&mut world, 1, 20, 20 * SEC);
    reaches(&mut world, 0, 20, 20 * SEC);
    let liar = world.node_id(1);
    for node in [2, 3] {
        world.start(node);
        reaches(&mut world, node, 20, 20 * SEC);
        world.run_for(5 * SEC);
        no_violation(&world);
        let state = world.state(node, 0).expect("it runs");
        assert!(
            state.camps.iter().any(|(_, members)| *members == [liar]),
            "{:?}",
            state.camps
        );
    }
}
