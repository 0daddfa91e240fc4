//! Values under keys that nobody asked for.

use super::{Fault, Malformed, Reader};
use crate::limit;

impl Reader<'_> {
    /// Reads any value and forgets it.
    pub(crate) fn skip(&mut self) -> Result<(), Malformed> {
        // What is open: true for an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            let opened = match self.peek() {
                Some(b'{') => Some(true),
                Some(b'[') => Some(false),
                _ => None,
            };
            match opened {
                Some(is_object) => {
                    self.at += 1;
                    if open.len() == limit::SKIP_DEPTH_MAX {
                        return self.fail(Fault::TooDeep);
                    }
                    open.push(is_object);
                    if !self.take(if is_object { b'}' } else { b']' }) {
                        self.key_if(is_object)?;
                        continue;
                    }
                    open.pop();
                }
                None => self.scalar()?,
            }
            if self.close(&mut open)? {
                return Ok(());
            }
        }
    }

    /// After a value: closes what ends here; true when nothing is open, else a value follows.
    fn close(&mut self, open: &mut Vec<bool>) -> Result<bool, Malformed> {
        while let Some(&is_object) = open.last() {
            if self.take(b',') {
                return self.key_if(is_object).map(|()| false);
            }
            self.expect(if is_object { b'}' } else { b']' }, "a comma or the end")?;
            open.pop();
        }
        Ok(true)
    }

    fn key_if(&mut self, is_object: bool) -> Result<(), Malformed> {
        if is_object {
            self.string()?;
            self.expect(b':', "a colon")?;
        }
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b't' | b'f') => self.boolean().map(|_| ()),
            Some(b'n') if self.rest().starts_with("null") => {
                self.at += 4;
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.fail(Fault::Expected("a value")),
        }
    }

    /// Any number: it is dropped, so only its end matters.
    fn number(&mut self) -> Result<(), Malformed> {
        self.take(b'-');
        let digits = self.digits();
        if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
            return self.fail(Fault::Expected("a number"));
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            if self.digits().is_empty() {
                return self.fail(Fault::Expected("a digit"));
            }
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            if self.digits().is_empty() {
                return self.fail(Fault::Expected("a digit"));
            }
        }
        Ok(())
    }
}
