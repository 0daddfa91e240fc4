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
    /// What of the log is accounted for by them.
    pub(crate) anchor: Anchor,
}

/// A place in the log up to which it is known which own entries are lines of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    /// A position at or before it.
    pub(crate) position: String,
    /// How many entries this node had written there.
    pub(crate) own_seq: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    file: String,
    lines: u64,
    bytes: u64,
    anchor: Anchor,
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
            anchor: Anchor::default(),
        }
    }

    /// Takes up what was saved, unless the file is now shorter than that; whether there was any.
    pub(crate) fn load(&mut self, file_bytes: u64) -> bool {
        let text = fs::read_to_string(&self.at).unwrap_or_default();
        let saved = serde_json::from_str::<Saved>(&text).ok();
        let fits = |saved: &Saved| saved.file == self.file && saved.bytes <= file_bytes;
        let Some(saved) = saved.filter(fits) else {
            return false;
        };
        self.lines = saved.lines;
        self.bytes = saved.bytes;
        self.anchor = saved.anchor;
        true
    }

    /// Saves it, whole or not at all.
    pub(crate) fn save(&self) -> Outcome {
        let saved = Saved {
            file: self.file.clone(),
            lines: self.lines,
            bytes: self.bytes,
            anchor: self.anchor.clone(),
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
        assert!(!mark.load(100));
        (mark.lines, mark.bytes) = (3, 50);
        mark.anchor = Anchor {
            position: "7".into(),
            own_seq: 4,
        };
        mark.save().unwrap();
        let mut again = new();
        assert!(again.load(100));
        assert_eq!((again.lines, again.bytes), (3, 50));
        assert_eq!(again.anchor, mark.anchor);
        assert!(!new().load(49));
        mark.clear().unwrap();
        mark.clear().unwrap();
        assert!(!new().load(100));
    }
}
