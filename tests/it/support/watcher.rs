//! `osier watch --json`, read line by line with a time limit.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Instant,
};

use serde_json::Value;

use super::{PATIENCE, osier};

/// Lines that wait to be looked at; the child blocks beyond that, as on any full pipe.
const LINES_WAITING_MAX: usize = 1024;

/// A running watcher. Everything that it said so far is kept for messages of failed tests.
pub(crate) struct Watcher {
    child: Child,
    lines: Receiver<Value>,
    seen: Vec<String>,
}

impl Watcher {
    pub(crate) fn start(data: &Path, topic: &str) -> Self {
        let mut child = osier(data)
            .args(["watch", topic, "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("osier watch starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (sender, lines) = sync_channel(LINES_WAITING_MAX);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(value) => {
                self.seen.push(kind(&value).to_owned());
                value
            }
            Err(RecvTimeoutError::Timeout) => {
                panic!("nothing for {PATIENCE:?} after {:?}", self.tail())
            }
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the watcher ended after {:?}", self.tail())
            }
        }
    }

    /// Reads on until an event of this type for which `wanted` holds.
    pub(crate) fn until(&mut self, event: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let limit = Instant::now() + PATIENCE * 2;
        loop {
            let value = self.next();
            if kind(&value) == event && wanted(&value) {
                return value;
            }
            assert!(
                Instant::now() < limit,
                "no such {event:?}; last {:?}",
                self.tail()
            );
        }
    }

    /// Reads on until history is synced, and says how: by an event, or by the state that a late
    /// watcher begins with.
    pub(crate) fn until_synced(&mut self) -> Value {
        loop {
            let event = self.next();
            match kind(&event) {
                "history_synced" => return event,
                "state" if event["synced"].is_object() => return event["synced"].clone(),
                _ => {}
            }
        }
    }

    /// How many events of a type have been read so far.
    pub(crate) fn count(&self, event: &str) -> usize {
        self.seen.iter().filter(|seen| *seen == event).count()
    }

    fn tail(&self) -> &[String] {
        &self.seen[self.seen.len().saturating_sub(20)..]
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Already ended, or ours to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The event's type; a line that is not JSON has none.
pub(crate) fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or("not an event")
}
