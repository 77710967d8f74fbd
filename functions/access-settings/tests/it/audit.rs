//! The audit log: what is written down, and how it is read.

use std::net::IpAddr;

use posthaste_testkit::Response;
use serde_json::{Value, json};

use crate::{LIST, TestApp};

const LOG: &str = "/v3/access_settings/audit_log";

impl TestApp {
    async fn log(&self, query: &str) -> Response {
        let path = format!("{LOG}?{query}");
        self.api.get(&path).key(&self.tenant.key).send().await
    }

    async fn changes(&self, query: &str) -> Vec<Value> {
        let page = self.log(query).await.expect(200).json();
        page["result"].as_array().unwrap().clone()
    }
}

/// The calls of a page, as `METHOD path`.
fn calls(page: &[Value]) -> Vec<String> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    page.iter()
        .map(|entry| format!("{} {}", text(entry, "method"), text(entry, "path")))
        .collect()
}

#[tokio::test]
async fn a_change_is_written_down_with_its_time_address_and_key() {
    let app = TestApp::new().await;
    let from = Some(IpAddr::from([192, 0, 2, 1]));
    let body = json!({"ips": [{"ip": "192.0.2.0/24"}]});
    let add = app.api.post(LIST).key(&app.tenant.key).json(&body);
    let added = add.from(from).send().await.expect(201).json();
    app.hand.advance(60);
    let rule = format!("{LIST}/{}", added["result"][0]["id"]);
    let remove = app.api.delete(&rule).key(&app.tenant.key).from(from);
    remove.send().await.expect(204);

    // What reads, and what is refused, changes nothing.
    app.list().await;
    app.post(&json!({"ips": [{"ip": "nowhere"}]}))
        .await
        .expect(400);
    let page = app.changes("").await;
    assert_eq!(
        calls(&page),
        [format!("DELETE {rule}"), format!("POST {LIST}")]
    );
    let first = &page[1];
    let key = app.tenant.key.get(3..25).unwrap();
    for (name, want) in [
        ("at", json!(app.hand.now().0 - 60)),
        ("status", json!(201)),
        ("changed_by", json!("api_key")),
        ("api_key_id", json!(key)),
        ("ip", json!("192.0.2.1")),
    ] {
        assert_eq!(first[name], want, "{name}");
    }
    assert!(first.get("acting_account_id").is_none(), "{first}");
}

#[tokio::test]
async fn a_parent_that_acts_for_a_subuser_is_named_in_the_log_of_the_subuser() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let body = json!({"ips": [{"ip": "192.0.2.1"}]});
    let add = app.api.post(LIST).key(&app.tenant.key).as_if("sub");
    add.json(&body).send().await.expect(201);
    assert_eq!(app.changes("").await, Vec::<Value>::new());
    let read = app.api.get(LOG).key(&app.tenant.key).as_if("sub");
    let page = read.send().await.expect(200).json();
    let parent = app.tenant.account.id.to_string();
    assert_eq!(page["result"][0]["acting_account_id"], json!(parent));
    assert_ne!(parent, sub.account.id.to_string());
}

#[tokio::test]
async fn pages_hold_every_change_once_latest_first() {
    let app = TestApp::new().await;
    for last in 1..8_u8 {
        app.add(&[&format!("192.0.2.{last}")]).await.expect(201);
        // Several within a second.
        app.hand.advance(i64::from(last % 3));
    }
    let all = app.changes("").await;
    assert_eq!(all.len(), 7);
    let mut paged = Vec::new();
    let mut query = "limit=3".to_owned();
    loop {
        let page = app.log(&query).await.expect(200);
        paged.extend(page.json()["result"].as_array().unwrap().clone());
        let link = page.header("link").to_owned();
        let Some((_, rest)) = link.split_once("after=") else {
            break;
        };
        query = format!("limit=3&after={}", rest.split('>').next().unwrap());
    }
    assert_eq!(paged, all);
    let times: Vec<_> = all.iter().map(|entry| entry["at"].as_i64()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");

    let middle = times[3].unwrap();
    let within = |page: Vec<Value>| page.iter().map(|entry| entry["at"].as_i64()).collect();
    let since: Vec<_> = within(app.changes(&format!("start_time={middle}")).await);
    let until: Vec<_> = within(app.changes(&format!("end_time={middle}")).await);
    assert!(since.iter().all(|at| at.is_some_and(|at| at >= middle)));
    assert!(until.iter().all(|at| at.is_some_and(|at| at <= middle)));
    let both = times.iter().filter(|at| **at == Some(middle)).count();
    assert_eq!(since.len() + until.len(), times.len() + both);
    assert_eq!(
        within(app.changes("start_time=9&end_time=8").await),
        Vec::<Option<i64>>::new()
    );
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let app = TestApp::new().await;
    for (query, field) in [
        ("limit=0", "limit"),
        ("start_time=x", "start_time"),
        ("end_time=-1", "end_time"),
        ("after=x", "after"),
        ("after=", "after"),
        ("after=12345678901234", "after"),
    ] {
        let refused = app.log(query).await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{query}");
    }
    // A place that no entry has.
    app.add(&["192.0.2.1"]).await.expect(201);
    for (place, want) in [("0000000000000%23x", 1), ("9999999999999%23x", 0)] {
        assert_eq!(app.changes(&format!("after={place}")).await.len(), want);
    }
}

#[tokio::test]
async fn an_entry_is_there_for_as_long_as_the_operator_says() {
    let app = TestApp::new().await;
    app.add(&["192.0.2.1"]).await.expect(201);
    app.hand.advance(365 * 86_400 - 1);
    assert_eq!(app.changes("").await.len(), 1);
    app.hand.advance(1);
    assert_eq!(app.changes("").await.len(), 0);
}
