//! Dedicated addresses, pools and warm-up: with those of SES, and where there are none.

use axum::http::{Method, StatusCode};
use axum::routing::get;
use axum::{Json, Router};
use posthaste_mailer::Ses;
use posthaste_testkit::aws_stand_in;
use serde_json::{Value, json};

use crate::TestApp;

const POOL: &str = "/v3/ips/pools/news";

/// SES with these addresses, two on a page.
async fn ses(ips: Value) -> Ses {
    let answer = move |query: axum::extract::RawQuery| async move {
        let all = ips.as_array().unwrap();
        let (page, next) = match query.0.as_deref() {
            Some(query) if query.contains("NextToken") => (&all[2.min(all.len())..], Value::Null),
            _ if all.len() > 2 => (&all[..2], json!("more")),
            _ => (&all[..], Value::Null),
        };
        Json(json!({"DedicatedIps": page, "NextToken": next}))
    };
    serve(Router::new().route("/v2/email/dedicated-ips", get(answer))).await
}

async fn serve(app: Router) -> Ses {
    let aws = aws_stand_in(app).await;
    Ses::new(&aws, None)
}

fn three() -> Value {
    let ip = |ip: &str, status: &str| json!({"Ip": ip, "WarmupStatus": status, "WarmupPercentage": 40, "PoolName": "default"});
    json!([
        ip("192.0.2.2", "DONE"),
        ip("192.0.2.1", "IN_PROGRESS"),
        ip("192.0.2.3", "NOT_APPLICABLE"),
    ])
}

#[tokio::test]
async fn without_ses_there_are_no_addresses_and_none_is_made_up() {
    let app = TestApp::new(None).await;
    for path in [
        "/v3/ips",
        "/v3/ips/assigned",
        "/v3/ips/warmup",
        "/v3/ips/pools",
    ] {
        assert_eq!(app.get(path, 200).await, json!([]), "{path}");
    }
    let remaining = json!({"results": [{"remaining": 0, "period": "month", "price_per_ip": 0.0}]});
    assert_eq!(app.get("/v3/ips/remaining", 200).await, remaining);
    app.get("/v3/ips/192.0.2.1", 404).await;
    app.get("/v3/ips/warmup/192.0.2.1", 404).await;
    let ip = json!({"ip": "192.0.2.1"});
    app.ask(Method::POST, "/v3/ips/warmup", &ip, 404).await;
    app.ask(Method::POST, "/v3/ips/warmup", &json!({}), 400)
        .await;
    app.ask(Method::POST, "/v3/ips", &json!({"count": 1}), 403)
        .await;
    app.ask(Method::POST, "/v3/ips/pools", &json!({"name": "news"}), 200)
        .await;
    app.ask(Method::POST, &format!("{POOL}/ips"), &ip, 404)
        .await;
}

