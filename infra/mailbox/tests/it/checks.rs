//! The checks of a mail: its HTML, its links, its spam score, and thumbnails.

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use posthaste_mailbox::{Chaos, ChaosStep, Sources};
use posthaste_model::Entropy;
use posthaste_webhook::{ClientConfig, Guard, WebhookClient};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{Box, rich};

fn html(body: &str) -> String {
    format!("Content-Type: text/html; charset=utf-8\r\n\r\n{body}\r\n")
}

#[tokio::test]
async fn html_is_checked_against_what_clients_support() {
    let b = Box::new();
    b.deliver(&["a@x.example"], html("<div style='display:grid'>a</div>"))
        .await;
    let report = b.get("/api/v1/message/latest/html-check").await.json();
    assert_eq!(report["Total"]["Nodes"], 1);
    let warning = &report["Warnings"][0];
    assert_eq!(
        (&warning["Slug"], &warning["Category"]),
        (&json!("css-display-grid"), &json!("css"))
    );
    let results = warning["Results"].as_array().unwrap();
    let windows = results
        .iter()
        .find(|one| one["Platform"] == "windows")
        .unwrap();
    assert_eq!(
        (&windows["Family"], &windows["Support"]),
        (&json!("outlook"), &json!("no"))
    );
    b.deliver(&["a@x.example"], "Subject: plain\r\n\r\nhi")
        .await;
    let none = b.get("/api/v1/message/latest/html-check").await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    assert_eq!(none.text(), "message does not contain HTML");
}

/// A web server on loopback, and a mailbox whose guard permits it or not.
async fn with_links(guard: Guard) -> (Box, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let to =
        |target: &'static str| get(async move || (StatusCode::FOUND, [(header::LOCATION, target)]));
    let pages = Router::new()
        .route("/ok", get(async || "ok"))
        .route("/moved", to("/ok"))
        .route("/loop", to("/loop"))
        .route("/inside", to("http://10.0.0.1/secret"))
        .route("/mail", to("mailto:ann@x.example"));
    tokio::spawn(async move { axum::serve(listener, pages).await });
    let config = ClientConfig {
        guard,
        ..ClientConfig::default()
    };
    let sources = Sources {
        links: Some(WebhookClient::open(config).unwrap()),
        ..Sources::default()
    };
    (Box::with(sources, 10), base)
}

/// The code of each link, after the server's address.
fn codes(report: &Value, base: &str) -> Vec<(String, u64)> {
    let links = report["Links"].as_array().unwrap();
    let code = |link: &Value| {
        let url = link["URL"].as_str().unwrap();
        let path = url.strip_prefix(base).unwrap_or(url);
        (path.to_owned(), link["StatusCode"].as_u64().unwrap())
    };
    links.iter().map(code).collect()
}

#[tokio::test]
async fn links_answer_with_their_codes() {
    let (b, base) = with_links(Guard::with_loopback()).await;
    let paths = ["ok", "gone", "moved", "loop", "inside", "mail"];
    let links = paths.map(|path| format!("<a href='{base}/{path}'>x</a>"));
    b.deliver(&["a@x.example"], html(&links.concat())).await;
    let bare = b.get("/api/v1/message/latest/link-check").await.json();
    let pairs = |codes: [u64; 6]| {
        let paths = paths.map(|path| format!("/{path}"));
        paths.into_iter().zip(codes).collect::<Vec<_>>()
    };
    assert_eq!(codes(&bare, &base), pairs([200, 404, 302, 302, 302, 302]));
    assert_eq!(bare["Errors"], 1);
    let followed = b
        .get("/api/v1/message/latest/link-check?follow=true")
        .await
        .json();
    assert_eq!(codes(&followed, &base), pairs([200, 404, 200, 0, 451, 0]));
    assert_eq!(followed["Errors"], 4);
    assert_eq!(followed["Links"][0]["Status"], "OK");
    assert_eq!(followed["Links"][3]["Status"], "too many redirects");
}

#[tokio::test]
async fn a_link_is_opened_up_to_8_kb() {
    let (b, base) = with_links(Guard::with_loopback()).await;
    let long = |bytes: usize| {
        let path = format!("{base}/ok?");
        format!("{path}{}", "a".repeat(bytes - path.len()))
    };
    // A webhook's URL ends at 2,048; one of 8,193 is not among the links.
    let links = [2_048, 2_049, 8_192, 8_193].map(long);
    let body = links.map(|link| format!("<a href='{link}'>x</a>"));
    b.deliver(&["a@x.example"], html(&body.concat())).await;
    let report = b.get("/api/v1/message/latest/link-check").await.json();
    let codes: Vec<_> = codes(&report, "")
        .into_iter()
        .map(|(url, code)| (url.len(), code))
        .collect();
    assert_eq!(codes, [(2_048, 200), (2_049, 200), (8_192, 200)]);
    assert_eq!(report["Errors"], 0);
}

