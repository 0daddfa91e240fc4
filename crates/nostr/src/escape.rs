//! Writing JSON strings as every relay and client in use writes them (`NOS-2`).

use std::fmt::Write;

/// Appends `text` in quotes: the short escapes of NIP-01, `\u00xx` for the other control
/// characters below U+0020, everything else as it is.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest
        .bytes()
        .position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let (special, after) = special.split_at(1);
        push_special(out, special);
        rest = after;
    }
    out.push_str(rest);
    out.push('"');
}

/// `text` in quotes.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

/// Appends a list; `each` writes one element.
pub(crate) fn push_list<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(']');
}

/// Appends a number.
pub(crate) fn push_number(out: &mut String, number: u64) {
    write!(out, "{number}").expect("a string takes everything");
}

fn push_special(out: &mut String, special: &str) {
    match special {
        "\"" => out.push_str("\\\""),
        "\\" => out.push_str("\\\\"),
        "\n" => out.push_str("\\n"),
        "\r" => out.push_str("\\r"),
        "\t" => out.push_str("\\t"),
        "\u{8}" => out.push_str("\\b"),
        "\u{c}" => out.push_str("\\f"),
        other => {
            let code = other.bytes().next().unwrap_or_default();
            write!(out, "\\u{code:04x}").expect("a string takes everything");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(crate::testing::cases())]

        /// NOS-2: a JSON library writes the same text.
        #[test]
        fn strings_are_written_as_the_second_writer_writes_them(text in "[\\x00-\\x7f\\PC]{0,20}") {
            prop_assert_eq!(string(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
