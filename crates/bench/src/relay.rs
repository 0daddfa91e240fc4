//! Relays under load: ours in a process of its own, and any other that is named by its URL.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use osier::Osier;
use osier_nostr::{Event, testing};
use osier_relay::{Bridge, Settings};
use tokio::{net::TcpStream, runtime::Runtime};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

use crate::process;

/// Marks the argument of the relay's process.
pub(crate) const CHILD: &str = "relay:";

/// Keys that events are signed with.
pub(crate) const AUTHORS: u8 = 200;

/// No answer takes longer, or something is wrong.
const PATIENCE: Duration = Duration::from_mins(1);

/// A relay that is measured.
#[derive(Debug)]
pub(crate) struct Target {
    /// Its name in the table.
    pub(crate) name: String,
    url: String,
    own: Option<Own>,
}

/// Our relay's process and folder; ended when dropped.
#[derive(Debug)]
struct Own {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Own {
    fn drop(&mut self) {
        // Ours to end; a failure means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Target {
    /// Ours, empty, and the peers that were named.
    pub(crate) fn all(peers: &[String]) -> Result<Vec<Self>> {
        let mut all = vec![Self::own()?];
        for peer in peers {
            let (name, url) = peer
                .split_once('=')
                .context("a peer is named as name=ws://address")?;
            all.push(Self {
                name: name.to_owned(),
                url: url.to_owned(),
                own: None,
            });
        }
        Ok(all)
    }

    fn own() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--child")
            .arg(format!("{CHILD}{}", folder.path().join("data").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the relay's process does not start")?;
        let stdout = child.stdout.take().context("its output is piped")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        ensure!(
            url.starts_with("ws://"),
            "the relay's process says where it listens"
        );
        Ok(Self {
            name: "osier".to_owned(),
            url: url.trim().to_owned(),
            own: Some(Own {
                child,
                _folder: folder,
            }),
        })
    }

    /// CPU time of the relay's process; none for a peer, whose process is not ours to find.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let own = self.own.as_ref()?;
        Some(process::cpu_time_of(&own.child.id().to_string()))
    }

    /// Anonymous memory of the relay's process in bytes, as for [`Self::cpu`].
    pub(crate) fn memory(&self) -> Option<u64> {
        let own = self.own.as_ref()?;
        Some(process::anonymous_bytes_of(&own.child.id().to_string()))
    }

    /// A client.
    pub(crate) async fn connect(&self) -> Result<Client> {
        let (socket, _) = connect_async(&self.url)
            .await
            .with_context(|| format!("cannot connect to {}", self.url))?;
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_nodelay(true)?;
        }
        Ok(Client(socket))
    }
}

/// A connection to a relay.
#[derive(Debug)]
pub(crate) struct Client(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    /// Sends a frame.
    pub(crate) async fn say(&mut self, text: String) -> Result<()> {
        Ok(self.0.send(Message::text(text)).await?)
    }

    /// The next text frame.
    pub(crate) async fn next(&mut self) -> Result<Message> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.0.next()).await?;
            let frame = frame.context("the relay closed the connection")??;
            if frame.is_text() {
                return Ok(frame);
            }
        }
    }

    /// The next frame that starts so; others are passed over.
    pub(crate) async fn until(&mut self, start: &str) -> Result<Message> {
        loop {
            let frame = self.next().await?;
            if frame.to_text()?.starts_with(start) {
                return Ok(frame);
            }
        }
    }
}

/// Signed notes of 200 authors in turn, one second apart, the last one now; their contents begin
/// with their number.
pub(crate) fn notes(count: u64) -> Vec<Event> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let note = |n: u64| {
        let author = u8::try_from(n % u64::from(AUTHORS)).unwrap_or(0) + 1;
        let content = format!("{n} {}", "words of a note ".repeat(12));
        testing::note(author, now - (count - n), &content)
    };
    (0..count).map(note).collect()
}

/// The relay's process: serves until its standard input closes.
pub(crate) fn child(folder: &str) -> Result<()> {
    Runtime::new()?.block_on(async {
        let bridge = Bridge::new(Settings::new(([127, 0, 0, 1], 0).into()));
        let node = Osier::builder()
            .data_dir(PathBuf::from(folder))
            .mdns(false)
            .projection(bridge.projection())
            .open()
            .await?;
        let topic = node.create_topic("lobby").await?;
        let server = bridge.attach(&node, &mut |_, _| {})?.serve(topic).await?;
        let mut out = std::io::stdout();
        writeln!(out, "ws://{}", server.address())?;
        out.flush()?;
        tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
        server.shutdown().await;
        node.shutdown().await;
        Ok(())
    })
}
