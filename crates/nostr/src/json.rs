//! Reading JSON: one pass, bounded, strict, without recursion.
//!
//! A serde reader would build what it is told to build; this one is told what to expect at each
//! place, so that a frame costs no more than its bytes. It refuses what readers are known to
//! disagree on: raw control bytes, lone surrogates, numbers with a fraction where an integer
//! belongs (`NOS-5`).

mod skip;
mod string;

use crate::limit;

/// Why a text is not what was expected, and the byte at which that shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {at}")]
pub struct Malformed {
    /// What is wrong.
    pub fault: Fault,
    /// Where, counted from the start of the text.
    pub at: usize,
}

/// What is wrong with a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Another character than this was there, or the text ended.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A control character stands in a string unescaped.
    #[error("raw control character in a string")]
    RawControl,
    /// Half of a surrogate pair.
    #[error("lone surrogate in a string")]
    LoneSurrogate,
    /// A backslash before a character that it cannot escape.
    #[error("unknown escape in a string")]
    UnknownEscape,
    /// A number with a fraction, an exponent, or too many digits.
    #[error("a number that is no integer")]
    NotAnInteger,
    /// Nested deeper than [`limit::SKIP_DEPTH_MAX`].
    #[error("nested too deep")]
    TooDeep,
    /// More follows where the text should end.
    #[error("more after the end")]
    Trailing,
}

/// An integer of any size, as far as its value matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Int {
    /// Less than zero, or a zero with a sign.
    Negative,
    /// Fits.
    Value(u64),
    /// More than fits.
    TooLarge,
}

/// A place in a text.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) const fn fail<T>(&self, fault: Fault) -> Result<T, Malformed> {
        Err(Malformed { fault, at: self.at })
    }

    /// The next byte that is no space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Reads this byte if it is the next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Malformed> {
        if self.take(byte) {
            return Ok(());
        }
        self.fail(Fault::Expected(what))
    }

    /// The text ends here.
    pub(crate) fn end(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail(Fault::Trailing),
        }
    }

    /// Reads an object; `each` is called with a key and reads its value.
    pub(crate) fn object<E: From<Malformed>>(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'{', "an object")?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':', "a colon")?;
            each(self, &key)?;
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',', "a comma or the end of the object")?;
        }
    }

    /// Reads an array; `each` reads one element.
    pub(crate) fn array<E: From<Malformed>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'[', "an array")?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',', "a comma or the end of the array")?;
        }
    }

    /// Reads `true` or `false`.
    pub(crate) fn boolean(&mut self) -> Result<bool, Malformed> {
        self.peek();
        for (word, value) in [("true", true), ("false", false)] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.fail(Fault::Expected("true or false"))
    }

    /// Reads an integer of any size.
    pub(crate) fn integer(&mut self) -> Result<Int, Malformed> {
        let negative = self.take(b'-');
        let digits = self.digits();
        if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
            return self.fail(Fault::Expected("an integer"));
        }
        if let Some(b'.' | b'e' | b'E') = self.byte() {
            return self.fail(Fault::NotAnInteger);
        }
        if digits.len() > limit::NUMBER_DIGITS_MAX {
            return self.fail(Fault::NotAnInteger);
        }
        Ok(match digits.parse() {
            _ if negative => Int::Negative,
            Ok(value) => Int::Value(value),
            Err(_) => Int::TooLarge,
        })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit());
        let digits = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += digits.len();
        digits
    }
}

#[cfg(test)]
mod tests;
