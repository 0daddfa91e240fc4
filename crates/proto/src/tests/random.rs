//! Random pairs: shared parts, forks, detached spans, entries that nobody holds.

use osier_core::{EntryHash, OrderKey, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::{
    message::{Mode, Verdict},
    output::ProviderEnd,
};

/// One entry of a made history.
#[derive(Debug, Clone)]
struct Made {
    author: u64,
    /// 0 continues the author's newest branch; else another branch is begun or continued.
    branch: usize,
    names_others: bool,
    /// Bit 0: the client holds it. Bit 1: the provider does.
    held_by: u8,
    /// The author's clock, in seconds: it need not ascend.
    clock: u64,
}

fn made() -> impl Strategy<Value = Made> {
    let branch = prop_oneof![8 => Just(0_usize), 1 => 1..4_usize];
    // Mostly shared, as histories are; now and then held by nobody.
    let held_by = prop_oneof![6 => Just(3_u8), 2 => Just(1), 2 => Just(2), 1 => Just(0)];
    let fields = (1..6_u64, branch, any::<bool>(), held_by, 0..40_u64);
    fields.prop_map(|(author, branch, names_others, held_by, clock)| Made {
        author,
        branch,
        names_others,
        held_by,
        clock,
    })
}

type Histories = (Vec<Verified<Entry>>, Vec<Verified<Entry>>);

fn write(history: &[Made]) -> Histories {
    let mut branches: Vec<Vec<Chain>> = (0..6).map(|author| vec![chain(author + 10)]).collect();
    let mut last: Option<EntryHash> = None;
    let (mut client, mut provider) = (Vec::new(), Vec::new());
    for (at, made) in history.iter().enumerate() {
        let author = &mut branches[usize::try_from(made.author).unwrap()];
        let from = author.len() - 1 - made.branch.min(author.len() - 1);
        let mut chain = author[from].clone();
        chain.at(made.clock * 1000);
        let deps = last.filter(|_| made.names_others).into_iter().collect();
        let entry = chain.next_with(format!("entry {at}").as_bytes(), deps);
        if made.branch == 0 {
            *author.last_mut().unwrap() = chain;
        } else {
            author.push(chain);
        }
        last = Some(entry.hash());
        if made.held_by & 1 != 0 {
            client.push(entry.clone());
        }
        if made.held_by & 2 != 0 {
            provider.push(entry);
        }
    }
    (client, provider)
}

fn check(client: &Arc<MemorySource>, provider: &Arc<MemorySource>) {
    let (ours, theirs) = (client.hashes(topic()), provider.hashes(topic()));
    let received = theirs.difference(&ours).count() as u64;
    let surplus = ours.difference(&theirs).count() as u64;
    let pair = run(client, provider);
    let evidence = pair.evidence();
    assert_eq!(
        (evidence.received(), evidence.surplus()),
        (received, surplus)
    );
    assert_eq!(evidence.entries(), theirs.len() as u64);
    let [
        ProviderEnd::Served {
            verdict,
            sent,
            received: uploaded,
            ..
        },
    ] = &pair.provider_ends[..]
    else {
        panic!("{:?}", pair.provider_ends);
    };
    assert_eq!(
        (*verdict, *sent, *uploaded),
        (Verdict::Drained, received, surplus)
    );
    assert_equal(client, provider);
    // Little more than the entries themselves: heads, ids and frames.
    let most = (received + surplus) * 500 + (ours.len() + theirs.len()) as u64 * 40 + 4000;
    assert!(pair.bytes < most, "{} bytes, at most {most}", pair.bytes);
    assert!(pair.progress.is_sorted_by(|a, b| a.0 <= b.0));
    assert!(pair.round_trips <= 6, "{} round trips", pair.round_trips);
    let again = run(client, provider);
    assert_eq!(
        (again.evidence().mode(), again.round_trips),
        (Mode::Equal, 1)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever two nodes hold, one session makes them equal, and its evidence adds up.
    #[test]
    fn two_histories_become_one(history in prop::collection::vec(made(), 0..120)) {
        let (mine, theirs) = write(&history);
        let (client, provider) = stores(&mine, &theirs);
        check(&client, &provider);
    }

    /// The same by whichever side asks.
    #[test]
    fn who_asks_does_not_matter(history in prop::collection::vec(made(), 0..60)) {
        let (mine, theirs) = write(&history);
        let (a, b) = stores(&mine, &theirs);
        check(&b, &a);
    }

    /// A connection that breaks anywhere loses nothing that was stored, and the session after it
    /// ends equal.
    #[test]
    fn a_broken_session_is_made_good_by_the_next(
        history in prop::collection::vec(made(), 1..60),
        breaks_at in 0..12_usize,
    ) {
        let (mine, theirs) = write(&history);
        let (client, provider) = stores(&mine, &theirs);
        let mut passed = 0;
        let mut pair = Pair::with_tamper(
            PairConfig::new(&client, &provider),
            Box::new(move |_, message| {
                passed += 1;
                if passed > breaks_at { Transit::Cut } else { Transit::Deliver(vec![message]) }
            }),
        );
        pair.run();
        prop_assert_eq!(pair.client_ends.len(), 1);
        let token = pair.token.clone();
        let mut config = PairConfig::new(&client, &provider).with_nonce(2);
        config.token = token;
        let mut pair = Pair::new(config);
        pair.run();
        pair.evidence();
        assert_equal(&client, &provider);
    }

    /// Rings that prune after every session: above the higher floor the client gets all that the
    /// provider holds, and soon nothing moves any more.
    #[test]
    fn rings_agree_above_the_higher_floor_and_trade_nothing_twice(
        history in prop::collection::vec(made(), 1..80),
        floors in (prop::option::of(0..40_u64), prop::option::of(0..40_u64)),
    ) {
        let (mine, theirs) = write(&history);
        let (client, provider) = stores(&mine, &theirs);
        let place = |second: u64| OrderKey {
            time: Timestamp::from_millis(second * 1000),
            hash: EntryHash::MIN,
        };
        let prune = || {
            floors.0.into_iter().for_each(|floor| client.prune(topic(), place(floor)));
            floors.1.into_iter().for_each(|floor| provider.prune(topic(), place(floor)));
        };
        prune();
        let higher = floors.0.max(floors.1);
        let promised: Vec<_> = theirs
            .iter()
            .filter(|entry| higher.is_none_or(|floor| entry.order_key() >= place(floor)))
            .map(|entry| entry.hash())
            .collect();
        let pair = run(&client, &provider);
        pair.evidence();
        let held = client.hashes(topic());
        for hash in promised {
            prop_assert!(held.contains(&hash));
        }
        // Entries below the floor may travel once, when heads happen to account for them.
        for _ in 0..2 {
            prune();
            run(&client, &provider).evidence();
        }
        prune();
        let again = run(&client, &provider);
        prop_assert_eq!((again.stored, again.evidence().surplus()), (0, 0));
    }
}
