//! The tags of an event.

use std::fmt;

use crate::{key::PublicKey, kind::EventKind};

/// One tag: one or more strings. The first is its name, the second its value (NIP-01).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag(Box<[Box<str>]>);

impl Tag {
    /// A tag of these strings; none of no strings.
    pub fn new<S: Into<Box<str>>>(strings: impl IntoIterator<Item = S>) -> Option<Self> {
        let strings: Box<[Box<str>]> = strings.into_iter().map(Into::into).collect();
        (!strings.is_empty()).then_some(Self(strings))
    }

    /// The first string.
    pub fn name(&self) -> &str {
        self.get(0).unwrap_or_default()
    }

    /// The second string, if there is one.
    pub fn value(&self) -> Option<&str> {
        self.get(1)
    }

    /// The string at `index`.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index).map(|string| &**string)
    }

    /// All strings.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|string| &**string)
    }

    /// The letter and the value under which relays find the event: a name of one ASCII letter,
    /// and the first value only (`NOS-12`).
    pub fn indexed(&self) -> Option<(Letter, &str)> {
        Some((Letter::from_name(self.name())?, self.value()?))
    }
}

/// A tag name of one ASCII letter, either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(u8);

impl Letter {
    /// References to events.
    pub const E: Self = Self(b'e');
    /// References to addresses.
    pub const A: Self = Self(b'a');
    /// References to users.
    pub const P: Self = Self(b'p');

    /// The letter, if `byte` is one.
    pub const fn new(byte: u8) -> Option<Self> {
        if byte.is_ascii_alphabetic() {
            Some(Self(byte))
        } else {
            None
        }
    }

    /// The letter, if `name` is one.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.as_bytes() {
            [byte] => Self::new(*byte),
            _ => None,
        }
    }

    /// As a byte of ASCII.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Whether NIP-01 asks for 64 digits of lower-case hex as values of this tag in filters.
    pub const fn holds_hex(self) -> bool {
        matches!(self.0, b'e' | b'p')
    }
}

/// Where a replaceable or addressable event lives: only the newest of an address counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Its kind.
    pub kind: EventKind,
    /// Who signs it.
    pub pubkey: PublicKey,
    /// The value of its first `d` tag; empty where there is none, and for replaceable kinds.
    pub d: Box<str>,
}

impl fmt::Display for Address {
    /// As the value of an `a` tag.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.kind.get(), self.pubkey, self.d)
    }
}

impl Address {
    /// Reads the value of an `a` tag: `kind:pubkey:d`. The `d` part may hold colons.
    ///
    /// None if it names no address: a kind that is not replaceable or addressable, a key that is
    /// not 64 digits of lower-case hex, or a `d` part behind a replaceable kind.
    pub fn from_text(text: &str) -> Option<Self> {
        use crate::kind::Class;

        let (kind, rest) = text.split_once(':')?;
        let (pubkey, d) = rest.split_once(':')?;
        let plain = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_digit());
        let kind = EventKind::new(kind.parse().ok().filter(|_| plain)?);
        let fits = match kind.class() {
            Class::Addressable => true,
            Class::Replaceable => d.is_empty(),
            Class::Regular | Class::Ephemeral => false,
        };
        let pubkey = PublicKey::from_hex(pubkey)?;
        fits.then(|| Self {
            kind,
            pubkey,
            d: d.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-12.
    #[test]
    fn only_single_letters_and_first_values_are_indexed() {
        let tag = |strings: &[&str]| Tag::new(strings.iter().copied());
        assert_eq!(tag(&[]), None);
        let indexed = |strings: &[&str]| {
            let tag = tag(strings).unwrap();
            tag.indexed()
                .map(|(letter, value)| (letter.get(), value.to_owned()))
        };
        assert_eq!(indexed(&["e", "x", "y"]), Some((b'e', "x".to_owned())));
        assert_eq!(indexed(&["E", ""]), Some((b'E', String::new())));
        assert_eq!(indexed(&["e"]), None);
        assert_eq!(indexed(&["alt", "x"]), None);
        assert_eq!(indexed(&["1", "x"]), None);
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let key = "ab".repeat(32);
        let read = |text: String| Address::from_text(&text);
        let address = read(format!("30023:{key}:a:b")).unwrap();
        assert_eq!((address.kind.get(), &*address.d), (30_023, "a:b"));
        assert_eq!(address.to_string(), format!("30023:{key}:a:b"));
        assert!(read(format!("0:{key}:")).is_some());
        for text in [
            format!("0:{key}:d"),
            format!("1:{key}:"),
            format!("30023:{key}"),
            format!("+30023:{key}:"),
            format!("95559:{key}:"),
            format!("30023:{}:", key.to_uppercase()),
        ] {
            assert_eq!(read(text.clone()), None, "{text}");
        }
    }
}
