//! `/v1/relay`: figures of the relay that runs beside this API.

use axum::{Json, extract::State};

use crate::{
    server::{RelayFigures, Shared},
    shape::Relay,
};

/// What the relay is doing; null where none runs.
#[utoipa::path(get, path = "/v1/relay", tag = "node", responses((status = 200, body = Relay)))]
pub(crate) async fn figures(State(shared): State<Shared>) -> Json<Relay> {
    let relay = shared.relay.as_ref().map(RelayFigures::read);
    Json(Relay { relay })
}
