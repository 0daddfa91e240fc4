//! Writing a filter: one text for one meaning (`NOS-15`).

use std::fmt;

use super::{Filter, TagCondition};
use crate::escape;

impl Filter {
    /// Its canonical JSON: `ids`, `authors`, `kinds`, tags, `since`, `until`, `limit`, without
    /// spaces. Lists are sorted, but the first tag and its first value stay first, since NIP-45
    /// derives an offset from them. Reading it gives the same filter.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        let list = |out: &mut String, key: &str, hexes: Option<Vec<String>>| {
            if let Some(hexes) = hexes {
                push_key(out, key);
                escape::push_list(out, hexes, |out, hex| escape::push_string(out, &hex));
            }
        };
        list(&mut out, "ids", self.ids().map(texts));
        list(&mut out, "authors", self.authors().map(texts));
        if let Some(kinds) = self.kinds() {
            push_key(&mut out, "kinds");
            escape::push_list(&mut out, kinds, |out, kind| {
                escape::push_number(out, u64::from(kind.get()));
            });
        }
        for (index, condition) in self.tags.iter().enumerate() {
            let first = self.first_value.as_deref().filter(|_| index == 0);
            push_tag(&mut out, condition, first);
        }
        let numbers = [
            ("since", self.since.map(super::super::time::Seconds::get)),
            ("until", self.until.map(super::super::time::Seconds::get)),
            ("limit", self.limit),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                push_key(&mut out, key);
                escape::push_number(&mut out, number);
            }
        }
        out.push('}');
        out
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

fn texts(values: &[impl ToString]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn push_key(out: &mut String, key: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    escape::push_string(out, key);
    out.push(':');
}

fn push_tag(out: &mut String, condition: &TagCondition, first: Option<&str>) {
    let letter = char::from(condition.letter.get());
    push_key(out, &format!("#{letter}"));
    let others = condition.values.iter().map(|value| &**value);
    let others = others.filter(|value| Some(*value) != first);
    escape::push_list(out, first.into_iter().chain(others), escape::push_string);
}
