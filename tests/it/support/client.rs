//! A Nostr client that says exactly what it is told, and reads with a time limit.

use std::{
    collections::VecDeque,
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    time::{SystemTime, UNIX_EPOCH},
};

use osier_nostr::{Event, testing};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    self, Error, Message, WebSocket,
    protocol::{CloseFrame, frame::Frame},
};

use super::{PATIENCE, node::Node};

/// A connection to a relay.
pub(crate) struct Client {
    socket: WebSocket<TcpStream>,
    /// Messages that were read and are for somebody else.
    set_aside: VecDeque<Value>,
    /// The challenge that came as the connection opened.
    pub(crate) challenge: String,
    url: String,
    drained: u64,
}

/// The kind of the events that [`Client::drain`] publishes.
const LAST: u16 = 9_999;

/// An answer to a `REQ`, up to its end.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Ids, in order.
    pub(crate) ids: Vec<String>,
    /// The third element of `EOSE`; null when there is none.
    pub(crate) hints: Value,
}

impl Client {
    /// Connects to a node's relay, and reads the challenge.
    pub(crate) fn connect(node: &Node) -> Self {
        Self::connect_to(node.relay())
    }

    pub(crate) fn connect_to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the relay listens");
        stream.set_nodelay(true).expect("a TCP socket");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a TCP socket");
        let url = format!("ws://{address}");
        let (socket, _) = tungstenite::client(&url, stream).expect("a WebSocket handshake");
        let mut client = Self {
            socket,
            set_aside: VecDeque::new(),
            challenge: String::new(),
            url,
            drained: 0,
        };
        let auth = client.next();
        assert_eq!(auth[0], "AUTH", "a challenge comes first: {auth}");
        auth[1]
            .as_str()
            .expect("a text")
            .clone_into(&mut client.challenge);
        client
    }

    /// The relay, as this client calls it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a text frame.
    pub(crate) fn text(&mut self, text: &str) {
        self.message(Message::text(text));
    }

    pub(crate) fn message(&mut self, message: Message) {
        self.socket.send(message).expect("the relay reads");
    }

    /// Sends a frame as it is; possibly a part of a message.
    pub(crate) fn frame(&mut self, frame: Frame) {
        self.message(Message::Frame(frame));
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.text(&message.to_string());
    }

    /// The next message that has not been read.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    return serde_json::from_str(&text).expect("a relay sends JSON");
                }
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                other => panic!("no message came: {other:?}"),
            }
        }
    }

    /// The next message with this verb and, after it, this element. Others are set aside.
    pub(crate) fn expect(&mut self, verb: &str, id: &str) -> Value {
        let wanted = |message: &Value| message[0] == verb && message[1] == id;
        if let Some(at) = self.set_aside.iter().position(wanted) {
            return self.set_aside.remove(at).expect("it is there");
        }
        loop {
            let message = self.next();
            if wanted(&message) {
                return message;
            }
            self.set_aside.push_back(message);
        }
    }

    /// The next message about a request, whatever it says.
    pub(crate) fn expect_any(&mut self, id: &str) -> Value {
        loop {
            let message = self.next();
            if message[1] == id {
                return message;
            }
            self.set_aside.push_back(message);
        }
    }

    /// Publishes an event, and says what came of it.
    pub(crate) fn publish(&mut self, event: &Event) -> (bool, String) {
        self.publish_text(&event.id().to_string(), event.json())
    }

    pub(crate) fn publish_text(&mut self, id: &str, json: &str) -> (bool, String) {
        self.text(&format!("[\"EVENT\",{json}]"));
        let ok = self.expect("OK", id);
        let reason = ok[3].as_str().expect("a reason").to_owned();
        (ok[2].as_bool().expect("true or false"), reason)
    }

    /// Publishes events that must be taken.
    pub(crate) fn publish_all<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>) {
        for event in events {
            assert_eq!(self.publish(event), (true, String::new()), "{event:?}");
        }
    }

    /// Asks for events; reads up to `EOSE`. A name that was used before may still get live events
    /// of then.
    pub(crate) fn req(&mut self, id: &str, filters: &[Value]) -> Stored {
        self.ask("REQ", id, filters);
        self.stored(id)
    }

    /// Reads the stored events of a request that was sent.
    pub(crate) fn stored(&mut self, id: &str) -> Stored {
        let mut ids = Vec::new();
        loop {
            let message = self.next();
            match message[0].as_str() {
                Some("EVENT") if message[1] == id => {
                    ids.push(message[2]["id"].as_str().expect("an id").to_owned());
                }
                Some("EOSE") if message[1] == id => {
                    let hints = message.get(2).cloned().unwrap_or(Value::Null);
                    return Stored { ids, hints };
                }
                Some("CLOSED") if message[1] == id => panic!("{message}"),
                _ => self.set_aside.push_back(message),
            }
        }
    }

    /// How many match.
    pub(crate) fn count(&mut self, filters: &[Value]) -> Value {
        self.ask("COUNT", "count", filters);
        self.expect("COUNT", "count")[2].clone()
    }

    /// Why a request is refused.
    pub(crate) fn refused(&mut self, verb: &str, id: &str, filters: &[Value]) -> String {
        self.ask(verb, id, filters);
        let closed = self.expect("CLOSED", id);
        closed[2].as_str().expect("a reason").to_owned()
    }

    pub(crate) fn ask(&mut self, verb: &str, id: &str, filters: &[Value]) {
        let mut message = vec![json!(verb), json!(id)];
        message.extend(filters.iter().cloned());
        self.send(&Value::Array(message));
    }

    /// Authenticates as test user `n`.
    pub(crate) fn authenticate(&mut self, n: u8) -> (bool, String) {
        let (challenge, url) = (self.challenge.clone(), self.url.clone());
        self.authenticate_with(n, &challenge, &url)
    }

    pub(crate) fn authenticate_with(
        &mut self,
        n: u8,
        challenge: &str,
        url: &str,
    ) -> (bool, String) {
        let tags: &[&[&str]] = &[&["relay", url], &["challenge", challenge]];
        let event = testing::event(n, now(), 22242, tags, "");
        self.text(&format!("[\"AUTH\",{}]", event.json()));
        let ok = self.expect("OK", &event.id().to_string());
        let reason = ok[3].as_str().expect("a reason").to_owned();
        (ok[2] == true, reason)
    }

    /// Everything that has come and was not asked after. Live events come in the order in which
    /// they were stored, so what was to come before an event of our own has come.
    pub(crate) fn drain(&mut self) -> Vec<Value> {
        self.drained += 1;
        let last = testing::event(250, self.drained, LAST, &[], &self.challenge);
        let id = format!("drain {}", self.drained);
        self.req(&id, &[json!({ "kinds": [LAST], "limit": 0 })]);
        self.publish_all([&last]);
        self.expect("EVENT", &id);
        self.send(&json!(["CLOSE", id]));
        let others = |message: &Value| message[2]["kind"] != LAST;
        self.set_aside.drain(..).filter(others).collect()
    }

    /// Reads until the relay closes the connection; its code and reason.
    pub(crate) fn closed(&mut self) -> Option<CloseFrame> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return frame,
                Ok(_) => {}
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return None,
                Err(Error::Io(error)) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("not closed but {error}"),
            }
        }
    }
}

/// Seconds of the Unix epoch.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_secs()
}

/// The ids of events, as clients see them.
pub(crate) fn ids<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    events.into_iter().map(|it| it.id().to_string()).collect()
}
