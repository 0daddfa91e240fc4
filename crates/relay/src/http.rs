//! What comes before a WebSocket: one HTTP request, answered with an upgrade, with the document of
//! NIP-11, or with a word on what this is.

use std::{convert::Infallible, net::IpAddr, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ACCEPT, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, UPGRADE},
    server::conn::http1,
    service::service_fn,
    upgrade::Upgraded,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use osier::random_bytes;
use osier_nostr::nip::nip11;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response;

use crate::{
    connection::Connection,
    door::{Door, Full as NoRoom, Guest},
    limit,
    server::Front,
    socket::Socket,
};

type Answer = Response<Full<Bytes>>;

/// Serves one TCP connection up to its upgrade. What it becomes goes on in a task of its own.
pub(crate) async fn serve(front: Arc<Front>, stream: TcpStream, ip: IpAddr) {
    // Small answers must not wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let answer = |request| {
        let front = Arc::clone(&front);
        async move { Ok::<_, Infallible>(answer(&front, request, ip)) }
    };
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(front.handshake_within)
        .max_buf_size(limit::REQUEST_HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .with_upgrades();
    // The body of a request is never read, so this bounds the answer too.
    match tokio::time::timeout(front.handshake_within, served).await {
        Ok(Ok(())) | Err(_) => {}
        Ok(Err(error)) => tracing::debug!(%error, %ip, "a request failed"),
    }
}

fn answer(front: &Arc<Front>, request: Request<Incoming>, ip: IpAddr) -> Answer {
    if asks_for_websocket(request.headers()) {
        return upgrade(front, request, ip);
    }
    let mut answer = describe(front, &request);
    // One request a connection: nothing is held open for a next one.
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(CONNECTION, close);
    answer
}

/// Whether a WebSocket is asked for. An offer of another protocol, as of HTTP/2 by curl, may be
/// passed over.
fn asks_for_websocket(headers: &HeaderMap) -> bool {
    let all = headers.get_all(UPGRADE).into_iter();
    let mut protocols = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    protocols.any(|protocol| protocol.trim().eq_ignore_ascii_case("websocket"))
}

/// The answer to a request that asks for no WebSocket.
fn describe(front: &Front, request: &Request<Incoming>) -> Answer {
    match *request.method() {
        Method::OPTIONS => with_cors(plain(StatusCode::NO_CONTENT, "")),
        Method::GET | Method::HEAD if asks_for_document(request) => document(front),
        Method::GET | Method::HEAD => with_cors(plain(StatusCode::OK, WHAT_THIS_IS)),
        _ => with_cors(plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "ask by GET, or open a WebSocket\n",
        )),
    }
}

const WHAT_THIS_IS: &str = "This is a Nostr relay: connect to this URL with a Nostr client.\n\
    For its description ask with the header Accept: application/nostr+json.\n";

fn asks_for_document(request: &Request<Incoming>) -> bool {
    let accepts = request.headers().get_all(ACCEPT).into_iter();
    accepts
        .filter_map(|accept| accept.to_str().ok())
        .any(nip11::is_asked_for)
}

fn document(front: &Front) -> Answer {
    let mut answer = Response::new(Full::from(front.document()));
    let media = HeaderValue::from_static(nip11::MEDIA_TYPE);
    answer.headers_mut().insert(CONTENT_TYPE, media);
    with_cors(answer)
}

fn with_cors(mut answer: Answer) -> Answer {
    for (name, value) in nip11::CORS {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::from(text));
    *answer.status_mut() = status;
    let media = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, media);
    answer
}

/// Opens a WebSocket, if there is room for one more.
fn upgrade(front: &Arc<Front>, mut request: Request<Incoming>, ip: IpAddr) -> Answer {
    let guest = match Door::enter(&front.door, ip) {
        Ok(guest) => guest,
        Err(NoRoom::All) => {
            return plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many connections; try later\n",
            );
        }
        Err(NoRoom::Ip) => {
            return plain(
                StatusCode::TOO_MANY_REQUESTS,
                "too many connections from your address; close some\n",
            );
        }
    };
    let upgraded = hyper::upgrade::on(&mut request);
    let head = request.map(|_| ());
    let switched = match create_response(&head) {
        Ok(switched) => switched,
        Err(error) => {
            tracing::debug!(%error, %ip, "a handshake is not one of a WebSocket");
            return plain(
                StatusCode::BAD_REQUEST,
                "this is not the handshake of a WebSocket\n",
            );
        }
    };
    let opened = Arc::clone(front);
    front.tasks.spawn(async move {
        match upgraded.await {
            Ok(upgraded) => open(&opened, upgraded, guest).await,
            Err(error) => tracing::debug!(%error, %ip, "an upgrade failed"),
        }
    });
    switched.map(|()| Full::default())
}

/// Starts the connection's own task: a small one, that lives long.
async fn open(front: &Front, upgraded: Upgraded, guest: Guest) {
    let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() else {
        tracing::error!("an upgraded connection is no TCP stream: this is a bug");
        return;
    };
    let Ok(challenge) = random_bytes::<16>() else {
        tracing::error!("no randomness for a challenge");
        return;
    };
    let challenge = data_encoding::HEXLOWER.encode(&challenge);
    let socket = Socket::new(parts.io.into_inner(), parts.read_buf.to_vec()).await;
    let relay = Arc::clone(&front.relay);
    let id = relay.next_connection();
    let connection = Connection::open(relay, (id, guest.place()), &challenge, socket);
    front.tasks.spawn(async move {
        connection.run().await;
        drop(guest);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_upgrade_is_no_websocket() {
        let asks = |value: &'static str| {
            let value = HeaderValue::from_static(value);
            asks_for_websocket(&HeaderMap::from_iter([(UPGRADE, value)]))
        };
        assert!(asks("websocket") && asks("WebSocket") && asks("h2c, websocket"));
        assert!(!asks("h2c") && !asks("TLS/1.0, h2c") && !asks_for_websocket(&HeaderMap::new()));
    }
}
