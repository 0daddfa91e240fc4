//! A client of NIP-77.

use data_encoding::HEXLOWER;
use osier_nostr::Event;
use osier_reconcile::{FrameLimit, Item, MemoryInitiator};
use serde_json::{Value, json};

use super::client::Client;

/// What a comparison found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    /// What the client alone has, sorted.
    pub(crate) have: Vec<String>,
    /// What the relay alone has, sorted.
    pub(crate) need: Vec<String>,
    /// Answers of the relay.
    pub(crate) rounds: u64,
}

/// One comparison of the client's own events with those that a filter finds.
pub(crate) fn compare(
    client: &mut Client,
    filter: &Value,
    own: &[&Event],
    frames: FrameLimit,
) -> Compared {
    let items = own
        .iter()
        .map(|it| Item::new(it.created_at().get(), *it.id().as_bytes()));
    let items: Vec<Item> = items.collect();
    let (mut initiator, frame) = MemoryInitiator::start(&items, frames).expect("a set");
    client.send(&json!(["NEG-OPEN", "neg", filter, hex(&frame)]));
    let (mut have, mut need, mut rounds) = (Vec::new(), Vec::new(), 0);
    loop {
        let answer = client.expect("NEG-MSG", "neg");
        rounds += 1;
        let progress = initiator.reconcile(&bytes(&answer[2])).expect("a frame");
        have.extend(progress.have.iter().map(|id| hex(id)));
        need.extend(progress.need.iter().map(|id| hex(id)));
        let Some(next) = progress.next else { break };
        client.send(&json!(["NEG-MSG", "neg", hex(&next)]));
    }
    client.send(&json!(["NEG-CLOSE", "neg"]));
    for ids in [&mut have, &mut need] {
        ids.sort_unstable();
        // Frames that are cut may name an id again.
        ids.dedup();
    }
    Compared { have, need, rounds }
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().expect("hex");
    HEXLOWER.decode(hex.as_bytes()).expect("hex")
}

fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}
