//! A topic's entries, page by page.

use serde_json::Value;

use crate::{
    api::{Api, segment, topic_path},
    failure::Outcome,
};

/// Entries asked for at once.
const PAGE_ENTRIES: usize = 500;

/// Reads on from a place, in one order.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    api: &'a Api,
    path: String,
    after: Option<String>,
    done: bool,
}

impl<'a> Pages<'a> {
    /// Entries of a topic in `arrival`, `time` or `causal` order, after a place or from the first.
    pub(crate) fn new(api: &'a Api, topic: &str, order: &str, after: Option<&str>) -> Self {
        let entries = format!("{}/entries", topic_path(topic));
        Self {
            api,
            path: format!("{entries}?order={order}&limit={PAGE_ENTRIES}"),
            after: after.map(str::to_owned),
            done: false,
        }
    }

    /// The next page; none once all that is there now was read.
    pub(crate) fn next(&mut self) -> Outcome<Option<Vec<Value>>> {
        if self.done {
            return Ok(None);
        }
        let after = self.after.as_deref().map(segment);
        let after = after
            .map(|after| format!("&after={after}"))
            .unwrap_or_default();
        let mut page = self.api.get(&format!("{}{after}", self.path))?;
        self.done = page["done"].as_bool() != Some(false);
        self.after = page["next"].as_str().map(str::to_owned);
        match page["entries"].take() {
            Value::Array(entries) => Ok(Some(entries)),
            _ => Ok(None),
        }
    }
}
