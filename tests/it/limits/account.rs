//! The limits of an account: keys, allowed addresses, webhooks, requests.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::service::{Service, mail};

#[tokio::test(flavor = "multi_thread")]
async fn an_account_holds_a_hundred_keys_of_69_characters() {
    let service = Service::start().await;
    // The service's own is the first.
    for i in 1..100 {
        let key = json!({"name": format!("key {i}")});
        let answer = service.call(Method::POST, "/v3/api_keys", &key).await;
        assert_eq!(answer.status(), 201, "{i}");
        let made: Value = answer.json().await.expect("JSON");
        assert_eq!(made["api_key"].as_str().map(str::len), Some(69));
    }
    let one_more = json!({"name": "one more"});
    let answer = service.call(Method::POST, "/v3/api_keys", &one_more).await;
    assert_eq!(answer.status(), 403);
    let answer: Value = answer.json().await.expect("JSON");
    let want = "Cannot create more than 100 API Keys";
    assert_eq!(answer["errors"][0]["message"], want);

    for key in [
        format!("{}x", service.key()),
        service.key()[..68].to_owned(),
    ] {
        let ask = service.ask(Method::GET, "/v3/scopes").bearer_auth(key);
        let answer = ask.send().await.expect("the API answers");
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_may_be_allowed_without_a_limit() {
    const LIST: &str = "/v3/access_settings/whitelist";
    let service = Service::start().await;
    // Our own first: from here on only these may call.
    let ip = |i: usize| json!({"ip": format!("10.{}.{}.0/24", i / 256, i % 256)});
    let ips: Vec<Value> = std::iter::once(json!({"ip": "127.0.0.1"}))
        .chain((0..1_999).map(ip))
        .collect();
    let answer = service.call(Method::POST, LIST, &json!({"ips": ips})).await;
    assert_eq!(answer.status(), 201);
    let answer = service.call(Method::GET, LIST, &json!({})).await;
    let listed: Value = answer.json().await.expect("JSON");
    assert_eq!(listed["result"].as_array().map(Vec::len), Some(2_000));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_belongs_to_one_webhook_of_an_account() {
    const ALL: &str = "/v3/user/webhooks/event/settings";
    let service = Service::start().await;
    let hook =
        |path: &str| json!({"url": format!("http://127.0.0.1:8999/{path}"), "delivered": true});
    for path in ["one", "other"] {
        let answer = service.call(Method::POST, ALL, &hook(path)).await;
        assert_eq!(answer.status(), 201, "{path}");
    }
    let answer = service.call(Method::POST, ALL, &hook("one")).await;
    assert_eq!(answer.status(), 400);
    let answer: Value = answer.json().await.expect("JSON");
    let want =
        "Webhook at 'http://127.0.0.1:8999/one' already exists. Please provide a unique URL.";
    assert_eq!(answer["errors"][0]["message"], want);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_past_the_limit_wait_for_the_next_period() {
    let service = Service::with(|settings| settings.limits.requests = 3).await;
    let number = |answer: &reqwest::Response, name: &str| -> i64 {
        let value = answer.headers().get(name).expect("on every response");
        value.to_str().expect("text").parse().expect("a number")
    };
    for left in [2, 1, 0] {
        let answer = service.call(Method::GET, "/v3/scopes", &json!({})).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(number(&answer, "X-RateLimit-Limit"), 3);
        assert_eq!(number(&answer, "X-RateLimit-Remaining"), left);
    }
    let answer = service.call(Method::GET, "/v3/scopes", &json!({})).await;
    assert_eq!(answer.status(), 429);
    assert_eq!(number(&answer, "X-RateLimit-Remaining"), 0);
    let again = number(&answer, "X-RateLimit-Reset");
    let refused: Value = answer.json().await.expect("JSON");
    let want = json!({"errors": [{"field": null, "message": "too many requests"}]});
    assert_eq!(refused, want);

    // Each endpoint counts for itself.
    let other = service.call(Method::GET, "/v3/api_keys", &json!({})).await;
    assert_eq!(other.status(), 200);
    service.send(&mail("ann@example.com")).await;
    service.hand.advance(again - service.now());
    let answer = service.call(Method::GET, "/v3/scopes", &json!({})).await;
    assert_eq!(answer.status(), 200);
    service.stop().await;
}
