//! Connections and streams: how sessions reach other nodes.

mod accept;
mod address;
mod connection;
mod dial;
mod endpoint;
mod session;
mod stream;
mod teller;

pub(crate) use accept::{Acceptor, Ask, Decision};
pub(crate) use address::PeerBook;
pub(crate) use connection::Connections;
pub(crate) use dial::open_session;
pub(crate) use endpoint::{Bound, addresses, bind};
pub(crate) use session::{Order, blocking};

/// The protocol of sessions (`SES-1`).
pub(crate) const SYNC_ALPN: &[u8] = b"osier/sync/1";

/// Label of the bytes exported from a connection's key exchange, to which proofs are bound.
const BINDING_LABEL: &[u8] = b"osier sync v1";

/// What both ends of a connection know and nobody else does.
fn binding(connection: &iroh::endpoint::Connection) -> Result<[u8; 32], String> {
    let mut binding = [0; 32];
    connection
        .export_keying_material(&mut binding, BINDING_LABEL, b"")
        .map_err(|error| format!("the connection exports no keys: {error:?}"))?;
    Ok(binding)
}

/// A node's id as iroh's; none if it is no point of the curve, so nobody can have it.
pub(crate) fn endpoint_id(node: osier_core::NodeId) -> Option<iroh::EndpointId> {
    iroh::EndpointId::from_bytes(node.as_bytes()).ok()
}

/// Iroh's id as ours.
pub(crate) fn node_id(endpoint: iroh::EndpointId) -> osier_core::NodeId {
    osier_core::NodeId::from_bytes(*endpoint.as_bytes())
}
