//! Child processes, shown before they run so that each can be repeated by hand.

use std::{
    env,
    ffi::OsStr,
    fmt,
    io::{self, BufRead, BufReader, IsTerminal, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, Result, bail};

/// A command line: a program, its arguments, and what it adds to the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cmd {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    folder: PathBuf,
}

impl Cmd {
    /// A command that will run in `folder`.
    pub(crate) fn new(program: impl Into<String>, folder: &Path) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            folder: folder.to_path_buf(),
        }
    }

    /// `cargo` with `words`, split at spaces.
    pub(crate) fn cargo(words: &str, folder: &Path) -> Self {
        Self::new("cargo", folder).args(words.split_whitespace())
    }

    /// Adds arguments.
    #[must_use]
    pub(crate) fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one variable of the child's environment.
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Shows the command, runs it with our own streams, and fails if it fails.
    pub(crate) fn run(&self) -> Result<()> {
        println!("$ {self}");
        let status = self
            .command()
            .status()
            .with_context(|| self.cannot_start())?;
        if !status.success() {
            bail!("`{self}` ended with {status}; its own output above says why");
        }
        Ok(())
    }

    /// Shows the command, runs it, passes its output on and gives every line to `read`.
    ///
    /// Returns whether the command succeeded.
    pub(crate) fn run_reading(&self, read: impl Fn(&str) + Sync) -> Result<bool> {
        println!("$ {self}");
        let mut command = self.command();
        let told = ["NO_COLOR", "CARGO_TERM_COLOR"]
            .iter()
            .any(|name| env::var_os(name).is_some());
        if io::stdout().is_terminal() && !told {
            // The child sees a pipe, and would not colour what a person reads.
            command.env("CARGO_TERM_COLOR", "always");
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| self.cannot_start())?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let read = &read;
        thread::scope(|scope| {
            scope.spawn(move || pass_on(err, io::stderr(), read));
            pass_on(out, io::stdout(), read);
        });
        Ok(child
            .wait()
            .context("cannot wait for the command to end")?
            .success())
    }

    /// Runs the command unseen and returns what it wrote to stdout.
    pub(crate) fn output(&self) -> Result<String> {
        let output = self
            .command()
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| self.cannot_start())?;
        if !output.status.success() {
            bail!(
                "`{self}` ended with {}; its own output above says why",
                output.status
            );
        }
        String::from_utf8(output.stdout).with_context(|| format!("`{self}` wrote no UTF-8"))
    }

    /// Whether the command can be started and succeeds. Its output is not shown.
    pub(crate) fn works(&self) -> bool {
        let quiet = self
            .command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        quiet.is_ok_and(|status| status.success())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.folder);
        for (name, _) in env::vars_os().filter(|(name, _)| is_of_cargo_run(name)) {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn cannot_start(&self) -> String {
        format!(
            "cannot start `{}`; is it installed and on the PATH?",
            self.program
        )
    }
}

impl fmt::Display for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", quoted(&self.program))?;
        self.args
            .iter()
            .try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

/// Whether `cargo run` set this variable to tell us about our own package.
///
/// A build script that looks at one of these would run again, and all that depends on it, each time
/// a command is given by hand after a task has given it, and the other way round.
fn is_of_cargo_run(name: &OsStr) -> bool {
    let heads = [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_",
        "CARGO_CRATE_NAME",
    ];
    name.to_str()
        .is_some_and(|name| heads.iter().any(|head| name.starts_with(head)))
}

/// `word` as a shell would need it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Copies lines from a child to `to`. A stream that breaks ends the copy: the child's own exit
/// status then tells what happened.
fn pass_on(from: Option<impl Read>, mut to: impl Write, read: &impl Fn(&str)) {
    let Some(from) = from else { return };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(length) if length > 0) {
        if to.write_all(&line).is_err() {
            return;
        }
        read(&without_colour(&String::from_utf8_lossy(&line)));
        line.clear();
    }
}

/// `line` without terminal colour sequences (`ESC [ ... letter`) and without its line end.
fn without_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.trim_end().chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let cmd = Cmd::cargo("test --doc", Path::new("."))
            .args(["a b"])
            .env("X", "1");
        assert_eq!(cmd.to_string(), "X=1 cargo test --doc 'a b'");
    }

    #[test]
    fn every_line_of_both_streams_is_read() {
        let lines = Mutex::new(Vec::new());
        let cmd = Cmd::new("sh", Path::new(".")).args(["-c", "echo one; echo two >&2; exit 3"]);
        let ok = cmd
            .run_reading(|line| lines.lock().unwrap().push(line.to_owned()))
            .unwrap();
        let mut lines = lines.into_inner().unwrap();
        lines.sort();
        assert_eq!(
            (ok, lines),
            (false, vec!["one".to_owned(), "two".to_owned()])
        );
    }

    #[test]
    fn only_what_tells_of_our_own_package_is_kept_from_children() {
        assert!(is_of_cargo_run(OsStr::new("CARGO_PKG_NAME")));
        assert!(!is_of_cargo_run(OsStr::new("CARGO_TARGET_DIR")));
    }

    #[test]
    fn colour_is_dropped() {
        assert_eq!(
            without_colour("\u{1b}[32;1m3\u{1b}[0m passed\n"),
            "3 passed"
        );
    }
}
