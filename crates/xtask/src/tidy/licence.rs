//! Whether an SPDX expression can be met with the licences of a list.

/// Whether `expression` can be met with licences for which `allowed` is true.
///
/// `OR` needs one side, `AND` both; `AND` binds tighter. A licence `WITH` an exception is a name of
/// its own. The old `/` stands for `OR`. An expression that cannot be read is not met.
pub(crate) fn is_met(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    reader.any() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any()?;
            return self.take(")").then_some(met);
        }
        let name = self.next()?;
        if self.take("WITH") {
            let exception = self.next()?;
            return Some((self.allowed)(&format!("{name} WITH {exception}")));
        }
        Some((self.allowed)(name))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expression: &str) -> bool {
        is_met(expression, &|name| {
            ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&name)
        })
    }

    #[test]
    fn an_expression_is_weighed() {
        assert!(met("MIT") && met("GPL-3.0 OR MIT") && met("MIT AND ISC") && met("GPL-3.0/MIT"));
        assert!(met("(GPL-3.0 OR MIT) AND ISC") && met("Apache-2.0 WITH LLVM-exception"));
        assert!(!met("GPL-3.0") && !met("MIT AND GPL-3.0") && !met("Apache-2.0"));
        assert!(met("MIT OR GPL-3.0 AND LGPL-3.0"));
    }

    #[test]
    fn what_cannot_be_read_is_not_met() {
        assert!(!met("") && !met("MIT OR") && !met("(MIT") && !met("MIT ISC"));
    }
}
