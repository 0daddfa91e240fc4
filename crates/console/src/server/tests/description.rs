//! `/openapi.json` against the running server: each says what the other does.

use std::collections::BTreeSet;

use super::*;

/// A request that the server carries out, for every operation that is described. `{t}` is a topic
/// with entries, `{node}` a node on its trust list.
const SAMPLES: &[(&str, &str, &str, Option<&str>)] = &[
    ("get", "/", "/", None),
    ("get", "/page/{file}", "/page/app.js", None),
    ("get", "/healthz", "/healthz", None),
    ("get", "/readyz", "/readyz", None),
    ("get", "/openapi.json", "/openapi.json", None),
    ("get", "/metrics", "/metrics", None),
    ("post", "/v1/links", "/v1/links", Some("{}")),
    ("get", "/v1/node", "/v1/node", None),
    ("post", "/v1/check", "/v1/check", Some("{}")),
    ("get", "/v1/relay", "/v1/relay", None),
    ("get", "/v1/topics", "/v1/topics", None),
    (
        "post",
        "/v1/topics",
        "/v1/topics",
        Some(r#"{"name": "other"}"#),
    ),
    ("get", "/v1/topics/{t}", "/v1/topics/lobby", None),
    (
        "get",
        "/v1/topics/{t}/ticket",
        "/v1/topics/lobby/ticket",
        None,
    ),
    (
        "post",
        "/v1/topics/{t}/rule",
        "/v1/topics/lobby/rule",
        Some(r#"{"rule": "quorum:2:archive"}"#),
    ),
    (
        "get",
        "/v1/topics/{t}/entries",
        "/v1/topics/lobby/entries?limit=2",
        None,
    ),
    (
        "post",
        "/v1/topics/{t}/entries",
        "/v1/topics/lobby/entries",
        Some(r#"{"entries": ["a", {"base64": "AP8="}]}"#),
    ),
    (
        "put",
        "/v1/topics/{t}/trust/{node}",
        "/v1/topics/lobby/trust/{node}",
        Some(r#"{"rank": 7, "role": "replay"}"#),
    ),
    (
        "get",
        "/v1/topics/{t}/trust/{node}",
        "/v1/topics/lobby/trust/{node}",
        None,
    ),
    (
        "get",
        "/v1/topics/{t}/trust",
        "/v1/topics/lobby/trust",
        None,
    ),
    (
        "put",
        "/v1/topics/{t}/grants/{node}",
        "/v1/topics/lobby/grants/{node}",
        Some(r#"{"rank": 7}"#),
    ),
    (
        "delete",
        "/v1/topics/{t}/grants/{node}",
        "/v1/topics/lobby/grants/{node}",
        None,
    ),
    (
        "post",
        "/v1/spaces",
        "/v1/spaces",
        Some(r#"{"name": "team"}"#),
    ),
    (
        "put",
        "/v1/spaces/{s}/topics/{t}",
        "/v1/spaces/team/topics/lobby",
        Some("{}"),
    ),
    ("get", "/v1/spaces", "/v1/spaces", None),
    ("get", "/v1/spaces/{s}", "/v1/spaces/team", None),
    (
        "delete",
        "/v1/spaces/{s}/topics/{t}",
        "/v1/spaces/team/topics/lobby",
        None,
    ),
    ("get", "/v1/providers", "/v1/providers", None),
    ("get", "/v1/sessions", "/v1/sessions", None),
    (
        "delete",
        "/v1/topics/{t}/trust/{node}",
        "/v1/topics/lobby/trust/{node}",
        None,
    ),
    ("delete", "/v1/topics/{t}", "/v1/topics/other", None),
];

/// Operations that need more than a fixed request; a test of its own sends it.
const APART: &[(&str, &str)] = &[
    ("get", "/v1/topics/{t}/events"),
    ("get", "/v1/spaces/{s}/events"),
    ("post", "/v1/topics/{t}/nostr"),
    ("post", "/v1/topics/{t}/nostr/mirror"),
    ("post", "/v1/links/use"),
    ("post", "/v1/backup"),
];

const METHODS: [&str; 4] = ["get", "put", "post", "delete"];

/// The description, with every object closed: a field that it does not name is an error.
struct Description(Value);

impl Description {
    fn of(rig: &Rig) -> Self {
        let mut value = rig.json("/openapi.json");
        let mut spread = BTreeSet::new();
        spread_out(&value["components"], &mut spread);
        let schemas = value["components"]["schemas"].as_object_mut().unwrap();
        for (name, schema) in schemas {
            close(schema, spread.contains(name));
        }
        Self(value)
    }

    fn operations(&self) -> BTreeSet<(String, String)> {
        let mut all = BTreeSet::new();
        for (path, item) in self.0["paths"].as_object().unwrap() {
            let methods = METHODS.iter().filter(|method| item[**method].is_object());
            all.extend(methods.map(|method| ((*method).to_owned(), path.clone())));
        }
        all
    }

    fn operation(&self, method: &str, path: &str) -> &Value {
        &self.0["paths"][path][method]
    }

    /// Whether an answer is one that is described.
    fn check(&self, method: &str, path: &str, status: u16, media: &str, body: &str) {
        let what = format!("{method} {path}: {status} {media}");
        let responses = &self.operation(method, path)["responses"];
        let told = responses.get(status.to_string());
        let told = told.unwrap_or(&responses["default"]);
        let media = media.split(';').next().unwrap();
        let content = &told["content"][media];
        assert!(content.is_object(), "{what} is not described: {told}");
        if media != "application/json" {
            return;
        }
        self.validate(
            &what,
            &content["schema"],
            &serde_json::from_str(body).unwrap(),
        );
    }

    fn validate(&self, what: &str, schema: &Value, value: &Value) {
        let mut root = schema.clone();
        root["components"] = self.0["components"].clone();
        let validator = jsonschema::validator_for(&root).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{what}: {errors:#?} in {value:#}");
    }
}

/// Names of the schemas whose fields stand among those of another.
fn spread_out(value: &Value, found: &mut BTreeSet<String>) {
    for part in value["allOf"].as_array().into_iter().flatten() {
        if let Some(name) = part["$ref"].as_str() {
            found.insert(name.rsplit('/').next().unwrap().to_owned());
        }
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|it| spread_out(it, found)),
        Value::Array(items) => items.iter().for_each(|it| spread_out(it, found)),
        _ => {}
    }
}

/// Closes the objects of a schema; those that stand among another's fields are closed there.
fn close(schema: &mut Value, spread: bool) {
    if schema["allOf"].is_array() {
        if !spread {
            schema["unevaluatedProperties"] = json!(false);
        }
        return;
    }
    if schema["properties"].is_object() && !spread {
        schema["additionalProperties"] = json!(false);
    }
    for kind in ["oneOf", "anyOf"] {
        let parts = schema.get_mut(kind).and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            close(part, spread);
        }
    }
}

/// Status, media type and text of an answer.
fn send(
    rig: &Rig,
    method: &str,
    path: &str,
    body: Option<&str>,
    token: bool,
) -> (u16, String, String) {
    let url = rig.url(&path.replace("{node}", &"07".repeat(32)));
    let mut request = ureq::http::Request::builder().method(method.to_uppercase().as_str());
    request = request.uri(url).header("Content-Type", "application/json");
    if token {
        request = request.header("Authorization", format!("Bearer {TOKEN}"));
    }
    let request = request.body(body.unwrap_or_default().to_owned()).unwrap();
    let mut answer = block_in_place(|| agent().run(request)).unwrap();
    let media = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    let text = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), media, text)
}

async fn with_lobby() -> Rig {
    let rig = Rig::start(|_| {}).await;
    rig.post("/v1/topics", "application/json", b"{\"name\": \"lobby\"}");
    rig
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_answers_as_it_is_described() {
    let rig = with_lobby().await;
    let description = Description::of(&rig);
    let mut sent = BTreeSet::new();
    for (method, path, request, body) in SAMPLES {
        let (status, media, text) = send(&rig, method, request, *body, true);
        assert!(
            (200..300).contains(&status),
            "{method} {path}: {status} {text}"
        );
        description.check(method, path, status, &media, &text);
        sent.insert(((*method).to_owned(), (*path).to_owned()));
    }
    let apart = APART.iter();
    sent.extend(apart.map(|(method, path)| ((*method).to_owned(), (*path).to_owned())));
    assert_eq!(sent, description.operations());
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_as_described_and_only_what_says_so_needs_no_token() {
    let rig = with_lobby().await;
    let description = Description::of(&rig);
    for (method, path) in description.operations() {
        let open = description.operation(&method, &path)["security"] == json!([{}]);
        let request = path.replace("{t}", "lobby").replace("{file}", "app.js");
        let (status, media, text) = send(&rig, &method, &request, Some("{}"), false);
        assert_eq!(status == 401, !open, "{method} {path}: {status} {text}");
        description.check(&method, &path, status, &media, &text);
    }
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_the_store_is_described() {
    let rig = with_lobby().await;
    let dir = tempfile::tempdir().unwrap();
    let body = json!({ "path": dir.path().join("copy.redb") }).to_string();
    let (status, media, text) = send(&rig, "post", "/v1/backup", Some(&body), true);
    assert_eq!(status, 200, "{text}");
    Description::of(&rig).check("post", "/v1/backup", status, &media, &text);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_stream_are_described() {
    let rig = with_lobby().await;
    rig.post("/v1/topics/lobby/entries", "text/plain", b"a\nb");
    let description = Description::of(&rig);
    let responses = &description.operation("get", "/v1/topics/{t}/events")["responses"];
    let schema = &responses["200"]["content"]["text/event-stream"]["schema"];
    for (_, message) in rig.messages("/v1/topics/lobby/events", None, 3) {
        description.validate("a message", schema, &message);
    }
    for event in crate::shape::testing::every_event() {
        let message = crate::json::event(event.0, osier::Position::START, &event.1);
        description.validate("a message", schema, &message);
        let mut odd = message.clone();
        odd["odd"] = json!(1);
        let root = json!({ "allOf": [schema], "components": description.0["components"] });
        let validator = jsonschema::validator_for(&root).unwrap();
        assert!(!validator.is_valid(&odd), "anything passes: {odd}");
    }
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_spaces_stream_are_described() {
    let rig = with_lobby().await;
    rig.post("/v1/spaces", "application/json", b"{\"name\": \"team\"}");
    let listed = send(
        &rig,
        "put",
        "/v1/spaces/team/topics/lobby",
        Some("{}"),
        true,
    );
    assert_eq!(listed.0, 200, "{listed:?}");
    let description = Description::of(&rig);
    let responses = &description.operation("get", "/v1/spaces/{s}/events")["responses"];
    let schema = &responses["200"]["content"]["text/event-stream"]["schema"];
    let [(_, first)] = &rig.messages("/v1/spaces/team/events", None, 1)[..] else {
        panic!("one message was asked for");
    };
    assert_eq!(first["type"], "state", "{first}");
    description.validate("a message of a space", schema, first);
    rig.stop().await;
}

/// Programs that are made from the description call each operation by its name.
#[tokio::test(flavor = "multi_thread")]
async fn every_operation_has_a_name_of_its_own() {
    let rig = Rig::start(|_| {}).await;
    let description = Description::of(&rig);
    let operations = description.operations();
    let name = |(method, path): &(String, String)| {
        let id = &description.operation(method, path)["operationId"];
        id.as_str().unwrap().to_owned()
    };
    let names: BTreeSet<String> = operations.iter().map(name).collect();
    assert_eq!(names.len(), operations.len(), "{names:?}");
    assert!(names.contains("put_topics_t_trust_node"), "{names:?}");
    for (method, path) in &operations {
        let responses = &description.operation(method, path)["responses"];
        for (status, response) in responses.as_object().unwrap() {
            let said = response["description"].as_str().unwrap_or_default();
            assert!(!said.is_empty(), "{method} {path} {status} says nothing");
        }
    }
    rig.stop().await;
}

/// A route that is added by hand is in no description.
#[test]
fn every_route_describes_itself() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![folder.join("api.rs"), folder.join("server.rs")];
    let api = std::fs::read_dir(folder.join("api")).unwrap();
    files.extend(
        api.map(|file| file.unwrap().path())
            .filter(|it| it.is_file()),
    );
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for by_hand in [".route(", ".nest(", ".route_service(", ".nest_service("] {
            assert!(!text.contains(by_hand), "{}: {by_hand}", file.display());
        }
    }
}

/// The page for people lists what the description lists.
#[tokio::test(flavor = "multi_thread")]
async fn the_reference_lists_every_path() {
    let rig = Rig::start(|_| {}).await;
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/http-api.md"
    );
    let text = std::fs::read_to_string(file).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let mut missing = Vec::new();
    for (method, path) in Description::of(&rig).operations() {
        let method = method.to_uppercase();
        let listed = rows.iter().any(|row| {
            let cell = row.split('|').nth(1).unwrap_or_default();
            cell.contains(&method) && cell.trim().ends_with(&format!(" {path}`"))
        });
        if !listed {
            missing.push(format!("{method} {path}"));
        }
    }
    assert!(
        missing.is_empty(),
        "docs/reference/http-api.md does not list {missing:#?}"
    );
    rig.stop().await;
}
