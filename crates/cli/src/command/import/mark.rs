//! How far an import has come, in `DATA/import/`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Outcome};

/// Progress of one file into one topic.
#[derive(Debug)]
pub(crate) struct Mark {
    at: PathBuf,
    file: String,
    /// Lines that are durable.
    pub(crate) lines: u64,
    /// Where the next line begins.
    pub(crate) bytes: u64,
    /// While a batch is in flight: the topic's last position before it.
    pub(crate) before: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    file: String,
    lines: u64,
    bytes: u64,
    before: Option<String>,
}

impl Mark {
    /// The mark of this file and topic, not loaded.
    pub(crate) fn at(data_dir: &Path, topic: &str, file: &Path) -> Self {
        let file = file.display().to_string();
        let name = format!(
            "{}-{:016x}.json",
            topic.get(..16).unwrap_or(topic),
            fnv(&file)
        );
        Self {
            at: data_dir.join("import").join(name),
            file,
            lines: 0,
            bytes: 0,
            before: None,
        }
    }

    /// Takes up what was saved, unless the file is now shorter than that.
    pub(crate) fn load(&mut self, file_bytes: u64) {
        let text = fs::read_to_string(&self.at).unwrap_or_default();
        let Ok(saved) = serde_json::from_str::<Saved>(&text) else {
            return;
        };
        if saved.file == self.file && saved.bytes <= file_bytes {
            self.lines = saved.lines;
            self.bytes = saved.bytes;
            self.before = saved.before;
        }
    }

    /// Saves it, whole or not at all.
    pub(crate) fn save(&self) -> Outcome {
        let saved = Saved {
            file: self.file.clone(),
            lines: self.lines,
            bytes: self.bytes,
            before: self.before.clone(),
        };
        let text = serde_json::to_vec(&saved).expect("a mark has only text and numbers");
        let fresh = self.at.with_extension("new");
        let dir = self.at.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir)
            .and_then(|()| fs::write(&fresh, text))
            .and_then(|()| fs::rename(&fresh, &self.at))
            .map_err(|error| self.failed(&error))
    }

    /// Forgets it: the import is over, or begins afresh.
    pub(crate) fn clear(&self) -> Outcome {
        match fs::remove_file(&self.at) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(&error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, error: &io::Error) -> Failure {
        let what = format!("cannot note how far the import is in {}", self.at.display());
        Failure::other(what).because(error)
    }
}

/// FNV-1a: names a path in a file name. Two paths that collide are told apart by the content.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_returns_unless_the_file_shrank() {
        let dir = tempfile::tempdir().unwrap();
        let new = || Mark::at(dir.path(), "aabb", Path::new("/f.jsonl"));
        let mut mark = new();
        mark.load(100);
        assert_eq!((mark.lines, mark.bytes), (0, 0));
        (mark.lines, mark.bytes, mark.before) = (3, 50, Some("7".into()));
        mark.save().unwrap();
        let mut again = new();
        again.load(100);
        assert_eq!(
            (again.lines, again.bytes, again.before.as_deref()),
            (3, 50, Some("7"))
        );
        let mut shrunk = new();
        shrunk.load(49);
        assert_eq!(shrunk.lines, 0);
        mark.clear().unwrap();
        mark.clear().unwrap();
        let mut cleared = new();
        cleared.load(100);
        assert_eq!(cleared.lines, 0);
    }
}
