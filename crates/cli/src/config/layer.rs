//! Where a value comes from, and which one wins.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use toml::{Table, Value};

use super::{default_data_dir, key, key::KEYS, nearest, usage};
use crate::failure::{Failure, Outcome};

/// The file that is read when none is named, if it is there.
const FILE: &str = "osier.toml";

/// What the command line says of settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// `--config`.
    pub(crate) file: Option<PathBuf>,
    /// Key and value.
    pub(crate) values: Vec<(&'static str, String)>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The command line.
    Flag,
    /// This variable.
    Environment(&'static str),
    /// This file.
    File(PathBuf),
    /// Nobody chose it.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment(name) => write!(f, "environment, {name}"),
            Self::File(path) => write!(f, "file, {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The winning value of every key.
#[derive(Debug, Clone)]
pub(crate) struct Layers {
    values: BTreeMap<&'static str, (Value, Origin)>,
}

impl Layers {
    /// Reads the file and the environment of this process.
    pub(crate) fn load(flags: &Flags) -> Outcome<Self> {
        let var = |name: &str| std::env::var(name).ok();
        let named = flags
            .file
            .clone()
            .or_else(|| var("OSIER_CONFIG").map(PathBuf::from));
        let file = match named {
            Some(path) => Some((read(&path)?, path)),
            None if Path::new(FILE).exists() => Some((read(Path::new(FILE))?, FILE.into())),
            None => None,
        };
        Self::merge(flags, var, file)
    }

    /// Merges from the lowest layer to the highest.
    pub(crate) fn merge(
        flags: &Flags,
        var: impl Fn(&str) -> Option<String>,
        file: Option<(String, PathBuf)>,
    ) -> Outcome<Self> {
        let mut values = BTreeMap::new();
        for key in KEYS {
            let value = key
                .default
                .map_or_else(|| Value::String(default_data_dir(&var)), parse_default);
            values.insert(key.name, (value, Origin::Default));
        }
        let mut layers = Self { values };
        if let Some((text, path)) = file {
            layers.add_file(&text, &path)?;
        }
        for key in KEYS {
            if let Some(text) = var(key.env) {
                layers.add_text(key.name, &text, Origin::Environment(key.env))?;
            }
        }
        for (name, text) in &flags.values {
            layers.add_text(name, text, Origin::Flag)?;
        }
        Ok(layers)
    }

    fn add_file(&mut self, text: &str, path: &Path) -> Outcome {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            usage(format!("{} is not valid TOML", path.display())).because(error)
        })?;
        let mut found = Vec::new();
        flatten("", &table, &mut found);
        for (name, value) in found {
            let Some(key) = key::find(&name) else {
                return Err(unknown(&name, path));
            };
            self.values
                .insert(key.name, (value, Origin::File(path.to_owned())));
        }
        Ok(())
    }

    /// A value from a layer that has only text takes the type of the default.
    fn add_text(&mut self, name: &'static str, text: &str, origin: Origin) -> Outcome {
        let (value, _) = &self.values[name];
        let parsed = match value {
            Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
            Value::Integer(_) => text.parse().ok().map(Value::Integer),
            Value::Array(_) if text.trim_start().starts_with('[') => parse_value(text),
            Value::Array(_) => Some(Value::Array(
                text.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .map(|part| Value::String(part.to_owned()))
                    .collect(),
            )),
            _ => Some(Value::String(text.to_owned())),
        };
        let Some(parsed) = parsed else {
            let expected = match value {
                Value::Boolean(_) => "true or false",
                Value::Array(_) => "texts separated by commas, or a list in TOML",
                _ => "a whole number",
            };
            let what = format!("{name} ({origin}) is {text:?}");
            return Err(usage(what).because(format!("expected {expected}")));
        };
        self.values.insert(name, (parsed, origin));
        Ok(())
    }

    /// Every key with its value and origin, in the order of [`KEYS`].
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &Value, &Origin)> {
        KEYS.iter().map(|key| {
            let (value, origin) = &self.values[key.name];
            (key.name, value, origin)
        })
    }

    /// Who chose a value.
    pub(crate) fn origin(&self, name: &'static str) -> &Origin {
        &self.values[name].1
    }

    /// The failure that says what is wrong with a value, and where it comes from.
    pub(crate) fn invalid(&self, name: &'static str, why: &str) -> Failure {
        let (value, origin) = &self.values[name];
        usage(format!("{name} ({origin}) is {value}")).because(why)
    }

    pub(super) fn text(&self, name: &'static str) -> Outcome<String> {
        let text = self.values[name].0.as_str().map(str::to_owned);
        text.ok_or_else(|| self.invalid(name, "expected text in quotes"))
    }

    pub(super) fn parsed<T: FromStr>(&self, name: &'static str, expected: &str) -> Outcome<T> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| self.invalid(name, &format!("expected {expected}")))
    }

    pub(super) fn one_of(&self, name: &'static str, allowed: &[&str]) -> Outcome<String> {
        let text = self.text(name)?;
        if allowed.contains(&text.as_str()) {
            return Ok(text);
        }
        Err(self.invalid(name, &format!("expected one of {}", allowed.join(", "))))
    }

    pub(super) fn flag(&self, name: &'static str) -> Outcome<bool> {
        let flag = self.values[name].0.as_bool();
        flag.ok_or_else(|| self.invalid(name, "expected true or false"))
    }

    pub(super) fn number(&self, name: &'static str, least: u64) -> Outcome<u64> {
        let number = self.values[name].0.as_integer();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number
            .filter(|number| *number >= least)
            .ok_or_else(|| self.invalid(name, &format!("expected a whole number from {least}")))
    }

    pub(super) fn list(&self, name: &'static str) -> Outcome<Vec<String>> {
        let items = self.values[name].0.as_array();
        let texts = items.and_then(|items| {
            items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect()
        });
        texts.ok_or_else(|| self.invalid(name, "expected a list of texts"))
    }

    /// A list of tables, each with just these keys, whose values are texts in the same order.
    pub(super) fn tables<const N: usize>(
        &self,
        name: &'static str,
        keys: [&str; N],
    ) -> Outcome<Vec<[String; N]>> {
        let why = || {
            format!(
                "expected tables, each with the texts {}",
                keys.join(" and ")
            )
        };
        let invalid = || self.invalid(name, &why());
        let items = self.values[name].0.as_array().ok_or_else(invalid)?;
        let read = |item: &Value| {
            let table = item.as_table().filter(|table| table.len() == N)?;
            let texts = keys.map(|key| table.get(key).and_then(Value::as_str).map(str::to_owned));
            let texts: Option<Vec<String>> = texts.into_iter().collect();
            texts?.try_into().ok()
        };
        let tables = items.iter().map(read);
        tables.collect::<Option<_>>().ok_or_else(invalid)
    }
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| {
        usage(format!("cannot read the settings file {}", path.display())).because(error)
    })
}

fn parse_default(text: &str) -> Value {
    parse_value(text).expect("defaults are valid TOML")
}

fn parse_value(text: &str) -> Option<Value> {
    let table: Table = format!("v = {text}").parse().ok()?;
    table.into_iter().next().map(|(_, value)| value)
}

/// Dotted names of everything in a table.
fn flatten(prefix: &str, table: &Table, found: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let name = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        match value {
            Value::Table(inner) => flatten(&name, inner, found),
            _ => found.push((name, value.clone())),
        }
    }
}

fn unknown(name: &str, path: &Path) -> Failure {
    let failure = usage(format!("{} sets {name}", path.display())).because("there is no such key");
    match nearest(name, KEYS.iter().map(|key| key.name)) {
        Some(near) => failure.next(format!("Did you mean {near}?")),
        None => failure.next("`osier run --print-config` prints every key"),
    }
}
