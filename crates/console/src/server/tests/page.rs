//! The dashboard's files and its one-time links.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_link_gives_the_token_once() {
    let rig = Rig::start(|_| {}).await;
    let link = rig.console.link().unwrap();
    let own = format!("http://{}/#", rig.console.address());
    let code = link.strip_prefix(&own).unwrap();
    let redeem = |code: &str| {
        let request = agent().post(rig.url("/v1/links/use"));
        let mut answer = block_in_place(|| request.send_json(json!({ "code": code }))).unwrap();
        let body: Value = answer.body_mut().read_json().unwrap();
        (answer.status().as_u16(), body)
    };
    assert_eq!(redeem("0").0, 401);
    assert_eq!(redeem(&"0".repeat(5000)).0, 413);
    assert_eq!(redeem(code), (200, json!({ "token": TOKEN })));
    assert_eq!(redeem(code).0, 401);
    let (status, made) = rig.post("/v1/links", "application/json", b"{}");
    assert_eq!(status, 201);
    let code = made["link"].as_str().unwrap().strip_prefix(&own).unwrap();
    assert_eq!(redeem(code).0, 200);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_takes_nothing_from_elsewhere() {
    let rig = Rig::start(|_| {}).await;
    let mut page = rig.get("/");
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert!(header("content-security-policy").starts_with("default-src 'none'; script-src 'self'"));
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("referrer-policy"), "no-referrer");
    let html = page.body_mut().read_to_string().unwrap();
    for file in html.split(['"']).filter(|part| part.starts_with("/page/")) {
        let mut found = rig.get(file);
        assert_eq!(found.status(), 200, "{file}");
        let text = found.body_mut().read_to_string().unwrap();
        let elsewhere = text.replace("http://www.w3.org/", "");
        assert!(
            !elsewhere.contains("http://") && !elsewhere.contains("https://"),
            "{file}"
        );
    }
    assert!(
        !html.contains("style=") && !html.contains("onclick"),
        "CSP would refuse it"
    );
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_named_origins_may_ask() {
    let origin = "http://localhost:5173";
    let rig = Rig::start(|settings| settings.origins = vec![origin.to_owned()]).await;
    let ask = |origin: &str| {
        let request = agent().get(rig.url("/v1/topics")).header("Origin", origin);
        let request = request.header("Authorization", "Bearer secret");
        block_in_place(|| request.call()).unwrap()
    };
    let answer = ask(origin);
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["access-control-allow-origin"], origin);
    assert_eq!(ask("http://localhost:5174").status(), 403);
    let preflight = ureq::http::Request::builder()
        .method("OPTIONS")
        .uri(rig.url("/v1/topics"))
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "GET")
        .header(
            "Access-Control-Request-Headers",
            "authorization,last-event-id",
        )
        .body(())
        .unwrap();
    let answer = block_in_place(|| agent().run(preflight)).unwrap();
    assert_eq!(answer.status(), 200);
    let allowed = answer.headers()["access-control-allow-headers"]
        .to_str()
        .unwrap();
    assert!(
        allowed.contains("authorization") && allowed.contains("last-event-id"),
        "{allowed}"
    );
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_relay_tells_of_itself() {
    let numbers = RelayNumbers {
        url: "ws://127.0.0.1:7777".to_owned(),
        connections: 2,
        ..RelayNumbers::default()
    };
    let told = numbers.clone();
    let rig = Rig::start(|settings| {
        settings.relay = Some(RelayFigures::new(move || told.clone()));
    })
    .await;
    let relay = rig.json("/v1/relay");
    assert_eq!(relay["relay"], serde_json::to_value(&numbers).unwrap());
    let metrics = rig.get("/metrics").body_mut().read_to_string().unwrap();
    assert!(metrics.contains("osier_relay_connections 2"), "{metrics}");
    rig.stop().await;
}