/// A stranger's mail must not make the host call what only the host can reach.
#[tokio::test]
async fn links_to_private_addresses_are_not_opened() {
    let (b, base) = with_links(Guard::default()).await;
    let links = [
        base.as_str(),
        "http://localhost:8080/",
        "http://[::1]/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://0x7f.1/",
        "http://127.0.0.1:25/",
    ];
    let body = links.map(|link| format!("<img src='{link}'>"));
    b.deliver(&["a@x.example"], html(&body.concat())).await;
    let report = b
        .get("/api/v1/message/latest/link-check?follow=1")
        .await
        .json();
    let codes: Vec<_> = codes(&report, "")
        .into_iter()
        .map(|(_, code)| code)
        .collect();
    assert_eq!(codes, [451, 451, 451, 451, 451, 451, 0]);
    // A mailbox without a client opens none.
    let b = Box::new();
    b.deliver(&["a@x.example"], html("<a href='http://x.example'>x</a>"))
        .await;
    let none = b.get("/api/v1/message/latest/link-check").await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
}

/// A spamd that answers every mail so, and a mailbox that asks it.
async fn with_spamd(answer: &'static str) -> Box {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("spamd://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            stream.read_to_end(&mut request).await.unwrap();
            assert!(request.starts_with(b"REPORT SPAMC/"));
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let sources = Sources {
        spam: Some(url.parse().unwrap()),
        ..Sources::default()
    };
    Box::with(sources, 10)
}

#[tokio::test]
async fn the_spam_filter_scores_a_mail() {
    let b = with_spamd(
        "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 6.1 / 5.0\r\n\r\n pts rule\n---- ----\n 6.1 GTUBE   A test\n",
    )
    .await;
    let id = b.deliver(&["a@x.example"], rich()).await;
    let path = format!("/api/v1/message/{id}/sa-check");
    let want = json!({"Error": "", "IsSpam": true, "Score": 6.1,
        "Rules": [{"Name": "GTUBE", "Score": 6.1, "Description": "A test"}]});
    assert_eq!(b.get(&path).await.json(), want);
    assert_eq!(b.get("/api/v1/webui").await.json()["SpamAssassin"], true);
    // That the filter fails is part of the answer.
    let b = with_spamd("SPAMD/1.0 76 Bad header line\r\n\r\n").await;
    b.deliver(&["a@x.example"], rich()).await;
    let failed = b.get("/api/v1/message/latest/sa-check").await.json();
    assert_eq!(
        (&failed["IsSpam"], &failed["Rules"]),
        (&json!(false), &json!([]))
    );
    assert!(
        failed["Error"]
            .as_str()
            .unwrap()
            .contains("Bad header line"),
        "{failed}"
    );
    // Without a filter.
    let b = Box::new();
    b.deliver(&["a@x.example"], rich()).await;
    let none = b.get("/api/v1/message/latest/sa-check").await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    assert!(none.text().contains("--spam-filter"), "{}", none.text());
}

#[tokio::test]
async fn a_thumbnail_is_a_jpeg_whatever_the_part_is() {
    let b = Box::new();
    let id = b.deliver(&["a@x.example"], rich()).await;
    for part in ["1.2", "3"] {
        let thumb = b
            .get(&format!("/api/v1/message/{id}/part/{part}/thumb"))
            .await;
        assert_eq!(thumb.status, StatusCode::OK);
        assert_eq!(thumb.header("content-type"), "image/jpeg");
        assert!(thumb.body.starts_with(b"\xff\xd8\xff"));
    }
    let none = b.get(&format!("/api/v1/message/{id}/part/9/thumb")).await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn chaos_is_set_by_step_and_reset_by_what_is_left_out() {
    let chaos = Chaos::new(Entropy::counting());
    let sources = Sources {
        chaos: Some(chaos.clone()),
        ..Sources::default()
    };
    let b = Box::with(sources, 10);
    let rest = json!({"ErrorCode": 451, "Probability": 0});
    let default = json!({"Sender": rest, "Recipient": rest,
        "Authentication": {"ErrorCode": 535, "Probability": 0}});
    assert_eq!(b.get("/api/v1/chaos").await.json(), default);
    let put = async |body: Value| b.ask("PUT", "/api/v1/chaos", &[], &body.to_string()).await;
    let set = put(
        json!({"Sender": {"ErrorCode": 421, "Probability": 100}, "Authentication": {"Probability": 7}}),
    );
    let set = set.await.json();
    assert_eq!(set["Sender"], json!({"ErrorCode": 421, "Probability": 100}));
    assert_eq!(
        set["Authentication"],
        json!({"ErrorCode": 535, "Probability": 7})
    );
    assert_eq!(chaos.code(ChaosStep::Sender), Some(421));
    assert_eq!(chaos.code(ChaosStep::Recipient), None);
    for (body, why) in [
        (
            json!({"Sender": {"ErrorCode": 399, "Probability": 1}}),
            "Sender: ErrorCode must be",
        ),
        (
            json!({"Recipient": {"ErrorCode": 600}}),
            "Recipient: ErrorCode must be",
        ),
        (
            json!({"Recipient": {"Probability": 101}}),
            "Recipient: Probability must be",
        ),
        (
            json!({"Authentication": {"Probability": -1}}),
            "Authentication: Probability must be",
        ),
        (json!({"Sender": {"Chance": 1}}), "unknown field"),
        (json!({"Senders": {}}), "unknown field"),
        (json!({"Sender": 5}), "invalid type"),
    ] {
        let refused = put(body).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.text().contains(why), "{}", refused.text());
    }
    assert_eq!(b.get("/api/v1/chaos").await.json(), set);
    assert_eq!(put(json!({})).await.json(), default);
    // Without it.
    let none = Box::new().get("/api/v1/chaos").await;
    assert_eq!(
        (none.status.as_u16(), none.text()),
        (400, "Chaos is not enabled".to_owned())
    );
}
