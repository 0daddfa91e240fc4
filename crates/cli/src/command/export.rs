//! `osier export`: a topic's items, one a line, in the order in which they came.

use serde_json::Value;

use super::Context;
use crate::{
    api::topic_path,
    failure::Outcome,
    output::Output,
    page::Pages,
    progress,
    reach::{Missing, Reach},
};

pub(crate) fn run(context: &Context, topic: &str) -> Outcome {
    let out = context.out;
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let shown = reach.api.get(&topic_path(topic))?;
    let bar = progress::count(out, "export", shown["entries"].as_u64().unwrap_or(0));
    let mut odd = Odd::default();
    let mut pages = Pages::new(&reach.api, topic, "arrival", None);
    while let Some(entries) = pages.next()? {
        for entry in &entries {
            if out.json {
                out.value(entry)?;
            } else {
                items(out, entry, &mut odd)?;
            }
        }
        bar.inc(entries.len() as u64);
    }
    bar.finish_and_clear();
    out.flush()?;
    odd.tell(context);
    Ok(())
}

/// Writes each item of an entry as a line.
fn items(out: Output, entry: &Value, odd: &mut Odd) -> Outcome {
    for item in entry["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let Some(mut bytes) = item_bytes(item) else {
            odd.dropped += 1;
            continue;
        };
        odd.line_ends += u64::from(bytes.contains(&b'\n'));
        bytes.push(b'\n');
        out.bytes(&bytes)?;
    }
    Ok(())
}

/// What a line a piece cannot show.
#[derive(Debug, Default)]
struct Odd {
    line_ends: u64,
    dropped: u64,
}

impl Odd {
    fn tell(&self, context: &Context) {
        if self.line_ends > 0 {
            let items = self.line_ends;
            context.out.note(&format!(
                "{items} items hold line ends, so they take more than one line here; --json keeps \
                 them apart"
            ));
        }
        if self.dropped > 0 {
            let items = self.dropped;
            context.out.note(&format!(
                "{items} items were dropped earlier and are left out"
            ));
        }
    }
}

/// The bytes of an item as the API shows it; none if it was dropped.
pub(super) fn item_bytes(item: &Value) -> Option<Vec<u8>> {
    if let Some(text) = item["text"].as_str() {
        return Some(text.as_bytes().to_vec());
    }
    data_encoding::BASE64
        .decode(item["base64"].as_str()?.as_bytes())
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_return_byte_for_byte() {
        assert_eq!(
            item_bytes(&json!({ "text": "h\u{e9}" })).unwrap(),
            "h\u{e9}".as_bytes()
        );
        assert_eq!(item_bytes(&json!({ "base64": "AP8=" })).unwrap(), [0, 255]);
        assert_eq!(item_bytes(&json!({ "dropped": "aa" })), None);
    }
}
