//! A revocation that takes entries out of the log in the middle of a session (`ENT-43`). The two
//! sides compare what they held when it began.

use osier_core::testing::with_bad_signature;

use super::*;
use crate::output::{ClientEnd, ProviderEnd};

/// An entry that only its successor vouches for (`ENT-10`), and that successor.
fn vouched() -> (Verified<Entry>, Verified<Entry>) {
    let mut chain = Chain::in_topic(3, topic());
    let bad = with_bad_signature(chain.signed(b"bad"));
    chain.follow(&bad);
    (bad.trust_stored(), chain.next(b"vouches"))
}

/// Runs a session; the store loses an entry when this message has been sent.
fn run_losing(
    stores: (&Arc<MemorySource>, &Arc<MemorySource>),
    from: &Arc<MemorySource>,
    lost: Verified<Entry>,
    at: fn(&Message) -> bool,
) -> Pair {
    let from = Arc::clone(from);
    let tamper = move |_, message: Message| {
        if at(&message) {
            from.withdraw(&lost);
        }
        Transit::Deliver(vec![message])
    };
    let config = PairConfig::new(stores.0, stores.1);
    let mut pair = Pair::with_tamper(config, Box::new(tamper));
    pair.run();
    pair
}

/// The client held the voucher when it asked, so it is not sent: the entry is authentic, though the
/// voucher is gone meanwhile. Whether it counts is for the store to say.
#[test]
fn a_voucher_that_the_client_held_still_vouches() {
    let (bad, voucher) = vouched();
    let both = [bad, voucher.clone()];
    let (client, provider) = stores(&both[1..], &both);
    let at = |message: &Message| matches!(message, Message::Hello(_));
    let pair = run_losing((&client, &provider), &client, voucher, at);
    let fault = |end: &ClientEnd| matches!(end, ClientEnd::Fault(_));
    assert!(
        !pair.client_ends.iter().any(fault),
        "{:?}",
        pair.client_ends
    );
}

/// The same of a provider to whom the client uploads.
#[test]
fn a_voucher_that_the_provider_held_still_vouches() {
    let (bad, voucher) = vouched();
    let both = [bad, voucher.clone()];
    let (client, provider) = stores(&both, &both[1..]);
    let at = |message: &Message| matches!(message, Message::HelloAck(_));
    let pair = run_losing((&client, &provider), &provider, voucher, at);
    let ends = pair.provider_ends.as_slice();
    assert!(matches!(ends, [ProviderEnd::Served { .. }]), "{ends:?}");
}
