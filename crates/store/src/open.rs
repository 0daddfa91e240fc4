//! Opening and making stores. A file is looked at before it is touched: what is not ours, too new
//! or damaged is refused and left byte for byte (`STO-7`).

use std::{
    fs::{self, File, OpenOptions},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use osier_proto::StoreId;
use redb::{
    Builder, Database, ReadableDatabase, StorageBackend,
    backends::{FileBackend, InMemoryBackend},
};

use crate::{
    error::{Cause, StoreError, StoreFault},
    look::Look,
    migrate,
    projection::Projection,
    schema::{self, Tables},
    store::Store,
};

/// Starts `meta` (`STO-1`): whose file this is.
pub(crate) const MAGIC: (&str, &[u8]) = ("magic", b"osier store");
/// The name of the format version in `meta`.
pub(crate) const FORMAT: &str = "format";
/// The name of the store id in `meta`.
const STORE_ID: &str = "store id";

/// Bytes of pages that the store keeps in memory by default.
pub const CACHE_BYTES_DEFAULT: usize = 128 * 1024 * 1024;

/// How a store is opened.
#[derive(Clone)]
pub struct StoreOptions {
    cache_bytes: usize,
    projections: Vec<Arc<dyn Projection>>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: CACHE_BYTES_DEFAULT,
            projections: Vec::new(),
        }
    }
}

impl std::fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoreOptions({} bytes of cache)", self.cache_bytes)
    }
}

impl StoreOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of pages to keep in memory.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Calls a projection in every transaction that changes the log.
    #[must_use]
    pub fn projection(mut self, projection: Arc<dyn Projection>) -> Self {
        self.projections.push(projection);
        self
    }

    /// Opens the store at a path, or makes it if there is nothing there. `fresh` names a store that
    /// is made: 16 random bytes; it is not used otherwise.
    ///
    /// # Errors
    /// The file is in use, foreign, too new or damaged; or our disk is at fault.
    pub fn open(self, path: &Path, fresh: StoreId) -> Result<Store, StoreError> {
        let run = || {
            if !path.try_exists()? && self.make(path, fresh)? {
                return self.open_file(path);
            }
            check_kind(path)?;
            let look = Look::at(path)?;
            if migrate::needed(&look)? {
                migrate::run(path, &look)?;
            }
            drop(look);
            self.open_file(path)
        };
        run().map_err(|cause: Cause| StoreError::new("open", path, cause))
    }

    /// Opens, or makes, the store in a back end: for simulators and crash images. `name` is shown
    /// in errors.
    ///
    /// # Errors
    /// As [`StoreOptions::open`].
    pub fn open_backend(
        self,
        backend: impl StorageBackend,
        name: &str,
        fresh: StoreId,
    ) -> Result<Store, StoreError> {
        let path = PathBuf::from(format!("[{name}]"));
        let run = || {
            let db = guarded(|| Ok(self.builder().create_with_backend(backend)?))?;
            init(&db, fresh)?;
            self.finish(db, path.clone())
        };
        run().map_err(|cause: Cause| StoreError::new("open", &path, cause))
    }

    fn builder(&self) -> Builder {
        let mut builder = Builder::new();
        builder.set_cache_size(self.cache_bytes);
        builder
    }

    /// Makes the file under another name first, so that a crash leaves a whole store or none;
    /// whether it was made, and not by somebody else just now.
    fn make(&self, path: &Path, fresh: StoreId) -> Result<bool, Cause> {
        let temporary = beside(path, &format!(".new-{}", std::process::id()));
        remove_if_there(&temporary)?;
        let file = private().create_new(true).open(&temporary)?;
        let db = self
            .builder()
            .create_with_backend(FileBackend::new(file)?)?;
        init(&db, fresh)?;
        drop(db);
        let linked = match fs::hard_link(&temporary, path) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
            // A file system without hard links.
            Err(_) => return Ok(fs::rename(&temporary, path).map(|()| true)?),
        };
        fs::remove_file(&temporary)?;
        sync_directory(path)?;
        Ok(linked)
    }

    fn open_file(self, path: &Path) -> Result<Store, Cause> {
        let db = guarded(|| Ok(self.builder().open(path)?))?;
        self.finish(db, path.to_owned())
    }

    fn finish(self, db: Database, path: PathBuf) -> Result<Store, Cause> {
        let read = || -> Result<StoreId, Cause> {
            let txn = db.begin_read()?;
            let meta = txn.open_table(schema::meta)?;
            check_meta(&meta)?;
            store_id(&meta)
        };
        let id = guarded(read)?;
        guarded(|| make_missing(&db))?;
        Ok(Store::from_parts(db, path, id, self.projections))
    }
}

