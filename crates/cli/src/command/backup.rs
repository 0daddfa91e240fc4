//! `osier backup`: a copy of the store that is a store itself.

use std::path::Path;

use serde_json::json;

use super::Context;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    progress,
    reach::{Missing, Reach},
};

pub(crate) fn run(context: &Context, file: &Path) -> Outcome {
    if file.exists() {
        let what = format!("{} is there already", file.display());
        return Err(Failure::new(Exit::Usage, what).next("Name a file that does not exist"));
    }
    let path = std::path::absolute(file).map_err(|error| {
        Failure::other(format!("cannot tell where {} is", file.display())).because(error)
    })?;
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let bar = progress::open(context.out, "backup");
    let answer = reach.api.post("/v1/backup", &json!({ "path": path }));
    bar.finish_and_clear();
    let answer = answer?;
    let bytes = &answer["bytes"];
    context
        .out
        .note("the copy holds no key: copy DATA/key too if the node itself must return");
    context.out.either(
        &answer,
        &format!("wrote {bytes} bytes to {}", file.display()),
    )
}
