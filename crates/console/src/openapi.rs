//! `/openapi.json`: what this API answers, made from the handlers and shapes themselves.

use axum::{Json, extract::State};
use serde_json::Value;
use utoipa::{
    OpenApi, ToSchema,
    openapi::{
        self, ContentBuilder, Ref, RefOr, Response, ResponseBuilder,
        path::Operation,
        security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
    },
};

use crate::{server::Shared, shape::Refusal};

/// Name of the security scheme.
const TOKEN: &str = "token";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Osier",
        description = "The local API of a running node. The token is the content of the file \
                       api.token in its data directory."
    ),
    components(schemas(Refusal)),
    tags(
        (name = "topics", description = "Topics and their state"),
        (name = "entries", description = "Read, write and follow history"),
        (name = "trust", description = "Whose word counts"),
        (name = "spaces", description = "Several topics as one"),
        (name = "providers", description = "Who serves, and how they did"),
        (name = "node", description = "The node itself"),
        (name = "health", description = "For whoever looks after it"),
        (name = "dashboard", description = "The page, and links to it")
    )
)]
struct Frame;

/// This description.
#[utoipa::path(get, path = "/openapi.json", tag = "health", security(()),
    responses((status = 200, body = Value)))]
pub(crate) async fn document(State(shared): State<Shared>) -> Json<Value> {
    Json(Value::clone(&shared.description))
}

/// The whole description: title and scheme, the paths, and what every path can answer.
pub(crate) fn describe(paths: openapi::OpenApi) -> Value {
    let mut document = Frame::openapi();
    document.merge(paths);
    if let Some(components) = document.components.as_mut() {
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme(TOKEN, bearer);
    }
    document.security = Some(vec![SecurityRequirement::new(TOKEN, Vec::<String>::new())]);
    for (path, item) in &mut document.paths.paths {
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(name(method, path));
                can_refuse(operation);
            }
        }
    }
    serde_json::to_value(document).unwrap_or_default()
}

/// A name for an operation that no other has: `get_topics_t_trust`.
fn name(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "v1");
    std::iter::once(method)
        .chain(words)
        .collect::<Vec<_>>()
        .join("_")
}

/// Every other status is a refusal, and every answer says what it is.
fn can_refuse(operation: &mut Operation) {
    let schema = Ref::from_schema_name(Refusal::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let refusal: Response = ResponseBuilder::new()
        .description("What failed, and what to do next")
        .content("application/json", content)
        .build();
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            let words = if status == "201" { "Made" } else { "Done" };
            words.clone_into(&mut response.description);
        }
    }
    responses.insert("default".to_owned(), RefOr::T(refusal));
}
