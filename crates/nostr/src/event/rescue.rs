//! Finding the id of an event that cannot be read, so that its refusal can name it (`NOS-40`).

use crate::key::EventId;

/// The id under the key `id` of the outermost object in `text`, however broken the rest is.
///
/// A guess that is only ever shown back to who sent the text. One pass, nothing is allocated.
pub(crate) fn rescue_id(text: &str) -> Option<EventId> {
    let mut rest = text.get(text.find('{')? + 1..)?;
    let mut depth = 1_usize;
    let mut last = "";
    while let Some(at) = rest.find(['"', '{', '[', '}', ']', ':']) {
        let (found, after) = rest.get(at..)?.split_at_checked(1)?;
        rest = after;
        match found {
            "\"" => {
                let end = end_of_string(rest)?;
                last = rest.get(..end)?;
                rest = rest.get(end + 1..)?;
            }
            ":" if depth == 1 && last == "id" => {
                let value = rest.trim_start().strip_prefix('"')?;
                return EventId::from_hex(value.get(..64)?)
                    .filter(|_| value[64..].starts_with('"'));
            }
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.checked_sub(1).filter(|depth| *depth > 0)?,
            _ => {}
        }
    }
    None
}

/// Where the string that starts here ends: at a quote with no odd number of backslashes before.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_whatever_is_left() {
        let hex = "5c".repeat(32);
        let id = EventId::from_hex(&hex);
        for text in [
            format!(r#"{{"id":"{hex}""#),
            format!(r#"{{"content":"\ud800 \" {{","tags":[["id","x"]],"id" : "{hex}","kind":-1}}"#),
            format!("{{\"content\":\"a\nb\",\"id\":\"{hex}\"}}"),
            format!(
                r#"["EVENT",{{"a":{{"id":"{}"}},"id":"{hex}"}}]"#,
                "00".repeat(32)
            ),
        ] {
            assert_eq!(rescue_id(&text), id, "{text}");
        }
        for text in [
            "",
            "{",
            r#"{"id":"abc"}"#,
            r#"{"a":{"id":"x"}}"#,
            r#"{"id""#,
            "{\"id\":\"\u{e9}",
        ] {
            assert_eq!(rescue_id(text), None, "{text}");
        }
    }
}
