//! Versions: made, changed, activated, deleted.

use serde_json::{Value, json};

use crate::{TestApp, draft};

#[tokio::test]
async fn the_first_version_is_active_and_the_next_only_when_asked() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let first = app.version(&template, &draft()).await;
    let second = app.version(&template, &draft()).await;
    assert_eq!(app.get(&first).await.expect(200).json()["active"], 1);
    assert_eq!(app.get(&second).await.expect(200).json()["active"], 0);

    app.hand.advance(5);
    let path = format!("{second}/activate");
    let body = app.post(&path, &json!({})).await.expect(200).json();
    assert_eq!(body["active"], 1);
    let all = app.get(&template).await.expect(200).json();
    let active: Vec<_> = all["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["active"].clone())
        .collect();
    assert_eq!(active, [json!(0), json!(1)]);

    let off = app.patch(&second, &json!({"active": 0})).await.expect(200);
    assert_eq!(off.json()["active"], 0);
    let on = app.patch(&first, &json!({"active": 1})).await.expect(200);
    assert_eq!(on.json()["active"], 1);
}

#[tokio::test]
async fn a_version_without_content_is_warned_of_by_the_change_alone() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let empty = json!({"name": "n", "subject": "s"});
    let path = format!("{template}/versions");
    let made = app.post(&path, &empty).await.expect(201).json();
    assert_eq!(made["warnings"][0]["message"], "the version has no content");
    let version = format!("{path}/{}", made["id"].as_str().unwrap());
    let read = app.get(&version).await.expect(200).json();
    assert_eq!(read.get("warnings"), None);
    let body = json!({"html_content": "<p>x</p>"});
    let filled = app.patch(&version, &body).await.expect(200).json();
    assert_eq!(filled.get("warnings"), None);
}

#[tokio::test]
async fn a_version_comes_back_as_it_was_given() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let html = "<p>ä€🌼</p>".repeat(50_000);
    let body = json!({"name": "n", "subject": "s", "html_content": html, "plain_content": "mine",
        "generate_plain_content": false, "editor": "design", "test_data": "{\"name\":\"Ada\"}"});
    let version = app.version(&template, &body).await;
    let got = app.get(&version).await.expect(200).json();
    for (name, want) in body.as_object().unwrap() {
        assert!(got[name] == *want, "{name}");
    }
    assert_eq!(
        got["updated_at"].as_str().unwrap().len(),
        "2026-01-01 00:00:00".len()
    );
    assert_eq!(got["template_id"], template.rsplit('/').next().unwrap());
    assert_eq!(got["thumbnail_url"], "");

    let changed = app
        .patch(&version, &json!({"subject": "t"}))
        .await
        .expect(200)
        .json();
    assert_eq!(changed["subject"], "t");
    assert!(changed["html_content"] == html);
}

#[tokio::test]
async fn plain_text_is_made_of_the_html_unless_that_is_switched_off() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let version = app.version(&template, &draft()).await;
    let got = app.get(&version).await.expect(200).json();
    assert!(
        got["plain_content"]
            .as_str()
            .unwrap()
            .contains("Hi {{name}}"),
        "{got}"
    );
    // It is generated from the HTML until one is given.
    let plain = async |change: &Value| {
        let changed = app.patch(&version, change).await.expect(200).json();
        changed["plain_content"].as_str().unwrap().to_owned()
    };
    let html = json!({"html_content": "<p>Bye {{name}}</p>"});
    assert_eq!(plain(&html).await, "Bye {{name}}");
    assert_eq!(plain(&json!({"plain_content": "Mine"})).await, "Mine");
    assert_eq!(plain(&html).await, "Mine");
    assert_eq!(plain(&json!({"plain_content": ""})).await, "Bye {{name}}");

    let mut body = draft();
    body["plain_content"] = json!("Mine");
    let written = app.version(&template, &body).await;
    let got = app.get(&written).await.expect(200).json();
    assert_eq!(got["plain_content"], "Mine");
    assert_eq!(got["generate_plain_content"], true);
    body["plain_content"] = json!("");
    body["generate_plain_content"] = json!(false);
    let none = app.version(&template, &body).await;
    let got = app.get(&none).await.expect(200).json();
    assert_eq!(got["plain_content"], "");
}

