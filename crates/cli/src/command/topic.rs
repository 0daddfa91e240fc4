//! `osier topic`: make, join, look at, leave.

use osier::Writing;
use serde_json::{Value, json};

use super::{Context, status};
use crate::{
    api::topic_path,
    args::TopicCommand,
    failure::Outcome,
    reach::{Missing, Reach},
    table::Table,
    text,
};

pub(crate) fn run(context: &Context, command: TopicCommand) -> Outcome {
    match command {
        TopicCommand::New { name, writing } => new(context, &name, writing),
        TopicCommand::Join { ticket, role } => join(context, &ticket, role),
        TopicCommand::Ls => list(context),
        TopicCommand::Show { topic } => show(context, &topic),
        TopicCommand::Ticket { topic } => ticket(context, &topic),
        TopicCommand::Rule { topic, rule } => set_rule(context, &topic, &rule),
        TopicCommand::Leave {
            topic,
            delete_history,
        } => leave(context, &topic, delete_history),
    }
}

fn new(context: &Context, name: &str, writing: Writing) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Create)?;
    let made = reach.api.post(
        "/v1/topics",
        &json!({ "name": name, "writing": writing.as_str() }),
    )?;
    let ticket = made["ticket"].as_str().unwrap_or_default();
    context.out.note(&format!(
        "made topic {name} ({}); its ticket:",
        text::short(&made["id"])
    ));
    context.out.either(&made, ticket)?;
    if !reach.is_running() {
        let dir = context.config.data_dir.display();
        context.out.note(&format!(
            "no node is running, so the ticket holds no address; `osier run --data-dir {dir}`, \
             then `osier topic ticket`, gives one that others can join by"
        ));
    }
    Ok(())
}

fn join(context: &Context, ticket: &str, role: Option<String>) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Create)?;
    let role = role.unwrap_or_else(|| context.config.role.clone());
    let joined = reach
        .api
        .post("/v1/topics", &json!({ "ticket": ticket, "role": role }))?;
    let name = joined["name"].as_str().unwrap_or_default();
    let id = text::short(&joined["id"]);
    context
        .out
        .either(&joined, &format!("joined topic {name} ({id}) as {role}"))?;
    if !reach.is_running() {
        let dir = context.config.data_dir.display();
        context
            .out
            .note(&format!("it syncs once `osier run --data-dir {dir}` runs"));
    }
    Ok(())
}

fn list(context: &Context) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let answer = reach.api.get("/v1/topics")?;
    let topics = answer["topics"].as_array().cloned().unwrap_or_default();
    if topics.is_empty() && !context.out.json {
        context
            .out
            .note("no topics; `osier topic new NAME` makes one");
        return Ok(());
    }
    context.out.either(&answer, &table(context, &topics))
}

/// Topics with their phase.
pub(super) fn table(context: &Context, topics: &[Value]) -> String {
    let headings = [
        "topic", "id", "phase", "entries", "authors", "role", "writing", "coverage",
    ];
    let mut table = Table::new(&headings);
    for topic in topics {
        let synced = topic["synced"].is_object();
        let covered = synced.then(|| text::coverage(&topic["synced"]["coverage"]));
        table.row(vec![
            topic["name"].as_str().unwrap_or_default().to_owned(),
            text::short(&topic["id"]),
            text::phase(context.out, &topic["phase"]),
            topic["entries"].to_string(),
            topic["authors"].to_string(),
            topic["role"].as_str().unwrap_or_default().to_owned(),
            topic["writing"].as_str().unwrap_or_default().to_owned(),
            covered.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table.render()
}

fn show(context: &Context, topic: &str) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let shown = reach.api.get(&topic_path(topic))?;
    context
        .out
        .either(&shown, &status::describe(context, &shown))
}

fn ticket(context: &Context, topic: &str) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let answer = reach.api.get(&format!("{}/ticket", topic_path(topic)))?;
    context
        .out
        .either(&answer, answer["ticket"].as_str().unwrap_or_default())
}

fn set_rule(context: &Context, topic: &str, rule: &str) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let path = format!("{}/rule", topic_path(topic));
    let shown = reach.api.post(&path, &json!({ "rule": rule }))?;
    context
        .out
        .either(&shown, &status::describe(context, &shown))
}

fn leave(context: &Context, topic: &str, delete_history: bool) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let path = format!("{}?delete_history={delete_history}", topic_path(topic));
    let answer = reach.api.delete(&path)?;
    let name = answer["name"].as_str().unwrap_or_default();
    context.out.either(
        &answer,
        &format!("left topic {name}; its history is gone from this node"),
    )
}
