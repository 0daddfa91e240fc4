//! Strings and their escapes.

use std::borrow::Cow;

use super::{Fault, Malformed, Reader};

impl<'a> Reader<'a> {
    /// Reads a string and takes its escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.expect(b'"', "a string")?;
        let plain = self.plain_run()?;
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = plain.to_owned();
        loop {
            match self.byte() {
                Some(b'"') => break self.at += 1,
                Some(_) => text.push(self.escape()?),
                None => return self.fail(Fault::Expected("the end of the string")),
            }
            text.push_str(self.plain_run()?);
        }
        Ok(Cow::Owned(text))
    }

    /// Characters of a string up to a quote or a backslash.
    fn plain_run(&mut self) -> Result<&'a str, Malformed> {
        let rest = self.rest();
        let special = |byte: u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        let end = rest.bytes().position(special).unwrap_or(rest.len());
        self.at += end;
        if self.byte().is_some_and(|byte| byte < 0x20) {
            return self.fail(Fault::RawControl);
        }
        Ok(rest.get(..end).unwrap_or_default())
    }

    fn escape(&mut self) -> Result<char, Malformed> {
        self.at += 1;
        let escaped = match self.byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.fail(Fault::UnknownEscape),
        };
        self.at += 1;
        Ok(escaped)
    }

    fn unicode_escape(&mut self) -> Result<char, Malformed> {
        let first = self.hex4()?;
        if let Some(plain) = char::from_u32(first) {
            return Ok(plain);
        }
        let high = first.wrapping_sub(0xd800);
        if high >= 0x400 || !self.rest().starts_with("\\u") {
            return self.fail(Fault::LoneSurrogate);
        }
        self.at += 1;
        let low = self.hex4()?.wrapping_sub(0xdc00);
        let pair = (low < 0x400).then(|| 0x1_0000 + (high << 10) + low);
        match pair.and_then(char::from_u32) {
            Some(pair) => Ok(pair),
            None => self.fail(Fault::LoneSurrogate),
        }
    }

    /// Reads `u` and four hex digits.
    fn hex4(&mut self) -> Result<u32, Malformed> {
        let digits = self.rest().get(1..5).unwrap_or_default();
        let all_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u32::from_str_radix(digits, 16) {
            Ok(value) if all_hex => {
                self.at += 5;
                Ok(value)
            }
            _ => self.fail(Fault::UnknownEscape),
        }
    }
}