#[tokio::test]
async fn one_template_shows_what_its_versions_say_and_a_list_does_not() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let mut body = draft();
    body["plain_content"] = json!("Mine");
    app.version(&template, &body).await;
    let name = json!({"name": "Other"});
    let shown = app.get(&template).await.expect(200);
    let renamed = app.patch(&template, &name).await.expect(200);
    let copy = app.post(&template, &json!({})).await.expect(201);
    for answer in [shown, renamed, copy] {
        let whole = answer.json();
        let version = &whole["versions"][0];
        assert_eq!(version["html_content"], body["html_content"]);
        assert_eq!(version["plain_content"], "Mine");
    }
    for query in ["generations=dynamic", "generations=dynamic&page_size=9"] {
        let list = app.get(&format!("/v3/templates?{query}")).await;
        let list = list.expect(200).json();
        let all = list.get("templates").or(list.get("result")).unwrap();
        let version = &all[0]["versions"][0];
        assert!(version["name"].is_string() && version.get("html_content").is_none());
    }
}

#[tokio::test]
async fn a_template_too_long_for_one_answer_shows_its_active_version_first() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let mut body = draft();
    body["html_content"] = json!("x".repeat(1 << 20));
    body["plain_content"] = json!("y".repeat(1 << 20));
    let first = app.version(&template, &body).await;
    app.version(&template, &body).await;
    let texts = async || {
        let all = app.get(&template).await.expect(200).json();
        let versions = all["versions"].as_array().unwrap().clone();
        let has = |version: &Value| version.get("html_content").is_some();
        versions.iter().map(has).collect::<Vec<_>>()
    };
    assert_eq!(texts().await, [true, false]);
    app.patch(&first, &json!({"active": 0})).await.expect(200);
    assert_eq!(texts().await, [false, true]);
}

#[tokio::test]
async fn what_is_deleted_is_gone_and_leaves_room() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let version = app.version(&template, &draft()).await;
    app.delete(&version).await.expect(204);
    app.get(&version).await.expect(404);
    app.delete(&version).await.expect(404);
    app.version(&template, &draft()).await;
    app.delete(&template).await.expect(204);
    app.get(&template).await.expect(404);
    app.delete(&template).await.expect(404);
    for _ in 0..300 {
        app.template("legacy").await;
    }
    let body = json!({"name": "one too many"});
    let refused = app.post("/v3/templates", &body).await.expect(400);
    assert_eq!(
        refused.error().1,
        "an account holds at most 300 templates and versions"
    );
}

#[tokio::test]
async fn the_three_hundred_and_first_of_templates_and_versions_is_refused() {
    const FULL: &str = "an account holds at most 300 templates and versions";
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let path = format!("{template}/versions");
    for _ in 0..3 {
        app.version(&template, &draft()).await;
    }
    for _ in 0..294 {
        app.template("legacy").await;
    }
    // A copy of four does not fit into the two that are left, and nothing of it stays.
    let refused = app.post(&template, &json!({})).await.expect(400);
    assert_eq!(refused.error().1, FULL);
    let all = app.get("/v3/templates?generations=dynamic").await;
    assert_eq!(
        all.expect(200).json()["templates"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    for _ in 0..2 {
        app.version(&template, &draft()).await;
    }
    let refused = app.post(&path, &draft()).await.expect(400);
    assert_eq!(refused.error().1, FULL);
}

#[tokio::test]
async fn of_changes_made_at_once_none_is_lost_unsaid() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let version = app.version(&template, &draft()).await;
    let changes = [
        json!({"name": "changed"}),
        json!({"subject": "changed"}),
        json!({"html_content": "changed"}),
    ];
    let [a, b, c] = &changes;
    let answers = tokio::join!(
        app.patch(&version, a),
        app.patch(&version, b),
        app.patch(&version, c),
    );
    let answers = [answers.0, answers.1, answers.2];
    let now = app.get(&version).await.expect(200).json();
    for (change, answer) in changes.iter().zip(&answers) {
        let (field, value) = change.as_object().unwrap().iter().next().unwrap();
        match answer.status.as_u16() {
            200 => assert_eq!(now[field], *value),
            409 => assert_ne!(now[field], *value),
            other => panic!("{other}"),
        }
    }
    assert!(answers.iter().any(|answer| answer.status == 200));
}

#[tokio::test]
async fn a_duplicate_has_every_version_and_is_independent() {
    let app = TestApp::new().await;
    let template = app.template("dynamic").await;
    let version = app.version(&template, &draft()).await;
    let copy = app.post(&template, &json!({})).await.expect(201).json();
    assert_eq!(copy["name"], "Duplicate: Letter");
    assert_eq!(copy["versions"][0]["active"], 1);
    app.delete(&version).await.expect(204);
    let path = format!(
        "/v3/templates/{}/versions/{}",
        copy["id"].as_str().unwrap(),
        copy["versions"][0]["id"].as_str().unwrap()
    );
    let got = app.get(&path).await.expect(200).json();
    assert_eq!(got["html_content"], "<p>Hi {{name}}</p>");
}
