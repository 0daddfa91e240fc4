//! Follows a topic: `cargo run -p osier --example watch -- DIR [TICKET]`.
//!
//! Without a ticket it makes a topic, prints its ticket, and publishes what is typed.

use std::io::{BufRead, stdin};

use osier::{Event, Osier, Position, SyncEvent, Ticket};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "an example")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("usage: watch DIR [TICKET]")?;
    let node = Osier::builder().data_dir(dir).open().await?;
    let topic = match args.next() {
        Some(ticket) => node.join(&ticket.parse::<Ticket>()?).await?,
        None => node.create_topic("example").await?,
    };
    println!("ticket: {}", topic.ticket()?);

    let (writer, runtime) = (topic.clone(), tokio::runtime::Handle::current());
    std::thread::spawn(move || {
        for line in stdin().lock().lines().map_while(Result::ok) {
            runtime.block_on(writer.publish(line)).expect("published");
        }
    });
    let mut watch = topic.watch(Position::START).await?;
    while let Some(event) = watch.next().await {
        match event {
            Event::Entry { entry, .. } => println!("entry: {:?}", entry.items()),
            Event::Sync(SyncEvent::HistorySynced(it)) => println!("synced: {:?}", it.coverage),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}
