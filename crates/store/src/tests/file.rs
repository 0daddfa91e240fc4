//! Files: making, opening, and refusing what is not ours (`STO-7`).

use std::{fs, path::Path};

use osier_core::testing::topic;
use osier_proto::{StoreId, View};
use redb::{Database, TableDefinition};

use super::history::chain;
use crate::{Batch, Store, StoreError, StoreFault, migrate, open::FORMAT};

const ID: StoreId = StoreId::from_bytes([1; 16]);
const OTHER: StoreId = StoreId::from_bytes([2; 16]);

fn filled(path: &Path) -> Store {
    let store = Store::open(path, ID).unwrap();
    let mut batch = Batch::new();
    batch.extend(chain(1, topic(), 300));
    store.commit(&batch).unwrap();
    store
}

/// Opening fails, says so, and changes no byte.
fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = Store::open(path, OTHER).unwrap_err();
    assert_eq!(fs::read(path).unwrap(), before, "left byte for byte");
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    error
}

#[test]
fn a_store_keeps_its_id_and_its_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("osier.redb");
    drop(filled(&path));
    let store = Store::open(&path, OTHER).unwrap();
    assert_eq!(store.id(), ID);
    assert_eq!(store.snapshot(topic()).unwrap().summary().set.count(), 300);
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing is left beside it: {names:?}");
    #[cfg(unix)]
    {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "it holds secrets");
    }
}

#[test]
fn a_second_process_is_told_who_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("osier.redb");
    let store = filled(&path);
    let error = Store::open(&path, OTHER).unwrap_err();
    assert!(error.is_locked());
    assert!(
        error.to_string().contains("another osier is using it"),
        "{error}"
    );
    drop(store);
    Store::open(&path, OTHER).unwrap();
}

#[test]
fn what_is_not_a_store_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for content in [
        Vec::new(),
        b"hello".to_vec(),
        vec![0x5a; 100_000],
        vec![0; 73_728],
    ] {
        fs::write(&path, &content).unwrap();
        let error = refused(&path);
        assert!(error.is_refused_file(), "{} bytes: {error}", content.len());
    }
    let error = Store::open(folder.path(), ID).unwrap_err();
    assert!(matches!(error.fault(), StoreFault::NotAStore(what) if what == "a directory"));
}

#[test]
fn another_programs_database_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for name in ["meta", "other"] {
        let table: TableDefinition<'_, u64, u64> = TableDefinition::new(name);
        let db = Database::create(&path).unwrap();
        let txn = db.begin_write().unwrap();
        txn.open_table(table).unwrap().insert(1, 1).unwrap();
        txn.commit().unwrap();
        drop(db);
        assert!(matches!(refused(&path).fault(), StoreFault::NotAStore(_)));
        fs::remove_file(&path).unwrap();
    }
}

fn set_meta(path: &Path, name: &str, value: &[u8]) {
    let db = Database::open(path).unwrap();
    let txn = db.begin_write().unwrap();
    txn.open_table(crate::schema::meta)
        .unwrap()
        .insert(name, value)
        .unwrap();
    txn.commit().unwrap();
}

#[test]
fn a_newer_format_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("osier.redb");
    drop(filled(&path));
    set_meta(&path, FORMAT, &(migrate::VERSION + 1).to_be_bytes());
    let error = refused(&path);
    assert!(
        matches!(error.fault(), StoreFault::Newer { found: 2, known: 1 }),
        "{error}"
    );
    set_meta(&path, FORMAT, &0_u32.to_be_bytes());
    assert!(matches!(refused(&path).fault(), StoreFault::Damaged(_)));
    set_meta(&path, "magic", b"another store");
    assert!(matches!(refused(&path).fault(), StoreFault::NotAStore(_)));
}

/// Cut at any length it is refused, or whole.
#[test]
fn a_cut_file_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("osier.redb");
    drop(filled(&path));
    let whole = fs::read(&path).unwrap();
    for part in 0..16 {
        fs::write(&path, &whole[..whole.len() * part / 16]).unwrap();
        assert!(refused(&path).is_refused_file());
    }
}

/// Bytes changed anywhere end in an error or in a finding, or hit free space; never in a panic.
#[test]
fn changed_bytes_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("osier.redb");
    drop(filled(&path));
    let whole = fs::read(&path).unwrap();
    for place in (0..whole.len()).step_by(1021) {
        let mut bent = whole.clone();
        for byte in bent.iter_mut().skip(place).take(40) {
            *byte ^= 0x5a;
        }
        fs::write(&path, &bent).unwrap();
        let Ok(store) = Store::open(&path, OTHER) else {
            continue;
        };
        let _ = store.check(&mut |_, _| {});
    }
}
