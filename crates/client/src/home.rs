//! The data directory: key, store, token, and what a running node leaves for others to find it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use osier_core::{NodeId, NodeSecret};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Longest of the small files, in bytes; a longer one is not ours.
const SMALL_FILE_BYTES_MAX: u64 = 64 * 1024;

/// A directory that belongs to one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

/// What a running node writes to `run.json` once it listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Its process.
    pub pid: u32,
    /// Its id.
    pub node: NodeId,
    /// Where other nodes reach it.
    pub addresses: Vec<String>,
    /// The address for other nodes that it was told, or chose, to listen on.
    pub p2p: Option<SocketAddr>,
    /// Where its local API listens.
    pub api: Option<SocketAddr>,
    /// Where its relay listens.
    pub relay: Option<SocketAddr>,
}

impl Home {
    /// The directory at `dir`, which need not exist yet.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The node's secret key: 64 hex digits, readable by its owner only.
    pub fn key_path(&self) -> PathBuf {
        self.dir.join("key")
    }

    /// The store.
    pub fn store_path(&self) -> PathBuf {
        self.dir.join("store.redb")
    }

    /// The token of the local API, readable by its owner only.
    pub fn token_path(&self) -> PathBuf {
        self.dir.join("api.token")
    }

    /// What a running node says of itself.
    pub fn run_path(&self) -> PathBuf {
        self.dir.join("run.json")
    }

    /// Whether a node was ever started here.
    pub fn is_initialised(&self) -> bool {
        self.key_path().exists()
    }

    /// Makes the directory, readable by its owner only, if it is not there.
    pub(crate) fn create(&self) -> Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.dir)
            .map_err(|cause| Error::file("make the data directory", &self.dir, cause))
    }

    /// The node's key; made on first use from `fresh`.
    pub(crate) fn key(&self, fresh: impl FnOnce() -> Result<NodeSecret>) -> Result<NodeSecret> {
        let path = self.key_path();
        if !path.exists() {
            let secret = fresh()?;
            let text = data_encoding::HEXLOWER.encode(&secret.to_bytes());
            write_private(&path, text.as_bytes())?;
        }
        let text = read_private(&path)?;
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes());
        let bytes: Option<[u8; 32]> = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.ok_or(Error::KeyInvalid { path })?;
        Ok(NodeSecret::from_bytes(&bytes))
    }

    /// Writes a new token for the local API, in place of the last one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_token(&self, token: &str) -> Result<()> {
        let path = self.token_path();
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(Error::file("replace", &path, cause))
            }
            _ => write_private(&path, token.as_bytes()),
        }
    }

    /// The token of the local API.
    ///
    /// # Errors
    /// If there is none, or others can read it.
    pub fn read_token(&self) -> Result<String> {
        Ok(read_private(&self.token_path())?.trim().to_owned())
    }

    /// Tells others where the node is. Replaced whole, so a reader never sees half of it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_run(&self, run: &RunFile) -> Result<()> {
        let path = self.run_path();
        let fresh = self.dir.join("run.json.new");
        let text = serde_json::to_vec_pretty(run).expect("a run file has only text and numbers");
        fs::write(&fresh, text)
            .and_then(|()| fs::rename(&fresh, &path))
            .map_err(|cause| Error::file("write", &path, cause))
    }

    /// What the last node here said of itself; it may be gone. None if there is no such file, or
    /// it is not one of ours.
    pub fn read_run(&self) -> Option<RunFile> {
        let text = read_small(&self.run_path()).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Takes the run file away, when the node ends.
    pub fn remove_run(&self) {
        // A node that cannot remove it leaves a stale one, which readers must expect anyway.
        drop(fs::remove_file(self.run_path()));
    }
}

fn read_small(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?.take(SMALL_FILE_BYTES_MAX);
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Makes a file that only its owner can read; it must not exist.
fn write_private(path: &Path, content: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    written.map_err(|cause| Error::file("write", path, cause))
}

/// Reads a file that only its owner may be able to read.
fn read_private(path: &Path) -> Result<String> {
    #[cfg(unix)]
    {
        let found = fs::metadata(path).map_err(|cause| Error::file("read", path, cause))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(Error::TooOpen {
                path: path.to_owned(),
                mode,
            });
        }
    }
    read_small(path).map_err(|cause| Error::file("read", path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("node"));
        home.create().unwrap();
        (dir, home)
    }

    #[expect(clippy::unnecessary_wraps, reason = "stands in for what can fail")]
    fn fresh() -> Result<NodeSecret> {
        Ok(NodeSecret::from_bytes(&[7; 32]))
    }

    #[test]
    fn the_key_is_made_once_and_kept() {
        let (_dir, home) = home();
        let made = home.key(fresh).unwrap().node_id();
        let other = || Ok(NodeSecret::from_bytes(&[8; 32]));
        assert_eq!(home.key(other).unwrap().node_id(), made);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, home) = home();
        home.key(fresh).unwrap();
        fs::set_permissions(home.key_path(), fs::Permissions::from_mode(0o644)).unwrap();
        let error = home.key(fresh).unwrap_err();
        assert!(
            matches!(error, Error::TooOpen { mode: 0o644, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("chmod 600"));
    }

    #[test]
    fn a_key_of_other_bytes_is_refused() {
        let (_dir, home) = home();
        write_private(&home.key_path(), b"not a key").unwrap();
        assert!(matches!(home.key(fresh), Err(Error::KeyInvalid { .. })));
    }

    #[test]
    fn a_run_file_returns_and_junk_is_none() {
        let (_dir, home) = home();
        assert_eq!(home.read_run(), None);
        let run = RunFile {
            pid: 1,
            node: fresh().unwrap().node_id(),
            addresses: vec!["127.0.0.1:1".into()],
            p2p: None,
            api: Some("127.0.0.1:2".parse().unwrap()),
            relay: None,
        };
        home.write_run(&run).unwrap();
        assert_eq!(home.read_run(), Some(run));
        fs::write(home.run_path(), "{").unwrap();
        assert_eq!(home.read_run(), None);
    }
}
