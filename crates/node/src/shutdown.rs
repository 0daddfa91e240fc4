//! How a node ends: goodbyes within a time limit, then everything that was handed to the disk is
//! written and answered, then nothing is left open (`IR-10`).

use osier_proto::CloseCode;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    driver::{Arrivals, Driver},
    limit::GOODBYE_WITHIN,
};

/// Runs the driver until it is told to stop or every handle is gone, then ends the node.
pub(crate) async fn run_to_end(
    mut driver: Driver,
    mut arrivals: Arrivals,
    acceptor: JoinHandle<()>,
) {
    let answer = driver.run(&mut arrivals).await;
    end(driver, arrivals, acceptor).await;
    if let Some(answer) = answer {
        let _ = answer.send(());
    }
}

/// Ends everything that the node has started. On return nothing of it holds the socket, which iroh
/// closes with the last clone of its endpoint, or the store.
async fn end(mut driver: Driver, mut arrivals: Arrivals, acceptor: JoinHandle<()>) {
    acceptor.abort();
    end_sessions(&mut driver, &mut arrivals).await;
    let connections = driver.connections.clone();
    connections.close_all(CloseCode::Cancelled);
    drain_disk(&mut driver, &mut arrivals).await;
    let thread = driver.disk.close();
    driver.swarms.close().await;
    connections.endpoint().close().await;
    let tasks = &connections.net().tasks;
    tasks.close();
    let _ = timeout(GOODBYE_WITHIN, tasks.wait()).await;
    if let Some(thread) = thread {
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
    let _ = acceptor.await;
    drop((driver, connections));
    // Last: another caller takes the end of commands for the end of all this.
    drop(arrivals);
}

/// Tells every session's peer, and takes what sessions still say.
async fn end_sessions(driver: &mut Driver, arrivals: &mut Arrivals) {
    let net = driver.connections.net().clone();
    net.closing.cancel();
    driver.cancel_sessions();
    net.sessions.close();
    let until = Instant::now() + GOODBYE_WITHIN;
    loop {
        tokio::select! {
            biased;
            () = net.sessions.wait() => return,
            arrival = driver.next_of_peers(arrivals) => driver.take(arrival),
            () = sleep_until(until) => return,
        }
    }
}

/// Waits until nothing is on its way to disk, so that every write is answered.
async fn drain_disk(driver: &mut Driver, arrivals: &mut Arrivals) {
    while driver.disk.in_flight() > 0 {
        match arrivals.disk.recv().await {
            Some(arrival) => driver.take(arrival),
            None => return,
        }
    }
}
