//! `osier dashboard`: a link that opens the running node's dashboard once.

use serde_json::json;

use super::Context;
use crate::{failure::Outcome, reach::Reach};

pub(crate) fn run(context: &Context) -> Outcome {
    let reach = Reach::running(&context.config)?;
    let answer = reach.api.post("/v1/links", &json!({}))?;
    let link = answer["link"].as_str().unwrap_or_default().to_owned();
    let minutes = answer["expires_s"].as_u64().unwrap_or_default() / 60;
    context
        .out
        .note(&format!("opens once, within {minutes} minutes"));
    context.out.either(&answer, &link)
}
