//! Reading and writing a file of vectors; bytes put together field by field.

use std::{fs, path::PathBuf};

use data_encoding::HEXLOWER_PERMISSIVE as HEX;
use serde_json::{Map, Value, json};

/// A file of vectors: what it is about, and lists of vectors by name.
pub(crate) struct File {
    name: &'static str,
    made: Map<String, Value>,
    golden: Value,
}

impl File {
    pub(crate) fn open(name: &'static str, about: &[&str]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test reads its vectors")]
        let golden = fs::read_to_string(path(name)).map_or(Value::Null, |text| {
            serde_json::from_str(&text).expect("the vectors are JSON")
        });
        let made = Map::from_iter([("about".to_owned(), json!(about))]);
        Self { name, made, golden }
    }

    /// A list of vectors: `inputs` are made by the test, `judge` adds what the code says of one.
    pub(crate) fn list(&mut self, list: &str, inputs: Vec<Value>, judge: &dyn Fn(&mut Value)) {
        assert!(!inputs.is_empty());
        let judged = inputs.into_iter().map(|mut vector| {
            judge(&mut vector);
            vector
        });
        self.made.insert(list.to_owned(), judged.collect());
    }

    /// Compares everything with the file, or writes it.
    pub(crate) fn close(self) {
        let made = Value::Object(self.made);
        if std::env::var_os("OSIER_BLESS").is_some() {
            let text = format!("{made:#}\n");
            #[expect(clippy::disallowed_methods, reason = "the vectors are to be written")]
            fs::write(path(self.name), text).expect("the vectors can be written");
            return;
        }
        for (list, vectors) in made.as_object().expect("lists by name") {
            for (at, vector) in vectors.as_array().expect("a list").iter().enumerate() {
                let golden = &self.golden[list][at];
                assert_eq!(vector, golden, "{}: {list}: {}", self.name, vector["name"]);
            }
        }
        assert_eq!(made, self.golden, "{} holds nothing else", self.name);
    }
}

fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../specs/vectors");
    folder.join(name)
}

/// Bytes made of named fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, Vec<u8>)>);

impl Fields {
    #[must_use]
    pub(crate) fn field(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push((name.to_owned(), bytes.as_ref().to_vec()));
        self
    }

    /// The same with another value for one field.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let field = self.0.iter_mut().find(|(own, _)| own == name);
        field.expect("the field is there").1 = bytes.as_ref().to_vec();
        self
    }

    #[must_use]
    pub(crate) fn then(mut self, other: &Self) -> Self {
        self.0.extend_from_slice(&other.0);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    /// The start of each field, in bytes, with its name.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().scan(0, |next, (name, bytes)| {
            let start = *next;
            *next += bytes.len();
            Some((start, name.as_str()))
        })
    }

    /// Only the first fields, up to the named one.
    #[must_use]
    pub(crate) fn before(mut self, name: &str) -> Self {
        let at = self.0.iter().position(|(own, _)| own == name);
        self.0.truncate(at.expect("the field is there"));
        self
    }

    /// One line a field: hex, then the name.
    pub(crate) fn annotated(&self) -> Value {
        let line = |(name, bytes): &(String, Vec<u8>)| format!("{} {name}", HEX.encode(bytes));
        self.0.iter().map(line).collect()
    }
}

/// Reads what [`Fields::annotated`] wrote.
pub(crate) fn unannotated(lines: &Value) -> Vec<u8> {
    let lines = lines.as_array().expect("a list of fields");
    let hex = lines.iter().filter_map(|line| {
        let (hex, _) = line.as_str()?.split_once(' ')?;
        Some(unhex(hex))
    });
    hex.flatten().collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    HEX.decode(text.as_bytes()).expect("hex")
}

pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> Value {
    json!(HEX.encode(bytes.as_ref()))
}

/// A number in the shortest form: seven bits a byte, lowest first.
pub(crate) fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let [low, ..] = (n & 0x7f).to_le_bytes();
        n >>= 7;
        if n == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// Length, then bytes.
pub(crate) fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut all = varint(bytes.len() as u64);
    all.extend_from_slice(bytes);
    all
}
