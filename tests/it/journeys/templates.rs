//! A mail that a template makes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::Service;

/// What a call that must succeed made.
async fn made(service: &Service, path: &str, body: &Value) -> Value {
    let answer = service.call(Method::POST, path, body).await;
    assert_eq!(answer.status(), 201, "{path}");
    answer.json().await.unwrap()
}

/// A dynamic template with one version; its id.
async fn template(service: &Service, html: &str) -> String {
    let body = json!({"name": "Letter", "generation": "dynamic"});
    let template = made(service, "/v3/templates", &body).await;
    let id = template["id"].as_str().unwrap().to_owned();
    let version = json!({"name": "first", "subject": "Dear {{name}}", "html_content": html});
    let path = format!("/v3/templates/{id}/versions");
    made(service, &path, &version).await;
    id
}

fn letter(template: &str, names: &[Value]) -> Value {
    let envelope = |name: &Value| json!({"to": [{"email": "to@example.com"}], "dynamic_template_data": {"name": name}});
    json!({
        "personalizations": names.iter().map(envelope).collect::<Vec<_>>(),
        "from": {"email": "sender@example.com"},
        "template_id": template,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_envelope_gets_its_own_data() {
    let service = Service::start().await;
    let id = template(&service, "<p>Hello <b>{{name}}</b></p>").await;
    let names = [json!("Ada & Co"), json!("Bob")];
    let message = service.send(&letter(&id, &names)).await;
    assert_eq!(service.states(&message, 2).await, ["Delivered"; 2]);
    let mut seen = Vec::new();
    for summary in &service.mails(2).await {
        let whole = service.open(summary).await;
        let text = |name: &str| whole[name].as_str().unwrap().trim().to_owned();
        seen.push((text("Subject"), text("HTML"), text("Text")));
    }
    seen.sort();
    let want = |subject: &str, html: &str, text: &str| {
        let html = format!("<p>Hello <b>{html}</b></p>");
        (subject.to_owned(), html, format!("Hello {text}"))
    };
    let (ada, bob) = (
        want("Dear Ada &amp; Co", "Ada &amp; Co", "Ada & Co"),
        want("Dear Bob", "Bob", "Bob"),
    );
    assert_eq!(seen, [ada, bob]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_whose_copy_cannot_be_made_is_dropped_and_the_rest_go() {
    let service = Service::start().await;
    let html = "{{#each name}}{{#each ../name}}{{#each ../../name}}x{{/each}}{{/each}}{{/each}}";
    let id = template(&service, html).await;
    // A hundred and fifty to the third power is more than a copy may take.
    let many = json!(vec!["x"; 150]);
    let names = [many, json!(["x"])];
    let message = service.send(&letter(&id, &names)).await;
    assert_eq!(service.states(&message, 2).await, ["Dropped", "Delivered"]);
    let reason = Some("the template takes more than 1000000 steps".to_owned());
    let told = service.events(&message).await;
    assert_eq!(told, [("dropped".to_owned(), reason)]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_is_not_the_account_s_is_refused() {
    let service = Service::start().await;
    let unknown = format!("d-{}", "0".repeat(32));
    let empty = made(
        &service,
        "/v3/templates",
        &json!({"name": "Empty", "generation": "dynamic"}),
    )
    .await;
    for id in [unknown.as_str(), empty["id"].as_str().unwrap()] {
        let body = letter(id, &[json!("Ada")]);
        let answer = service.call(Method::POST, "/v3/mail/send", &body).await;
        assert_eq!(answer.status(), 400);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["errors"][0]["field"], "template_id", "{body}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_template_does_not_bring_the_mail_must() {
    let service = Service::start().await;
    let body = json!({"name": "Letter", "generation": "dynamic"});
    let template = made(&service, "/v3/templates", &body).await;
    let id = template["id"].as_str().unwrap();
    let path = format!("/v3/templates/{id}/versions");
    made(&service, &path, &json!({"name": "first", "subject": ""})).await;
    let mut mail = letter(id, &[json!("Ada")]);
    let answer = service.call(Method::POST, "/v3/mail/send", &mail).await;
    assert_eq!(answer.status(), 400);
    let body: Value = answer.json().await.unwrap();
    let fields: Vec<_> = body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["field"].clone())
        .collect();
    assert_eq!(fields, ["subject", "content"]);
    mail["subject"] = json!("Mine");
    mail["content"] = json!([{"type": "text/plain", "value": "Mine too"}]);
    let message = service.send(&mail).await;
    assert_eq!(service.states(&message, 1).await, ["Delivered"]);
    service.stop().await;
}