#[tokio::test]
async fn dedicated_addresses_are_shown_with_their_pools_and_subusers() {
    let app = TestApp::new(Some(ses(three()).await)).await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let assign =
        |account: &mut posthaste_store::Account| account.ips = vec!["192.0.2.2".to_owned()];
    app.store
        .update_account(&sub.account.id, assign)
        .await
        .unwrap();
    app.ask(Method::POST, "/v3/ips/pools", &json!({"name": "news"}), 200)
        .await;
    let added = app
        .ask(
            Method::POST,
            &format!("{POOL}/ips"),
            &json!({"ip": "192.0.2.1"}),
            201,
        )
        .await;
    let want = json!({"ip": "192.0.2.1", "pools": ["news"], "warmup": true, "start_date": 0});
    assert_eq!(added, want);

    let all = app.get("/v3/ips", 200).await;
    let ips: Vec<_> = all.as_array().unwrap().iter().map(|ip| &ip["ip"]).collect();
    assert_eq!(ips, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    let first = json!({"ip": "192.0.2.1", "subusers": [], "rdns": "", "pools": ["news"], "warmup": true,
        "start_date": null, "whitelabeled": false, "assigned_at": null});
    assert_eq!(all[0], first);
    assert_eq!(all[1]["subusers"], json!(["sub"]));
    assert_eq!(all[1]["rdns"], "");
    let name = json!({"ip": "192.0.2.2", "domain": "example.com"});
    app.ask(Method::POST, "/v3/whitelabel/ips", &name, 201)
        .await;
    let all = app.get("/v3/ips", 200).await;
    assert_eq!(all[1]["rdns"], "o1.example.com");
    let own = app.api.get("/v3/ips").key(&sub.key).send().await;
    let own = own.expect(200).json();
    assert_eq!(own.as_array().unwrap().len(), 1, "what is assigned to it");
    assert_eq!(own[0]["ip"], "192.0.2.2");
    app.api
        .get("/v3/ips/192.0.2.1")
        .key(&sub.key)
        .send()
        .await
        .expect(404);
    let of_sub = app.get("/v3/ips?subuser=sub", 200).await;
    assert_eq!(of_sub, json!([all[1]]));
    let page = app
        .get("/v3/ips?limit=1&offset=1&sort_by_direction=desc", 200)
        .await;
    assert_eq!(page, json!([all[1]]));
    assert_eq!(app.get("/v3/ips?ip=192.0.2.3", 200).await, json!([all[2]]));
    assert_eq!(
        app.get("/v3/ips/192.0.2.1", 200).await["pools"],
        json!(["news"])
    );
    assert_eq!(app.get("/v3/ips/assigned", 200).await[0], want);
    assert_eq!(
        app.get(POOL, 200).await,
        json!({"pool_name": "news", "ips": ["192.0.2.1"]})
    );

    let ip = format!("{POOL}/ips/192.0.2.1");
    app.ask(Method::DELETE, &ip, &json!({}), 204).await;
    app.ask(Method::DELETE, &ip, &json!({}), 404).await;
    assert_eq!(app.get("/v3/ips/192.0.2.1", 200).await["pools"], json!([]));
}

#[tokio::test]
async fn ses_warms_addresses_up_by_itself() {
    let app = TestApp::new(Some(ses(three()).await)).await;
    let warming = json!([{"ip": "192.0.2.1", "start_date": 0}]);
    assert_eq!(app.get("/v3/ips/warmup", 200).await, warming);
    assert_eq!(app.get("/v3/ips/warmup/192.0.2.1", 200).await, warming);
    assert_eq!(app.get("/v3/ips/warmup/192.0.2.2", 200).await, json!([]));
    let path = "/v3/ips/warmup";
    assert_eq!(
        app.ask(Method::POST, path, &json!({"ip": "192.0.2.1"}), 200)
            .await,
        warming
    );
    app.ask(Method::POST, path, &json!({"ip": "192.0.2.2"}), 400)
        .await;
    app.ask(Method::DELETE, "/v3/ips/warmup/192.0.2.1", &json!({}), 400)
        .await;
    app.ask(Method::DELETE, "/v3/ips/warmup/192.0.2.2", &json!({}), 204)
        .await;
    app.ask(Method::DELETE, "/v3/ips/warmup/192.0.2.9", &json!({}), 404)
        .await;
}

#[tokio::test]
async fn pools_are_made_renamed_and_deleted() {
    let app = TestApp::new(None).await;
    let pools = "/v3/ips/pools";
    for bad in [
        json!({}),
        json!({"name": "x"}),
        json!({"name": "a/b"}),
        json!({"name": ".."}),
        json!({"name": "a\u{7}b"}),
        json!({"name": "x".repeat(65)}),
        json!({"name": null}),
    ] {
        let refused = app.ask(Method::POST, pools, &bad, 400).await;
        assert_eq!(refused["errors"][0]["field"], "name");
    }
    let made = app
        .ask(Method::POST, pools, &json!({"name": "news"}), 200)
        .await;
    assert_eq!(made, json!({"name": "news"}));
    app.ask(Method::POST, pools, &json!({"name": "news"}), 400)
        .await;
    app.ask(Method::POST, pools, &json!({"name": "Ann's mail"}), 200)
        .await;
    assert_eq!(
        app.get(pools, 200).await,
        json!([{"name": "Ann's mail"}, {"name": "news"}])
    );
    app.ask(Method::PUT, POOL, &json!({"name": "Ann's mail"}), 400)
        .await;
    let renamed = app
        .ask(Method::PUT, POOL, &json!({"name": "bulk"}), 200)
        .await;
    assert_eq!(renamed, json!({"name": "bulk"}));
    app.get(POOL, 404).await;
    app.ask(Method::PUT, POOL, &json!({"name": "other"}), 404)
        .await;
    app.ask(Method::DELETE, POOL, &json!({}), 404).await;
    app.ask(Method::DELETE, "/v3/ips/pools/bulk", &json!({}), 204)
        .await;
    app.ask(
        Method::DELETE,
        "/v3/ips/pools/Ann's%20mail",
        &json!({}),
        204,
    )
    .await;
    assert_eq!(app.get(pools, 200).await, json!([]));
}

#[tokio::test]
async fn while_ses_does_not_answer_nothing_is_claimed() {
    let refusing = || async {
        let body = json!({"message": "no"});
        (
            StatusCode::FORBIDDEN,
            [("x-amzn-errortype", "AccessDeniedException")],
            Json(body),
        )
    };
    let app = Router::new().route("/v2/email/dedicated-ips", get(refusing));
    let app = TestApp::new(Some(serve(app).await)).await;
    app.get("/v3/ips", 503).await;
}
