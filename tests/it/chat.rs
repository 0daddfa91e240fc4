//! The example app of the crate `osier`: two of them chat.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use tempfile::TempDir;

use crate::support::{PATIENCE, binary};

/// Lines that wait to be looked at.
const LINES_WAITING_MAX: usize = 1024;

struct Chat {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
    _folder: TempDir,
}

impl Chat {
    fn start(ticket: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the chat");
        let program = binary().with_file_name("examples").join("chat");
        let mut child = Command::new(program)
            .arg(folder.path().join("data"))
            .args(ticket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example starts; `cargo xtask test it` builds it");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (sender, lines) = sync_channel(LINES_WAITING_MAX);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            seen: Vec::new(),
            _folder: folder,
        }
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{line}").expect("the example reads");
    }

    /// Reads on until a line of which this is the end.
    fn until(&mut self, end: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no {end:?} after {:?}", self.seen));
            self.seen.push(line.clone());
            if line.ends_with(end) {
                return line;
            }
        }
    }

    /// Ends the input, which ends the chat.
    fn leave(mut self) {
        self.input = None;
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        // Already ended, or ours to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn two_chat_and_are_told_that_all_messages_are_here() {
    let mut one = Chat::start(None);
    let ticket = one.lines.recv_timeout(PATIENCE).expect("a first line");
    let ticket = ticket
        .strip_prefix("-- ticket: ")
        .expect("the ticket comes first");
    let ticket = ticket.to_owned();
    for line in ["hello", "anybody there?"] {
        one.say(line);
        one.until(line);
    }
    let mut two = Chat::start(Some(&ticket));
    two.until("-- all 2 messages are here");
    let shown: Vec<&String> = two
        .seen
        .iter()
        .filter(|line| !line.starts_with("--"))
        .collect();
    assert_eq!(
        shown.len(),
        2,
        "messages come before the word on them: {:?}",
        two.seen
    );
    two.say("yes");
    let line = one.until(": yes");
    assert!(!line.starts_with("--"));
    two.leave();
    one.leave();
}
