//! Processes that the tests talk to, ended when dropped.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// No single thing takes longer on loopback.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The `osier` binary, named by `OSIER_BIN` or built with the workspace.
fn binary() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/debug/osier");
    env::var_os("OSIER_BIN").map_or(built, PathBuf::from)
}

/// A node of ours on free ports.
pub(crate) struct Osier {
    child: Child,
    folder: TempDir,
}

impl Osier {
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder"), "127.0.0.1:0")
    }

    fn start_in(folder: TempDir, relay: &str) -> Self {
        let run = folder.path().join("run.json");
        // Of an earlier process; absent in a new folder.
        let _ = fs::remove_file(&run);
        let mut child = Command::new(binary())
            .arg("--data-dir")
            .arg(folder.path())
            .args(["run", "--listen-p2p", "127.0.0.1:0"])
            .args(["--listen-api", "127.0.0.1:0", "--listen-relay", relay])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("osier starts");
        let until = Instant::now() + PATIENCE;
        while !run.exists() {
            let ended = child.try_wait().expect("a child of ours");
            assert!(ended.is_none(), "osier run ended with {ended:?}");
            assert!(Instant::now() < until, "osier run is not ready");
            thread::sleep(Duration::from_millis(20));
        }
        Self { child, folder }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.address())
    }

    fn address(&self) -> String {
        let run = fs::read_to_string(self.folder.path().join("run.json")).expect("it is ready");
        let run: Value = serde_json::from_str(&run).expect("JSON");
        run["relay"].as_str().expect("its address").to_owned()
    }

    /// Ends the process without a word, and starts another on the same data and address.
    pub(crate) fn restart(mut self) -> Self {
        let address = self.address();
        end(&mut self.child);
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a folder"));
        Self::start_in(folder, &address)
    }

    /// Runs a command on this node; its JSON.
    pub(crate) fn command(&self, args: &[&str]) -> Value {
        let done = Command::new(binary())
            .args(["--json", "--data-dir"])
            .arg(self.folder.path())
            .args(args)
            .output()
            .expect("osier starts");
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{args:?}: {error}");
        serde_json::from_slice(&done.stdout).expect("JSON")
    }
}

impl Drop for Osier {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The peer: a relay made with rust-nostr's builder.
pub(crate) struct Peer {
    child: Child,
    pub(crate) url: String,
    _folder: TempDir,
}

impl Peer {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_builder-relay"))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut url).expect("a line");
        assert!(url.starts_with("ws://"), "{url}");
        Self {
            child,
            url: url.trim().to_owned(),
            _folder: folder,
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // Ours to end; a failure means that it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}
