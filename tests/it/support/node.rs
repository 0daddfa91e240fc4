//! A running node: `osier run` on ports of its own, ended when dropped.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{PATIENCE, json, ok, osier, watcher::Watcher};

/// What a node logs; shown only when its story fails.
const LOG: &str = "warn,osier=debug,iroh_gossip=debug";

/// Lines of a node's log that are shown.
const LOG_LINES_SHOWN: usize = 300;

/// `osier run` in a data folder of its own.
pub(crate) struct Node {
    child: Child,
    folder: Folder,
}

/// A node's data folder; outlives its processes.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the node"))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// Where the node's log goes, one run of it after another.
    fn log(&self) -> fs::File {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_path());
        log.expect("the folder takes a log")
    }

    fn log_path(&self) -> PathBuf {
        self.0.path().join("log.txt")
    }

    /// The end of the log, for whoever reads why a story failed.
    #[expect(clippy::print_stderr, reason = "a failing test shows what it printed")]
    fn print_log(&self) {
        let log = fs::read_to_string(self.log_path()).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let from = lines.len().saturating_sub(LOG_LINES_SHOWN);
        eprintln!("log of the node in {}:", self.path().display());
        for line in &lines[from..] {
            eprintln!("  {line}");
        }
    }
}

impl Node {
    /// Starts a node in a new folder and waits until it is ready.
    pub(crate) fn start() -> Self {
        Self::start_in(Folder::new())
    }

    /// Starts a node in a folder that may hold an earlier node's data.
    pub(crate) fn start_in(folder: Folder) -> Self {
        Self::start_with(folder, &[])
    }

    /// The same, with settings by environment.
    pub(crate) fn start_with(folder: Folder, settings: &[(&str, &str)]) -> Self {
        let data = folder.path();
        let before = fs::read(data.join("run.json")).unwrap_or_default();
        let child = osier(&data)
            .arg("run")
            .args(["--listen-p2p", "127.0.0.1:0", "--listen-api", "127.0.0.1:0"])
            .args(["--listen-relay", "127.0.0.1:0"])
            .env("OSIER_LOG", LOG)
            .envs(settings.iter().copied())
            .stdout(Stdio::null())
            .stderr(folder.log())
            .spawn()
            .expect("osier run starts");
        let mut node = Self { child, folder };
        node.wait_ready(&before);
        node
    }

    /// Polls the readiness that an operator would poll: there is no event to wait for yet.
    fn wait_ready(&mut self, before: &[u8]) {
        let limit = Instant::now() + PATIENCE;
        loop {
            let now = fs::read(self.data().join("run.json")).unwrap_or_default();
            if now != before && serde_json::from_slice::<Value>(&now).is_ok() {
                return;
            }
            let ended = self.child.try_wait().expect("the child can be asked");
            assert!(
                ended.is_none(),
                "osier run ended with {ended:?} before it was ready"
            );
            assert!(
                Instant::now() < limit,
                "osier run was not ready in {PATIENCE:?}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path()
    }

    /// Makes a topic and returns its ticket.
    pub(crate) fn new_topic(&self, name: &str) -> String {
        ok(&self.data(), &["topic", "new", name]);
        self.ticket(name)
    }

    /// The ticket of a topic, as one pasteable string.
    pub(crate) fn ticket(&self, topic: &str) -> String {
        let text = ok(&self.data(), &["topic", "ticket", topic]);
        text.trim().to_owned()
    }

    pub(crate) fn join(&self, ticket: &str) {
        ok(&self.data(), &["topic", "join", ticket]);
    }

    pub(crate) fn join_as(&self, ticket: &str, role: &str) {
        ok(&self.data(), &["topic", "join", ticket, "--role", role]);
    }

    /// Publishes each line as an entry.
    pub(crate) fn publish_lines(&self, topic: &str, lines: &[String]) {
        let file = self.data().join("lines.txt");
        fs::write(&file, lines.join("\n")).expect("the folder takes a file");
        let file = file.to_string_lossy().into_owned();
        ok(&self.data(), &["publish", topic, &file, "--lines"]);
    }

    pub(crate) fn status(&self, topic: &str) -> Value {
        json(&self.data(), &["status", topic])
    }

    /// Polls the status, as an operator would, until `wanted` holds.
    pub(crate) fn until_status(&self, topic: &str, wanted: impl Fn(&Value) -> bool) {
        let limit = Instant::now() + PATIENCE;
        loop {
            let status = self.status(topic);
            if wanted(&status) {
                return;
            }
            assert!(Instant::now() < limit, "the status stays {status}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The node's id, from what it wrote when it was ready.
    pub(crate) fn id(&self) -> String {
        self.said("node")
    }

    /// Where its relay listens.
    pub(crate) fn relay(&self) -> SocketAddr {
        self.said("relay").parse().expect("an address")
    }

    /// Where its local API listens.
    pub(crate) fn api(&self) -> SocketAddr {
        self.said("api").parse().expect("an address")
    }

    /// What its local API answers to a GET: the body.
    pub(crate) fn get(&self, path: &str) -> String {
        let token = fs::read_to_string(self.data().join("api.token"));
        let token = token.expect("a running node has one");
        let (api, token) = (self.api(), token.trim());
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {api}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        let mut stream = TcpStream::connect(api).expect("the API listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it closes");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
        body.to_owned()
    }

    fn said(&self, key: &str) -> String {
        let run = fs::read(self.data().join("run.json")).expect("a running node has written it");
        let run: Value = serde_json::from_slice(&run).expect("it is JSON");
        run[key]
            .as_str()
            .expect("a running node says it")
            .to_owned()
    }

    /// Puts a node on this one's trust list.
    pub(crate) fn trust(&self, topic: &str, node: &str, role: &str) {
        ok(&self.data(), &["trust", "add", topic, node, "--role", role]);
    }

    pub(crate) fn watch(&self, topic: &str) -> Watcher {
        Watcher::start(&self.data(), topic)
    }

    /// Kills the process without a word, as a power cut would, and keeps its folder.
    pub(crate) fn kill(mut self) -> Folder {
        self.child.kill().expect("our own child can be killed");
        self.child.wait().expect("a killed child ends");
        std::mem::replace(&mut self.folder, Folder::new())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Already ended, or ours to end: nothing to do about a failure here.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            self.folder.print_log();
        }
    }
}

/// The path as an argument.
pub(crate) fn arg(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
