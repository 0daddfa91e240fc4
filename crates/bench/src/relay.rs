//! Relays under load: ours in a process of its own, and any other that is named by its URL.

use std::{
    io::{BufRead, BufReader, Read, Write},
    ops::Range,
    path::{Path, PathBuf},
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

use crate::{process, report::Must};

/// Marks the argument of the relay's process.
pub(crate) const CHILD: &str = "relay:";

/// The binary of the peer that `tests/interop/rust` builds.
const BUILDER: &str = "builder-relay";

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
    started: Option<Started>,
    is_ours: bool,
}

/// A relay's process and folder; ended when dropped.
#[derive(Debug)]
struct Started {
    child: Child,
    _folder: tempfile::TempDir,
}

/// Which relays are measured beside ours.
#[derive(Debug)]
pub(crate) struct Peers {
    /// As `name=ws://address`.
    named: Vec<String>,
    /// The relay that `tests/interop/rust` builds, if it is to be started.
    builder: Option<PathBuf>,
}

impl Peers {
    /// Those that are named; and the one that we can start, if it was built and nobody says
    /// `alone`.
    pub(crate) fn new(named: &[String], alone: bool) -> Result<Self> {
        let bench = std::env::current_exe()?;
        // Built with the same profile: another would not be fair.
        let profile = bench.parent().context("a binary lies in a folder")?;
        let name = profile.file_name().context("the folder of a profile")?;
        let target = profile.parent().context("the target folder")?;
        let path = target.join("interop-rust").join(name).join(BUILDER);
        Ok(Self {
            named: named.to_vec(),
            builder: (!alone && path.exists()).then_some(path),
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Ours to end; a failure means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Target {
    /// Ours, empty, and the peers.
    pub(crate) fn all(peers: &Peers) -> Result<Vec<Self>> {
        let mut all = vec![Self::own()?];
        if let Some(path) = &peers.builder {
            all.push(Self::builder(path)?);
        }
        for peer in &peers.named {
            let (name, url) = peer
                .split_once('=')
                .context("a peer is named as name=ws://address")?;
            all.push(Self {
                name: name.to_owned(),
                url: url.to_owned(),
                started: None,
                is_ours: false,
            });
        }
        Ok(all)
    }

    fn own() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(std::env::current_exe()?);
        let data = folder.path().join("data");
        command
            .arg("--child")
            .arg(format!("{CHILD}{}", data.display()));
        Self::start("osier", command, folder, true)
    }

    /// rust-nostr's relay builder over LMDB.
    fn builder(path: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(path);
        command.arg(folder.path());
        Self::start("builder", command, folder, false)
    }

    /// A process that says where it listens and serves until its standard input closes.
    fn start(
        name: &str,
        mut command: Command,
        folder: tempfile::TempDir,
        is_ours: bool,
    ) -> Result<Self> {
        let mut child = command
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
            name: name.to_owned(),
            url: url.trim().to_owned(),
            started: Some(Started {
                child,
                _folder: folder,
            }),
            is_ours,
        })
    }

    /// Whether it is Osier.
    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// What a figure must reach: a peer's need reach nothing.
    pub(crate) fn must(&self, must: Must) -> Must {
        if self.is_ours { must } else { Must::BeShown }
    }

    /// CPU time of the relay's process; none of one that was started by hand.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let started = self.started.as_ref()?;
        Some(process::cpu_time_of(&started.child.id().to_string()))
    }

    /// Anonymous memory of the relay's process in bytes, as for [`Self::cpu`].
    pub(crate) fn memory(&self) -> Option<u64> {
        let started = self.started.as_ref()?;
        Some(process::anonymous_bytes_of(&started.child.id().to_string()))
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
    notes_of(count, 0..count)
}

/// Some of so many notes, by their numbers.
pub(crate) fn notes_of(count: u64, part: Range<u64>) -> Vec<Event> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let note = |n: u64| {
        let author = u8::try_from(n % u64::from(AUTHORS)).unwrap_or(0) + 1;
        let content = format!("{n} {}", "words of a note ".repeat(12));
        testing::note(author, now - (count - n), &content)
    };
    part.map(note).collect()
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
