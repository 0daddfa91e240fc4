//! `/` and `/page/...`: the dashboard. It holds no secret, so it needs no token; what it shows, it
//! asks this API for.

use axum::{
    extract::Path,
    http::{HeaderName, header},
    response::{IntoResponse, Response},
};

use crate::error::{ApiError, ApiResult};

const INDEX: &str = include_str!("../page/index.html");

/// Name, media type, content.
const FILES: &[(&str, &str, &str)] = &[
    ("style.css", "text/css", include_str!("../page/style.css")),
    ("app.js", SCRIPT, include_str!("../page/app.js")),
    ("chart.js", SCRIPT, include_str!("../page/chart.js")),
    ("graph.js", SCRIPT, include_str!("../page/graph.js")),
    ("node.js", SCRIPT, include_str!("../page/node.js")),
    ("view.js", SCRIPT, include_str!("../page/view.js")),
    ("word.js", SCRIPT, include_str!("../page/word.js")),
    (
        "icon.svg",
        "image/svg+xml",
        include_str!("../page/icon.svg"),
    ),
];

const SCRIPT: &str = "text/javascript";

/// Nothing from elsewhere, nothing inline, in no frame, no text becomes script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'";

/// The dashboard.
#[utoipa::path(get, path = "/", tag = "dashboard", security(()),
    responses((status = 200, body = String, content_type = "text/html")))]
pub(crate) async fn dashboard() -> Response {
    served("text/html", INDEX)
}

/// A file of the dashboard.
#[utoipa::path(get, path = "/page/{file}", tag = "dashboard", security(()),
    params(("file" = String, Path, description = "Its name")),
    responses((status = 200, content((String = "text/css"), (String = "text/javascript"),
        (String = "image/svg+xml")))))]
pub(crate) async fn file(Path(name): Path<String>) -> ApiResult<Response> {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let absent = || ApiError::not_found(format!("there is no /page/{name}"), "the page is at /");
    let (_, kind, content) = found.ok_or_else(absent)?;
    Ok(served(kind, content))
}

fn served(kind: &str, content: &'static str) -> Response {
    let headers: [(HeaderName, String); 6] = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin".to_owned(),
        ),
        // Another version of the node may serve another page at once.
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (headers, content).into_response()
}
