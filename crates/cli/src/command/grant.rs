//! `osier grant` and `osier revoke`: what this node says as a topic's owner, for everybody.

use serde_json::json;

use super::Context;
use crate::{
    api::{segment, topic_path},
    args::GrantArgs,
    failure::Outcome,
    reach::{Missing, Reach},
};

pub(crate) fn grant(context: &Context, args: &GrantArgs) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let GrantArgs {
        topic,
        node,
        rank,
        role,
    } = args;
    let standing = json!({ "rank": rank, "role": role });
    let answer = reach.api.put(&path(topic, node), &standing)?;
    let text = format!("everybody in {topic} may count on {node} as {role} with rank {rank}");
    context.out.either(&answer, &text)
}

pub(crate) fn revoke(context: &Context, topic: &str, node: &str, after: Option<&str>) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let path = match after {
        Some(after) => format!("{}?after={}", path(topic, node), segment(after)),
        None => path(topic, node),
    };
    let answer = reach.api.delete(&path)?;
    let text = format!("{node} does not count in {topic} any more, wherever this is heard");
    context.out.either(&answer, &text)
}

fn path(topic: &str, node: &str) -> String {
    format!("{}/grants/{}", topic_path(topic), segment(node))
}
