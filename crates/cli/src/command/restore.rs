//! `osier restore`: a backup becomes the store.

use std::path::Path;

use osier::Home;
use serde_json::json;

use super::Context;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    progress, store_failure,
};

pub(crate) fn run(context: &Context, file: &Path, replace: bool) -> Outcome {
    let home = Home::at(&context.config.data_dir);
    if !file.exists() {
        let what = format!("there is no file {}", file.display());
        return Err(Failure::new(Exit::NotFound, what).next("Check the path"));
    }
    if !replace && home.store_path().exists() {
        let what = format!("there is a store in {} already", home.dir().display());
        let next = "Say --replace, and it is kept beside the new one";
        return Err(Failure::new(Exit::Usage, what).next(next));
    }
    let bar = progress::open(context.out, "restore");
    let restored = home.restore(file, replace);
    bar.finish_and_clear();
    let restored = restored.map_err(|error| store_failure::from(&error))?;
    if let Some(before) = &restored.before {
        let text = format!("the store that was there is kept as {}", before.display());
        context.out.note(&text);
    }
    if !home.is_initialised() {
        let text = "there is no DATA/key: copy it back first if the node is to be the one it was";
        context.out.note(text);
    }
    let next = "`osier check` verifies it; let it sync before it writes, or what it wrote after \
                the backup counts as a fork";
    context.out.note(next);
    let store = home.store_path();
    let value = json!({ "bytes": restored.bytes, "store": store, "before": restored.before });
    let text = format!("restored {} bytes to {}", restored.bytes, store.display());
    context.out.either(&value, &text)
}
