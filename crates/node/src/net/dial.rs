//! Sessions at their start: opened with a provider, or answered when a peer asks.

use std::sync::Arc;

use iroh::endpoint::{Connection, RecvStream, SendStream};
use osier_engine::{GrantSession, OpenSession};
use osier_proto::{
    ClientSession, CloseCode, Fault, Hello, Message, ProviderConfig, ProviderSession,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{
    Ask, Connections, Decision, binding, node_id,
    session::{Machine, Order, Runner, blocking},
    stream::Wire,
    teller::{Side, Teller},
};
use crate::{
    arrival::Arrival,
    limit::{DIAL_WITHIN, HELLO_WITHIN},
    shared::Shared,
};

/// Opens a session with a provider and runs it to its end.
pub(crate) async fn open_session(
    connections: Arc<Connections>,
    open: Box<OpenSession>,
    orders: mpsc::Receiver<Order>,
) {
    let net = Arc::clone(connections.net());
    let teller = Teller::new(open.key, Side::Client, net);
    let task = run_client(connections, *open, orders, teller.clone());
    teller.supervise(task).await;
}

async fn run_client(
    connections: Arc<Connections>,
    open: OpenSession,
    mut orders: mpsc::Receiver<Order>,
    teller: Teller,
) {
    for address in &open.addresses {
        if connections
            .book()
            .note_text(open.provider, address)
            .is_err()
        {
            tracing::debug!(%address, "a provider's address cannot be read");
        }
    }
    let reached = tokio::select! {
        reached = reach(&connections, &open) => reached,
        Some(Order::Cancel(reason)) = orders.recv() => return teller.failed(reason).await,
    };
    let (binding, send, recv) = match reached {
        Ok(reached) => reached,
        Err(cause) => return teller.fail(&cause).await,
    };
    let net = connections.net();
    let wire = Wire::new(send, recv, Arc::clone(&net.counters));
    let config = open.into_config(net.me.node_id(), binding, Arc::clone(&net.source));
    let now = net.clock.at();
    match blocking(|| ClientSession::new(config, now)) {
        Ok(machine) => {
            net.counters.sessions_opened.one();
            Runner::new(Box::new(machine), wire, orders, teller)
                .run()
                .await;
        }
        Err(error) => {
            wire.abort(CloseCode::Internal);
            teller.faulty(Fault::Local(error)).await;
        }
    }
}

async fn reach(
    connections: &Arc<Connections>,
    open: &OpenSession,
) -> Result<([u8; 32], SendStream, RecvStream), String> {
    let connection = connections.to(open.provider).await?;
    let binding = binding(&connection)?;
    match timeout(DIAL_WITHIN, connection.open_bi()).await {
        Ok(Ok((send, recv))) => Ok((binding, send, recv)),
        Ok(Err(error)) => Err(format!("the connection closed: {error}")),
        Err(_) => Err("the provider grants no further stream".to_owned()),
    }
}

/// Reads a peer's request from a stream that it has opened, asks the engine, and serves.
pub(super) async fn answer(
    net: Arc<Shared>,
    connection: Connection,
    send: SendStream,
    recv: RecvStream,
) {
    let mut wire = Wire::new(send, recv, Arc::clone(&net.counters));
    let Ok(place) = net.asks.try_acquire() else {
        return wire.abort(CloseCode::Cancelled);
    };
    let hello = match timeout(HELLO_WITHIN, wire.first_message()).await {
        Ok(Some(Message::Hello(hello))) => hello,
        Ok(_) => return without_hello(&net, wire, CloseCode::Malformed),
        Err(_) => return without_hello(&net, wire, CloseCode::Silent),
    };
    let Ok(binding) = binding(&connection) else {
        return without_hello(&net, wire, CloseCode::Internal);
    };
    let peer = node_id(connection.remote_id());
    let (decide, decided) = oneshot::channel();
    let ask = Ask {
        id: net.next_ask(),
        peer,
        binding,
        hello: Box::new(hello.clone()),
        decide,
    };
    if net.arrivals.send(Arrival::Asked(ask)).await.is_err() {
        return wire.abort(CloseCode::Cancelled);
    }
    let decision = decided.await;
    drop(place);
    match decision {
        Ok(Decision::Grant { grant, orders }) => {
            let teller = Teller::new(grant.key, Side::Provider, Arc::clone(&net));
            let task = serve(
                &net,
                (peer, binding),
                (*grant, hello),
                orders,
                wire,
                &teller,
            );
            teller.clone().supervise(task).await;
        }
        Ok(Decision::Refuse(refuse)) => {
            wire.push(&Message::Refuse(refuse));
            wire.close(CloseCode::Done).await;
        }
        Err(_) => wire.abort(CloseCode::Cancelled),
    }
}

fn without_hello(net: &Shared, wire: Wire, code: CloseCode) {
    net.counters.streams_without_hello.one();
    wire.abort(code);
}

async fn serve(
    net: &Arc<Shared>,
    (client, binding): (osier_core::NodeId, [u8; 32]),
    (grant, hello): (GrantSession, Hello),
    orders: mpsc::Receiver<Order>,
    mut wire: Wire,
    teller: &Teller,
) {
    let config = ProviderConfig {
        me: net.me.clone(),
        client,
        topic: grant.topic,
        keys: grant.keys,
        binding,
        session: grant.session,
        role: grant.role,
        source: Arc::clone(&net.source),
        seal: net.seal.clone(),
    };
    let now = net.clock.at();
    match blocking(|| ProviderSession::accept(config, hello, now)) {
        Ok(machine) => {
            net.counters.sessions_granted.one();
            let machine: Machine = Box::new(machine);
            Runner::new(machine, wire, orders, teller.clone())
                .run()
                .await;
        }
        Err(refuse) => {
            wire.push(&Message::Refuse(refuse));
            wire.close(CloseCode::Done).await;
            teller.fail("refused").await;
        }
    }
}
