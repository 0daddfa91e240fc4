//! The API as a client meets it: a real listener on loopback, a real node behind it.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::block_in_place;
use ureq::{Agent, Body, http::Response};

use super::*;

mod description;
mod page;

const TOKEN: &str = "secret";

struct Rig {
    console: Console,
    osier: Osier,
    _dir: TempDir,
}

impl Rig {
    async fn start(set: impl FnOnce(&mut Settings)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let osier = Osier::builder().data_dir(dir.path()).open().await.unwrap();
        let mut settings = Settings::new("127.0.0.1:0".parse().unwrap(), TOKEN.to_owned());
        set(&mut settings);
        let console = Console::start(osier.clone(), settings).await.unwrap();
        Self {
            console,
            osier,
            _dir: dir,
        }
    }

    async fn stop(self) {
        self.console.shutdown().await;
        self.osier.shutdown().await;
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.console.address())
    }

    fn get(&self, path: &str) -> Response<Body> {
        let bearer = format!("Bearer {TOKEN}");
        block_in_place(|| {
            agent()
                .get(self.url(path))
                .header("Authorization", bearer)
                .call()
        })
        .unwrap()
    }

    fn json(&self, path: &str) -> Value {
        let mut response = self.get(path);
        assert_eq!(response.status(), 200, "{path}");
        response.body_mut().read_json().unwrap()
    }

    fn post(&self, path: &str, media: &str, body: &[u8]) -> (u16, Value) {
        let request = agent()
            .post(self.url(path))
            .header("Authorization", "Bearer secret");
        let mut response =
            block_in_place(|| request.header("Content-Type", media).send(body)).unwrap();
        (
            response.status().as_u16(),
            response.body_mut().read_json().unwrap(),
        )
    }

    /// The first messages of a stream: id and data.
    fn messages(&self, path: &str, last_id: Option<&str>, count: usize) -> Vec<(String, Value)> {
        let mut request = agent()
            .get(self.url(path))
            .header("Authorization", "Bearer secret");
        if let Some(id) = last_id {
            request = request.header("Last-Event-ID", id);
        }
        let response = block_in_place(|| request.call()).unwrap();
        let mut lines = BufReader::new(response.into_body().into_reader()).lines();
        let mut messages = Vec::new();
        let mut id = String::new();
        block_in_place(|| {
            while messages.len() < count {
                let line = lines.next().unwrap().unwrap();
                if let Some(text) = line.strip_prefix("id: ") {
                    id = text.to_owned();
                } else if let Some(data) = line.strip_prefix("data: ") {
                    messages.push((id.clone(), serde_json::from_str(data).unwrap()));
                }
            }
        });
        messages
    }
}

fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_needed_but_for_health() {
    let rig = Rig::start(|_| {}).await;
    let status = |path: &str, headers: &[(&str, &str)]| {
        let mut request = agent().get(rig.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        block_in_place(|| request.call()).unwrap().status().as_u16()
    };
    assert_eq!(status("/healthz", &[]), 200);
    assert_eq!(status("/readyz", &[]), 200);
    assert_eq!(status("/v1/topics", &[]), 401);
    assert_eq!(status("/metrics", &[]), 401);
    assert_eq!(
        status("/v1/topics", &[("Authorization", "Bearer wrong")]),
        401
    );
    let own = [("Authorization", "Bearer secret")];
    assert_eq!(status("/v1/topics", &own), 200);
    let foreign = [own[0], ("Origin", "https://evil.example")];
    assert_eq!(status("/v1/topics", &foreign), 403);
    assert_eq!(
        status("/healthz", &[("Origin", "https://evil.example")]),
        403
    );
    assert_eq!(status("/healthz", &[("Host", "evil.example")]), 403);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_said_in_a_sentence() {
    let rig = Rig::start(|_| {}).await;
    for (path, status) in [("/page/x", 404), ("/nothing", 404), ("/v1/topics/x", 404)] {
        let mut response = rig.get(path);
        assert_eq!(response.status(), status, "{path}");
        let body: Value = response.body_mut().read_json().unwrap();
        assert!(
            body["error"].is_string() && body["hint"].is_string(),
            "{path}: {body}"
        );
    }
    let (status, body) = rig.post("/v1/topics", "application/json", b"{\"title\": 1}");
    assert_eq!(status, 422, "{body}");
    let (status, _) = rig.post("/healthz", "text/plain", b"");
    assert_eq!(status, 405);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_written_read_and_followed() {
    let rig = Rig::start(|_| {}).await;
    let (status, topic) = rig.post("/v1/topics", "application/json", b"{\"name\": \"lobby\"}");
    assert_eq!((status, &topic["role"]), (201, &json!("archive")));
    let entries = "/v1/topics/lobby/entries";
    let body = json!({ "entries": ["a", { "text": "b" }, { "base64": "AP8=" }] }).to_string();
    let (status, written) = rig.post(entries, "application/json", body.as_bytes());
    assert_eq!(
        (status, written["hashes"].as_array().unwrap().len()),
        (201, 3)
    );
    let (_, written) = rig.post(entries, "application/x-ndjson", b"{\"n\":1}\n\n{\"n\":2}");
    assert_eq!(written["entries"], 2);
    let (_, written) = rig.post(entries, "application/octet-stream", b"x\ny");
    assert_eq!(written["hashes"].as_array().unwrap().len(), 1);

    assert_eq!(rig.json("/v1/topics/lobby")["own_seq"], 6);
    let (status, _) = rig.post(&format!("{entries}?own_seq=5"), "text/plain", b"late");
    assert_eq!(status, 409);

    let page = rig.json("/v1/topics/lobby/entries?limit=4");
    assert_eq!(page["done"], false);
    assert_eq!(page["entries"][2]["items"], json!([{ "base64": "AP8=" }]));
    let next = page["next"].as_str().unwrap();
    let page = rig.json(&format!("/v1/topics/lobby/entries?after={next}"));
    assert_eq!(
        (page["entries"].as_array().unwrap().len(), &page["done"]),
        (2, &json!(true))
    );
    let by_time = rig.json("/v1/topics/lobby/entries?order=time&limit=6");
    assert_eq!(by_time["entries"].as_array().unwrap().len(), 6);
    let causal = rig.json("/v1/topics/lobby/entries?order=causal&limit=4");
    let next = causal["next"].as_str().unwrap();
    let rest = rig.json(&format!(
        "/v1/topics/lobby/entries?order=causal&after={next}"
    ));
    let seqs = |page: &Value| -> Vec<u64> {
        let entries = page["entries"].as_array().unwrap();
        entries
            .iter()
            .map(|it| it["seq"].as_u64().unwrap())
            .collect()
    };
    assert_eq!((seqs(&causal), seqs(&rest)), (vec![1, 2, 3, 4], vec![5, 6]));
    assert_eq!(rig.get("/v1/topics/lobby/entries?order=odd").status(), 400);

    let all = rig.messages("/v1/topics/lobby/events", None, 7);
    assert_eq!(all[0].1["type"], "state");
    assert!(
        all[1..].iter().all(|(_, it)| it["type"] == "entry"),
        "{all:?}"
    );
    let resumed = rig.messages("/v1/topics/lobby/events", Some(&all[4].0), 3);
    assert_eq!(resumed[0].1["type"], "state");
    assert_eq!(resumed[1].1["entry"], all[5].1["entry"]);
    assert_eq!(resumed[2].1["entry"], all[6].1["entry"]);
    let newest = rig.messages("/v1/topics/lobby/events?tail=2", None, 3);
    assert_eq!(newest[1].1["entry"], all[5].1["entry"]);
    let both = rig.get("/v1/topics/lobby/events?tail=2&from=now");
    assert_eq!(both.status(), 400);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trust_rule_status_and_metrics() {
    let rig = Rig::start(|_| {}).await;
    rig.post("/v1/topics", "application/json", b"{\"name\": \"lobby\"}");
    let node = "07".repeat(32);
    let path = format!("/v1/topics/lobby/trust/{node}");
    let put = agent()
        .put(rig.url(&path))
        .header("Authorization", "Bearer secret");
    let put = block_in_place(|| put.send_json(json!({ "rank": 3, "role": "replay" }))).unwrap();
    assert_eq!(put.status(), 200);
    let shown = rig.json(&path);
    assert_eq!(
        (&shown["rank"], &shown["role"]),
        (&json!(3), &json!("replay"))
    );
    let delete = agent()
        .delete(rig.url(&path))
        .header("Authorization", "Bearer secret");
    assert_eq!(block_in_place(|| delete.call()).unwrap().status(), 200);
    assert_eq!(rig.json(&path)["trusted"], false);

    let rule = b"{\"rule\": \"first-trusted\"}";
    let (status, shown) = rig.post("/v1/topics/lobby/rule", "application/json", rule);
    assert_eq!((status, &shown["rule"]), (200, &json!("first-trusted")));
    assert!(rig.json("/v1/providers")["providers"].is_array());
    assert!(rig.json("/v1/sessions")["sessions"].is_array());
    let metrics = rig.get("/metrics").body_mut().read_to_string().unwrap();
    assert!(metrics.contains("osier_topic_entries{topic="), "{metrics}");
    let (status, report) = rig.post("/v1/check", "application/json", b"{}");
    assert_eq!((status, &report["faults"]), (200, &json!([])));
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_are_kept_and_said() {
    let rig = Rig::start(|settings| {
        settings.request_bytes_max = 1024;
        settings.streams_max = 1;
    })
    .await;
    rig.post("/v1/topics", "application/json", b"{\"name\": \"lobby\"}");
    let large = vec![b'x'; 2048];
    let (status, _) = rig.post(
        "/v1/topics/lobby/entries",
        "application/octet-stream",
        &large,
    );
    assert_eq!(status, 413);
    let open = rig.get("/v1/topics/lobby/events");
    assert_eq!(open.status(), 200);
    assert_eq!(rig.get("/v1/topics/lobby/events").status(), 503);
    drop(open);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_others_can_reach_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let osier = Osier::builder()
        .data_dir(dir.path())
        .offline()
        .open()
        .await
        .unwrap();
    let settings = Settings::new("0.0.0.0:0".parse().unwrap(), TOKEN.to_owned());
    let refused = Console::start(osier, settings).await;
    assert!(matches!(refused, Err(ConsoleError::NotLoopback(_))));
}
