//! `osier space`: several topics as one.

use serde_json::{Value, json};

use super::Context;
use crate::{
    api::segment,
    args::SpaceCommand,
    exit::Exit,
    failure::{Failure, Outcome},
    interrupt,
    reach::{Missing, Reach},
    table::Table,
    text,
};

pub(crate) fn run(context: &Context, command: SpaceCommand) -> Outcome {
    match command {
        SpaceCommand::New { name } => new(context, &name),
        SpaceCommand::Join { ticket } => join(context, &ticket),
        SpaceCommand::Ls => list(context),
        SpaceCommand::Add { space, topic } => {
            let reach = Reach::any(&context.config, Missing::Refuse)?;
            let answer = reach.api.put(&topic_path(&space, &topic), &json!({}))?;
            changed(context, &answer, &format!("{topic} is in {space}"))
        }
        SpaceCommand::Rm { space, topic } => {
            let reach = Reach::any(&context.config, Missing::Refuse)?;
            let answer = reach.api.delete(&topic_path(&space, &topic))?;
            changed(context, &answer, &format!("{topic} is not in {space}"))
        }
        SpaceCommand::Show { space } => {
            let reach = Reach::any(&context.config, Missing::Refuse)?;
            let answer = reach.api.get(&path(&space))?;
            context.out.either(&answer, &shown(&answer))
        }
        SpaceCommand::Watch {
            space,
            until_synced,
        } => watch(context, &space, until_synced),
    }
}

fn path(space: &str) -> String {
    format!("/v1/spaces/{}", segment(space))
}

fn topic_path(space: &str, topic: &str) -> String {
    format!("{}/topics/{}", path(space), segment(topic))
}

fn new(context: &Context, name: &str) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Create)?;
    let space = reach.api.post("/v1/spaces", &json!({ "name": name }))?;
    let id = text::short(&space["id"]);
    context
        .out
        .note(&format!("made space {name} ({id}); its ticket:"));
    let ticket = space["ticket"].as_str().unwrap_or_default();
    context.out.either(&space, ticket)
}

fn join(context: &Context, ticket: &str) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Create)?;
    let space = reach.api.post("/v1/spaces", &json!({ "ticket": ticket }))?;
    let (name, id) = (word(&space["name"]), text::short(&space["id"]));
    context
        .out
        .either(&space, &format!("joined space {name} ({id})"))?;
    if !reach.is_running() {
        let dir = context.config.data_dir.display();
        context
            .out
            .note(&format!("it syncs once `osier run --data-dir {dir}` runs"));
    }
    Ok(())
}

fn changed(context: &Context, answer: &Value, done: &str) -> Outcome {
    let text = format!("{done}, by version {} of its list", answer["version"]);
    context.out.either(answer, &text)
}

fn list(context: &Context) -> Outcome {
    let reach = Reach::any(&context.config, Missing::Refuse)?;
    let answer = reach.api.get("/v1/spaces")?;
    let spaces = answer["spaces"].as_array().map_or(&[][..], Vec::as_slice);
    if spaces.is_empty() && !context.out.json {
        context
            .out
            .note("no spaces; `osier space new NAME` makes one");
        return Ok(());
    }
    let mut table = Table::new(&["space", "id", "state", "topics", "version"]);
    for space in spaces {
        let topics = space["topics"].as_array().map_or(0, Vec::len);
        table.row(vec![
            word(&space["name"]),
            text::short(&space["id"]),
            word(&space["verdict"]),
            topics.to_string(),
            version(space),
        ]);
    }
    context.out.either(&answer, &table.render())
}

fn shown(space: &Value) -> String {
    let head = format!(
        "{} ({}): {}, version {}, control topic {}",
        word(&space["name"]),
        text::short(&space["id"]),
        word(&space["verdict"]),
        version(space),
        word(&space["control"]),
    );
    let topics = topics(space);
    if topics.is_empty() {
        head
    } else {
        format!("{head}\n{topics}")
    }
}

/// The topics of a space or of a state, one a line.
fn topics(space: &Value) -> String {
    let listed = space["topics"].as_array().map_or(&[][..], Vec::as_slice);
    if listed.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["topic", "id", "state"]);
    for topic in listed {
        table.row(vec![
            word(&topic["name"]),
            text::short(&topic["id"]),
            word(&topic["state"]),
        ]);
    }
    table.render()
}

fn watch(context: &Context, space: &str, until_synced: bool) -> Outcome {
    let reach = Reach::running(&context.config)?;
    interrupt::ends_well();
    for message in reach.api.stream(&format!("{}/events", path(space)))? {
        let Ok(message) = message else { break };
        let event: Value = serde_json::from_str(&message.data)
            .map_err(|error| Failure::other("the node sent what is no event").because(error))?;
        context.out.either(&event, &told(&event))?;
        if until_synced && event["type"] == "space_synced" {
            return settled(&event);
        }
    }
    Err(Failure::new(Exit::NoNode, "the node has stopped").next("start it with `osier run`"))
}

/// The end of `--until-synced`.
fn settled(event: &Value) -> Outcome {
    let degraded = event["degraded"].as_array().map_or(0, Vec::len);
    if degraded == 0 {
        return Ok(());
    }
    let text = format!("{degraded} topics of the space could not be synced");
    Err(Failure::new(Exit::Incomplete, text).next("`osier status` says why"))
}

/// An event for people.
fn told(event: &Value) -> String {
    let count = |key: &str| event[key].as_array().map_or(0, Vec::len);
    match event["type"].as_str().unwrap_or_default() {
        "state" => {
            let synced = |topic: &&Value| topic["state"] == "synced";
            let listed = event["topics"].as_array().map_or(&[][..], Vec::as_slice);
            format!(
                "space is {}: {} of {} topics synced",
                word(&event["verdict"]),
                listed.iter().filter(synced).count(),
                listed.len()
            )
        }
        "space_synced" => format!(
            "SpaceSynced: version {}, {} topics, {} degraded",
            event["version"],
            event["topics"],
            count("degraded")
        ),
        "space_withdrawn" => format!(
            "SpaceWithdrawn: {}, waiting for {} topics",
            word(&event["reason"]),
            count("waiting")
        ),
        _ => word(&event["error"]),
    }
}

fn version(space: &Value) -> String {
    space["version"]
        .as_u64()
        .map_or_else(|| "-".to_owned(), |version| version.to_string())
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or("-").replace('_', " ")
}