impl Store {
    /// Opens the store at a path with the defaults, or makes it: see [`StoreOptions::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open(path: &Path, fresh: StoreId) -> Result<Self, StoreError> {
        StoreOptions::new().open(path, fresh)
    }

    /// A store in memory.
    ///
    /// # Errors
    /// Never, unless memory runs out.
    pub fn in_memory(id: StoreId) -> Result<Self, StoreError> {
        StoreOptions::new().open_backend(InMemoryBackend::new(), "memory", id)
    }

    /// Opens, or makes, the store in a back end: see [`StoreOptions::open_backend`].
    ///
    /// # Errors
    /// As there.
    pub fn open_backend(
        backend: impl StorageBackend,
        name: &str,
        fresh: StoreId,
    ) -> Result<Self, StoreError> {
        StoreOptions::new().open_backend(backend, name, fresh)
    }
}

/// redb may panic on pages that somebody else has changed; here that is an error like any other.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, Cause>) -> Result<T, Cause> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(Cause::damaged("a page")))
}

/// Writes what makes a database a store, unless it is there.
pub(crate) fn init(db: &Database, fresh: StoreId) -> Result<(), Cause> {
    {
        let txn = db.begin_read()?;
        match txn.open_table(schema::meta) {
            Ok(meta) => return check_meta(&meta),
            Err(redb::TableError::TableDoesNotExist(_)) if txn.list_tables()?.next().is_none() => {}
            Err(redb::TableError::TableDoesNotExist(_)) => return Err(foreign("another database")),
            Err(error) => return Err(error.into()),
        }
    }
    let mut txn = db.begin_write()?;
    txn.set_quick_repair(true);
    {
        let mut tables = Tables::open(&txn)?;
        tables.meta.insert(MAGIC.0, MAGIC.1)?;
        tables
            .meta
            .insert(FORMAT, migrate::VERSION.to_be_bytes().as_slice())?;
        tables.meta.insert(STORE_ID, fresh.as_bytes().as_slice())?;
    }
    Ok(txn.commit()?)
}

/// A file from before a table was added lacks it: it is as if it were empty.
fn make_missing(db: &Database) -> Result<(), Cause> {
    match schema::ReadTables::open(&db.begin_read()?) {
        Err(redb::TableError::TableDoesNotExist(_)) => {}
        opened => return opened.map(drop).map_err(Cause::from),
    }
    let mut txn = db.begin_write()?;
    txn.set_quick_repair(true);
    drop(Tables::open(&txn)?);
    Ok(txn.commit()?)
}

type Meta = redb::ReadOnlyTable<&'static str, &'static [u8]>;

/// Refuses what is not a store of this version.
fn check_meta(meta: &Meta) -> Result<(), Cause> {
    let found = format_of(meta)?;
    if found > migrate::VERSION {
        return Err(StoreFault::Newer {
            found,
            known: migrate::VERSION,
        }
        .into());
    }
    Ok(())
}

/// The format version of a store; an error for what is none.
pub(crate) fn format_of(meta: &Meta) -> Result<u32, Cause> {
    let magic = meta.get(MAGIC.0)?.is_some_and(|row| row.value() == MAGIC.1);
    if !magic {
        return Err(foreign("another database"));
    }
    let format = meta
        .get(FORMAT)?
        .and_then(|row| row.value().try_into().ok());
    format
        .map(u32::from_be_bytes)
        .ok_or(Cause::damaged("the format version"))
}

fn store_id(meta: &Meta) -> Result<StoreId, Cause> {
    let id = meta
        .get(STORE_ID)?
        .and_then(|row| row.value().try_into().ok());
    id.map(StoreId::from_bytes)
        .ok_or(Cause::damaged("the store id"))
}

pub(crate) fn foreign(what: &str) -> Cause {
    StoreFault::NotAStore(what.to_owned()).into()
}

/// Refuses a path at which no store can be.
pub(crate) fn check_kind(path: &Path) -> Result<(), Cause> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(foreign("a directory"));
    }
    if !kind.is_file() {
        return Err(foreign("not a regular file"));
    }
    if kind.len() == 0 {
        return Err(foreign("an empty file"));
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<(), Cause> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// A file that only its owner can read: it holds the secrets of topics.
pub(crate) fn private() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A path in the same folder: the file's name with something after it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the name of a new file durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Cause> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    #[cfg(unix)]
    File::open(parent)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = parent;
    Ok(())
}
