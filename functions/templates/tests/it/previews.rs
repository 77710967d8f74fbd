//! Previews.

use serde_json::json;

use crate::{TestApp, draft};

#[tokio::test]
async fn a_preview_shows_the_mail_and_what_the_data_lacks() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let mut body = draft();
    body["html_content"] = json!("<p>{{name}} {{city}}</p>");
    body["test_data"] = json!("{\"name\":\"Test\"}");
    let version = app.version(&template, &body).await;
    let path = format!("{version}/preview");
    let given = json!({"dynamic_template_data": {"name": "Ada & Co"}});
    let seen = app.post(&path, &given).await.expect(200).json();
    assert_eq!(seen["html_content"], "<p>Ada &amp; Co </p>");
    assert_eq!(seen["missing"], json!(["city"]));
    // Without data it is the version's own.
    let seen = app.post(&path, &json!({})).await.expect(200).json();
    assert_eq!(seen["html_content"], "<p>Test </p>");
    assert_eq!(app.get(&path).await.expect(200).json(), seen);
    let odd = json!({"dynamic_template_data": [1]});
    app.post(&path, &odd).await.expect(400);
}

#[tokio::test]
async fn a_preview_that_fails_answers_the_reason() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let mut body = draft();
    body["html_content"] =
        json!("{{#each a}}{{#each ../a}}{{#each ../../a}}x{{/each}}{{/each}}{{/each}}");
    let version = app.version(&template, &body).await;
    let path = format!("{version}/preview");
    let many = json!({"dynamic_template_data": {"a": vec![1; 150]}});
    let few = json!({"dynamic_template_data": {"a": [1]}});
    app.post(&path, &few).await.expect(200);
    for (given, want) in [
        (many, "the template takes more than 1000000 steps"),
        (json!({"substitutions": {"-a-": 1}}), "Invalid type"),
        (
            json!({"content": [{"type": "text/html"}]}),
            "value is required",
        ),
        (json!({"content": ["x"]}), "Invalid type"),
        (json!({"subject": 5}), "Invalid type"),
    ] {
        let refused = app.post(&path, &given).await.expect(400);
        let message = refused.error().1;
        assert!(message.starts_with(want), "{message}");
    }
    let none = format!("{template}/versions/{}/preview", "0".repeat(36));
    app.post(&none, &few).await.expect(404);
}

#[tokio::test]
async fn a_legacy_preview_uses_the_content_of_the_mail() {
    let app = TestApp::new().await;
    let template = app.template("legacy").await;
    let body = json!({"name": "n", "subject": "<%subject%>!", "html_content": "<h1><%body%></h1>"});
    let version = app.version(&template, &body).await;
    let given = json!({"subject": "News", "substitutions": {"-name-": "Ada"},
        "content": [{"type": "text/html", "value": "Hi -name-"}]});
    let path = format!("{version}/preview");
    let seen = app.post(&path, &given).await.expect(200).json();
    assert_eq!(seen["subject"], "News!");
    assert_eq!(seen["html_content"], "<h1>Hi Ada</h1>");
}

#[tokio::test]
async fn a_change_is_previewed_without_being_stored() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let version = app.version(&template, &draft()).await;
    let path = format!("{version}/preview");
    let stored = app.get(&version).await.expect(200).json();
    let change = json!({"subject": "Bye {{name}}", "html_content": "<p>{{greeting}} {{name}}</p>"});
    let given = json!({"version": change, "dynamic_template_data": {"name": "Ada"}});
    let seen = app.post(&path, &given).await.expect(200).json();
    assert_eq!(seen["subject"], "Bye Ada");
    assert_eq!(seen["html_content"], "<p> Ada</p>");
    assert_eq!(seen["missing"], json!(["greeting"]));
    // Its data counts where the request has none, and what it leaves out is the version's.
    let given = json!({"version": {"test_data": "{\"name\":\"Grace\"}"}});
    let seen = app.post(&path, &given).await.expect(200).json();
    assert_eq!(seen["subject"], "Hello Grace");
    for (change, field, want) in [
        (
            json!({"html_content": "<p>\n{{#if}}"}),
            "html_content",
            "line 2",
        ),
        (
            json!({"test_data": "[]"}),
            "test_data",
            "must be a JSON object",
        ),
        (
            json!({"subject": "x".repeat(256)}),
            "subject",
            "exceeds 255",
        ),
    ] {
        let refused = app.post(&path, &json!({"version": change})).await;
        let refused = refused.expect(400).json();
        let error = &refused["errors"][0];
        assert_eq!(error["field"], field, "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(want), "{message}");
    }
    assert_eq!(app.get(&version).await.expect(200).json(), stored);
}
