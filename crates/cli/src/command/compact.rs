//! `osier compact`: free pages go back to the file system.

use osier::Home;
use serde_json::json;

use super::Context;
use crate::{failure::Outcome, progress, store_failure};

pub(crate) fn run(context: &Context) -> Outcome {
    let home = Home::at(&context.config.data_dir);
    let bar = progress::open(context.out, "compact");
    let compacted = home.compact();
    bar.finish_and_clear();
    let it = compacted.map_err(|error| store_failure::from(&error))?;
    let value = json!({ "bytes_before": it.bytes_before, "bytes": it.bytes });
    let text = format!("{} bytes, {} before", it.bytes, it.bytes_before);
    context.out.either(&value, &text)
}
