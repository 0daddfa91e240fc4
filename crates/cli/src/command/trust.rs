//! `osier trust`: this node's own list of whose word counts.

use serde_json::{Value, json};

use super::Context;
use crate::{
    api::{segment, topic_path},
    args::TrustCommand,
    failure::Outcome,
    reach::{Missing, Reach},
    table::Table,
};

pub(crate) fn run(context: &Context, command: TrustCommand) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let path = |topic: &str, node: &str| format!("{}/trust/{}", topic_path(topic), segment(node));
    match command {
        TrustCommand::Add {
            topic,
            node,
            rank,
            role,
        } => {
            let standing = json!({ "rank": rank, "role": role });
            let answer = reach.api.put(&path(&topic, &node), &standing)?;
            let text = format!("{node} is trusted as {role} with rank {rank} in {topic}");
            context.out.either(&answer, &text)
        }
        TrustCommand::Rm { topic, node } => {
            let answer = reach.api.delete(&path(&topic, &node))?;
            context.out.either(
                &answer,
                &format!("{node} does not count in {topic} any more"),
            )
        }
        TrustCommand::Ls { topic } => {
            let answer = reach.api.get(&format!("{}/trust", topic_path(&topic)))?;
            context.out.either(&answer, &table(&answer))
        }
    }
}

fn table(answer: &Value) -> String {
    let mut table = Table::new(&["node", "trusted", "rank", "role", "by"]);
    for row in answer["trust"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let trusted = row["trusted"].as_bool() == Some(true);
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        table.row(vec![
            text("node"),
            if trusted { "yes" } else { "no" }.to_owned(),
            row["rank"]
                .as_u64()
                .map_or_else(|| "-".to_owned(), |rank| rank.to_string()),
            text("role"),
            text("source"),
        ]);
    }
    table.render()
}
