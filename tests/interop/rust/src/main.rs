//! A relay that others wrote: rust-nostr's relay builder over LMDB, in a folder that is named.
//!
//! It writes its address on one line and serves until its standard input closes.

use std::{env, error::Error};

use nostr_lmdb::NostrLMDB;
use nostr_relay_builder::prelude::*;
use tokio::io::AsyncReadExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("name the folder of the relay's database")?;
    let limits = RateLimit {
        max_reqs: 10_000,
        notes_per_minute: u32::MAX,
    };
    let builder = RelayBuilder::default()
        .database(NostrLMDB::open(folder)?)
        .rate_limit(limits)
        .max_filter_limit(1_000);
    let relay = LocalRelay::new(builder);
    relay.run().await?;
    println!("{}", relay.url().await);
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    relay.shutdown();
    Ok(())
}
