//! What is refused, and in which words.

use serde_json::{Value, json};

use crate::{TestApp, draft};

#[tokio::test]
async fn a_template_needs_a_name_and_a_known_generation() {
    let app = TestApp::new().await;
    for (body, field) in [
        (json!({}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": "x".repeat(101)}), "name"),
        (json!({"name": "x", "generation": "modern"}), "generation"),
        (json!({"name": 1}), "name"),
    ] {
        let answer = app.post("/v3/templates", &body).await.expect(400);
        assert_eq!(answer.error().0.as_deref(), Some(field), "{body}");
    }
    let body = json!({"name": "ä".repeat(100)});
    let made = app.post("/v3/templates", &body).await.expect(201).json();
    assert_eq!(made["generation"], "legacy");
    assert_eq!(made["id"].as_str().unwrap().len(), 36);
}

#[tokio::test]
async fn every_problem_of_a_new_version_is_reported_at_once() {
    let app = TestApp::new().await;
    let template = app.template("legacy").await;
    let wrong = json!({"active": 2, "editor": "pen", "html_content": "<p>no tag</p>"});
    let path = format!("{template}/versions");
    let answer = app.post(&path, &wrong).await.expect(400).json();
    let errors = answer["errors"].as_array().unwrap().iter();
    let fields: Vec<_> = errors
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    assert_eq!(
        fields,
        ["name", "subject", "active", "editor", "html_content"]
    );
}

#[tokio::test]
async fn a_version_that_exceeds_a_limit_is_refused() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let path = format!("{template}/versions");
    let with = |field: &str, value: Value| {
        let mut body = draft();
        body[field] = value;
        body
    };
    let most = 1 << 20;
    for (field, at, past) in [
        ("name", json!("x".repeat(100)), json!("x".repeat(101))),
        ("subject", json!("x".repeat(255)), json!("x".repeat(256))),
        (
            "html_content",
            json!("x".repeat(most)),
            json!("x".repeat(most + 1)),
        ),
        ("active", json!(1), json!(2)),
        ("editor", json!("design"), json!("vi")),
        ("test_data", json!("{}"), json!("[1]")),
        ("test_data", json!("{\"a\":1}"), json!("{")),
    ] {
        app.post(&path, &with(field, at)).await.expect(201);
        let answer = app.post(&path, &with(field, past)).await.expect(400);
        assert_eq!(answer.error().0.as_deref(), Some(field));
    }
    for field in ["name", "subject"] {
        let mut body = draft();
        body.as_object_mut().unwrap().remove(field);
        let answer = app.post(&path, &body).await.expect(400);
        assert_eq!(answer.error().0.as_deref(), Some(field));
    }
}

#[tokio::test]
async fn what_cannot_be_compiled_is_refused_with_its_line() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let path = format!("{template}/versions");
    let mut body = draft();
    body["html_content"] = json!("<p>\n{{#if name}}\n</p>");
    let answer = app.post(&path, &body).await.expect(400);
    let (field, message) = answer.error();
    assert_eq!(field.as_deref(), Some("html_content"));
    assert!(message.starts_with("line 2"), "{message}");
    // Nothing of it stays.
    let all = app.get(&template).await.expect(200).json();
    assert_eq!(all["versions"], json!([]));
}

#[tokio::test]
async fn a_legacy_version_contains_the_body_tag() {
    let app = TestApp::new().await;
    let template = app.template("legacy").await;
    let path = format!("{template}/versions");
    let mut body = draft();
    let answer = app.post(&path, &body).await.expect(400);
    assert_eq!(answer.error().0.as_deref(), Some("html_content"));
    body["test_data"] = json!("{}");
    body["html_content"] = json!("<h1>x</h1><%body%>");
    let answer = app.post(&path, &body).await.expect(400);
    assert_eq!(answer.error().0.as_deref(), Some("test_data"));
    body.as_object_mut().unwrap().remove("test_data");
    app.post(&path, &body).await.expect(201);
    // As the renderer reads it, and in the text as in the HTML.
    body["html_content"] = json!("<h1>x</h1><% body %>");
    body["plain_content"] = json!("x <% body %>");
    app.post(&path, &body).await.expect(201);
    body["plain_content"] = json!("x <% bodies %>");
    let answer = app.post(&path, &body).await.expect(400);
    assert_eq!(answer.error().0.as_deref(), Some("plain_content"));
}
