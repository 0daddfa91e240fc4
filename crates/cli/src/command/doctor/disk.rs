//! The data directory: whether it can be written, its room, the rights on its secrets.

use std::{fs, io, path::Path};

use osier::Home;

use super::{Finding, Verdict};

/// Bytes free below which a node should not be started: a store grows by doubling regions.
const FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;

/// Whether files can be made in the directory, or in what it will be made in.
pub(crate) fn directory(dir: &Path) -> Finding {
    let seen = dir.display().to_string();
    match probe(existing(dir)) {
        Ok(()) if dir.exists() => Finding::ok("data directory", seen),
        Ok(()) => Finding::ok("data directory", format!("{seen} (made at first start)")),
        Err(error) => {
            let hint = "give this user the right to write there, or name another directory with \
                        --data-dir";
            Finding::new(
                "data directory",
                Verdict::Bad,
                format!("{seen}: {error}"),
                hint,
            )
        }
    }
}

/// The nearest directory on the way up that exists.
fn existing(dir: &Path) -> &Path {
    let mut here = dir;
    while !here.exists() {
        match here.parent() {
            Some(parent) if parent != Path::new("") => here = parent,
            _ => return Path::new("."),
        }
    }
    here
}

fn probe(dir: &Path) -> io::Result<()> {
    let file = dir.join(format!(".osier-doctor-{}", std::process::id()));
    fs::write(&file, b"probe")?;
    fs::remove_file(&file)
}

/// Room on the disk.
pub(crate) fn space(dir: &Path) -> Finding {
    let Ok(found) = rustix::fs::statvfs(existing(dir)) else {
        return Finding::ok("disk", "this system does not tell its free space");
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let seen = format!("{} MiB free", free / (1024 * 1024));
    if free >= FREE_BYTES_MIN {
        return Finding::ok("disk", seen);
    }
    let hint = "free some space: a store that cannot grow takes no more entries";
    Finding::new("disk", Verdict::Warn, seen, hint)
}

/// Key and token must not be readable by others.
pub(crate) fn secrets(dir: &Path) -> Finding {
    let home = Home::at(dir);
    if !home.is_initialised() {
        return Finding::ok("secrets", "none yet");
    }
    let open: Vec<String> = [home.key_path(), home.token_path()]
        .iter()
        .filter(|path| is_open(path))
        .map(|path| path.display().to_string())
        .collect();
    if open.is_empty() {
        return Finding::ok("secrets", "readable by their owner only");
    }
    let files = open.join(" ");
    let hint = format!("chmod 600 {files}; if others may have read the key, start a new node");
    Finding::new(
        "secrets",
        Verdict::Bad,
        format!("readable by others: {files}"),
        hint,
    )
}

#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_not_there_is_probed_above() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        assert_eq!(existing(&deep), dir.path());
        assert_eq!(directory(&deep).verdict, Verdict::Ok);
        assert_eq!(space(&deep).what, "disk");
    }

    #[cfg(unix)]
    #[test]
    fn an_open_key_is_bad() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(secrets(dir.path()).verdict, Verdict::Ok);
        let key = dir.path().join("key");
        fs::write(&key, "x").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        let finding = secrets(dir.path());
        assert_eq!(finding.verdict, Verdict::Bad);
        assert!(finding.hint.starts_with("chmod 600"));
    }
}
