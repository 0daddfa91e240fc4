//! Connections that say nothing, and servers that are full, over real sockets.

use std::{net::SocketAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use osier::Osier;
use osier_relay::{Bridge, Server, Settings};
use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{
        Error, Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

const PATIENCE: Duration = Duration::from_secs(20);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

struct Running {
    osier: Osier,
    server: Server,
    _dir: tempfile::TempDir,
}

impl Running {
    async fn start(set: impl FnOnce(&mut Settings)) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let mut settings = Settings::new(([127, 0, 0, 1], 0).into());
        set(&mut settings);
        let bridge = Bridge::new(settings);
        let builder = Osier::builder().data_dir(dir.path().join("data"));
        let osier = builder.projection(bridge.projection()).open().await;
        let osier = osier.expect("a node");
        let topic = osier.create_topic("lobby").await;
        let topic = topic.expect("a topic");
        let attached = bridge.attach(&osier, &mut |_, _| {});
        let attached = attached.expect("an index");
        let server = attached.serve(topic).await.expect("a free port");
        Self {
            osier,
            server,
            _dir: dir,
        }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    async fn connect(&self) -> Result<Socket, Error> {
        let (mut socket, _) = connect_async(format!("ws://{}", self.address())).await?;
        let challenge = socket.next().await.expect("a challenge")?;
        assert!(challenge.to_text()?.starts_with("[\"AUTH\""));
        Ok(socket)
    }

    async fn stop(self) {
        self.server.shutdown().await;
        self.osier.shutdown().await;
    }
}

/// The code of the close frame that comes.
async fn closed(socket: &mut Socket) -> Option<u16> {
    let read = async {
        while let Some(message) = socket.next().await {
            if let Ok(Message::Close(frame)) = message {
                return frame.map(|frame| frame.code.into());
            }
        }
        None
    };
    timeout(PATIENCE, read).await.expect("the relay closes")
}

/// case NR-28: a client that does not even answer pings is gone after a while, and its
/// subscriptions with it; a quiet one that answers stays.
#[tokio::test(flavor = "multi_thread")]
async fn case_nr_28_the_dead_are_told_from_the_quiet() {
    let running = Running::start(|settings| {
        settings.ping_after = Duration::from_millis(200);
        settings.gone_after = Duration::from_millis(900);
        settings.look_every = Duration::from_millis(50);
    })
    .await;
    let mut dead = running.connect().await.unwrap();
    dead.send(Message::text("[\"REQ\",\"s\",{}]"))
        .await
        .unwrap();
    let mut quiet = running.connect().await.unwrap();
    let figures = running.server.figures();
    let subscribed = timeout(PATIENCE, async {
        while figures.subscriptions() == 0 {
            tokio::task::yield_now().await;
        }
    });
    subscribed.await.expect("it is subscribed");
    assert_eq!(figures.connections(), 2);
    // Reading is what answers pings: the dead one does not read, until it is too late.
    let pings = async {
        let mut pings = 0;
        while pings < 8 {
            let message = quiet.next().await.expect("it stays").expect("it stays");
            pings += u32::from(message.is_ping());
        }
    };
    timeout(PATIENCE, pings).await.expect("pings come");
    assert_eq!((figures.connections(), figures.subscriptions()), (1, 0));
    assert_eq!(closed(&mut dead).await, Some(1008));
    quiet
        .send(Message::text("[\"REQ\",\"s\",{}]"))
        .await
        .unwrap();
    let eose = timeout(PATIENCE, async {
        loop {
            let message = quiet.next().await.expect("it stays").expect("it stays");
            if message.is_text() {
                return message;
            }
        }
    });
    let eose = eose.await.expect("an answer");
    assert!(
        eose.to_text().unwrap().starts_with("[\"EOSE\",\"s\""),
        "{eose}"
    );
    running.stop().await;
}

/// A server that is full says so before the upgrade, and has room again when somebody leaves.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_server_says_so() {
    let running = Running::start(|settings| settings.connections_max = 2).await;
    let first = running.connect().await.unwrap();
    let _second = running.connect().await.unwrap();
    match running.connect().await {
        Err(Error::Http(answer)) => assert_eq!(answer.status(), 503),
        other => panic!("let in, or {other:?}"),
    }
    drop(first);
    timeout(PATIENCE, async {
        while running.connect().await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("there is room again");
    running.stop().await;
}

/// Who opens a connection and says nothing, or a byte a second, holds nothing for long.
#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_has_its_time() {
    let running = Running::start(|settings| {
        settings.handshake_within = Duration::from_millis(300);
    })
    .await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    stream.try_write(b"GET / HT").unwrap();
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    // Closed or reset; and no WebSocket.
    let _ = read.expect("the relay closes it");
    assert!(!rest.starts_with(b"HTTP/1.1 101"));
    running.stop().await;
}

/// Clients are told when the relay stops, and the store can be opened again at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_stops_says_goodbye() {
    let running = Running::start(|_| {}).await;
    let mut client = running.connect().await.unwrap();
    let dir = running.osier.home().dir().to_owned();
    let (code, ()) = tokio::join!(closed(&mut client), async {
        running.server.shutdown().await;
        running.osier.shutdown().await;
    });
    assert_eq!(code, Some(1001));
    let again = Osier::builder().data_dir(dir).offline().open().await;
    again.expect("nothing holds the store").shutdown().await;
}

/// NOS-49: who closes gets a close frame back, and not a connection that just ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_closes_gets_an_answer() {
    let running = Running::start(|_| {}).await;
    let mut client = running.connect().await.unwrap();
    let frame = CloseFrame {
        code: CloseCode::Normal,
        reason: "bye".into(),
    };
    client.send(Message::Close(Some(frame))).await.unwrap();
    assert_eq!(closed(&mut client).await, Some(1000));
    running.stop().await;
}
