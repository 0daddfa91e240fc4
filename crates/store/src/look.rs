//! A look at a store file that leaves it as it is: writes, such as those of a repair after a crash,
//! go to memory.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    ops::Bound,
    path::Path,
    sync::{Mutex, PoisonError},
};

use redb::{
    BackendError, Builder, Database, ReadTransaction, ReadableDatabase, StorageBackend,
    backends::FileBackend,
};

use crate::{
    error::Cause,
    open::{foreign, format_of, guarded},
    schema,
};

/// Bytes that a write to memory is split into.
const PAGE: u64 = 4096;

/// Bytes of pages kept while looking: only a few rows are read.
const CACHE_BYTES: usize = 4 * 1024 * 1024;

/// A store file, open for a look. Holds the file's lock until it is dropped.
pub(crate) struct Look {
    db: Database,
    /// The format version that it says.
    pub(crate) format: u32,
}

impl Look {
    /// Opens a file for a look.
    pub(crate) fn at(path: &Path) -> Result<Self, Cause> {
        let file = crate::open::private().open(path)?;
        let shadow = Shadow::over(file)?;
        let open = || {
            let mut builder = Builder::new();
            Ok(builder
                .set_cache_size(CACHE_BYTES)
                .create_with_backend(shadow)?)
        };
        let db = guarded(open)?;
        let format = guarded(|| {
            let txn = db.begin_read()?;
            match txn.open_table(schema::meta) {
                Ok(meta) => format_of(&meta),
                Err(
                    redb::TableError::TableDoesNotExist(_)
                    | redb::TableError::TableTypeMismatch { .. },
                ) => Err(foreign("another database")),
                Err(error) => Err(error.into()),
            }
        })?;
        Ok(Self { db, format })
    }

    /// What is in it.
    pub(crate) fn read(&self) -> Result<ReadTransaction, Cause> {
        Ok(self.db.begin_read()?)
    }
}

/// A file under a layer of pages in memory.
#[derive(Debug)]
struct Shadow {
    file: FileBackend,
    layer: Mutex<Layer>,
}

#[derive(Debug)]
struct Layer {
    length: u64,
    /// How much of the file still shows through: less after a cut.
    shows: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Shadow {
    fn over(file: File) -> Result<Self, Cause> {
        let length = file.metadata()?.len();
        let layer = Layer {
            length,
            shows: length,
            pages: BTreeMap::new(),
        };
        Ok(Self {
            file: FileBackend::new(file)?,
            layer: Mutex::new(layer),
        })
    }

    fn with<T>(&self, run: impl FnOnce(&mut Layer) -> io::Result<T>) -> io::Result<T> {
        run(&mut self.layer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn page(&self, layer: &Layer, number: u64) -> io::Result<Vec<u8>> {
        if let Some(page) = layer.pages.get(&number) {
            return Ok(page.clone());
        }
        let mut page = vec![0; small(PAGE)];
        let start = number * PAGE;
        let there = layer.shows.saturating_sub(start).min(PAGE);
        if there > 0 {
            self.file.read(start, &mut page[..small(there)])?;
        }
        Ok(page)
    }
}

/// A number of at most a page.
fn small(bytes: u64) -> usize {
    usize::try_from(bytes).expect("at most a page")
}

/// The pages that a span touches: number, offset in the page, length.
fn pages(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length as u64;
    let mut at = offset;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let (number, inside) = (at / PAGE, at % PAGE);
            let taken = (PAGE - inside).min(end - at);
            at += taken;
            (number, small(inside), small(taken))
        })
    })
}

impl StorageBackend for Shadow {
    fn len(&self) -> io::Result<u64> {
        self.with(|layer| Ok(layer.length))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|layer| {
            if offset + out.len() as u64 > layer.length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut done = 0;
            for (number, inside, taken) in pages(offset, out.len()) {
                let page = self.page(layer, number)?;
                out[done..done + taken].copy_from_slice(&page[inside..inside + taken]);
                done += taken;
            }
            Ok(())
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.with(|layer| {
            layer.shows = layer.shows.min(length);
            layer.length = length;
            let last = length.div_ceil(PAGE);
            layer.pages.retain(|number, _| *number < last);
            if let Some(page) = layer.pages.get_mut(&(length / PAGE)) {
                page[small(length % PAGE)..].fill(0);
            }
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(|layer| {
            let mut done = 0;
            for (number, inside, taken) in pages(offset, data.len()) {
                let mut page = self.page(layer, number)?;
                page[inside..inside + taken].copy_from_slice(&data[done..done + taken]);
                layer.pages.insert(number, page);
                done += taken;
            }
            Ok(())
        })
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
